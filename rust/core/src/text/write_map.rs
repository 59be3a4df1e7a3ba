//! Printing maps, on one line.

use super::write_expr::{abridged, Style, Writer};
use crate::error::Result;
use crate::expr::flat::Dag;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapKind};
use crate::map::names::{kind_of, place_of};
use crate::map::piecewise_map::PiecewiseMap;
use crate::map::symbolic_map::SymbolicMap;
use std::fmt::{self, Write};

fn list(out: &mut String, open: char, names: impl Iterator<Item = impl AsRef<str>>, close: char) {
    out.push(open);
    for (k, name) in names.enumerate() {
        if k > 0 {
            out.push_str(", ");
        }
        out.push_str(name.as_ref());
    }
    out.push(close);
}

fn bounds(out: &mut String, interval: Interval) {
    // Writing to a string cannot fail.
    let _ = write!(out, " in [{}, {}]", interval.lower, interval.upper);
}

/// The text of an indexing map. Error: it would be longer than [`super::MAX_TEXT_LENGTH`], and than what is not shared
/// takes.
pub fn write_indexing_map(map: &IndexingMap, style: Style) -> Result<String> {
    let mut out = String::with_capacity(256);
    write_indexing(map, Writer::new(map.dag(), style), &mut out)?;
    Ok(out)
}

/// The text of an indexing map; of one longer than `length` bytes the beginning, and three dots.
pub fn abridged_indexing_map(map: &IndexingMap, length: usize) -> String {
    abridged(length, |out| write_indexing(map, Writer::new(map.dag(), Style::Plain).within(length), out))
}

impl fmt::Display for IndexingMap {
    /// Writes the text; of one longer than [`super::MAX_TEXT_LENGTH`] the beginning, and three dots.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&abridged_indexing_map(self, super::MAX_TEXT_LENGTH))
    }
}

/// The text of a relation: its pieces, separated by `; `. Error: as [`write_indexing_map`].
pub fn write_piecewise_map(map: &PiecewiseMap, style: Style) -> Result<String> {
    let mut out = String::new();
    write_pieces(map, |piece| Writer::new(piece.dag(), style), &mut out)?;
    Ok(out)
}

/// The text of a relation; of one longer than `length` bytes the beginning, and three dots.
pub fn abridged_piecewise_map(map: &PiecewiseMap, length: usize) -> String {
    let writer = |piece| Writer::new(IndexingMap::dag(piece), Style::Plain).within(length);
    abridged(length, |out| write_pieces(map, writer, out))
}

fn write_pieces<'m>(
    map: &'m PiecewiseMap,
    writer: impl Fn(&'m IndexingMap) -> Writer<'m>,
    out: &mut String,
) -> Result<()> {
    if map.pieces().is_empty() {
        out.push_str("KNOWN EMPTY");
    }
    for (k, piece) in map.pieces().iter().enumerate() {
        out.push_str(if k > 0 { "; " } else { "" });
        write_indexing(piece, writer(piece), out)?;
    }
    Ok(())
}

fn write_indexing(map: &IndexingMap, mut writer: Writer<'_>, out: &mut String) -> Result<()> {
    match map.kind() {
        MapKind::Undefined => out.push_str("UNDEFINED"),
        MapKind::KnownEmpty => out.push_str("KNOWN EMPTY"),
        MapKind::Defined => write_defined(map, &mut writer, out)?,
    }
    Ok(())
}

fn write_defined(map: &IndexingMap, writer: &mut Writer<'_>, out: &mut String) -> Result<()> {
    let (dims, ranges) = (map.num_dims(), map.num_ranges());
    let name = |i: usize, out: &mut String| match map.names().get(i) {
        Some(name) => out.push_str(name),
        None => {
            let _ = write!(out, "{}{}", kind_of(i, dims, ranges).prefix(), place_of(i, dims, ranges));
        }
    };
    let named = |i: usize| map.name(i);
    list(out, '(', (0..dims).map(named), ')');
    if ranges > 0 {
        list(out, '[', (dims..dims + ranges).map(named), ']');
    }
    if map.num_runtimes() > 0 {
        list(out, '{', (dims + ranges..map.num_variables()).map(named), '}');
    }
    out.push_str(" -> (");
    for k in 0..map.num_results() {
        if k > 0 {
            out.push_str(", ");
        }
        writer.root(k, out, &|v, out| name(v as usize, out))?;
    }
    out.push(')');
    for (i, interval) in map.intervals().enumerate() {
        out.push_str(if i == 0 { ", domain: " } else { ", " });
        name(i, out);
        bounds(out, interval);
    }
    for (k, interval) in map.constraint_bounds().enumerate() {
        out.push_str(if map.num_variables() == 0 && k == 0 { ", domain: " } else { ", " });
        writer.root(map.num_results() + k, out, &|v, out| name(v as usize, out))?;
        bounds(out, interval);
    }
    Ok(())
}

impl IndexingMap {
    /// The texts of the roots of `dag`, whose variables are those of this map.
    pub fn texts_of(&self, dag: &Dag) -> Result<Vec<String>> {
        let name = |v: u32, out: &mut String| {
            if (v as usize) < self.num_variables() {
                out.push_str(&self.name(v as usize));
            } else {
                let _ = write!(out, "v{v}");
            }
        };
        let mut writer = Writer::new(dag, Style::Plain);
        let text = |k| {
            let mut out = String::new();
            writer.root(k, &mut out, &name)?;
            Ok(out)
        };
        (0..dag.root_positions().len()).map(text).collect()
    }
}

/// The text of a symbolic map, with the names `d0`.. and `s0`... Error: it would be too long.
pub fn write_symbolic_map(map: &SymbolicMap, style: Style) -> Result<String> {
    let mut out = String::new();
    write_symbolic(map, Writer::new(map.results(), style), &mut out)?;
    Ok(out)
}

/// The text of a symbolic map; of one longer than `length` bytes the beginning, and three dots.
pub fn abridged_symbolic_map(map: &SymbolicMap, length: usize) -> String {
    abridged(length, |out| write_symbolic(map, Writer::new(map.results(), Style::Plain).within(length), out))
}

fn write_symbolic(map: &SymbolicMap, mut writer: Writer<'_>, out: &mut String) -> Result<()> {
    let dims = map.num_dims();
    list(out, '(', (0..dims).map(|i| format!("d{i}")), ')');
    if map.num_symbols() > 0 {
        list(out, '[', (0..map.num_symbols()).map(|j| format!("s{j}")), ']');
    }
    out.push_str(" -> (");
    for k in 0..map.results().root_count() {
        if k > 0 {
            out.push_str(", ");
        }
        writer.root(k, out, &|v, out| {
            let v = v as usize;
            let _ = if v < dims { write!(out, "d{v}") } else { write!(out, "s{}", v - dims) };
        })?;
    }
    out.push(')');
    Ok(())
}

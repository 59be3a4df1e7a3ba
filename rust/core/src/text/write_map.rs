//! Printing maps, on one line.

use super::write_expr::{write_expr, Style, Writer};
use crate::error::Result;
use crate::expr::flat::Dag;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapKind};
use crate::map::names::{kind_of, place_of};
use crate::map::symbolic_map::SymbolicMap;
use std::fmt::Write;

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

/// The text of an indexing map. Error: it would be longer than [`super::MAX_TEXT_LENGTH`].
pub fn write_indexing_map(map: &IndexingMap, style: Style) -> Result<String> {
    match map.form() {
        MapKind::Undefined => return Ok("UNDEFINED".to_owned()),
        MapKind::KnownEmpty => return Ok("KNOWN EMPTY".to_owned()),
        MapKind::Defined => {}
    }
    let (dims, ranges) = (map.num_dims(), map.num_ranges());
    let name = |i: usize, out: &mut String| match map.names().get(i) {
        Some(name) => out.push_str(name),
        None => {
            let _ = write!(out, "{}{}", kind_of(i, dims, ranges).prefix(), place_of(i, dims, ranges));
        }
    };
    let named = |i: usize| map.name(i);
    let mut out = String::with_capacity(256);
    list(&mut out, '(', (0..dims).map(named), ')');
    if ranges > 0 {
        list(&mut out, '[', (dims..dims + ranges).map(named), ']');
    }
    if map.num_runtimes() > 0 {
        list(&mut out, '{', (dims + ranges..map.num_variables()).map(named), '}');
    }
    out.push_str(" -> (");
    let mut writer = Writer::new(map.dag(), style);
    for k in 0..map.num_results() {
        if k > 0 {
            out.push_str(", ");
        }
        writer.root(k, &mut out, &|v, out| name(v as usize, out))?;
    }
    out.push(')');
    for (i, interval) in map.intervals().enumerate() {
        out.push_str(if i == 0 { ", domain: " } else { ", " });
        name(i, &mut out);
        bounds(&mut out, interval);
    }
    for (k, interval) in map.constraint_bounds().enumerate() {
        out.push_str(if map.num_variables() == 0 && k == 0 { ", domain: " } else { ", " });
        writer.root(map.num_results() + k, &mut out, &|v, out| name(v as usize, out))?;
        bounds(&mut out, interval);
    }
    Ok(out)
}

impl IndexingMap {
    /// The text of root `k` of `dag`, whose variables are those of this map.
    pub fn text_of(&self, dag: &Dag, k: usize) -> Result<String> {
        write_expr(dag, k, Style::Plain, &|v, out| {
            if (v as usize) < self.num_variables() {
                out.push_str(&self.name(v as usize));
            } else {
                let _ = write!(out, "v{v}");
            }
        })
    }
}

/// The text of a symbolic map, with the names `d0`.. and `s0`... Error: it would be too long.
pub fn write_symbolic_map(map: &SymbolicMap, style: Style) -> Result<String> {
    let dims = map.num_dims();
    let mut out = String::new();
    list(&mut out, '(', (0..dims).map(|i| format!("d{i}")), ')');
    if map.num_symbols() > 0 {
        list(&mut out, '[', (0..map.num_symbols()).map(|j| format!("s{j}")), ']');
    }
    out.push_str(" -> (");
    let mut writer = Writer::new(map.results(), style);
    for k in 0..map.results().root_count() {
        if k > 0 {
            out.push_str(", ");
        }
        writer.root(k, &mut out, &|v, out| {
            let v = v as usize;
            let _ = if v < dims { write!(out, "d{v}") } else { write!(out, "s{}", v - dims) };
        })?;
    }
    out.push(')');
    Ok(out)
}

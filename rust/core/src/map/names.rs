//! The names of the variables of a map, default or given.

use std::collections::HashSet;
use std::sync::Arc;

/// The kind of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableKind {
    /// A dimension: an index of the point that the map starts from.
    Dimension,
    /// A range variable: it takes all values of its interval.
    Range,
    /// A runtime variable: its value is known at run time only.
    Runtime,
}

impl VariableKind {
    /// The prefix of the kind's default names.
    pub fn prefix(self) -> &'static str {
        match self {
            VariableKind::Dimension => "d",
            VariableKind::Range => "s",
            VariableKind::Runtime => "rt",
        }
    }
}

pub(crate) fn kind_of(i: usize, num_dims: usize, num_ranges: usize) -> VariableKind {
    if i < num_dims {
        VariableKind::Dimension
    } else if i < num_dims + num_ranges {
        VariableKind::Range
    } else {
        VariableKind::Runtime
    }
}

/// The place of variable `i` among those of its kind.
pub(crate) fn place_of(i: usize, num_dims: usize, num_ranges: usize) -> usize {
    match kind_of(i, num_dims, num_ranges) {
        VariableKind::Dimension => i,
        VariableKind::Range => i - num_dims,
        VariableKind::Runtime => i - num_dims - num_ranges,
    }
}

/// The default name of variable `i`.
pub fn default_name(i: usize, num_dims: usize, num_ranges: usize) -> String {
    format!("{}{}", kind_of(i, num_dims, num_ranges).prefix(), place_of(i, num_dims, num_ranges))
}

/// Whether the name looks like the default name of some variable.
fn is_default_shaped(name: &str) -> bool {
    let digits = ["rt", "d", "s"].iter().find_map(|p| name.strip_prefix(p));
    digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// The names of variables that are not the default ones of their places (`d0`, `s1`, `rt2`). Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Names(
    /// The names up to the last given one; `None` if all are default.
    Option<Arc<[Option<Arc<str>>]>>,
);

impl Names {
    /// The names of variables from the first on; `None` stands for the default name.
    pub fn new(mut names: Vec<Option<Arc<str>>>) -> Self {
        let count = names.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        names.truncate(count);
        Names((count > 0).then(|| names.into()))
    }

    /// Whether all variables have their default names.
    pub fn are_default(&self) -> bool {
        self.0.is_none()
    }

    /// The name of variable `i`, if it is not the default one.
    pub fn get(&self, i: usize) -> Option<&Arc<str>> {
        self.0.as_ref()?.get(i)?.as_ref()
    }

    /// The name of variable `i`, default or given.
    pub(crate) fn full(&self, i: usize, num_dims: usize, num_ranges: usize) -> String {
        match self.get(i) {
            Some(name) => name.to_string(),
            None => default_name(i, num_dims, num_ranges),
        }
    }

    /// The names up to the last one that is given.
    pub(crate) fn given(&self) -> &[Option<Arc<str>>] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The names of some of the variables at new places; names that look like default names, and repeated names, become
    /// default.
    pub(crate) fn moved(&self, order: impl Iterator<Item = usize>) -> Names {
        if self.are_default() {
            return Names::default();
        }
        Names::canonicalized(order.map(|i| self.get(i)))
    }

    /// As [`Names::new`], with names canonicalized as in [`Names::moved`].
    pub(crate) fn canonicalized<'a>(names: impl Iterator<Item = Option<&'a Arc<str>>>) -> Names {
        let mut seen = HashSet::new();
        let names = names.map(|n| n.filter(|n| !is_default_shaped(n) && seen.insert((*n).clone())).cloned());
        Names::new(names.collect())
    }
}

/// Keywords of the text form.
pub(crate) const RESERVED: [&str; 9] =
    ["floordiv", "ceildiv", "mod", "min", "max", "in", "domain", "floorDiv", "ceilDiv"];

pub(crate) fn starts_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b >= 0x80
}

pub(crate) fn continues_name(b: u8) -> bool {
    starts_name(b) || b.is_ascii_digit() || b == b'.'
}

/// Whether the text form can hold this name.
pub fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|b| starts_name(*b))
        && bytes.iter().all(|b| continues_name(*b))
        && !RESERVED.contains(&name)
}

//! Reasons why maps are not exact: texts by number, 0 for none. A reason may have several parts.

use crate::propagation::interner::{Interner, Table};

const MAX_PARTS: usize = 4;

/// The reasons of a program.
pub(super) struct Reasons {
    texts: Interner<String>,
    joined: Table<(u32, u32), u32>,
}

impl Default for Reasons {
    fn default() -> Self {
        let mut texts = Interner::default();
        texts.intern(String::new()); // 0: no reason
        Reasons { texts, joined: Table::default() }
    }
}

impl Reasons {
    /// The number of a reason.
    pub fn intern(&mut self, reason: &str) -> u32 {
        self.texts.intern(reason.to_string())
    }

    /// The text of a reason.
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number)
    }

    /// Joins two reasons, each part once, at most `MAX_PARTS` of them.
    pub fn join(&mut self, one: u32, other: u32) -> u32 {
        if let Some(known) = self.joined.get(&(one, other)) {
            return *known;
        }
        let mut parts = self.different_parts(one, other);
        if parts.len() > MAX_PARTS {
            parts.truncate(MAX_PARTS);
            parts.push("and more");
        }
        let text = parts.join("; ");
        let number = self.texts.intern(text);
        self.joined.insert((one, other), number);
        number
    }

    /// Appends a reason, whatever the number of parts.
    pub fn append(&mut self, known: u32, reason: u32) -> u32 {
        let text = self.different_parts(known, reason).join("; ");
        self.texts.intern(text)
    }

    fn different_parts(&self, one: u32, other: u32) -> Vec<&str> {
        let mut parts: Vec<&str> = Vec::new();
        for part in [one, other].into_iter().flat_map(|r| self.text(r).split("; ")) {
            if !part.is_empty() && !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }
}

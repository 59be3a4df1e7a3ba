//! Numbers for values: equal ones have one.

use std::collections::HashMap;
use std::hash::Hash;

/// Tables whose hashes are seeded anew: no program can be written whose maps all collide.
pub(super) type Table<K, V> = HashMap<K, V, foldhash::quality::RandomState>;

/// Different values of a kind, by number.
#[derive(Debug)]
pub(super) struct Interner<T> {
    items: Vec<T>,
    numbers: Table<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: Vec::new(), numbers: Table::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    pub fn number(&mut self, item: T) -> u32 {
        if let Some(known) = self.numbers.get(&item) {
            return *known;
        }
        let number = self.items.len() as u32;
        self.items.push(item.clone());
        self.numbers.insert(item, number);
        number
    }

    pub fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }
}

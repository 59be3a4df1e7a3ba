//! Interning: equal values have one number.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// A hash table with a random seed: no program can be written whose maps all collide.
pub(super) type Table<K, V> = HashMap<K, V, Hashes>;
type Hashes = foldhash::quality::RandomState;

/// The different values of a type, by number. Each is stored once: the tables hold hashes.
#[derive(Debug)]
pub(super) struct Interner<T> {
    items: Vec<T>,
    hashes: Hashes,
    /// The last item of each hash.
    last: Table<u64, u32>,
    /// The item before one of the same hash.
    before: Table<u32, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        let (last, before) = (Table::default(), Table::default());
        Interner { items: Vec::new(), hashes: Hashes::default(), last, before }
    }
}

impl<T: Eq + Hash> Interner<T> {
    pub fn intern(&mut self, item: T) -> u32 {
        let hash = self.hashes.hash_one(&item);
        let mut known = self.last.get(&hash).copied();
        while let Some(number) = known {
            if self.items[number as usize] == item {
                return number;
            }
            known = self.before.get(&number).copied();
        }
        let number = self.items.len() as u32;
        if let Some(other) = self.last.insert(hash, number) {
            self.before.insert(number, other);
        }
        self.items.push(item);
        number
    }

    /// The number of different values.
    pub fn count(&self) -> u32 {
        self.items.len() as u32
    }

    pub fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }
}

//! A hash for names, shapes and signatures: a few multiplications, seeded anew for each table, so that no text can be
//! written whose names all collide.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Odd, with as many ones as zeros, spread evenly: the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A table with this hash.
pub(super) type Table<K, V> = HashMap<K, V, Seeded>;

/// Makes hashers of one table, all with its two secret numbers.
#[derive(Clone)]
pub(super) struct Seeded {
    start: u64,
    factor: u64,
}

impl Default for Seeded {
    fn default() -> Self {
        let random = RandomState::new();
        Self { start: random.hash_one(1), factor: random.hash_one(2) | 1 }
    }
}

impl BuildHasher for Seeded {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer { state: self.start, factor: self.factor }
    }
}

/// Mixes eight bytes a step by a product of 128 bits.
pub(super) struct Mixer {
    state: u64,
    factor: u64,
}

impl Mixer {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor ^ SPREAD);
        self.state = (product as u64) ^ ((product >> 64) as u64) ^ word.rotate_left(32);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(word));
        }
        self.mix(bytes.len() as u64);
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * u128::from(self.factor);
        (product as u64) ^ ((product >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_spread_over_all_bits() {
        let seeded = Seeded::default();
        let names: Vec<String> = (0..4096).map(|i| format!("add.{i}")).collect();
        let hashes: Vec<u64> = names.iter().map(|n| seeded.hash_one(n)).collect();
        for bit in 0..64 {
            let ones = hashes.iter().filter(|h| *h >> bit & 1 == 1).count();
            assert!((1700..2400).contains(&ones), "bit {bit} is set in {ones} of 4096");
        }
        let mut distinct = hashes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), hashes.len());
    }

    #[test]
    fn tables_have_seeds_of_their_own() {
        assert_ne!(Seeded::default().hash_one("a"), Seeded::default().hash_one("a"));
    }
}

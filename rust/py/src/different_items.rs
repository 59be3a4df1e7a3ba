//! The different items among those of a batch: equal ones are worked on once.

use hashbrown::hash_table::{Entry, HashTable};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// Seeded randomly in each process, so that nobody can choose items that collide.
type Hashes = foldhash::fast::RandomState;

/// Items of a batch, the equal ones once.
pub struct Batch<T> {
    pub different: Vec<T>,
    /// The first item of each different one, in order.
    pub first: Vec<usize>,
    /// The place of each item among the different ones.
    pub index: Arc<[u32]>,
}

impl<T: Copy + Hash + Eq + Send + Sync> Batch<T> {
    /// Each of so many threads looks for the different ones among items that follow each other.
    pub fn of(items: &[T], threads: usize) -> Self {
        let hashes = Hashes::default();
        let length = items.len().div_ceil(threads).max(1);
        let part = |(k, own): (usize, &[T])| Part::of(&hashes, own, k * length);
        let parts: Vec<Part<T>> = std::thread::scope(|scope| {
            let mut chunks = items.chunks(length).enumerate();
            let own = chunks.next();
            let others: Vec<_> = chunks.map(|chunk| scope.spawn(move || part(chunk))).collect();
            let joined = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            own.map(part).into_iter().chain(joined).collect()
        });
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or_default();
        parts.for_each(|part| whole.append(part));
        Batch { different: whole.different, first: whole.first, index: whole.index.into() }
    }
}

/// The different ones among some items.
struct Part<T> {
    /// The places of the different ones, by hash.
    places: HashTable<u32>,
    hashes: Vec<u64>,
    different: Vec<T>,
    first: Vec<usize>,
    index: Vec<u32>,
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        let (hashes, different, first, index) = Default::default();
        Part { places: HashTable::new(), hashes, different, first, index }
    }
}

impl<T: Copy + Hash + Eq> Part<T> {
    /// Items, the first of which has this number in the batch.
    fn of(hashes: &Hashes, items: &[T], start: usize) -> Self {
        let mut part = Part { places: HashTable::with_capacity(items.len()), ..Part::default() };
        let places =
            items.iter().enumerate().map(|(k, item)| part.place(hashes.hash_one(item), *item, start + k));
        part.index = places.collect();
        part
    }

    /// The place of an item among the different ones, where it is put if it is new.
    fn place(&mut self, hash: u64, item: T, number: usize) -> u32 {
        let (different, hashes) = (&self.different, &self.hashes);
        let is_equal = |place: &u32| hashes[*place as usize] == hash && different[*place as usize] == item;
        match self.places.entry(hash, is_equal, |place| hashes[*place as usize]) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let place = self.different.len() as u32;
                new.insert(place);
                self.hashes.push(hash);
                self.different.push(item);
                self.first.push(number);
                place
            }
        }
    }

    /// Add the items of the part that follows.
    fn append(&mut self, next: Part<T>) {
        let of_next = next.hashes.iter().zip(&next.different).zip(&next.first);
        let places: Vec<u32> =
            of_next.map(|((hash, item), number)| self.place(*hash, *item, *number)).collect();
        self.index.extend(next.index.iter().map(|place| places[*place as usize]));
    }
}

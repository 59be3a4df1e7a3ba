//! Sets of arrays, and the arrays that others depend on.

/// Marks an array that is not an unmodified array of a parameter.
pub(super) const CHANGED: u32 = u32::MAX;

/// A set of array numbers, one bit each.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct BitSet(Vec<u64>);

impl BitSet {
    pub fn with_room_for(count: usize) -> Self {
        BitSet(vec![0; count.div_ceil(64)])
    }

    pub fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    pub fn union_with(&mut self, others: &BitSet) {
        self.0.iter_mut().zip(&others.0).for_each(|(a, b)| *a |= b);
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| numbers_of(word, *bits))
    }
}

/// The array numbers that one word of a set holds.
fn numbers_of(word: usize, bits: u64) -> impl Iterator<Item = u32> {
    let some = |bits: u64| Some(bits).filter(|bits| *bits != 0);
    let rests = std::iter::successors(some(bits), move |bits| some(bits & (bits - 1)));
    rests.map(move |bits| word as u32 * 64 + bits.trailing_zeros())
}

/// For each array of a computation's root, the parameter arrays that it depends on, and the one that it is a copy of.
pub(super) struct Sources {
    /// The number of each parameter's first array, and at the end the number of all arrays.
    pub first: Vec<u32>,
    pub sets: Vec<BitSet>,
    pub root: Vec<RootArray>,
}

/// An array of a root.
#[derive(Clone, Copy)]
pub(super) struct RootArray {
    /// The number of the set of arrays that it depends on.
    pub reads: u32,
    /// The array that it is a copy of, or `CHANGED`.
    pub same: u32,
}

/// The dependences of the arrays of a loop's state, from one iteration to the next.
pub(super) struct LoopCarried {
    /// Whether the body passes each array on unmodified.
    pub untouched: Vec<bool>,
    /// For each array, the arrays of the initial state that its final value may depend on.
    pub reached: Vec<Vec<u32>>,
}

/// The arrays reachable from `start` in any number of steps.
pub(super) fn transitive_closure(start: BitSet, step: &[&BitSet]) -> BitSet {
    let mut reached = start;
    let mut pending: Vec<u32> = reached.iter().collect();
    while let Some(array) = pending.pop() {
        for (word, bits) in step[array as usize].0.iter().enumerate() {
            let fresh = bits & !reached.0[word];
            reached.0[word] |= fresh;
            pending.extend(numbers_of(word, fresh));
        }
    }
    reached
}

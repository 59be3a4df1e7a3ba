//! Maps as C holds them, and the memory that each thread computes them in.

use crate::pointers::put;
use crate::status::Failure;
use indexing_core::{Arena, IndexingMap, ReadScratch, Scratch};
use std::cell::RefCell;

/// A map: immutable, so that threads may share it.
pub struct Map(pub(crate) IndexingMap);

#[derive(Default)]
pub struct Workspace {
    pub arena: Arena,
    pub scratch: Scratch,
    pub reading: ReadScratch,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

pub fn with_workspace<R>(work: impl FnOnce(&mut Workspace) -> R) -> R {
    WORKSPACE.with(|w| {
        let mut workspace = w.borrow_mut();
        workspace.arena.clear();
        work(&mut workspace)
    })
}

/// # Safety
/// As of [`put`].
pub unsafe fn put_map(out: *mut *mut Map, map: IndexingMap) -> Result<(), Failure> {
    let owned = Box::into_raw(Box::new(Map(map)));
    // SAFETY: `out` is as `put` wants it; `owned` is what `Box::into_raw` gave, and taken back if nobody got it.
    unsafe { put(out, owned, "out").inspect_err(|_| drop(Box::from_raw(owned))) }
}

//! The memory that operations work in: one arena a thread, cleared before each use.

use indexing_core::simplify::Scratch;
use indexing_core::text::Reading;
use indexing_core::Arena;
use std::cell::RefCell;

/// An arena and buffers.
#[derive(Default)]
pub struct Workspace {
    pub arena: Arena,
    pub scratch: Scratch,
    pub reading: Reading,
    pub values: Vec<i64>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Run `f`, which calls no Python, with an empty arena.
pub fn with<R>(f: impl FnOnce(&mut Workspace) -> R) -> R {
    WORKSPACE.with(|w| match w.try_borrow_mut() {
        Ok(mut workspace) => {
            workspace.arena.clear();
            f(&mut workspace)
        }
        // A signal handler or a destructor came in between.
        Err(_) => f(&mut Workspace::default()),
    })
}

//! The memory that operations work in: one arena a thread, cleared before each use.

use indexing_core::{Arena, ReadScratch, Scratch};
use pyo3::Python;
use std::cell::RefCell;

/// Bytes of expressions that take 7 us to simplify, give or take. To release the GIL and take it back costs 0.05 us, but
/// several where other threads wait for it: two threads with maps of less get less done than one.
const LARGE: usize = 512;

/// Bytes of text for each byte of the expressions that it states.
pub const TEXT: usize = 4;

/// An arena and buffers.
#[derive(Default)]
pub struct Workspace {
    pub arena: Arena,
    pub scratch: Scratch,
    pub reading: ReadScratch,
    pub values: Vec<i64>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Run `f`, which calls no Python, without the GIL where `bytes` of expressions make that pay.
pub fn released<R: Send>(py: Python<'_>, bytes: usize, f: impl FnOnce() -> R + Send) -> R {
    if bytes < LARGE {
        f()
    } else {
        py.detach(f)
    }
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

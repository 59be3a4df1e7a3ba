//! States that threads share, whole in a process that forks.
//!
//! A thread that changes a state does not exist in the new process, where its lock would never be free, and its work never
//! done. So `os.fork` waits until no thread is inside of a state.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::Duration;

/// Threads inside; each leaves without needing Python.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Whether the process is about to fork: no thread goes inside.
static FORKS: AtomicBool = AtomicBool::new(false);
const PAUSE: Duration = Duration::from_micros(20);

/// A thread inside of a state.
struct Inside;

impl Inside {
    /// Be inside, unless the process is about to fork.
    fn try_enter() -> Option<Self> {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        let inside = Inside;
        (!FORKS.load(Ordering::SeqCst)).then_some(inside)
    }

    /// Be inside, after a fork that is about to be.
    fn enter() -> Self {
        loop {
            match Inside::try_enter() {
                Some(inside) => return inside,
                None => sleep(PAUSE),
            }
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A state that threads change one at a time, calling no Python meanwhile.
pub struct Shared<T>(Mutex<T>);

/// A state, until it is dropped. The lock is left before the inside is.
pub struct Locked<'a, T> {
    state: MutexGuard<'a, T>,
    _inside: Inside,
}

impl<T: Send> Shared<T> {
    pub fn new(state: T) -> Self {
        Shared(Mutex::new(state))
    }

    /// The state, by a thread that does not hold the GIL: one that forks may need it.
    pub fn lock(&self) -> Locked<'_, T> {
        let inside = Inside::enter();
        Locked { state: self.0.lock().unwrap_or_else(PoisonError::into_inner), _inside: inside }
    }

    fn try_lock(&self) -> Option<Locked<'_, T>> {
        let inside = Inside::try_enter()?;
        let state = match self.0.try_lock() {
            Ok(free) => free,
            Err(TryLockError::Poisoned(free)) => free.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Locked { state, _inside: inside })
    }

    /// Run `f`, which takes next to no time: with the GIL, unless it has to wait for another thread.
    pub fn briefly<R: Send>(&self, py: Python<'_>, f: impl FnOnce(&mut T) -> R + Send) -> R {
        match self.try_lock() {
            Some(mut free) => f(&mut free),
            None => py.detach(|| f(&mut self.lock())),
        }
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}

#[pyfunction]
fn before_fork() {
    FORKS.store(true, Ordering::SeqCst);
    while INSIDE.load(Ordering::SeqCst) > 0 {
        sleep(PAUSE);
    }
}

#[pyfunction]
fn after_fork_in_parent() {
    FORKS.store(false, Ordering::SeqCst);
}

#[pyfunction]
fn after_fork_in_child() {
    // A thread that was about to go inside, and saw that it may not, is counted for ever.
    INSIDE.store(0, Ordering::SeqCst);
    FORKS.store(false, Ordering::SeqCst);
}

/// Have `os.fork` wait, where the system has it.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let Ok(register) = py.import("os")?.getattr("register_at_fork") else { return Ok(()) };
    let calls = PyDict::new(py);
    calls.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    calls.set_item("after_in_parent", wrap_pyfunction!(after_fork_in_parent, module)?)?;
    calls.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
    register.call((), Some(&calls)).map(|_| ())
}

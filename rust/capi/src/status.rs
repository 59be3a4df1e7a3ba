//! The outcome of a call: a code, and of the last failure of a thread a message and a place in the text.

use indexing_core::{Error, ErrorKind};
use std::cell::RefCell;
use std::ffi::{c_char, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The outcome of a call. The numbers are those of the header and stay as they are.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the header says what each means")]
pub enum Status {
    Ok = 0,
    Parse = 1,
    Overflow = 2,
    InvalidMap = 3,
    DivisionByZero = 4,
    Unsupported = 5,
    InvalidArgument = 6,
    Internal = 7,
    Worker = 8,
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    status: Status,
    message: String,
    offset: Option<usize>,
    item: Option<usize>,
}

impl Failure {
    /// An argument is not what the header asks for.
    pub(crate) fn argument(message: &str) -> Self {
        Failure { status: Status::InvalidArgument, message: message.to_owned(), offset: None, item: None }
    }

    /// A result doesn't fit its type.
    pub(crate) fn overflow(message: &str) -> Self {
        Failure { status: Status::Overflow, ..Self::argument(message) }
    }

    /// The process that predicts fails.
    pub(crate) fn worker(message: &str) -> Self {
        Failure { status: Status::Worker, ..Self::argument(message) }
    }

    /// A text is refused, at this byte of it.
    pub(crate) fn of_text(status: Status, message: &str, offset: Option<usize>) -> Self {
        Failure { status, offset, ..Self::argument(message) }
    }

    /// The code of the failure.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The byte of the text that the failure is at.
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// The failure of one item of many.
    pub(crate) fn of_item(self, item: usize) -> Self {
        Failure { item: Some(item), ..self }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::Parse => Status::Parse,
            ErrorKind::Overflow => Status::Overflow,
            ErrorKind::InvalidMap => Status::InvalidMap,
            ErrorKind::DivisionByZero => Status::DivisionByZero,
            ErrorKind::Unsupported => Status::Unsupported,
            ErrorKind::InvalidArgument => Status::InvalidArgument,
            _ => Status::Internal, // a kind that the header lacks
        };
        Failure { status, message: error.message().to_owned(), offset: error.offset(), item: None }
    }
}

/// The last failure of a thread, as its functions answer questions about it.
#[derive(Default)]
struct Last {
    message: CString,
    offset: Option<usize>,
    item: Option<usize>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

/// The message of the thread's last failure; it lives until the thread fails again, or ends.
pub fn last_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().message.as_ptr()).unwrap_or(c"".as_ptr())
}

/// The byte offset in the text that the thread's last failure is at; the greatest number where it is at none.
pub fn last_offset() -> usize {
    LAST.try_with(|last| last.borrow().offset).ok().flatten().unwrap_or(usize::MAX)
}

/// The position of the item that the thread's last failure is of; the greatest number where the call had one item.
pub fn last_item() -> usize {
    LAST.try_with(|last| last.borrow().item).ok().flatten().unwrap_or(usize::MAX)
}

/// Run `call`; its failure, and a panic of it, become a status.
pub fn guarded(call: impl FnOnce() -> Result<(), Failure>) -> Status {
    // What a panic leaves behind is dropped: calls share nothing but memory to work in, which is cleared before use.
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(_) => Failure {
            status: Status::Internal,
            message: "a fault of this library: please report the call and its arguments".to_owned(),
            offset: None,
            item: None,
        },
    };
    let Failure { status, message, offset, item } = failure;
    let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    // Where the thread is about to end, nobody asks any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Last { message, offset, item });
    status
}

//! Pointers of a caller as references: NULL, and lengths beyond memory, are refused.

use crate::status::Failure;

/// # Safety
/// `pointer` is null, or points to a value that lives as long as the result.
pub unsafe fn reference<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: by the contract of this function.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(&format!("{what} is NULL")))
}

/// # Safety
/// `pointer` is null, or points to memory for a `T` that nobody else uses meanwhile; what is there may be anything.
pub unsafe fn put<T>(pointer: *mut T, value: T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(&format!("{what} is NULL")));
    }
    // SAFETY: by the contract of this function.
    unsafe { pointer.write(value) };
    Ok(())
}

/// # Safety
/// `pointer` is null, or points to `length` values that live as long as the result.
pub unsafe fn slice<'a, T>(pointer: *const T, length: usize, what: &str) -> Result<&'a [T], Failure> {
    check_length::<T>(pointer.is_null(), length, what)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: by the contract of this function, and since the length in bytes fits.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// # Safety
/// `pointer` is null, or points to `length` values that nobody else uses while the result lives.
pub unsafe fn slice_mut<'a, T>(pointer: *mut T, length: usize, what: &str) -> Result<&'a mut [T], Failure> {
    check_length::<T>(pointer.is_null(), length, what)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: by the contract of this function, and since the length in bytes fits.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
}

fn check_length<T>(is_null: bool, length: usize, what: &str) -> Result<(), Failure> {
    if is_null && length > 0 {
        return Err(Failure::argument(&format!("{what} is NULL, but not empty")));
    }
    let fits = length.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if fits {
        Ok(())
    } else {
        Err(Failure::argument(&format!("{what} is longer than memory")))
    }
}

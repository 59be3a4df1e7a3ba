//! Numbers of every element type as bytes: integers with their ranges, floating point rounded to nearest, ties to even.

use super::element::{Class, ElementRow, ElementType, FloatFormat, Special};

/// A number as a literal writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer without point and exponent.
    Integer(i128),
    /// `true` or `false`: a number of `pred` alone.
    Truth(bool),
    /// Anything else but not-a-number.
    Real(f64),
    /// `nan`, `-nan`, `nan(0x1)`: sign and payload.
    Nan(bool, Option<u64>),
}

/// Whether each number of one type is a number of the other.
pub(super) fn holds(wide: ElementType, narrow: ElementType) -> bool {
    let (to, from) = (wide.row(), narrow.row());
    let digits = |row: &ElementRow| row.bits - u32::from(row.class == Class::Signed);
    let exponent = |row: &ElementRow| row.format.map_or(row.bits, |f| f.exponent);
    let mantissa = |row: &ElementRow| row.format.map_or(0, |f| f.mantissa);
    match (to.class, from.class) {
        _ if wide == narrow => true,
        (Class::Float, _) if to.format.is_none() => false,
        (_, Class::Boolean) => true,
        (Class::Signed | Class::Unsigned, Class::Signed | Class::Unsigned) => {
            digits(from) <= digits(to) && (from.class == Class::Unsigned || to.class == Class::Signed)
        }
        (Class::Float | Class::Complex, Class::Signed | Class::Unsigned) => digits(from) <= mantissa(to) + 1,
        (Class::Float, Class::Float) | (Class::Complex, Class::Float | Class::Complex) => {
            mantissa(from) <= mantissa(to) && exponent(from) <= exponent(to)
        }
        _ => false,
    }
}

impl FloatFormat {
    /// The code of a number, without its sign; `None` beyond the largest finite number.
    fn finite(self, magnitude: f64) -> Option<u64> {
        let bits = magnitude.to_bits();
        let field = (bits >> 52) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        if significand == 0 {
            return Some(0);
        }
        // magnitude = significand * 2^scale
        let scale = field.max(1) - 1075;
        let top = scale + 63 - significand.leading_zeros() as i32;
        let exponent = top.max(1 - self.bias);
        let quotient = shift_to_nearest(significand, exponent - self.mantissa as i32 - scale);
        let code = (((exponent + self.bias - 1) as u64) << self.mantissa) + quotient;
        (code <= self.largest()).then_some(code)
    }

    fn encode(self, number: Number) -> Option<u64> {
        let value = match number {
            Number::Nan(negative, payload) => return self.not_a_number(negative, payload),
            Number::Truth(_) => return None,
            Number::Integer(i) => i as f64,
            Number::Real(r) => r,
        };
        let code = if value.is_infinite() { self.infinity()? } else { self.finite(value.abs())? };
        let signed = value.is_sign_negative() && !(code == 0 && self.special == Special::NegativeZero);
        Some(code | u64::from(signed) << (self.exponent + self.mantissa))
    }
}

/// `value * 2^-shift`, rounded to nearest, ties to even; `value` has at most 53 bits, a left shift at most 11.
fn shift_to_nearest(value: u64, shift: i32) -> u64 {
    if shift <= 0 {
        return value << -shift;
    }
    if shift > 63 {
        return 0;
    }
    let (quotient, rest) = (value >> shift, value & ((1 << shift) - 1));
    let half = 1 << (shift - 1);
    quotient + u64::from(rest > half || rest == half && quotient & 1 == 1)
}

/// The code of a power of two in the type that has nothing but an exponent.
fn exponent_only(number: Number) -> Option<u64> {
    let value = match number {
        Number::Nan(_, payload) => return payload.is_none().then_some(0xff),
        Number::Truth(_) => return None,
        Number::Integer(i) => i as f64,
        Number::Real(r) => r,
    };
    let exponent = value.log2();
    (value > 0.0 && exponent.fract() == 0.0 && exponent.abs() <= 127.0)
        .then(|| (exponent as i64 + 127) as u64)
}

/// Appends a number as little-endian bytes (narrow types take one byte, complex numbers are written as two parts);
/// `None` where the type has no such number.
pub(super) fn encode(element: ElementType, number: Number, out: &mut Vec<u8>) -> Option<()> {
    let row = element.row();
    let code = match row.class {
        Class::Boolean => boolean(number)?,
        Class::Signed | Class::Unsigned => integer(row.class, row.bits, number)?,
        Class::Float | Class::Complex => match row.format {
            Some(format) => format.encode(number)?,
            None => exponent_only(number)?,
        },
        Class::NoArray => return None,
    };
    let bytes = stored_bytes(element) / if row.class == Class::Complex { 2 } else { 1 };
    out.extend_from_slice(&code.to_le_bytes()[..bytes]);
    Some(())
}

/// Bytes that one element takes in a literal's data.
pub(super) fn stored_bytes(element: ElementType) -> usize {
    element.row().bits.div_ceil(8) as usize
}

/// Any integer but 0 is true, as XLA reads them.
fn boolean(number: Number) -> Option<u64> {
    match number {
        Number::Truth(value) => Some(u64::from(value)),
        Number::Integer(value) => Some(u64::from(value != 0)),
        _ => None,
    }
}

fn integer(class: Class, bits: u32, number: Number) -> Option<u64> {
    let value = match number {
        Number::Integer(value) => value,
        Number::Real(zero) if zero == 0.0 && zero.is_sign_negative() => 0, // "-0"
        _ => return None,
    };
    let (lower, upper) = match class {
        _ if bits == 64 => (i128::from(i64::MIN), i128::from(u64::MAX)), // as XLA, which reads both signs alike
        Class::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        _ => (0, (1_i128 << bits) - 1),
    };
    // numpy keeps the types of 2 and 4 bits in the low bits of a byte
    let kept = if matches!(bits, 2 | 4) { upper - lower } else { i128::from(u64::MAX) };
    (lower <= value && value <= upper).then_some((value & kept) as u64)
}

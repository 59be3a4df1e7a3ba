//! Element types: one row each, with the class of its numbers, their width, and the format of floats.

/// The values of a floating point type besides finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Infinities and payloads, as IEEE 754.
    Ieee,
    /// No infinity; not-a-number has all exponent and mantissa bits set.
    AllOnes,
    /// No infinity, no negative zero: its code is not-a-number.
    NegativeZero,
    /// Finite numbers only.
    FiniteOnly,
}

/// A binary floating point format with a sign bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the mantissa, without the leading one.
    pub mantissa: u32,
    /// The exponent's code of numbers from 1 to 2.
    pub bias: i32,
    /// The values besides finite numbers.
    pub special: Special,
}

impl FloatFormat {
    /// The code of the largest finite number.
    pub fn largest(self) -> u64 {
        let all = (1 << (self.exponent + self.mantissa)) - 1;
        match self.special {
            Special::Ieee => all - (1 << self.mantissa),
            Special::AllOnes => all - 1,
            Special::NegativeZero | Special::FiniteOnly => all,
        }
    }

    /// The code of infinity, if there is one.
    pub fn infinity(self) -> Option<u64> {
        (self.special == Special::Ieee).then(|| self.largest() + 1)
    }

    /// The code of not-a-number with a sign and a payload; `None` where there is none.
    pub fn not_a_number(self, negative: bool, payload: Option<u64>) -> Option<u64> {
        let sign = u64::from(negative) << (self.exponent + self.mantissa);
        match self.special {
            Special::Ieee => {
                let payload = payload.unwrap_or(1 << (self.mantissa - 1));
                let fits = payload != 0 && payload >> self.mantissa == 0;
                fits.then(|| sign | (self.largest() + 1) | payload)
            }
            _ if payload.is_some() => None, // a type of one not-a-number has no payloads
            Special::AllOnes => Some(sign | (self.largest() + 1)),
            Special::NegativeZero => Some(1 << (self.exponent + self.mantissa)),
            Special::FiniteOnly => None,
        }
    }
}

/// The class of numbers of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `pred`.
    Boolean,
    /// Two's complement integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating point.
    Float,
    /// Pairs of floating point numbers.
    Complex,
    /// Tuples, buffers, tokens and opaque values: no array of numbers.
    NoArray,
}

/// One element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementRow {
    /// As text writes it.
    pub name: &'static str,
    /// Bits an element takes; 0 where there are none.
    pub bits: u32,
    /// The class of its numbers.
    pub class: Class,
    /// The format of its numbers, or of their halves; `None` where they are no floats with a sign.
    pub format: Option<FloatFormat>,
}

const fn row(name: &'static str, bits: u32, class: Class) -> ElementRow {
    ElementRow { name, bits, class, format: None }
}

const fn float(name: &'static str, exponent: u32, mantissa: u32, bias: i32, special: Special) -> ElementRow {
    let format = Some(FloatFormat { exponent, mantissa, bias, special });
    ElementRow { name, bits: 1 + exponent + mantissa, class: Class::Float, format }
}

const fn complex(name: &'static str, half: ElementRow) -> ElementRow {
    ElementRow { name, bits: 2 * half.bits, class: Class::Complex, format: half.format }
}

const F32: ElementRow = float("f32", 8, 23, 127, Special::Ieee);
const F64: ElementRow = float("f64", 11, 52, 1023, Special::Ieee);

/// Every element type of HLO; [`ElementType`] is a row's number.
pub static ELEMENT_TYPES: [ElementRow; 34] = [
    row("tuple", 0, Class::NoArray),
    row("buffer", 0, Class::NoArray),
    row("token", 0, Class::NoArray),
    row("opaque", 0, Class::NoArray),
    row("pred", 8, Class::Boolean),
    row("s1", 1, Class::Signed),
    row("s2", 2, Class::Signed),
    row("s4", 4, Class::Signed),
    row("s8", 8, Class::Signed),
    row("s16", 16, Class::Signed),
    row("s32", 32, Class::Signed),
    row("s64", 64, Class::Signed),
    row("u1", 1, Class::Unsigned),
    row("u2", 2, Class::Unsigned),
    row("u4", 4, Class::Unsigned),
    row("u8", 8, Class::Unsigned),
    row("u16", 16, Class::Unsigned),
    row("u32", 32, Class::Unsigned),
    row("u64", 64, Class::Unsigned),
    float("f4e2m1fn", 2, 1, 1, Special::FiniteOnly),
    float("f8e3m4", 3, 4, 3, Special::Ieee),
    float("f8e4m3", 4, 3, 7, Special::Ieee),
    float("f8e4m3b11fnuz", 4, 3, 11, Special::NegativeZero),
    float("f8e4m3fn", 4, 3, 7, Special::AllOnes),
    float("f8e4m3fnuz", 4, 3, 8, Special::NegativeZero),
    float("f8e5m2", 5, 2, 15, Special::Ieee),
    float("f8e5m2fnuz", 5, 2, 16, Special::NegativeZero),
    row("f8e8m0fnu", 8, Class::Float), // powers of two alone, without a sign
    float("bf16", 8, 7, 127, Special::Ieee),
    float("f16", 5, 10, 15, Special::Ieee),
    F32,
    F64,
    complex("c64", F32),
    complex("c128", F64),
];

/// A row of [`ELEMENT_TYPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType(pub(super) u8);

impl ElementType {
    /// The type of a tuple.
    pub const TUPLE: Self = Self(0);
    /// The type of a buffer, which text writes `b(f32[2])`.
    pub const BUFFER: Self = Self(1);
    /// The type of a boolean.
    pub const PRED: Self = Self(4);

    /// The type that text calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        ELEMENT_TYPES.iter().position(|t| t.name == name).filter(|&i| i > 1).map(|i| Self(i as u8))
    }

    /// The row.
    pub fn row(self) -> &'static ElementRow {
        &ELEMENT_TYPES[self.0 as usize]
    }

    /// Whether arrays of this type exist.
    pub fn is_array(self) -> bool {
        self.row().class != Class::NoArray
    }
}

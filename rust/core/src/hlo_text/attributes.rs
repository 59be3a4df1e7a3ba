//! Attributes whose values have a structure of their own: lists, slices, windows, labels, replica groups.

use super::error::{HloError, Result};
use super::groups::replica_groups;
use super::lexer::{integers, Cursor, Span};
use super::tables::{Instruction, Module};

/// One dimension of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowDim {
    /// Elements that the window covers.
    pub size: i64,
    /// Distance of two windows.
    pub stride: i64,
    /// Padding in front; may be negative.
    pub pad_low: i64,
    /// Padding behind; may be negative.
    pub pad_high: i64,
    /// Distance of two elements of the base.
    pub lhs_dilation: i64,
    /// Distance of two elements of the window.
    pub rhs_dilation: i64,
    /// Whether the window is read backwards.
    pub reversed: bool,
}

impl WindowDim {
    const OF_SIZE_ONE: Self = Self {
        size: 1,
        stride: 1,
        pad_low: 0,
        pad_high: 0,
        lhs_dilation: 1,
        rhs_dilation: 1,
        reversed: false,
    };
}

/// The roles of the dimensions of one array of a convolution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Batch; input features of the kernel.
    pub batch: i64,
    /// Feature; output features of the kernel.
    pub feature: i64,
    /// Spatial dimensions in the order of their numbers.
    pub spatial: Vec<i64>,
}

impl Module {
    /// The span of an instruction's attribute.
    pub fn attribute(&self, row: usize, key: &str) -> Option<usize> {
        find_attribute(&self.text, self, &self.instructions[row], key)
    }

    fn value_of(&self, attribute: usize) -> Span {
        self.attributes[attribute].value
    }

    /// Integers: `{0,1}`, or one without braces.
    pub fn integers(&self, attribute: usize) -> Result<Vec<i64>> {
        Cursor::whole(&self.text, self.value_of(attribute), integers)
    }

    /// Slices: `{[0:10:2], [3:4]}` as start, limit, stride.
    pub fn slices(&self, attribute: usize) -> Result<Vec<(i64, i64, i64)>> {
        Cursor::whole(&self.text, self.value_of(attribute), slices)
    }

    /// Padding: `0_1x2_3_4` as low, high, interior.
    pub fn padding(&self, attribute: usize) -> Result<Vec<(i64, i64, i64)>> {
        Cursor::whole(&self.text, self.value_of(attribute), padding)
    }

    /// A window: `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x2 rhs_dilate=1x1 rhs_reversal=0x1}`.
    pub fn window(&self, attribute: usize) -> Result<Vec<WindowDim>> {
        Cursor::whole(&self.text, self.value_of(attribute), window)
    }

    /// Labels of input, kernel and output: `b01f_01io->b01f`.
    pub fn labels(&self, attribute: usize) -> Result<[Labels; 3]> {
        let span = self.value_of(attribute);
        labels(span.of(&self.text), span.start as usize)
    }

    /// Replica groups: `{{0,1},{2,3}}`, `[2,2]<=[4]`, `[2,2]<=[2,2]T(1,0)`, `mesh['a'=2,'b'=2] {'b'}`.
    pub fn replica_groups(&self, attribute: usize) -> Result<Vec<Vec<i64>>> {
        Cursor::whole(&self.text, self.value_of(attribute), replica_groups)
    }
}

pub(super) fn find_attribute(
    text: &str,
    module: &Module,
    instruction: &Instruction,
    key: &str,
) -> Option<usize> {
    instruction.attributes.range().find(|&row| module.attributes[row].key.of(text) == key)
}

pub(super) fn slices(cursor: &mut Cursor) -> Result<Vec<(i64, i64, i64)>> {
    cursor.require(b'{')?;
    cursor.list(b'}', |cursor| {
        cursor.require(b'[')?;
        let start = cursor.integer("a start")?;
        cursor.require(b':')?;
        let limit = cursor.integer("a limit")?;
        let stride = if cursor.take(b':')? { cursor.integer("a stride")? } else { 1 };
        cursor.require(b']')?;
        Ok((start, limit, stride))
    })
}

/// A signed integer, which ends at any character that is not a digit, such as the separators `_` and `x`.
fn part(cursor: &mut Cursor) -> Result<i64> {
    cursor.integer("an integer")
}

pub(super) fn padding(cursor: &mut Cursor) -> Result<Vec<(i64, i64, i64)>> {
    let mut values = Vec::new();
    loop {
        let (low, high) = pair(cursor)?;
        let mut interior = 0;
        if cursor.peek() == b'_' {
            cursor.at += 1;
            interior = part(cursor)?;
        }
        values.push((low, high, interior));
        if cursor.peek() != b'x' {
            return Ok(values);
        }
        cursor.at += 1;
    }
}

/// `1_1`: the padding before and behind.
fn pair(cursor: &mut Cursor) -> Result<(i64, i64)> {
    let low = part(cursor)?;
    if cursor.peek() != b'_' {
        return Err(cursor.expected("'_' and the padding behind"));
    }
    cursor.at += 1;
    Ok((low, part(cursor)?))
}

/// `3x3`: a value for each dimension.
fn product<T>(cursor: &mut Cursor, value: impl Fn(&mut Cursor) -> Result<T>) -> Result<Vec<T>> {
    let mut values = vec![value(cursor)?];
    while cursor.peek() == b'x' {
        cursor.at += 1;
        values.push(value(cursor)?);
    }
    if matches!(cursor.peek(), b' ' | b'}') {
        return Ok(values);
    }
    Err(cursor.expected("'x' and the next dimension, or the end of the field"))
}

pub(super) fn window(cursor: &mut Cursor) -> Result<Vec<WindowDim>> {
    let start = cursor.at;
    cursor.require(b'{')?;
    let mut dims: Option<Vec<WindowDim>> = None;
    let mut fields = Vec::new();
    while !cursor.take(b'}')? {
        cursor.skip_space()?;
        let at = cursor.at;
        let field = cursor.word("a field of a window")?;
        cursor.require(b'=')?;
        cursor.skip_space()?;
        if fields.contains(&field) {
            return Err(HloError::new(at, format!("a second {field} in a window")));
        }
        fields.push(field);
        let values =
            if field == "pad" { product(cursor, pair)? } else { product(cursor, |c| Ok((part(c)?, 0)))? };
        let dims = dims.get_or_insert_with(|| vec![WindowDim::OF_SIZE_ONE; values.len()]);
        if dims.len() != values.len() {
            return Err(HloError::new(
                at,
                format!("{field} has {} dimensions, the window {}", values.len(), dims.len()),
            ));
        }
        for (dim, value) in dims.iter_mut().zip(values) {
            set_field(dim, field, value).ok_or_else(|| {
                HloError::new(at, format!("{field} is no field of a window, or has no such value"))
            })?;
        }
    }
    let dims = dims.unwrap_or_default();
    let sound = |d: &WindowDim| d.size >= 0 && d.stride >= 1 && d.lhs_dilation >= 1 && d.rhs_dilation >= 1;
    if !dims.iter().all(sound) {
        return Err(HloError::new(
            start,
            "a window needs sizes of 0 or more, strides and dilations of 1 or more",
        ));
    }
    Ok(dims)
}

fn set_field(dim: &mut WindowDim, field: &str, (value, high): (i64, i64)) -> Option<()> {
    match field {
        "size" => dim.size = value,
        "stride" => dim.stride = value,
        "pad" => (dim.pad_low, dim.pad_high) = (value, high),
        "lhs_dilate" => dim.lhs_dilation = value,
        "rhs_dilate" => dim.rhs_dilation = value,
        "rhs_reversal" if value == 0 || value == 1 => dim.reversed = value == 1,
        _ => return None,
    }
    Some(())
}

pub(super) fn labels(text: &str, offset: usize) -> Result<[Labels; 3]> {
    let bad = |why: String| {
        HloError::new(offset, format!("{why} in the labels {text}; b01f_01io->b01f is an example"))
    };
    let (operands, output) = text.split_once("->").ok_or_else(|| bad("expected '->'".into()))?;
    let (input, kernel) = operands.split_once('_').ok_or_else(|| bad("expected '_'".into()))?;
    let read = |part: &str, batch: char, feature: char| {
        label(part.trim(), batch, feature).ok_or_else(|| {
            bad(format!("expected {batch}, {feature} and the numbers from 0, once each, found {part:?}"))
        })
    };
    let all = [read(input, 'b', 'f')?, read(kernel, 'i', 'o')?, read(output, 'b', 'f')?];
    if all.iter().any(|l| l.spatial.len() != all[0].spatial.len()) {
        return Err(bad("different numbers of spatial dimensions".into()));
    }
    Ok(all)
}

fn label(part: &str, batch: char, feature: char) -> Option<Labels> {
    let place = |wanted: char| {
        let mut places = part.chars().enumerate().filter(|(_, c)| *c == wanted).map(|(i, _)| i as i64);
        places.next().filter(|_| places.next().is_none())
    };
    let rank = part.chars().count();
    let spatial: Option<Vec<i64>> =
        (0..rank.checked_sub(2)?).map(|n| place(char::from_digit(n as u32, 10)?)).collect();
    Some(Labels { batch: place(batch)?, feature: place(feature)?, spatial: spatial? })
}

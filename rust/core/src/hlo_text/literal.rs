//! Literals of constants: checked when the program is read, converted to bytes on request.

use super::element::{Class, ElementType};
use super::error::{HloError, Result};
use super::lexer::Cursor;
use super::number::{encode, Number};
use super::shape::{Shape, ShapeId, ShapeTable};

/// The value of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// Little-endian elements in row-major order; types narrower than a byte take one byte each.
    Array(ShapeId, Vec<u8>),
    /// One element, in place of all.
    Splat(ShapeId, Vec<u8>),
    /// The literals of a tuple's elements.
    Tuple(Vec<Literal>),
    /// The text says `{...}` in place of the elements.
    Elided(ShapeId),
    /// A token: no value.
    Token,
}

/// Reads the literal at the cursor, of the shape `id`, and moves behind it.
pub(super) fn parse_literal(cursor: &mut Cursor, table: &ShapeTable, id: ShapeId) -> Result<Literal> {
    cursor.skip_space()?;
    let shape = &table[id as usize];
    if !shape.element.is_array() && shape.element != ElementType::TUPLE {
        cursor.word("a token's literal")?;
        return Ok(Literal::Token);
    }
    skip_shape(cursor)?;
    if shape.element == ElementType::TUPLE {
        return parse_tuple(cursor, table, shape);
    }
    let mut bytes = Vec::new();
    if !matches!(cursor.peek(), b'{') && !shape.dimensions.is_empty() {
        parse_element(cursor, shape.element, &mut bytes)?;
        return Ok(Literal::Splat(id, bytes));
    }
    let whole = parse_array(cursor, shape, &mut bytes)?;
    Ok(if whole { Literal::Array(id, bytes) } else { Literal::Elided(id) })
}

/// Nesting of tuples is bounded by that of shapes.
fn parse_tuple(cursor: &mut Cursor, table: &ShapeTable, shape: &Shape) -> Result<Literal> {
    cursor.require(b'(')?;
    let mut elements = Vec::new();
    for (i, &element) in shape.elements.iter().enumerate() {
        if i > 0 {
            cursor.require(b',')?;
        }
        elements.push(parse_literal(cursor, table, element)?);
    }
    cursor.require(b')')?;
    Ok(Literal::Tuple(elements))
}

/// Older texts repeat the shape in front of the literal.
fn skip_shape(cursor: &mut Cursor) -> Result<()> {
    if ElementType::named(cursor.peek_word()).is_none() {
        return Ok(());
    }
    cursor.word("an element type")?;
    cursor.require(b'[')?;
    skip_to(cursor, b']')?;
    if cursor.peek() == b'{' {
        skip_to(cursor, b'}')?;
    }
    cursor.skip_space()
}

fn skip_to(cursor: &mut Cursor, close: u8) -> Result<()> {
    while !cursor.take(close)? {
        if cursor.at_end() {
            return cursor.require(close);
        }
        cursor.at += 1;
    }
    Ok(())
}

/// Appends the elements; `false` where they are elided.
fn parse_array(cursor: &mut Cursor, shape: &Shape, out: &mut Vec<u8>) -> Result<bool> {
    let sizes = &shape.dimensions;
    let rank = sizes.len();
    if rank == 0 {
        parse_element(cursor, shape.element, out)?;
        return Ok(true);
    }
    let mut seen = vec![0_i64; rank];
    let mut depth = 0;
    let mut separator = Separator::Start;
    loop {
        cursor.skip_space()?;
        match cursor.peek() {
            b'}' if depth > 0 && separator != Separator::Comma => {
                let given = seen[depth - 1];
                if shape.element_count != 0 && given != sizes[depth - 1] {
                    return Err(cursor.expected(&format!(
                        "{} elements in dimension {}, {given} are given",
                        sizes[depth - 1],
                        depth - 1
                    )));
                }
                cursor.at += 1;
                depth -= 1;
                if depth == 0 {
                    return Ok(true);
                }
                separator = Separator::Element;
            }
            b'}' if depth > 0 => return Err(cursor.expected("an element behind ','")),
            b',' if separator == Separator::Element && depth > 0 => {
                cursor.at += 1;
                separator = Separator::Comma;
            }
            _ if separator == Separator::Element => return Err(cursor.expected("',' or '}'")),
            b'{' if depth < rank => {
                count_one(cursor, sizes, &mut seen, depth)?;
                cursor.at += 1;
                seen[depth] = 0;
                depth += 1;
                separator = Separator::Start;
            }
            b'.' if depth == 1 && cursor.text[cursor.at..].starts_with("...") => {
                cursor.at += 3;
                cursor.require(b'}')?;
                return Ok(false);
            }
            _ if depth < rank => return Err(cursor.expected(&format!("'{{' ({rank} nested braces are due)"))),
            _ => {
                count_one(cursor, sizes, &mut seen, depth)?;
                parse_element(cursor, shape.element, out)?;
                separator = Separator::Element;
            }
        }
    }
}

/// The state of a literal in front of the cursor, inside braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Start,
    Comma,
    Element,
}

fn count_one(cursor: &Cursor, sizes: &[i64], seen: &mut [i64], depth: usize) -> Result<()> {
    if depth == 0 {
        return Ok(());
    }
    seen[depth - 1] += 1;
    if seen[depth - 1] > sizes[depth - 1] {
        return Err(cursor.expected(&format!(
            "'}}' after {} elements of dimension {}",
            sizes[depth - 1],
            depth - 1
        )));
    }
    Ok(())
}

fn parse_element(cursor: &mut Cursor, element: ElementType, out: &mut Vec<u8>) -> Result<()> {
    cursor.skip_space()?;
    let start = cursor.at;
    if element.row().class != Class::Complex {
        let number = parse_number(cursor)?;
        return encode(element, number, out).ok_or_else(|| no_such_number(cursor, start, element));
    }
    if !cursor.take(b'(')? {
        return Err(cursor.expected("'(' of a complex number (real, imaginary)"));
    }
    let real = parse_number(cursor)?;
    cursor.require(b',')?;
    let imaginary = parse_number(cursor)?;
    cursor.require(b')')?;
    encode(element, real, out)
        .and_then(|()| encode(element, imaginary, out))
        .ok_or_else(|| no_such_number(cursor, start, element))
}

fn no_such_number(cursor: &Cursor, start: usize, element: ElementType) -> HloError {
    HloError::new(start, format!("{} is no value of {}", &cursor.text[start..cursor.at], element.row().name))
}

fn parse_number(cursor: &mut Cursor) -> Result<Number> {
    cursor.skip_space()?;
    let start = cursor.at;
    let negative = cursor.peek() == b'-';
    cursor.at += usize::from(negative);
    match cursor.peek() {
        b'0'..=b'9' | b'.' => {}
        b'n' | b'i' | b't' | b'f' => return parse_word(cursor, start, negative),
        _ => {
            cursor.at = start;
            return Err(cursor.expected("a number"));
        }
    }
    let bytes = cursor.text.as_bytes();
    let digits = cursor.at;
    let mut whole = true;
    while let Some(&byte) = bytes.get(cursor.at) {
        let exponent_sign = matches!(byte, b'-' | b'+') && matches!(bytes[cursor.at - 1], b'e' | b'E');
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || exponent_sign) {
            break;
        }
        whole &= byte.is_ascii_digit();
        cursor.at += 1;
    }
    let shown = &cursor.text[start..cursor.at];
    if whole && cursor.at - digits <= 18 {
        let value = bytes[digits..cursor.at].iter().fold(0_i64, |v, b| v * 10 + i64::from(b - b'0'));
        if value != 0 || !negative {
            return Ok(Number::Integer(i128::from(if negative { -value } else { value })));
        }
    }
    let bad = || HloError::new(start, format!("{shown} is no number"));
    if whole && !(negative && shown.bytes().all(|b| matches!(b, b'-' | b'0'))) {
        if let Ok(value) = shown.parse::<i128>() {
            return Ok(Number::Integer(value));
        }
    }
    match shown.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number::Real(value)),
        Ok(_) => Err(HloError::new(start, format!("{shown} is beyond the range of f64"))),
        Err(_) => Err(bad()),
    }
}

/// `nan`, `nan(0x1)`, `inf`, `true`, `false`, with the sign already read.
fn parse_word(cursor: &mut Cursor, start: usize, negative: bool) -> Result<Number> {
    let word = cursor.word("a number")?;
    match word {
        "true" | "false" if !negative => Ok(Number::Truth(word == "true")),
        "inf" | "infinity" => Ok(Number::Real(if negative { f64::NEG_INFINITY } else { f64::INFINITY })),
        "nan" if cursor.peek() == b'(' => {
            cursor.at += 1;
            let at = cursor.at;
            let payload = cursor.word("a payload such as 0x1")?;
            let value = payload.strip_prefix("0x").and_then(|h| u64::from_str_radix(h, 16).ok());
            cursor.require(b')')?;
            let value =
                value.ok_or_else(|| HloError::new(at, format!("{payload} is no payload such as 0x1")))?;
            Ok(Number::Nan(negative, Some(value)))
        }
        "nan" => Ok(Number::Nan(negative, None)),
        _ => {
            cursor.at = start;
            Err(cursor.expected("a number"))
        }
    }
}

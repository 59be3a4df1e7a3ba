//! Attributes of the module's head whose values have a grammar of their own; all others are kept as written.

use super::error::Result;
use super::lexer::{integers, Cursor, Span};

/// Checks the value of an attribute.
pub(super) fn check_header(text: &str, key: &str, value: Span) -> Result<()> {
    let read: fn(&mut Cursor) -> Result<()> = match key {
        "replica_count" | "num_partitions" => count,
        "is_scheduled" | "alias_passthrough_params" => flag,
        "allow_spmd_sharding_propagation_to_parameters" | "allow_spmd_sharding_propagation_to_output" => {
            flags
        }
        "input_output_alias" => |cursor| braces(cursor, alias),
        "buffer_donor" => |cursor| braces(cursor, |cursor| parameter(cursor, false)),
        _ => return Ok(()),
    };
    Cursor::whole(text, value, read)
}

fn count(cursor: &mut Cursor) -> Result<()> {
    cursor.integer("an integer").map(|_| ())
}

fn flag(cursor: &mut Cursor) -> Result<()> {
    if cursor.take_word("true")? || cursor.take_word("false")? {
        return Ok(());
    }
    Err(cursor.expected("true or false"))
}

/// `true`, or `{true,false}`: one for each array.
fn flags(cursor: &mut Cursor) -> Result<()> {
    cursor.skip_space()?;
    match cursor.peek() {
        b'{' => braces(cursor, flag),
        _ => flag(cursor),
    }
}

fn braces(cursor: &mut Cursor, item: fn(&mut Cursor) -> Result<()>) -> Result<()> {
    cursor.require(b'{')?;
    cursor.list(b'}', item).map(|_| ())
}

/// `{1}: (0, {}, may-alias)`: an array of the result, and that of a parameter whose memory it takes.
fn alias(cursor: &mut Cursor) -> Result<()> {
    array_in_tuple(cursor)?;
    cursor.require(b':')?;
    parameter(cursor, true)
}

/// `(0, {1})`: an array of a parameter; with `kind`, the kind of the alias may follow.
fn parameter(cursor: &mut Cursor, kind: bool) -> Result<()> {
    cursor.require(b'(')?;
    cursor.integer("a parameter's number")?;
    cursor.require(b',')?;
    array_in_tuple(cursor)?;
    if kind && cursor.take(b',')? && !cursor.take_word("may-alias")? && !cursor.take_word("must-alias")? {
        return Err(cursor.expected("may-alias or must-alias"));
    }
    cursor.require(b')')
}

/// `{0,1}`: where an array is in nested tuples.
fn array_in_tuple(cursor: &mut Cursor) -> Result<()> {
    cursor.skip_space()?;
    if cursor.peek() != b'{' {
        return Err(cursor.expected("'{'"));
    }
    integers(cursor).map(|_| ())
}

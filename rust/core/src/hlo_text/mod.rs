//! HLO text: parsing into flat tables over the kept text, checks of shapes, literals, printing.

/// The names of attributes.
macro_rules! words {
    ($($word:ident)+) => { &[$(stringify!($word)),+] };
}

mod attributes;
mod called;
mod calls;
mod draft;
mod element;
mod error;
mod groups;
mod header;
mod infer;
mod lexer;
mod literal;
mod number;
mod opcodes;
mod pairs;
mod parser;
mod print;
mod shape;
mod signature;
mod tables;

/// A table of names, shapes or signatures, seeded anew, so that no text can be written whose names all collide.
type Table<K, V> = std::collections::HashMap<K, V, foldhash::quality::RandomState>;

pub use attributes::{Labels, WindowDim};
pub use calls::MAX_CALL_DEPTH;
pub use draft::{Draft, DraftArgument, DraftComputation, DraftInstruction, DraftValue};
pub use element::{Class, ElementRow, ElementType, FloatFormat, Special, ELEMENT_TYPES};
pub use error::{HloError, Place};
pub use lexer::Span;
pub use literal::Literal;
pub use opcodes::{OpcodeRow, OPCODES};
pub use parser::{build_module, parse_module, DraftError};
pub use print::write_shape;
pub use shape::{Layout, Shape, ShapeId, ShapeTable, MAX_TUPLE_DEPTH, UNBOUNDED};
pub use tables::{Attribute, Call, Computation, Instruction, Module, Rows};

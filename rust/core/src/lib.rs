#![doc = include_str!("../README.md")]

// The modules are private; what they offer stands here.

mod access;
mod error;
mod expr;
mod hlo_text;
mod int;
mod interval;
mod map;
mod propagation;
mod sets;
mod simplify;
mod text;

pub use access::lanes::Access;
pub use access::memory_traffic::{count_traffic, Memory, Sums, TrafficCounts};
pub use access::prediction::{Demand, Device, Prediction, LIMITS};
pub use error::{Error, ErrorKind, Result};
pub use expr::flat::Dag;
pub use expr::{Arena, Expr, Node, Term};
pub use hlo_text::{
    build_module, parse_module, write_shape, Attribute, Call, Class, Computation, Draft, DraftArgument,
    DraftComputation, DraftError, DraftInstruction, DraftValue, ElementRow, ElementType, FloatFormat,
    HloError, Instruction, Labels, Layout, Literal, Module, OpcodeRow, Place, Rows, Shape, ShapeId,
    ShapeTable, Span, Special, WindowDim, ELEMENT_TYPES, MAX_CALL_DEPTH, MAX_TUPLE_DEPTH, OPCODES, UNBOUNDED,
};
pub use interval::Interval;
pub use map::compose::compose;
pub use map::indexing_map::{IndexingMap, MapBuilder, MapKind, Variable};
pub use map::instances::{Coefficient, ParametricTerms};
pub use map::names::{default_name, is_name, Names, VariableKind};
pub use map::parametric::{DistinctRows, Parameter, ParametricMap};
pub use map::piecewise_map::{PiecewiseMap, Signature};
pub use map::simplify::{
    certify, compose_simplified, is_multiple_of, range_of, range_on_box, simplifies_fully, simplify,
    simplify_expr,
};
pub use map::symbolic_map::SymbolicMap;
pub use map::variables::from_tensor_sizes;
pub use propagation::formulas::{Propagation, PropagationError};
pub use propagation::joint_map::RuntimeValue;
pub use propagation::map_sets::{MapSetId, MapSets};
pub use propagation::operand_map::{Direction, Exactness, Key, Link, MapId, OperandMap, Relation};
pub use propagation::operand_maps::OperandMaps;
pub use propagation::reached_instructions::ArraySets;
pub use propagation::scope::Scope;
pub use propagation::structure::Structure;
pub use sets::count::{count, is_empty};
pub use sets::image::{image_count, index_bits, inverse, is_bijection_onto, is_injective};
pub use sets::join_pieces::simplify_pieces;
pub use sets::piece_counts::{count_pairs, count_results};
pub use sets::piece_values::PieceValues;
pub use sets::piecewise::{
    are_disjoint, common_pairs, compose_pieces, covers, differing_point, has_no_pairs, inverse_pieces,
    is_function, subtract,
};
pub use sets::points::{Domain, PointStep, Points};
pub use sets::relate::{difference, intersect};
pub use simplify::all_laws;
pub use simplify::certificate::{Certificate, CertifiedStep, Claim};
pub use simplify::domain::{DomainSimplifier, Effort, Options, PointVariables};
pub use simplify::domain_simplifier::Outcome;
pub use simplify::law::{Group, Law};
pub use simplify::range::Info;
pub use simplify::simplifier::{Scratch, Status};
pub use text::{
    abridged_expr, abridged_indexing_map, abridged_piecewise_map, abridged_symbolic_map, read_expr,
    read_indexing_map, read_piecewise_map, read_symbolic_map, write_expr, write_indexing_map,
    write_piecewise_map, write_symbolic_map, ReadScratch, Style, VariableNames, MAX_TEXT_LENGTH,
};

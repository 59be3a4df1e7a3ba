//! Simplification on a domain: bounds and congruences, constraints, the rules and their driver.

pub(crate) mod constraints;
pub(crate) mod definedness;
pub(crate) mod domain;
pub(crate) mod driver;
pub(crate) mod facts;
pub(crate) mod laws;
pub(crate) mod range;
pub(crate) mod rules;
pub(crate) mod trace;
pub(crate) mod width;

pub(crate) use driver::{Scratch, Simplifier, Status};

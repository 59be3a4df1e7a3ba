//! Simplification on a domain: bounds and congruences, constraints, the rules and their driver.

#[macro_use]
pub(crate) mod law;

pub(crate) mod certificate;
pub(crate) mod conditions;
pub(crate) mod congruence;
pub(crate) mod constraints;
pub(crate) mod constructor_laws;
pub(crate) mod contradiction;
pub(crate) mod cost;
pub(crate) mod definedness;
pub(crate) mod domain;
pub(crate) mod domain_simplifier;
pub(crate) mod driver;
pub(crate) mod facts;
pub(crate) mod preimage;
pub(crate) mod presburger;
pub(crate) mod range;
pub(crate) mod recorder;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod simplifier;
pub(crate) mod stable_constraints;
pub(crate) mod width;

use law::Law;
pub(crate) use simplifier::{Scratch, Status};

/// All laws: the rules first, then those of constructors, constraints and ranges.
pub fn all_laws() -> impl Iterator<Item = Law> {
    let constraints = constraints::laws().chain(domain_simplifier::laws());
    rules::laws()
        .chain(constructor_laws::CONSTRUCTORS.iter().copied())
        .chain(constraints)
        .chain(range::laws())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_different() {
        let mut ids = HashSet::new();
        assert!(all_laws().all(|l| ids.insert(l.name)));
    }
}

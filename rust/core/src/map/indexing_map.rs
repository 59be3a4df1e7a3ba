//! `IndexingMap`: expressions over dimension, range and runtime variables, each with its interval, under constraints.
//!
//! The value is immutable and holds no arena: its expressions are one [`Dag`], results first, then constraints. To
//! work on it, [`IndexingMap::to_builder`] brings it into an arena, and [`MapBuilder::build`] makes a value again.

use crate::error::{Error, Result};
use crate::expr::flat::Dag;
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::names::{is_name, Names};
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// A variable: its bounds, and its name where it is not the default one of its place (`d0`, `s1`, `rt2`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    /// The name, if it is not the default.
    pub name: Option<Arc<str>>,
    /// The values that it takes, both ends included.
    pub interval: Interval,
}

impl Variable {
    /// A variable with the default name of its place.
    pub fn new(interval: Interval) -> Self {
        Variable { name: None, interval }
    }
}

/// The kind of a map: whether it has a domain and results at all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MapKind {
    /// A map of variables, results and constraints.
    Defined,
    /// A map whose domain is known to have no points: all such maps are equal.
    KnownEmpty,
    /// A map of which nothing is known: all such maps are equal.
    Undefined,
}

/// An immutable indexing map.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct IndexingMap {
    kind: MapKind,
    num_dims: u32,
    num_ranges: u32,
    num_results: u32,
    num_variables: u32,
    names: Names,
    /// Results and constraints; its tail has the bounds of the variables, then those of the constraints.
    dag: Dag,
}

impl Hash for IndexingMap {
    /// The numbers of dimensions, ranges and results as one word; the kind and the number of variables follow from the rest in
    /// nearly all maps.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [dims, ranges, results] = [self.num_dims, self.num_ranges, self.num_results].map(u64::from);
        state.write_u64(dims ^ ranges << 20 ^ results << 40);
        self.names.hash(state);
        self.dag.hash(state);
    }
}

/// A mutable map, whose expressions are nodes of an arena: operations work on it.
#[derive(Clone, Debug, Default)]
pub struct MapBuilder {
    /// The intervals of the variables: dimensions, then ranges, then runtime variables.
    pub intervals: Vec<Interval>,
    /// The names of the variables.
    pub names: Names,
    /// The number of dimensions.
    pub num_dims: usize,
    /// The number of range variables.
    pub num_ranges: usize,
    /// The results.
    pub results: Vec<Expr>,
    /// Expressions and the intervals that they must lie in.
    pub constraints: Vec<(Expr, Interval)>,
    /// Whether the domain is known to have no points.
    pub known_empty: bool,
}

impl IndexingMap {
    /// An undefined or known-empty map, which has no variables, no results and no constraints.
    pub(crate) fn without_points(arena: &mut Arena, kind: MapKind) -> Self {
        let dag = arena.export(&[]);
        let names = Names::default();
        IndexingMap { kind, num_dims: 0, num_ranges: 0, num_results: 0, num_variables: 0, names, dag }
    }

    /// The undefined map, of which nothing is known.
    pub fn undefined(arena: &mut Arena) -> Self {
        IndexingMap::without_points(arena, MapKind::Undefined)
    }

    /// The map whose domain has no points.
    pub fn known_empty(arena: &mut Arena) -> Self {
        IndexingMap::without_points(arena, MapKind::KnownEmpty)
    }

    /// A map from its parts. Errors: unknown variables, repeated or invalid names.
    pub fn new(arena: &mut Arena, parts: MapBuilder) -> Result<Self> {
        parts.verify(arena)?;
        parts.build(arena)
    }

    /// The kind: defined, known empty, or undefined.
    pub fn kind(&self) -> MapKind {
        self.kind
    }

    /// The number of dimensions.
    pub fn num_dims(&self) -> usize {
        self.num_dims as usize
    }

    /// The number of range variables.
    pub fn num_ranges(&self) -> usize {
        self.num_ranges as usize
    }

    /// The number of runtime variables.
    pub fn num_runtimes(&self) -> usize {
        self.num_variables() - self.num_dims() - self.num_ranges()
    }

    /// The number of variables: dimensions, ranges and runtime variables.
    pub fn num_variables(&self) -> usize {
        self.num_variables as usize
    }

    /// The number of results.
    pub fn num_results(&self) -> usize {
        self.num_results as usize
    }

    /// The intervals of all variables: dimensions, ranges, runtime variables.
    pub fn intervals(&self) -> impl ExactSizeIterator<Item = Interval> + '_ {
        intervals_of(&self.dag.tail()[..2 * self.num_variables()])
    }

    /// The intervals of the variables at `places`.
    pub(crate) fn intervals_at(&self, places: Range<usize>) -> impl ExactSizeIterator<Item = Interval> + '_ {
        intervals_of(&self.dag.tail()[2 * places.start..2 * places.end])
    }

    /// The interval of variable `i`.
    pub fn interval(&self, i: usize) -> Interval {
        let words = self.dag.tail();
        Interval::new(words[2 * i], words[2 * i + 1])
    }

    /// The intervals of the constraints, in the order of their expressions.
    pub fn constraint_bounds(&self) -> impl ExactSizeIterator<Item = Interval> + '_ {
        intervals_of(&self.dag.tail()[2 * self.num_variables()..])
    }

    /// The names of the variables.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The expressions: results, then constraints.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// The name of variable `i`, default or given.
    pub fn name(&self, i: usize) -> String {
        self.names.full(i, self.num_dims(), self.num_ranges())
    }

    /// The map in an arena.
    pub fn to_builder(&self, arena: &mut Arena) -> MapBuilder {
        let mut builder = MapBuilder::default();
        self.rebuild_into(arena, &mut builder);
        builder
    }

    /// As [`IndexingMap::to_builder`], in memory that is used again.
    pub(crate) fn rebuild_into(&self, arena: &mut Arena, builder: &mut MapBuilder) {
        builder.clear();
        arena.import_into(&self.dag, &mut builder.results);
        let constraints = builder.results.drain(self.num_results()..);
        builder.constraints.extend(constraints.zip(self.constraint_bounds()));
        builder.intervals.extend(self.intervals());
        builder.names = self.names.clone();
        (builder.num_dims, builder.num_ranges) = (self.num_dims(), self.num_ranges());
        builder.known_empty = self.kind == MapKind::KnownEmpty;
    }
}

fn intervals_of(words: &[i64]) -> impl ExactSizeIterator<Item = Interval> + '_ {
    words.chunks_exact(2).map(|w| Interval::new(w[0], w[1]))
}

impl MapBuilder {
    /// Appends variables after the others.
    pub fn add_variables(&mut self, variables: Vec<Variable>) {
        let mut names = self.names.given().to_vec();
        names.resize(self.intervals.len(), None);
        names.extend(variables.iter().map(|v| v.name.clone()));
        self.names = Names::new(names);
        self.intervals.extend(variables.iter().map(|v| v.interval));
    }

    /// Adds the constraint that `expr` lies in `interval`: decided for a constant, a bound for a variable.
    #[inline]
    pub fn add_constraint(&mut self, arena: &Arena, expr: Expr, interval: Interval) {
        if interval.is_empty() {
            self.known_empty = true;
        } else if let Some(c) = arena.as_constant(expr) {
            self.known_empty |= !interval.contains(c);
        } else if let Some(v) = arena.as_variable(expr) {
            let own = &mut self.intervals[v as usize];
            *own = own.intersect(interval);
        } else {
            self.constraints.push((expr, interval));
        }
    }

    /// Canonicalizes constraints: decides those on constants, turns those on variables into bounds, joins those on one
    /// expression, and sorts them, so that equal sets become equal lists.
    pub(crate) fn canonicalize_constraints(&mut self, arena: &Arena) {
        if !self.constraints.is_empty() {
            self.canonicalize_list(arena);
        }
        let constrained = self.constraints.iter().map(|c| &c.1);
        self.known_empty |= self.intervals.iter().chain(constrained).any(|i| i.is_empty());
    }

    fn canonicalize_list(&mut self, arena: &Arena) {
        let decided = |(e, i): &(Expr, Interval)| i.is_empty() || arena.leaf(*e).is_some();
        if self.constraints.iter().any(decided) {
            for (expr, interval) in std::mem::take(&mut self.constraints) {
                self.add_constraint(arena, expr, interval);
            }
        }
        let ordered = |w: &[(Expr, Interval)]| arena.compare(w[0].0, w[1].0).is_lt();
        if !self.constraints.windows(2).all(ordered) {
            self.constraints.sort_unstable_by(|a, b| arena.compare(a.0, b.0));
            self.constraints.dedup_by(|later, first| {
                let same = later.0 == first.0;
                if same {
                    first.1 = first.1.intersect(later.1);
                }
                same
            });
        }
    }

    /// Adds constraints that no divisor is 0, before expressions are used on other domains or apart from each other.
    pub(crate) fn state_conditions(&mut self, arena: &mut Arena) -> Result<()> {
        let roots = self.results.iter().copied().chain(self.constraints.iter().map(|c| c.0));
        for (e, interval) in arena.conditions(&self.intervals, roots)? {
            self.add_constraint(arena, e, interval);
        }
        Ok(())
    }

    /// Builds the map, its constraints canonical; [`MapKind::KnownEmpty`] if an interval is empty.
    pub fn build(mut self, arena: &mut Arena) -> Result<IndexingMap> {
        self.take_map(arena)
    }

    /// As [`MapBuilder::build`], leaving the builder in an unspecified state, for its memory to be reused.
    pub(crate) fn take_map(&mut self, arena: &mut Arena) -> Result<IndexingMap> {
        if !self.constraints.is_empty() {
            self.canonicalize_list(arena);
        }
        let mut empty = self.known_empty;
        let num_results = self.results.len();
        self.results.extend(self.constraints.iter().map(|(e, _)| *e));
        if u32::try_from(self.results.len().max(self.intervals.len())).is_err() {
            return Err(Error::invalid_map("too many variables or results"));
        }
        let dag = arena.export_with(&self.results, |words| {
            let mut write = |i: &Interval| {
                empty |= i.is_empty();
                words.extend_from_slice(&[i.lower, i.upper]);
            };
            self.intervals.iter().for_each(&mut write);
            self.constraints.iter().for_each(|(_, i)| write(i));
        });
        if empty {
            return Ok(IndexingMap::known_empty(arena));
        }
        Ok(IndexingMap {
            kind: MapKind::Defined,
            num_dims: self.num_dims as u32,
            num_ranges: self.num_ranges as u32,
            num_results: num_results as u32,
            num_variables: self.intervals.len() as u32,
            names: std::mem::take(&mut self.names),
            dag,
        })
    }

    /// The map of no variables and no results, in the same memory.
    pub(crate) fn clear(&mut self) {
        self.intervals.clear();
        self.names = Names::default();
        self.results.clear();
        self.constraints.clear();
        (self.num_dims, self.num_ranges, self.known_empty) = (0, 0, false);
    }

    /// The number of runtime variables.
    pub fn num_runtimes(&self) -> usize {
        self.intervals.len() - self.num_dims - self.num_ranges
    }

    /// Checks that all variables used exist, and that their names are valid and distinct.
    pub fn verify(&self, arena: &mut Arena) -> Result<()> {
        let mut all = self.results.clone();
        all.extend(self.constraints.iter().map(|(e, _)| *e));
        self.verify_variables(arena, &all)?;
        self.verify_names()
    }

    /// Checks that all variables of `e` are variables of the map.
    pub fn verify_expr(&self, arena: &mut Arena, e: Expr) -> Result<()> {
        self.verify_variables(arena, &[e])
    }

    fn verify_variables(&self, arena: &mut Arena, all: &[Expr]) -> Result<()> {
        if let Some(v) = arena.variables(all).last().filter(|v| **v as usize >= self.intervals.len()) {
            return Err(Error::invalid_map(format!(
                "variable {v} is used, but there are {} dimension, {} range and {} runtime variables",
                self.num_dims,
                self.num_ranges,
                self.num_runtimes()
            )));
        }
        Ok(())
    }

    fn verify_names(&self) -> Result<()> {
        if self.names.are_default() {
            return Ok(());
        }
        let mut seen = HashSet::new();
        for i in 0..self.intervals.len() {
            let name = self.names.full(i, self.num_dims, self.num_ranges);
            if !is_name(&name) {
                return Err(Error::invalid_map(format!(
                    "{name:?} is no name of a variable: letters, digits, '_' and '.', not first a digit, no operator"
                )));
            }
            if let Some(twice) = seen.replace(name) {
                return Err(Error::invalid_map(format!("two variables have the name {twice:?}")));
            }
        }
        Ok(())
    }

    /// Canonicalizes names after variables moved: names that look like default names, and repeated names, become default.
    pub(crate) fn canonicalize_names(&mut self) {
        self.names = self.names.moved(0..self.intervals.len());
    }
}

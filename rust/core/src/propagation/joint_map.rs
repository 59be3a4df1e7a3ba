//! Joint maps: a map together with the indices of its runtime values, simplified and renumbered as one.

use crate::error::Result;
use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::propagation::known_elements::{KnownElement, KnownElements};
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;

/// The value of a runtime variable: an element of an instruction, and how it is read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RuntimeValue {
    /// The instruction, by a number that the caller chooses.
    pub instruction: u32,
    /// The map from the index of the map that the value belongs to, to the index of the element.
    pub map: IndexingMap,
    /// The array of a tuple-shaped instruction.
    pub output: u32,
    /// Whether values out of bounds are dropped, not clamped.
    pub drops: bool,
    /// The interval that values are clamped to; `None` for that of the variable.
    pub bounds: Option<Interval>,
}

/// A runtime value of a joint map, its index over the map's variables.
#[derive(Clone)]
pub(super) struct ValueSource {
    pub instruction: u32,
    index: Vec<Expr>,
    output: u32,
    bounds: Interval,
    drops: bool,
}

impl ValueSource {
    /// Whether the variable's interval excludes values that may be read: the map then holds for some values alone.
    fn is_condition(&self, interval: Interval) -> bool {
        self.drops || self.bounds.lower < interval.lower || interval.upper < self.bounds.upper
    }

    /// The value, clamped as it is read, if it is known; `None` for an integer that would have to be clamped.
    pub fn known_value(&self, arena: &mut Arena, elements: &KnownElements) -> Result<Option<Expr>> {
        match elements.at(arena, &self.index)? {
            Some(KnownElement::Integer(v)) if self.drops || self.bounds.contains(v) => {
                Ok(Some(arena.constant(v)))
            }
            None | Some(KnownElement::Integer(_)) => Ok(None),
            Some(KnownElement::Expression(value)) if self.drops => Ok(Some(value)),
            Some(KnownElement::Expression(value)) => {
                let (lower, upper) = (arena.constant(self.bounds.lower), arena.constant(self.bounds.upper));
                let raised = arena.max(value, lower)?;
                arena.min(raised, upper).map(Some)
            }
        }
    }
}

/// A change of variables: dimensions become expressions, range and runtime variables are shifted.
struct Renumbering<'a> {
    dims: &'a [Expr],
    first_range: usize,
    first_runtime: usize,
}

impl Renumbering<'_> {
    /// Imports the results of the map of a runtime value.
    fn import_results(&self, arena: &mut Arena, map: &IndexingMap) -> Result<Vec<Expr>> {
        let (dims, ranges) = (self.dims.len(), map.num_ranges());
        let place = |arena: &mut Arena, v: u32| match v as usize {
            v if v < dims => self.dims[v],
            v if v < dims + ranges => arena.variable((self.first_range + v - dims) as u32),
            v => arena.variable((self.first_runtime + v - dims - ranges) as u32),
        };
        let mut results = Vec::with_capacity(map.dag().root_count());
        arena.import_with(map.dag(), place, &mut results)?;
        results.truncate(map.num_results());
        Ok(results)
    }

    fn sources(
        &self,
        arena: &mut Arena,
        owner: &IndexingMap,
        values: &[RuntimeValue],
        out: &mut Vec<ValueSource>,
    ) -> Result<()> {
        let first = owner.num_dims() + owner.num_ranges();
        for (k, v) in values.iter().enumerate() {
            out.push(ValueSource {
                instruction: v.instruction,
                index: self.import_results(arena, &v.map)?,
                output: v.output,
                bounds: v.bounds.unwrap_or_else(|| owner.interval(first + k)),
                drops: v.drops,
            });
        }
        Ok(())
    }
}

fn variables(arena: &mut Arena, count: usize) -> Vec<Expr> {
    (0..count).map(|v| arena.variable(v as u32)).collect()
}

/// A map in an arena, and the sources of its runtime variables' values, in order.
#[derive(Clone)]
pub(super) struct JointMap {
    pub map: MapBuilder,
    pub sources: Vec<ValueSource>,
}

impl JointMap {
    fn empty() -> Self {
        JointMap { map: MapBuilder { known_empty: true, ..MapBuilder::default() }, sources: Vec::new() }
    }

    /// A map with its runtime values.
    pub fn new(arena: &mut Arena, map: &IndexingMap, values: &[RuntimeValue]) -> Result<Self> {
        let dims = variables(arena, map.num_dims());
        let (first_range, first_runtime) = (dims.len(), dims.len() + map.num_ranges());
        let mut sources = Vec::with_capacity(values.len());
        Renumbering { dims: &dims, first_range, first_runtime }.sources(arena, map, values, &mut sources)?;
        Ok(JointMap { map: map.to_builder(arena), sources })
    }

    /// Composes `second` after `first`, without simplifying: runtime variables of `second` come before those of `first`.
    pub fn composed(
        arena: &mut Arena,
        (first, firsts): (&IndexingMap, &[RuntimeValue]),
        (second, seconds): (&IndexingMap, &[RuntimeValue]),
    ) -> Result<Self> {
        let mut map = MapBuilder::default();
        if map.set_to_composition(arena, first, second)? != MapKind::Defined {
            return Ok(JointMap::empty());
        }
        map.canonicalize_constraints(arena);
        if map.known_empty {
            return Ok(JointMap::empty());
        }
        let dims = variables(arena, map.num_dims);
        let symbols = map.num_dims + map.num_ranges;
        let of_first = Renumbering {
            dims: &dims,
            first_range: map.num_dims + second.num_ranges(),
            first_runtime: symbols + second.num_runtimes(),
        };
        let index = of_first.import_results(arena, first)?;
        let of_second = Renumbering { dims: &index, first_range: map.num_dims, first_runtime: symbols };
        let mut sources = Vec::with_capacity(firsts.len() + seconds.len());
        of_second.sources(arena, second, seconds, &mut sources)?;
        of_first.sources(arena, first, firsts, &mut sources)?;
        Ok(JointMap { map, sources })
    }

    /// Simplifies map and values together, over one domain.
    pub fn simplified(mut self, arena: &mut Arena, scratch: &mut Scratch) -> Self {
        let count = self.map.results.len();
        self.map.results.extend(self.sources.iter().flat_map(|s| &s.index));
        self.map.canonicalize_constraints(arena);
        if !self.map.known_empty {
            self.map.simplify_if_needed(arena, scratch, PointVariables::Replace);
            self.map.canonicalize_constraints(arena);
        }
        if self.map.known_empty {
            return JointMap::empty(); // without elements no value is read
        }
        let mut rest = self.map.results.drain(count..);
        for s in &mut self.sources {
            s.index.iter_mut().for_each(|e| *e = rest.next().unwrap_or(*e));
        }
        drop(rest);
        self
    }

    /// Substitutes known values for their variables, and simplifies again.
    pub fn with_known_values(
        mut self,
        arena: &mut Arena,
        scratch: &mut Scratch,
        known: &[Option<Expr>],
    ) -> Result<Self> {
        let first = self.map.num_dims + self.map.num_ranges;
        let mut places = variables(arena, self.map.intervals.len());
        for (k, e) in known.iter().enumerate() {
            places[first + k] = e.unwrap_or(places[first + k]);
        }
        self.map.substitute(arena, &places)?;
        for (k, e) in known.iter().enumerate() {
            if let Some(e) = e {
                let place = arena.substitute(&[*e], &places)?[0];
                let tightened = self.map.intervals[first + k]; // becomes a constraint on the known value
                self.map.constraints.push((place, tightened));
                self.map.intervals[first + k] = self.sources[k].bounds;
                self.sources[k].drops = false;
            }
        }
        self.substitute_sources(arena, &places)?;
        Ok(self.simplified(arena, scratch))
    }

    fn substitute_sources(&mut self, arena: &mut Arena, places: &[Expr]) -> Result<()> {
        for s in &mut self.sources {
            s.index = arena.substitute(&s.index, places)?;
        }
        Ok(())
    }

    /// Marks the variables that results or constraints use, directly or through the index of a used runtime value.
    ///
    /// A runtime variable whose interval is narrower than its clamp, or whose values are dropped, constrains its value
    /// and counts as used.
    fn used(&self, arena: &mut Arena) -> Vec<bool> {
        let first = self.map.num_dims + self.map.num_ranges;
        let mut used = vec![false; self.map.intervals.len()];
        let mut roots = self.map.results.clone();
        roots.extend(self.map.constraints.iter().map(|c| c.0));
        arena.variables(&roots).iter().for_each(|v| used[*v as usize] = true);
        for (k, s) in self.sources.iter().enumerate() {
            used[first + k] |= s.is_condition(self.map.intervals[first + k]);
        }
        let mut pending: Vec<usize> = (0..self.sources.len()).filter(|k| used[first + k]).collect();
        while let Some(k) = pending.pop() {
            for v in arena.variables(&self.sources[k].index) {
                let v = v as usize;
                if v >= first && !used[v] {
                    pending.push(v - first);
                }
                used[v] = true;
            }
        }
        used
    }

    /// Removes unused range and runtime variables.
    pub fn without_unused(mut self, arena: &mut Arena) -> Result<Self> {
        if self.map.known_empty {
            return Ok(JointMap::empty());
        }
        let used = self.used(arena);
        let (dims, symbols) = (self.map.num_dims, self.map.num_dims + self.map.num_ranges);
        let kept: Vec<usize> = (0..used.len()).filter(|v| *v < dims || used[*v]).collect();
        if kept.len() == used.len() {
            return Ok(self);
        }
        let ranges = kept.iter().filter(|v| (dims..symbols).contains(*v)).count();
        let mut at = 0;
        self.sources.retain(|_| {
            at += 1;
            used[symbols + at - 1]
        });
        let mut places: Vec<Expr> = used.iter().map(|_| arena.constant(0)).collect();
        for (new, old) in kept.iter().enumerate() {
            places[*old] = arena.variable(new as u32);
        }
        self.map.reorder(arena, &kept, dims, ranges)?;
        self.substitute_sources(arena, &places)?;
        Ok(self)
    }

    /// Splits into the map and its runtime values.
    pub fn into_parts(self, arena: &mut Arena) -> Result<(IndexingMap, Box<[RuntimeValue]>)> {
        let mut values = Vec::with_capacity(self.sources.len());
        for s in self.sources {
            let map = value_map(arena, &self.map, s.index)?;
            let (instruction, bounds) = (s.instruction, Some(s.bounds));
            values.push(RuntimeValue { instruction, map, output: s.output, drops: s.drops, bounds });
        }
        Ok((self.map.build(arena)?, values.into()))
    }
}

/// The map of a runtime value over the variables of `owner`, or over its dimensions if it uses no others.
fn value_map(arena: &mut Arena, owner: &MapBuilder, index: Vec<Expr>) -> Result<IndexingMap> {
    let over_dims = |arena: &mut Arena, roots: &[Expr]| {
        arena.variables(roots).last().is_none_or(|v| (*v as usize) < owner.num_dims)
    };
    if !over_dims(arena, &index) {
        return MapBuilder { results: index, ..owner.clone() }.build(arena);
    }
    let mut alone = MapBuilder { num_dims: owner.num_dims, results: index, ..MapBuilder::default() };
    alone.intervals.extend_from_slice(&owner.intervals[..owner.num_dims]);
    alone.constraints.extend(owner.constraints.iter().filter(|c| over_dims(arena, &[c.0])));
    alone.build(arena)
}

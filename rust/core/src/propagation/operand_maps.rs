//! The table of a program's operand maps: equal maps have one number, and results of operations are cached by number.

use crate::error::Result;
use crate::expr::Arena;
use crate::hlo_text::UNBOUNDED;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapKind};
use crate::map::simplify::{compose_simplified, simplify};
use crate::map::variables::from_tensor_sizes;
use crate::propagation::interner::{Interner, Table};
use crate::propagation::joint_map::{JointMap, RuntimeValue};
use crate::propagation::known_elements::{KnownElements, Source};
use crate::propagation::operand_map::{Exactness, MapId, OperandMap, Relation};
use crate::propagation::reasons::Reasons;
use crate::propagation::replicas;
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;

type Sizes = Box<[i64]>;

const MAX_PIECES: usize = 16; // if there are more, only the bound that they refine is kept
const UNKNOWN: MapId = MapId::MAX;
/// The reason why a map on an array is unknown.
pub(super) const UNKNOWN_SIZE: &str = "a dimension's size is not known, nor bounded";

/// The operand maps of a program.
#[derive(Default)]
pub struct OperandMaps {
    arena: Arena,
    scratch: Scratch,
    relations: Interner<Relation>,
    maps: Interner<OperandMap>,
    reasons: Reasons,
    over_approximated: Table<(MapId, u32), MapId>,
    composed_relations: Table<(u32, u32), u32>,
    composed: Table<(MapId, MapId), MapId>,
    normalized_relations: Table<u32, u32>,
    /// The normalized map, by map; `UNKNOWN` until it is computed.
    normalized: Vec<MapId>,
    /// Whether a map or its pieces have runtime values, by map; filled on demand.
    with_values: Vec<bool>,
    wholes: Table<(Sizes, Sizes), u32>,
    identities: Table<Sizes, MapId>,
    /// By instruction, the elements that are known before run time, or none.
    known_elements: Table<u32, Option<KnownElements>>,
}

impl OperandMaps {
    /// The map of a number.
    pub fn map(&self, id: MapId) -> &OperandMap {
        self.maps.get(id)
    }

    /// The relation of a number.
    pub fn relation(&self, number: u32) -> &Relation {
        self.relations.get(number)
    }

    /// The relation of a map.
    pub fn relation_of(&self, id: MapId) -> &Relation {
        self.relations.get(self.maps.get(id).relation)
    }

    /// The reason of a number.
    pub fn reason(&self, number: u32) -> &str {
        self.reasons.text(number)
    }

    /// The number of a map.
    pub fn add(
        &mut self,
        relation: Relation,
        exactness: Exactness,
        reason: &str,
        pieces: Option<Box<[MapId]>>,
    ) -> MapId {
        let relation = self.relations.intern(relation);
        let reason = self.reason_number(reason);
        self.maps.intern(OperandMap { relation, exactness, reason, pieces })
    }

    /// The number of a reason.
    pub fn reason_number(&mut self, reason: &str) -> u32 {
        self.reasons.intern(reason)
    }

    /// The unknown map, with the number of its reason.
    pub fn unknown(&mut self, reason: u32) -> MapId {
        let relation = Relation::plain(IndexingMap::undefined(&mut self.arena));
        let relation = self.relations.intern(relation);
        self.maps.intern(OperandMap { relation, exactness: Exactness::Unknown, reason, pieces: None })
    }

    /// The unknown map, with its reason.
    pub fn unknown_because(&mut self, reason: &str) -> MapId {
        let reason = self.reason_number(reason);
        self.unknown(reason)
    }

    /// The identity on an array; unknown where a size is.
    pub fn identity(&mut self, sizes: &[i64]) -> Result<MapId> {
        if sizes.contains(&UNBOUNDED) {
            return Ok(self.unknown_because(UNKNOWN_SIZE));
        }
        if let Some(known) = self.identities.get(sizes) {
            return Ok(*known);
        }
        self.arena.clear();
        let results = (0..sizes.len()).map(|i| self.arena.variable(i as u32)).collect();
        let map = from_tensor_sizes(results, sizes, &[])?.build(&mut self.arena)?;
        let id = self.add(Relation::plain(map), Exactness::Exact, "", None);
        self.identities.insert(sizes.into(), id);
        Ok(id)
    }

    /// Whether a map is exactly the identity on an array.
    pub fn is_identity(&mut self, id: MapId, sizes: &[i64]) -> Result<bool> {
        let m = self.maps.get(id);
        let relation = self.relations.get(m.relation);
        let is_more = relation.replicas.is_some() || !relation.values.is_empty();
        if !m.is_plain() || is_more || relation.map.num_results() != sizes.len() {
            return Ok(false);
        }
        let identity = self.identity(sizes)?;
        Ok(self.are_plainly_equal(id, identity))
    }

    /// Whether each index leads to one element, which no runtime value decides.
    pub(super) fn is_function(&self, id: MapId) -> bool {
        let map = &self.relation_of(id).map;
        map.kind() == MapKind::Defined && map.num_variables() == map.num_dims()
    }

    /// Whether both maps are plain and of one relation.
    pub(super) fn are_plainly_equal(&self, one: MapId, other: MapId) -> bool {
        let (a, b) = (self.maps.get(one), self.maps.get(other));
        a.relation == b.relation && a.is_plain() && b.is_plain()
    }

    /// The map from each index of an array to all of another: exact without a `reason`, else over-approximate.
    pub fn whole(&mut self, sizes: &[i64], others: &[i64], reason: &str) -> Result<MapId> {
        let relation = self.whole_relation(sizes, others)?;
        let reason = self.reason_number(reason);
        let exactness = if reason == 0 { Exactness::Exact } else { Exactness::OverApproximate };
        Ok(self.maps.intern(OperandMap { relation, exactness, reason, pieces: None }))
    }

    /// The relation of a map from each index of an array to all of another.
    pub(super) fn whole_relation(&mut self, sizes: &[i64], others: &[i64]) -> Result<u32> {
        let key = (Box::from(sizes), Box::from(others));
        if let Some(known) = self.wholes.get(&key) {
            return Ok(*known);
        }
        self.arena.clear();
        let first = sizes.len();
        let results = (0..others.len()).map(|i| self.arena.variable((first + i) as u32)).collect();
        let map = from_tensor_sizes(results, sizes, others)?.build(&mut self.arena)?;
        let map = self.simplified(&map)?;
        let relation = self.relations.intern(Relation::plain(map));
        self.wholes.insert(key, relation);
        Ok(relation)
    }

    fn simplified(&mut self, map: &IndexingMap) -> Result<IndexingMap> {
        self.arena.clear();
        let simplified = simplify(&mut self.arena, &mut self.scratch, map, PointVariables::Replace)?;
        self.without_unused(simplified)
    }

    fn without_unused(&mut self, map: IndexingMap) -> Result<IndexingMap> {
        if map.kind() != MapKind::Defined || map.num_variables() == map.num_dims() {
            return Ok(map);
        }
        self.arena.clear();
        let mut builder = map.to_builder(&mut self.arena);
        builder.remove_unused_symbols(&mut self.arena)?;
        builder.build(&mut self.arena)
    }

    /// The map as over-approximate, for one more reason; unknown maps stay unknown.
    pub fn over_approximated(&mut self, id: MapId, because: u32) -> MapId {
        if let Some(known) = self.over_approximated.get(&(id, because)) {
            return *known;
        }
        let mut m = self.maps.get(id).clone();
        if m.exactness == Exactness::Unknown {
            return id;
        }
        m.reason = self.reasons.append(m.reason, because);
        m.exactness = Exactness::OverApproximate;
        let id_of_bound = self.maps.intern(m);
        self.over_approximated.insert((id, because), id_of_bound);
        id_of_bound
    }

    /// Composes `second` after `first`, normalized; as exact as the less exact of the two.
    pub fn compose(&mut self, first: MapId, second: MapId) -> Result<MapId> {
        if let Some(known) = self.composed.get(&(first, second)) {
            return Ok(*known);
        }
        let (a, b) = (self.maps.get(first).clone(), self.maps.get(second).clone());
        let (mut exactness, mut reason) = (a.exactness, a.reason);
        if b.exactness != Exactness::Exact || b.reason != 0 {
            exactness = exactness.max(b.exactness);
            reason = self.reasons.join(a.reason, b.reason);
        }
        let kinds = [a.relation, b.relation].map(|r| self.relations.get(r).map.kind());
        let composition = if kinds.contains(&MapKind::Undefined) {
            self.unknown(reason)
        } else if kinds.contains(&MapKind::KnownEmpty) {
            let empty = self.relations.intern(Relation::plain(IndexingMap::known_empty(&mut self.arena)));
            self.maps.intern(OperandMap { relation: empty, exactness, reason, pieces: None })
        } else {
            let relation = self.compose_relations(a.relation, b.relation)?;
            let pieces = self.compose_pieces((first, &a), (second, &b))?;
            self.maps.intern(OperandMap { relation, exactness, reason, pieces })
        };
        self.composed.insert((first, second), composition);
        Ok(composition)
    }

    fn compose_relations(&mut self, first: u32, second: u32) -> Result<u32> {
        if let Some(known) = self.composed_relations.get(&(first, second)) {
            return Ok(*known);
        }
        self.arena.clear();
        let (a, b) = (self.relations.get(first), self.relations.get(second));
        let replicas = match (&a.replicas, &b.replicas) {
            (own, None) => own.clone(),
            (own, Some(asked)) => {
                let (arena, scratch) = (&mut self.arena, &mut self.scratch);
                Some(replicas::compose(arena, scratch, (&a.map, own.as_ref()), asked)?)
            }
        };
        self.arena.clear();
        let (map, read) = if a.values.is_empty() && b.values.is_empty() {
            let map = compose_simplified(&mut self.arena, &mut self.scratch, &a.map, &b.map)?;
            (self.without_unused(map)?, Box::default())
        } else {
            let joint = JointMap::composed(&mut self.arena, (&a.map, &a.values), (&b.map, &b.values))?;
            self.simplify_joint(joint)?
        };
        let relation = self.relations.intern(Relation { map, values: read, replicas });
        self.composed_relations.insert((first, second), relation);
        Ok(relation)
    }

    /// Whether it has been noted which elements of an instruction are known.
    pub(super) fn knows_of(&self, instruction: u32) -> bool {
        self.known_elements.contains_key(&instruction)
    }

    /// Notes that no element of an instruction is known.
    pub(super) fn note_unknown(&mut self, instruction: u32) {
        self.known_elements.insert(instruction, None);
    }

    /// Notes that the elements of an instruction are those of `source`, which the maps `moves` lead to, one after the other,
    /// from an index of `rank` dimensions.
    pub(super) fn note_known(
        &mut self,
        instruction: u32,
        (rank, moves): (usize, &[MapId]),
        source: Source,
    ) -> Result<()> {
        self.arena.clear();
        let mut index: Vec<_> = (0..rank as u32).map(|v| self.arena.variable(v)).collect();
        for id in moves {
            let map = &self.relations.get(self.maps.get(*id).relation).map;
            index = self.arena.import_substituted(map.dag(), &index)?;
            index.truncate(map.num_results());
        }
        let index = self.arena.export(&index);
        self.known_elements.insert(instruction, Some(KnownElements { index, source }));
        Ok(())
    }

    /// Simplifies a joint map, substitutes known values, removes unused symbols, and splits it.
    fn simplify_joint(&mut self, joint: JointMap) -> Result<(IndexingMap, Box<[RuntimeValue]>)> {
        let (arena, scratch) = (&mut self.arena, &mut self.scratch);
        let mut joint = joint.simplified(arena, scratch);
        let mut known = vec![None; joint.sources.len()];
        for (value, source) in known.iter_mut().zip(&joint.sources) {
            if let Some(Some(elements)) = self.known_elements.get(&source.instruction) {
                *value = source.known_value(arena, elements)?;
            }
        }
        if known.iter().any(Option::is_some) {
            joint = joint.with_known_values(arena, scratch, &known)?;
        }
        joint.without_unused(arena)?.into_parts(arena)
    }

    fn compose_pieces(
        &mut self,
        (first, a): (MapId, &OperandMap),
        (second, b): (MapId, &OperandMap),
    ) -> Result<Option<Box<[MapId]>>> {
        if (a.pieces.is_none() && b.pieces.is_none()) || a.exactness.max(b.exactness) == Exactness::Unknown {
            return Ok(None);
        }
        let firsts = a.pieces.clone().unwrap_or_else(|| Box::new([first]));
        let seconds = b.pieces.clone().unwrap_or_else(|| Box::new([second]));
        let inexact = |p: &MapId| self.maps.get(*p).exactness != Exactness::Exact;
        if firsts.len() * seconds.len() > MAX_PIECES || firsts.iter().chain(&*seconds).any(inexact) {
            return Ok(None);
        }
        let mut pieces = Vec::new();
        for one in &*firsts {
            for other in &*seconds {
                let piece = self.compose(*one, *other)?;
                if !self.is_known_empty(piece) {
                    pieces.push(piece);
                }
            }
        }
        Ok(Some(pieces.into()))
    }

    /// Whether the map is known to have no points.
    pub fn is_known_empty(&self, id: MapId) -> bool {
        self.relation_of(id).map.kind() == MapKind::KnownEmpty
    }

    /// Whether the map, or one of its pieces, has runtime values.
    pub fn has_runtime_values(&mut self, id: MapId) -> bool {
        for k in self.with_values.len() as MapId..self.maps.count() {
            let own = |id: MapId| !self.relation_of(id).values.is_empty();
            self.with_values.push(own(k) || self.map(k).pieces.iter().flatten().any(|p| own(*p)));
        }
        self.with_values[id as usize]
    }

    /// Normalizes a map as a formula states it: simplified, known values substituted, unused symbols removed.
    pub fn normalize(&mut self, id: MapId) -> Result<MapId> {
        match self.normalized.get(id as usize) {
            Some(&known) if known != UNKNOWN => return Ok(known),
            _ => {}
        }
        let normalized = self.normalize_uncached(id)?;
        self.normalized.resize(self.maps.count() as usize, UNKNOWN);
        self.normalized[id as usize] = normalized;
        Ok(normalized)
    }

    fn normalize_uncached(&mut self, id: MapId) -> Result<MapId> {
        let mut m = self.maps.get(id).clone();
        if self.relations.get(m.relation).map.kind() == MapKind::Undefined {
            return Ok(id);
        }
        m.relation = self.normalize_relation(m.relation)?;
        if let Some(pieces) = &m.pieces {
            let mut kept = Vec::with_capacity(pieces.len());
            for p in pieces {
                let piece = self.normalize(*p)?;
                if !self.is_known_empty(piece) {
                    kept.push(piece);
                }
            }
            m.pieces = Some(kept.into());
        }
        Ok(self.maps.intern(m))
    }

    fn normalize_relation(&mut self, number: u32) -> Result<u32> {
        if let Some(known) = self.normalized_relations.get(&number) {
            return Ok(*known);
        }
        let Relation { map, values: read, replicas } = self.relations.get(number).clone();
        self.arena.clear();
        let replicas = match replicas {
            Some(r) => Some(simplify(&mut self.arena, &mut self.scratch, &r, PointVariables::Replace)?),
            None => None,
        };
        let (map, read) = if map.kind() == MapKind::KnownEmpty || read.is_empty() {
            (self.simplified(&map)?, Box::default())
        } else {
            self.arena.clear();
            let joint = JointMap::new(&mut self.arena, &map, &read)?;
            self.simplify_joint(joint)?
        };
        let relation = self.relations.intern(Relation { map, values: read, replicas });
        self.normalized_relations.insert(number, relation);
        Ok(relation)
    }

    /// Replaces the instructions whose values a map and its pieces read.
    pub fn replace_instructions(&mut self, id: MapId, place: &impl Fn(u32) -> u32) -> MapId {
        if !self.has_runtime_values(id) {
            return id;
        }
        let is_unchanged =
            |id: MapId| self.relation_of(id).values.iter().all(|v| place(v.instruction) == v.instruction);
        if is_unchanged(id) && self.map(id).pieces.iter().flatten().all(|p| is_unchanged(*p)) {
            return id;
        }
        let mut m = self.maps.get(id).clone();
        let mut relation = self.relations.get(m.relation).clone();
        relation.values.iter_mut().for_each(|v| v.instruction = place(v.instruction));
        m.relation = self.relations.intern(relation);
        if let Some(pieces) = &mut m.pieces {
            for p in pieces.iter_mut() {
                *p = self.replace_instructions(*p, place);
            }
        }
        self.maps.intern(m)
    }

    /// Merges two maps of one relation to one array: the more exact one, or the bound refined by the pieces of both.
    pub fn merged(&mut self, one: MapId, other: MapId) -> MapId {
        let (a, b) = (self.maps.get(one), self.maps.get(other));
        if one == other
            || a.exactness == Exactness::Exact
            || a.pieces == b.pieces && b.exactness != Exactness::Exact
        {
            return one;
        }
        if b.exactness == Exactness::Exact {
            return other;
        }
        let pieces = match (&a.pieces, &b.pieces) {
            (Some(a), Some(b)) => {
                let mut both = a.to_vec();
                b.iter().for_each(|p| {
                    if !both.contains(p) {
                        both.push(*p);
                    }
                });
                (both.len() <= MAX_PIECES).then(|| both.into())
            }
            _ => None,
        };
        let m = OperandMap { pieces, ..a.clone() };
        self.maps.intern(m)
    }

    /// The sizes of the array that a map starts at.
    pub(super) fn domain_sizes(&self, id: MapId) -> Vec<i64> {
        let map = &self.relation_of(id).map;
        map.intervals().take(map.num_dims()).map(|i: Interval| i.upper.saturating_add(1)).collect()
    }
}

//! Sets of maps that lead to one array, in the order in which they were found. Equal sets have one number; results of
//! operations are cached by number.

use crate::error::Result;
use crate::map::indexing_map::MapKind;
use crate::propagation::interner::{Interner, Table};
use crate::propagation::operand_map::{Exactness, MapId};
use crate::propagation::operand_maps::OperandMaps;

/// The number of a set.
pub type MapSetId = u32;

const MAX_MAPS: usize = 64;
const MAX_WITH_VALUES: usize = 16; // maps with runtime values are expensive to compose, and rarely many
const TOO_MANY: &str =
    "more than 64 different maps (16 with runtime values) reach this value; it is named as a whole";
/// The set without maps.
pub(super) const EMPTY_SET: MapSetId = 0;
/// Stands for the identity in keys of `compositions`.
const IDENTITY: MapId = MapId::MAX;

/// The sets of maps of a program.
pub struct MapSets {
    /// The maps.
    pub maps: OperandMaps,
    sets: Interner<Box<[MapId]>>,
    compositions: Table<(MapSetId, MapSetId, MapId), MapSetId>,
    bounded: Table<u64, MapSetId>,
    /// By reason, whether a bound has replaced too many maps.
    says_too_many: Vec<bool>,
}

impl Default for MapSets {
    fn default() -> Self {
        let mut sets = Interner::default();
        sets.intern(Box::default()); // EMPTY_SET
        let (compositions, bounded, says_too_many) = Default::default();
        MapSets { maps: OperandMaps::default(), sets, compositions, bounded, says_too_many }
    }
}

impl MapSets {
    /// The number of different sets.
    pub fn count(&self) -> u32 {
        self.sets.count()
    }

    /// The maps of a set.
    pub fn maps_of(&self, number: MapSetId) -> &[MapId] {
        self.sets.get(number)
    }

    /// The set of the identity on an array, from which propagation starts.
    pub fn identity(&mut self, sizes: &[i64]) -> Result<MapSetId> {
        let identity = self.maps.identity(sizes)?;
        Ok(self.sets.intern(Box::new([identity])))
    }

    /// The union of `into` and the compositions of `second` after each of `firsts`; `None` is the identity.
    pub fn union_composed(
        &mut self,
        into: MapSetId,
        firsts: MapSetId,
        second: Option<MapId>,
    ) -> Result<MapSetId> {
        if second.is_none() && (into == EMPTY_SET || into == firsts) {
            return Ok(firsts);
        }
        let key = (into, firsts, second.unwrap_or(IDENTITY));
        if let Some(known) = self.compositions.get(&key) {
            return Ok(*known);
        }
        let mut list = self.maps_of(into).to_vec();
        for first in self.sets.get(firsts).clone() {
            match second {
                None => self.merge(&mut list, first),
                Some(_) if list.len() > MAX_MAPS => break, // a bound will replace them
                Some(second) => {
                    let composed = self.maps.compose(first, second)?;
                    self.merge(&mut list, composed);
                }
            }
        }
        let composed = self.sets.intern(list.into());
        self.compositions.insert(key, composed);
        Ok(composed)
    }

    /// Adds a map. One of equal relation is merged with it: see [`OperandMaps::merged`].
    fn merge(&mut self, list: &mut Vec<MapId>, id: MapId) {
        let relation = self.maps.map(id).relation;
        match list.iter_mut().find(|m| self.maps.map(**m).relation == relation) {
            None => list.push(id),
            Some(known) => *known = self.maps.merged(*known, id),
        }
    }

    /// The maps of a set that are not known to be empty (one, if all are), or one bound on them if there are too many. `shape`
    /// and `sizes` are those of the array that they lead to.
    pub fn bounded(&mut self, number: MapSetId, shape: u32, sizes: &[i64]) -> Result<MapSetId> {
        if self.maps_of(number).len() == 1 {
            return Ok(number);
        }
        if let Some(known) = self.bounded.get(&(u64::from(number) << 32 | u64::from(shape))) {
            return Ok(*known);
        }
        let list = self.sets.get(number).clone();
        let set = if self.too_many(&list) || self.holds_bound(&list, sizes)? {
            let bound = self.bounding_map(&list, sizes)?;
            self.sets.intern(Box::new([bound]))
        } else {
            let kept: Box<[MapId]> = list.iter().copied().filter(|m| !self.maps.is_known_empty(*m)).collect();
            self.sets.intern(if kept.is_empty() { list.iter().copied().take(1).collect() } else { kept })
        };
        self.bounded.insert(u64::from(number) << 32 | u64::from(shape), set);
        Ok(set)
    }

    fn too_many(&self, list: &[MapId]) -> bool {
        let with_values = || list.iter().filter(|m| !self.maps.relation_of(**m).values.is_empty()).count();
        list.len() > MAX_MAPS || list.len() > MAX_WITH_VALUES && with_values() > MAX_WITH_VALUES
    }

    /// Whether one of the maps is a bound that replaced too many, and still names the whole array.
    fn holds_bound(&mut self, list: &[MapId], sizes: &[i64]) -> Result<bool> {
        for id in list {
            let m = self.maps.map(*id);
            let (relation, reason) = (m.relation, m.reason);
            if reason == 0 || !self.says_too_many(reason) {
                continue;
            }
            let own = self.maps.domain_sizes(*id);
            if self.maps.whole_relation(&own, sizes)? == relation {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn says_too_many(&mut self, reason: u32) -> bool {
        for k in self.says_too_many.len() as u32..=reason {
            self.says_too_many.push(self.maps.reason(k).contains(TOO_MANY));
        }
        self.says_too_many[reason as usize]
    }

    fn bounding_map(&mut self, list: &[MapId], sizes: &[i64]) -> Result<MapId> {
        let unknown = list.iter().find(|m| self.maps.map(**m).exactness == Exactness::Unknown);
        if let Some(id) = unknown {
            let reason = self.maps.map(*id).reason;
            return Ok(self.maps.unknown(reason));
        }
        let defined = |m: &&MapId| self.maps.relation_of(**m).map.kind() == MapKind::Defined;
        let own = list.iter().find(defined).map_or_else(Vec::new, |m| self.maps.domain_sizes(*m));
        self.maps.whole(&own, sizes, TOO_MANY)
    }
}

//! The maps found to lead to one array: different ones, in the order in which they were found. Equal lists have one
//! number, and what follows from numbers is made once.

use crate::error::Result;
use crate::map::indexing_map::MapKind;
use crate::propagation::form::Exactness;
use crate::propagation::interner::{Interner, Table};
use crate::propagation::operand_map::{MapId, OperandMaps, Values};

/// The number of a list.
pub type FoundId = u32;

const MAX_MAPS: usize = 64;
const MAX_WITH_VALUES: usize = 16; // of them, maps with runtime values: these are dear to compose, and rarely many
const TOO_MANY: &str =
    "more than 64 different maps (16 with runtime values) reach this value; it is named as a whole";
/// The list of no map.
pub(super) const NONE: FoundId = 0;
/// Stands for the map that changes nothing.
const NO_CHANGE: MapId = MapId::MAX;

/// The lists of a program.
pub struct FoundMaps {
    /// The maps.
    pub maps: OperandMaps,
    lists: Interner<Box<[MapId]>>,
    extended: Table<(FoundId, FoundId, MapId), FoundId>,
    bounded: Table<u64, FoundId>,
    /// Of each reason, whether it says that a bound took the places of too many maps.
    says_too_many: Vec<bool>,
}

impl Default for FoundMaps {
    fn default() -> Self {
        let mut lists = Interner::default();
        lists.number(Box::default()); // NONE
        let (extended, bounded, says_too_many) = Default::default();
        FoundMaps { maps: OperandMaps::default(), lists, extended, bounded, says_too_many }
    }
}

impl FoundMaps {
    /// The maps of a list.
    pub fn list(&self, number: FoundId) -> &[MapId] {
        self.lists.get(number)
    }

    /// The list of the map of an array to itself: where propagation starts.
    pub fn start(&mut self, sizes: &[i64]) -> Result<FoundId> {
        let itself = self.maps.identity(sizes)?;
        Ok(self.lists.number(Box::new([itself])))
    }

    /// `into` with each of `firsts` followed by `second`, or as it is where there is none.
    pub fn extended<V: Values>(
        &mut self,
        values: &mut V,
        into: FoundId,
        firsts: FoundId,
        second: Option<MapId>,
    ) -> std::result::Result<FoundId, V::Error> {
        if second.is_none() && (into == NONE || into == firsts) {
            return Ok(firsts);
        }
        let key = (into, firsts, second.unwrap_or(NO_CHANGE));
        if let Some(known) = self.extended.get(&key) {
            return Ok(*known);
        }
        let mut list = self.list(into).to_vec();
        for first in self.lists.get(firsts).clone() {
            match second {
                None => self.merge(&mut list, first),
                Some(_) if list.len() > MAX_MAPS => break, // a bound takes their places
                Some(second) => {
                    let found = self.maps.compose(values, first, second)?;
                    self.merge(&mut list, found);
                }
            }
        }
        let found = self.lists.number(list.into());
        self.extended.insert(key, found);
        Ok(found)
    }

    /// Add a map. Of equal maps the more exact one stays; of equal bounds, the pieces of both.
    fn merge(&mut self, list: &mut Vec<MapId>, id: MapId) {
        let form = self.maps.map(id).form;
        match list.iter_mut().find(|m| self.maps.map(**m).form == form) {
            None => list.push(id),
            Some(known) => *known = self.maps.merged(*known, id),
        }
    }

    /// The maps that lead to an array (a shape of `sizes`, `shape` its number) without those known to be empty, unless all
    /// are; or one that bounds them, where there are too many.
    pub fn bounded(&mut self, number: FoundId, shape: u32, sizes: &[i64]) -> Result<FoundId> {
        if self.list(number).len() == 1 {
            return Ok(number);
        }
        if let Some(known) = self.bounded.get(&(u64::from(number) << 32 | u64::from(shape))) {
            return Ok(*known);
        }
        let list = self.lists.get(number).clone();
        let found = if self.too_many(&list) || self.names_all(&list, sizes)? {
            let bound = self.bound(&list, sizes)?;
            self.lists.number(Box::new([bound]))
        } else {
            let kept: Box<[MapId]> = list.iter().copied().filter(|m| !self.maps.is_known_empty(*m)).collect();
            self.lists.number(if kept.is_empty() { list.iter().copied().take(1).collect() } else { kept })
        };
        self.bounded.insert(u64::from(number) << 32 | u64::from(shape), found);
        Ok(found)
    }

    fn too_many(&self, list: &[MapId]) -> bool {
        let with_values = || list.iter().filter(|m| !self.maps.form_of(**m).values.is_empty()).count();
        list.len() > MAX_MAPS || list.len() > MAX_WITH_VALUES && with_values() > MAX_WITH_VALUES
    }

    /// Is one of them the bound that replaced too many maps, carried here without losing an element?
    fn names_all(&mut self, list: &[MapId], sizes: &[i64]) -> Result<bool> {
        for id in list {
            let m = self.maps.map(*id);
            let (form, reason) = (m.form, m.reason);
            if reason == 0 || !self.says_too_many(reason) {
                continue;
            }
            let own = self.maps.sizes(*id);
            if self.maps.whole_form(&own, sizes)? == form {
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

    fn bound(&mut self, list: &[MapId], sizes: &[i64]) -> Result<MapId> {
        let unknown = list.iter().find(|m| self.maps.map(**m).exactness == Exactness::Unknown);
        if let Some(id) = unknown {
            let reason = self.maps.map(*id).reason;
            return Ok(self.maps.unknown(reason));
        }
        let defined = |m: &&MapId| self.maps.form_of(**m).map.form() == MapKind::Defined;
        let own = list.iter().find(defined).map_or_else(Vec::new, |m| self.maps.sizes(*m));
        self.maps.whole(&own, sizes, TOO_MANY)
    }
}

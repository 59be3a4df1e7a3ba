//! Maps between instructions' arrays, with the values of their runtime variables, how exact they are and why: each
//! different one has a number, and what is made of two numbers is made once.

use crate::error::{Error, Result};
use crate::expr::flat::Dag;
use crate::expr::Arena;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapKind};
use crate::map::simplify::{compose_simplified, simplify};
use crate::map::variables::from_tensor_sizes;
use crate::propagation::form::{Exactness, Form, OperandMap};
use crate::propagation::interner::{Interner, Table};
use crate::propagation::joint::{Joint, Known, Value};
use crate::propagation::replicas;
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;

type Sizes = Box<[i64]>;

/// The number of a map.
pub type MapId = u32;

const MAX_PIECES: usize = 16; // exact pieces beyond this number are not carried on; the bound that they refine is
const MAX_REASONS: usize = 4;
const UNKNOWN: MapId = MapId::MAX;

/// The questions that the core asks of whoever knows what instructions mean.
pub trait Values {
    /// Its errors.
    type Error: From<Error>;
    /// May an element of the instruction be known before the program runs?
    fn may_be_known(&mut self, instruction: u32) -> std::result::Result<bool, Self::Error>;
    /// Its element at an index, where that is known.
    fn known(&mut self, instruction: u32, index: &[Dag]) -> std::result::Result<Option<Known>, Self::Error>;
}

/// The different maps of a program.
pub struct OperandMaps {
    arena: Arena,
    scratch: Scratch,
    forms: Interner<Form>,
    maps: Interner<OperandMap>,
    reasons: Interner<String>,
    joined: Table<(u32, u32), u32>,
    weakened: Table<(MapId, u32), MapId>,
    composed_forms: Table<(u32, u32), u32>,
    composed: Table<(MapId, MapId), MapId>,
    finished_forms: Table<u32, u32>,
    /// By map, `UNKNOWN` where it is not known yet.
    finished: Vec<MapId>,
    /// By map, whether it has runtime values; of the first ones.
    names: Vec<bool>,
    wholes: Table<(Sizes, Sizes), u32>,
    identities: Table<Sizes, MapId>,
}

impl Default for OperandMaps {
    fn default() -> Self {
        let mut reasons = Interner::default();
        reasons.number(String::new()); // 0: no reason
        OperandMaps {
            arena: Arena::new(),
            scratch: Scratch::default(),
            forms: Interner::default(),
            maps: Interner::default(),
            reasons,
            joined: Table::default(),
            weakened: Table::default(),
            composed_forms: Table::default(),
            composed: Table::default(),
            finished_forms: Table::default(),
            finished: Vec::new(),
            names: Vec::new(),
            wholes: Table::default(),
            identities: Table::default(),
        }
    }
}

impl OperandMaps {
    /// The map of a number.
    pub fn map(&self, id: MapId) -> &OperandMap {
        self.maps.get(id)
    }

    /// The form of a number.
    pub fn form(&self, number: u32) -> &Form {
        self.forms.get(number)
    }

    /// The form of a map.
    pub fn form_of(&self, id: MapId) -> &Form {
        self.forms.get(self.maps.get(id).form)
    }

    /// The reason of a number.
    pub fn reason(&self, number: u32) -> &str {
        self.reasons.get(number)
    }

    /// The number of a map.
    pub fn add(
        &mut self,
        form: Form,
        exactness: Exactness,
        reason: &str,
        pieces: Option<Box<[MapId]>>,
    ) -> MapId {
        let form = self.forms.number(form);
        let reason = self.reason_number(reason);
        self.maps.number(OperandMap { form, exactness, reason, pieces })
    }

    /// The number of a reason.
    pub fn reason_number(&mut self, reason: &str) -> u32 {
        self.reasons.number(reason.to_string())
    }

    /// The map about which nothing is known, and why.
    pub fn unknown(&mut self, reason: u32) -> MapId {
        let form = Form::plain(IndexingMap::undefined(&mut self.arena));
        let form = self.forms.number(form);
        self.maps.number(OperandMap { form, exactness: Exactness::Unknown, reason, pieces: None })
    }

    /// The map about which nothing is known, for a reason that is told.
    pub fn unknown_because(&mut self, reason: &str) -> MapId {
        let reason = self.reason_number(reason);
        self.unknown(reason)
    }

    /// The map of an array to itself.
    pub fn identity(&mut self, sizes: &[i64]) -> Result<MapId> {
        if let Some(known) = self.identities.get(sizes) {
            return Ok(*known);
        }
        self.arena.clear();
        let results = (0..sizes.len()).map(|i| self.arena.variable(i as u32)).collect();
        let map = from_tensor_sizes(results, sizes, &[])?.build(&mut self.arena)?;
        let found = self.add(Form::plain(map), Exactness::Exact, "", None);
        self.identities.insert(sizes.into(), found);
        Ok(found)
    }

    /// Does it map each element of an array to itself, and is that all there is to say?
    pub fn changes_nothing(&mut self, id: MapId, sizes: &[i64]) -> Result<bool> {
        let m = self.maps.get(id);
        let form = self.forms.get(m.form);
        let is_more = form.replicas.is_some() || !form.values.is_empty();
        if !m.is_plain() || is_more || form.map.num_results() != sizes.len() {
            return Ok(false);
        }
        let identity = self.identity(sizes)?;
        Ok(self.are_plainly_equal(id, identity))
    }

    /// Are both plain maps of one form?
    pub(super) fn are_plainly_equal(&self, one: MapId, other: MapId) -> bool {
        let (a, b) = (self.maps.get(one), self.maps.get(other));
        a.form == b.form && a.is_plain() && b.is_plain()
    }

    /// From each index of an array to all of another: exactly, or as the bound that `reason` explains.
    pub fn whole(&mut self, sizes: &[i64], others: &[i64], reason: &str) -> Result<MapId> {
        let form = self.whole_form(sizes, others)?;
        let reason = self.reason_number(reason);
        let exactness = if reason == 0 { Exactness::Exact } else { Exactness::OverApproximate };
        Ok(self.maps.number(OperandMap { form, exactness, reason, pieces: None }))
    }

    /// The form of a map from each index of an array to all of another.
    pub(super) fn whole_form(&mut self, sizes: &[i64], others: &[i64]) -> Result<u32> {
        let key = (Box::from(sizes), Box::from(others));
        if let Some(known) = self.wholes.get(&key) {
            return Ok(*known);
        }
        self.arena.clear();
        let first = sizes.len();
        let results = (0..others.len()).map(|i| self.arena.variable((first + i) as u32)).collect();
        let map = from_tensor_sizes(results, sizes, others)?.build(&mut self.arena)?;
        let map = self.simplified(&map)?;
        let form = self.forms.number(Form::plain(map));
        self.wholes.insert(key, form);
        Ok(form)
    }

    fn simplified(&mut self, map: &IndexingMap) -> Result<IndexingMap> {
        self.arena.clear();
        let found = simplify(&mut self.arena, &mut self.scratch, map, PointVariables::Replace)?;
        self.without_unused(found)
    }

    fn without_unused(&mut self, map: IndexingMap) -> Result<IndexingMap> {
        if map.form() != MapKind::Defined || map.num_variables() == map.num_dims() {
            return Ok(map);
        }
        self.arena.clear();
        let mut builder = map.to_builder(&mut self.arena);
        builder.remove_unused_symbols(&mut self.arena)?;
        builder.build(&mut self.arena)
    }

    /// Reasons one after the other, each once, at most four of them.
    fn join(&mut self, one: u32, other: u32) -> u32 {
        if let Some(known) = self.joined.get(&(one, other)) {
            return *known;
        }
        let mut parts: Vec<&str> = Vec::new();
        for reason in [one, other].map(|r| self.reasons.get(r)).into_iter().filter(|r| !r.is_empty()) {
            for part in reason.split("; ") {
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        if parts.len() > MAX_REASONS {
            parts.truncate(MAX_REASONS);
            parts.push("and more");
        }
        let text = parts.join("; ");
        let found = self.reason_number(&text);
        self.joined.insert((one, other), found);
        found
    }

    /// The map as a bound, for one more reason; what is unknown stays so.
    pub fn weakened(&mut self, id: MapId, because: u32) -> MapId {
        if let Some(known) = self.weakened.get(&(id, because)) {
            return *known;
        }
        let mut m = self.maps.get(id).clone();
        if m.exactness == Exactness::Unknown {
            return id;
        }
        m.reason = self.with_reason(m.reason, because);
        m.exactness = Exactness::OverApproximate;
        let found = self.maps.number(m);
        self.weakened.insert((id, because), found);
        found
    }

    fn with_reason(&mut self, known: u32, because: u32) -> u32 {
        let (before, one) = (self.reasons.get(known), self.reasons.get(because).as_str());
        let mut parts: Vec<&str> = Vec::new();
        for part in before.split("; ").chain([one]).filter(|p| !p.is_empty()) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let text = parts.join("; ");
        self.reason_number(&text)
    }

    /// `second` after `first`, simplified, without unused symbols; as exact as the less exact of the two.
    pub fn compose<V: Values>(
        &mut self,
        values: &mut V,
        first: MapId,
        second: MapId,
    ) -> std::result::Result<MapId, V::Error> {
        if let Some(known) = self.composed.get(&(first, second)) {
            return Ok(*known);
        }
        let (a, b) = (self.maps.get(first).clone(), self.maps.get(second).clone());
        let (mut exactness, mut reason) = (a.exactness, a.reason);
        if b.exactness != Exactness::Exact || b.reason != 0 {
            exactness = exactness.max(b.exactness);
            reason = self.join(a.reason, b.reason);
        }
        let (form, other) = (self.forms.get(a.form).map.form(), self.forms.get(b.form).map.form());
        let found = if form == MapKind::Undefined || other == MapKind::Undefined {
            self.unknown(reason)
        } else if form == MapKind::KnownEmpty || other == MapKind::KnownEmpty {
            let empty = self.forms.number(Form::plain(IndexingMap::known_empty(&mut self.arena)));
            self.maps.number(OperandMap { form: empty, exactness, reason, pieces: None })
        } else {
            let form = self.compose_forms(values, a.form, b.form)?;
            let pieces = self.compose_pieces(values, (first, &a), (second, &b))?;
            self.maps.number(OperandMap { form, exactness, reason, pieces })
        };
        self.composed.insert((first, second), found);
        Ok(found)
    }

    fn compose_forms<V: Values>(
        &mut self,
        values: &mut V,
        first: u32,
        second: u32,
    ) -> std::result::Result<u32, V::Error> {
        if let Some(known) = self.composed_forms.get(&(first, second)) {
            return Ok(*known);
        }
        self.arena.clear();
        let (a, b) = (self.forms.get(first), self.forms.get(second));
        let replicas = match (&a.replicas, &b.replicas) {
            (own, None) => own.clone(),
            (own, Some(asked)) => {
                let (arena, scratch) = (&mut self.arena, &mut self.scratch);
                Some(replicas::composed(arena, scratch, (&a.map, own.as_ref()), asked)?)
            }
        };
        self.arena.clear();
        let (map, read) = if a.values.is_empty() && b.values.is_empty() {
            let map = compose_simplified(&mut self.arena, &mut self.scratch, &a.map, &b.map)?;
            (self.without_unused(map)?, Box::default())
        } else {
            let joint = Joint::composed(&mut self.arena, (&a.map, &a.values), (&b.map, &b.values))?;
            self.apart(values, joint)?
        };
        let found = self.forms.number(Form { map, values: read, replicas });
        self.composed_forms.insert((first, second), found);
        Ok(found)
    }

    /// The joint map of the arena simplified, with known values in their places, and taken apart.
    fn apart<V: Values>(
        &mut self,
        values: &mut V,
        joint: Joint,
    ) -> std::result::Result<(IndexingMap, Box<[Value]>), V::Error> {
        let (arena, scratch) = (&mut self.arena, &mut self.scratch);
        let mut joint = joint.simplified(arena, scratch);
        let mut known = vec![None; joint.sources.len()];
        for (k, source) in joint.sources.iter().enumerate() {
            if values.may_be_known(source.instruction)? {
                let index: Vec<Dag> = source.index.iter().map(|e| arena.export(&[*e])).collect();
                if let Some(value) = values.known(source.instruction, &index)? {
                    known[k] = source.clamped(arena, &value)?;
                }
            }
        }
        if known.iter().any(Option::is_some) {
            joint = joint.folded(arena, scratch, &known)?;
        }
        Ok(joint.without_unused(arena)?.apart(arena)?)
    }

    fn compose_pieces<V: Values>(
        &mut self,
        values: &mut V,
        (first, a): (MapId, &OperandMap),
        (second, b): (MapId, &OperandMap),
    ) -> std::result::Result<Option<Box<[MapId]>>, V::Error> {
        if (a.pieces.is_none() && b.pieces.is_none()) || a.exactness.max(b.exactness) == Exactness::Unknown {
            return Ok(None);
        }
        let firsts = a.pieces.clone().unwrap_or_else(|| Box::new([first]));
        let seconds = b.pieces.clone().unwrap_or_else(|| Box::new([second]));
        let inexact = |p: &MapId| self.maps.get(*p).exactness != Exactness::Exact;
        if firsts.len() * seconds.len() > MAX_PIECES || firsts.iter().chain(&*seconds).any(inexact) {
            return Ok(None);
        }
        let mut found = Vec::new();
        for one in &*firsts {
            for other in &*seconds {
                let piece = self.compose(values, *one, *other)?;
                if !self.is_known_empty(piece) {
                    found.push(piece);
                }
            }
        }
        Ok(Some(found.into()))
    }

    /// Is it known that it has no point?
    pub fn is_known_empty(&self, id: MapId) -> bool {
        self.form_of(id).map.form() == MapKind::KnownEmpty
    }

    /// Does it, or one of its pieces, have runtime values?
    pub fn names_instructions(&mut self, id: MapId) -> bool {
        for k in self.names.len() as MapId..self.maps.count() {
            let own = |id: MapId| !self.form_of(id).values.is_empty();
            self.names.push(own(k) || self.map(k).pieces.iter().flatten().any(|p| own(*p)));
        }
        self.names[id as usize]
    }

    /// A map as formulas state it, as it is handed out: simplified, known values in their places, without unused symbols.
    pub fn finish<V: Values>(&mut self, values: &mut V, id: MapId) -> std::result::Result<MapId, V::Error> {
        match self.finished.get(id as usize) {
            Some(&known) if known != UNKNOWN => return Ok(known),
            _ => {}
        }
        let found = self.finish_anew(values, id)?;
        self.finished.resize(self.maps.count() as usize, UNKNOWN);
        self.finished[id as usize] = found;
        Ok(found)
    }

    fn finish_anew<V: Values>(&mut self, values: &mut V, id: MapId) -> std::result::Result<MapId, V::Error> {
        let mut m = self.maps.get(id).clone();
        if self.forms.get(m.form).map.form() == MapKind::Undefined {
            return Ok(id);
        }
        m.form = self.finish_form(values, m.form)?;
        if let Some(pieces) = &m.pieces {
            let mut kept = Vec::with_capacity(pieces.len());
            for p in pieces {
                let piece = self.finish(values, *p)?;
                if !self.is_known_empty(piece) {
                    kept.push(piece);
                }
            }
            m.pieces = Some(kept.into());
        }
        Ok(self.maps.number(m))
    }

    fn finish_form<V: Values>(&mut self, values: &mut V, number: u32) -> std::result::Result<u32, V::Error> {
        if let Some(known) = self.finished_forms.get(&number) {
            return Ok(*known);
        }
        let Form { map, values: read, replicas } = self.forms.get(number).clone();
        self.arena.clear();
        let replicas = match replicas {
            Some(r) => Some(simplify(&mut self.arena, &mut self.scratch, &r, PointVariables::Replace)?),
            None => None,
        };
        let (map, read) = if map.form() == MapKind::KnownEmpty || read.is_empty() {
            (self.simplified(&map)?, Box::default())
        } else {
            self.arena.clear();
            let joint = Joint::of(&mut self.arena, &map, &read)?;
            self.apart(values, joint)?
        };
        let found = self.forms.number(Form { map, values: read, replicas });
        self.finished_forms.insert(number, found);
        Ok(found)
    }

    /// The same map of other instructions, for it and its pieces.
    pub fn with_instructions(&mut self, id: MapId, place: &impl Fn(u32) -> u32) -> MapId {
        if !self.names_instructions(id) {
            return id;
        }
        let stays = |id: MapId| self.form_of(id).values.iter().all(|v| place(v.instruction) == v.instruction);
        if stays(id) && self.map(id).pieces.iter().flatten().all(|p| stays(*p)) {
            return id;
        }
        let mut m = self.maps.get(id).clone();
        let mut form = self.forms.get(m.form).clone();
        form.values.iter_mut().for_each(|v| v.instruction = place(v.instruction));
        m.form = self.forms.number(form);
        if let Some(pieces) = &mut m.pieces {
            for p in pieces.iter_mut() {
                *p = self.with_instructions(*p, place);
            }
        }
        self.maps.number(m)
    }

    /// Of two maps of one form that lead to one array, what is left: the more exact one, or the pieces of both.
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
        self.maps.number(m)
    }

    /// The number of elements of each dimension of the map's near side.
    pub(super) fn sizes(&self, id: MapId) -> Vec<i64> {
        let map = &self.form_of(id).map;
        map.intervals().take(map.num_dims()).map(|i: Interval| i.upper.saturating_add(1)).collect()
    }
}

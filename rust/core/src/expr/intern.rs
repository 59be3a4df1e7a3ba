//! Interning: equal nodes are one. Only the constructors call this.
//!
//! The table holds ids by their hashes, one place after the other. `Arena::clear` forgets all of them by counting from a
//! new base, without touching the table: maps are small, and a table of a library, cleared for each, costs a fortieth of
//! the instructions of a composition more.

use crate::expr::arena::{Arena, FIRST_CONSTANTS, FIRST_NODES, FIRST_VARIABLES, MIN_TABLE};
use crate::expr::node::{added, finish, mix, Expr, Record, Tag, Term, LINEAR};

impl Arena {
    fn find(
        &mut self,
        hash: u32,
        equal: impl Fn(&Self, &Record) -> bool,
    ) -> std::result::Result<Expr, usize> {
        if self.records.len() * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let id = self.table[slot].wrapping_sub(self.base);
            let Some(r) = self.records.get(id as usize) else { return Err(slot) };
            if r.hash == hash && equal(self, r) {
                return Ok(Expr(id));
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = MIN_TABLE.max(self.table.len() * 4);
        self.table.clear();
        self.table.resize(size, 0);
        self.base = 1;
        for (id, r) in self.records.iter().enumerate().skip(FIRST_NODES) {
            let mut slot = r.hash as usize & (size - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = id as u32 + self.base;
        }
    }

    fn insert(&mut self, slot: usize, record: Record) -> Expr {
        let id = self.records.len() as u32;
        self.records.push(record);
        self.table[slot] = id + self.base;
        Expr(id)
    }

    #[inline]
    pub(crate) fn intern_constant(&mut self, value: i64) -> Expr {
        if (0..i64::from(FIRST_CONSTANTS)).contains(&value) {
            return Expr(FIRST_VARIABLES + value as u32);
        }
        self.intern_other_constant(value)
    }

    fn intern_other_constant(&mut self, value: i64) -> Expr {
        let record = Record::of_constant(value);
        match self.find(record.hash, |_, r| r.tag == Tag::Constant && r.value == value) {
            Ok(e) => e,
            Err(slot) => self.insert(slot, record),
        }
    }

    #[inline]
    pub(crate) fn intern_variable(&mut self, index: u32) -> Expr {
        if index < FIRST_VARIABLES {
            return Expr(index);
        }
        self.intern_other_variable(index)
    }

    fn intern_other_variable(&mut self, index: u32) -> Expr {
        let record = Record::of_variable(index);
        match self.find(record.hash, |_, r| r.tag == Tag::Variable && r.at == index) {
            Ok(e) => e,
            Err(slot) => self.insert(slot, record),
        }
    }

    #[inline]
    pub(crate) fn intern_binary(&mut self, tag: Tag, a: Expr, b: Expr) -> Expr {
        let (ha, hb) = (self.records[a.index()].hash, self.records[b.index()].hash);
        let hash = finish(mix(mix(tag as u64, u64::from(ha)), u64::from(hb)));
        self.charge(2);
        match self.find(hash, |_, r| r.tag == tag && r.at == a.0 && r.len == b.0) {
            Ok(e) => e,
            Err(slot) => {
                self.divides_by_expressions |= self.tag(b) != Tag::Constant;
                let variables = self.records[a.index()].variables | self.records[b.index()].variables;
                let shape = self.weight_of_all(&[a, b]);
                self.insert(slot, Record { value: 0, hash, at: a.0, len: b.0, variables, tag, shape })
            }
        }
    }

    pub(crate) fn intern_args(&mut self, tag: Tag, args: &[Expr]) -> Expr {
        self.charge(args.len());
        let mixed = args.iter().fold(tag as u64, |h, a| mix(h, u64::from(self.records[a.index()].hash)));
        let hash = finish(mixed);
        let equal = |arena: &Self, r: &Record| {
            r.tag == tag
                && r.len as usize == args.len()
                && arena.args[r.at as usize..r.at as usize + args.len()] == *args
        };
        match self.find(hash, equal) {
            Ok(e) => e,
            Err(slot) => {
                let at = self.args.len() as u32;
                self.args.extend_from_slice(args);
                let variables = args.iter().fold(0, |all, a| all | self.records[a.index()].variables);
                let shape = self.weight_of_all(args);
                let len = args.len() as u32;
                self.insert(slot, Record { value: 0, hash, at, len, variables, tag, shape })
            }
        }
    }

    #[inline]
    pub(crate) fn intern_sum(&mut self, value: i64, terms: &[Term]) -> Expr {
        let record = self.sum_record(value, terms);
        match self.find(record.hash, |arena, r| arena.is_sum(r, value, terms)) {
            Ok(e) => e,
            Err(slot) => {
                let at = self.terms.len() as u32;
                self.terms.extend_from_slice(terms);
                self.insert(slot, Record { at, ..record })
            }
        }
    }

    /// As [`Arena::intern_sum`], of terms that are in no list yet.
    pub(crate) fn intern_terms(&mut self, value: i64, terms: impl Iterator<Item = Term>) -> Expr {
        let at = self.terms.len();
        self.terms.extend(terms);
        let record = self.sum_record(value, &self.terms[at..]);
        match self.find(record.hash, |arena, r| arena.is_sum(r, value, &arena.terms[at..])) {
            Ok(e) => {
                self.terms.truncate(at);
                e
            }
            Err(slot) => self.insert(slot, Record { at: at as u32, ..record }),
        }
    }

    /// The record of a sum whose terms have no place yet.
    fn sum_record(&self, value: i64, terms: &[Term]) -> Record {
        let mut mixed = mix(Tag::Sum as u64, value as u64);
        let (mut variables, mut linear, mut weight) = (0, LINEAR, u8::from(value != 0));
        self.charge(terms.len());
        for t in terms {
            let r = &self.records[t.expr.index()];
            mixed = mix(mixed, (t.coeff as u64).rotate_left(32) ^ u64::from(r.hash));
            variables |= r.variables;
            linear &= if r.tag == Tag::Variable { LINEAR } else { 0 };
            weight = added(weight, r.shape);
        }
        let (hash, len) = (finish(mixed), terms.len() as u32);
        Record { value, hash, at: 0, len, variables, tag: Tag::Sum, shape: weight | linear }
    }

    fn is_sum(&self, r: &Record, value: i64, terms: &[Term]) -> bool {
        r.tag == Tag::Sum && r.value == value && self.terms_of(r) == terms
    }

    pub(crate) fn args_of(&self, r: &Record) -> &[Expr] {
        &self.args[r.at as usize..(r.at + r.len) as usize]
    }

    pub(crate) fn terms_of(&self, r: &Record) -> &[Term] {
        &self.terms[r.at as usize..(r.at + r.len) as usize]
    }
}

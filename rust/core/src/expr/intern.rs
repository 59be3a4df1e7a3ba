//! Interning: equal nodes are one. Only the constructors call this.

use crate::expr::arena::{Arena, FIRST_CONSTANTS, FIRST_VARIABLES};
use crate::expr::node::{added, finish, mix, Expr, Record, Tag, Term, LINEAR};
use hashbrown::hash_table::Entry;

/// The hash of a record as the table takes it: it looks at the first bits and at the last ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl Arena {
    /// The node with this hash of which `equal` is true, or a new one with the record that `make` gives.
    fn intern(
        &mut self,
        hash: u32,
        equal: impl Fn(&Record, &[Term], &[Expr]) -> bool,
        make: impl FnOnce(&[Record], &mut Vec<Term>, &mut Vec<Expr>) -> Record,
    ) -> Expr {
        let Arena { table, records, terms, args, .. } = self;
        let is_same = |id: &u32| {
            let r = &records[*id as usize];
            r.hash == hash && equal(r, terms, args)
        };
        match table.entry(spread(hash), is_same, |id| spread(records[*id as usize].hash)) {
            Entry::Occupied(known) => Expr(*known.get()),
            Entry::Vacant(place) => {
                let id = records.len() as u32;
                place.insert(id);
                let record = make(records, terms, args);
                records.push(record);
                Expr(id)
            }
        }
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
        self.intern(record.hash, |r, _, _| r.tag == Tag::Constant && r.value == value, |_, _, _| record)
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
        self.intern(record.hash, |r, _, _| r.tag == Tag::Variable && r.at == index, |_, _, _| record)
    }

    #[inline]
    pub(crate) fn intern_binary(&mut self, tag: Tag, a: Expr, b: Expr) -> Expr {
        let (ha, hb) = (self.records[a.index()].hash, self.records[b.index()].hash);
        let hash = finish(mix(mix(tag as u64, u64::from(ha)), u64::from(hb)));
        self.charge(2);
        self.divides_by_expressions |= self.tag(b) != Tag::Constant;
        let equal = |r: &Record, _: &[Term], _: &[Expr]| r.tag == tag && r.at == a.0 && r.len == b.0;
        self.intern(hash, equal, |records, _, _| {
            let (x, y) = (&records[a.index()], &records[b.index()]);
            let variables = x.variables | y.variables;
            let shape = added(added(0, x.shape), y.shape);
            Record { value: 0, hash, at: a.0, len: b.0, variables, tag, shape }
        })
    }

    pub(crate) fn intern_args(&mut self, tag: Tag, args: &[Expr]) -> Expr {
        self.charge(args.len());
        let mixed = args.iter().fold(tag as u64, |h, a| mix(h, u64::from(self.records[a.index()].hash)));
        let hash = finish(mixed);
        let equal = |r: &Record, _: &[Term], all: &[Expr]| {
            r.tag == tag
                && r.len as usize == args.len()
                && all[r.at as usize..r.at as usize + args.len()] == *args
        };
        self.intern(hash, equal, |records, _, all| {
            let (at, len) = (all.len() as u32, args.len() as u32);
            all.extend_from_slice(args);
            let (mut variables, mut shape) = (0, 0);
            for a in args {
                let r = &records[a.index()];
                variables |= r.variables;
                shape = added(shape, r.shape);
            }
            Record { value: 0, hash, at, len, variables, tag, shape }
        })
    }

    #[inline]
    pub(crate) fn intern_sum(&mut self, value: i64, terms: &[Term]) -> Expr {
        let record = self.sum_record(value, terms);
        let equal = |r: &Record, all: &[Term], _: &[Expr]| is_sum(r, value, terms, all);
        self.intern(record.hash, equal, |_, all, _| {
            let at = all.len() as u32;
            all.extend_from_slice(terms);
            Record { at, ..record }
        })
    }

    /// As [`Arena::intern_sum`], of terms that are in no list yet.
    pub(crate) fn intern_terms(&mut self, value: i64, terms: impl Iterator<Item = Term>) -> Expr {
        let at = self.terms.len();
        self.terms.extend(terms);
        let record = self.sum_record(value, &self.terms[at..]);
        let new = Expr(self.records.len() as u32);
        let equal = |r: &Record, all: &[Term], _: &[Expr]| is_sum(r, value, &all[at..], all);
        let e = self.intern(record.hash, equal, |_, _, _| Record { at: at as u32, ..record });
        if e != new {
            self.terms.truncate(at);
        }
        e
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

    pub(crate) fn args_of(&self, r: &Record) -> &[Expr] {
        &self.args[r.at as usize..(r.at + r.len) as usize]
    }

    pub(crate) fn terms_of(&self, r: &Record) -> &[Term] {
        &self.terms[r.at as usize..(r.at + r.len) as usize]
    }
}

/// Whether `r` is the sum of these terms; `all` holds the terms of all sums.
fn is_sum(r: &Record, value: i64, terms: &[Term], all: &[Term]) -> bool {
    r.tag == Tag::Sum && r.value == value && all[r.at as usize..(r.at + r.len) as usize] == *terms
}

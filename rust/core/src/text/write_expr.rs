//! Printing an expression, without recursion, in the cheapest spelling of its canonical node.
//!
//! Canonical nodes keep one form: `1 + (x + 3) floordiv 10` is `(x + 13) floordiv 10`, `(x + 7) floordiv 8` is
//! `x ceildiv 8`, `a * 4 + b * 4` is `(a + b) * 4`. Where two spellings cost the same, the shorter way to read wins:
//! positive terms first, constants last.

use super::{MAX_TEXT_LENGTH, MAX_TEXT_PER_WORD};
use crate::error::{Error, ErrorKind, Result};
use crate::expr::flat::Dag;
use crate::expr::flat_nodes::Entry;
use std::fmt::Write;

/// Of a minimum or maximum of more arguments, none are printed within one of their own.
const MAX_SHARING_ARGUMENTS: usize = 8;

/// The style in which operators are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Style {
    /// `floordiv`, and `min(a, b, c)`.
    #[default]
    Plain,
    /// As XLA prints: `/`, and `min(min(a, b), c)`.
    Xla,
}

/// The expressions that need brackets in a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    /// Nothing.
    Sum,
    /// Sums.
    Term,
    /// All operations.
    Factor,
}

/// `coeff * expr`, the expression by its position, with `shift` moved into it from the sum around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub(super) coeff: i64,
    pub(super) expr: u32,
    pub(super) shift: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Expr(u32, Level),
    /// The node, with this constant added inside: the numerator of a quotient, the arguments of a minimum.
    Shifted(u32, i64, Level),
    /// `expr + constant`, the expression's own constant replaced.
    WithConstant(u32, i64, Level),
    /// `factor * expr + constant`, as one sum; the expression's own constant is multiplied as well.
    Scaled(u32, i64, i64, Level),
    /// The sum of the items at these places of the list of items.
    Group(u32, u32, Level),
    /// As `Scaled`, without the term of this variable.
    Without(u32, u32, i64, i64),
    Text(&'static str),
    Number(i64),
    /// A number, in brackets where an operator follows a sign.
    Constant(i64, Level),
    Char(char),
}

/// Prints roots of one value.
pub(crate) struct Writer<'d> {
    dag: &'d Dag,
    style: Style,
    /// The start of the words of each node that has words.
    starts: Vec<u32>,
    /// The greatest length of the text.
    limit: usize,
    pub(super) tasks: Vec<Task>,
    pub(super) items: Vec<Item>,
}

/// The text of one expression. Error: it would be longer than [`MAX_TEXT_LENGTH`], and than its nodes without sharing.
pub fn write_expr(dag: &Dag, root: usize, style: Style, name: &dyn Fn(u32, &mut String)) -> Result<String> {
    let mut out = String::new();
    Writer::new(dag, style).root(root, &mut out, name)?;
    Ok(out)
}

/// The text of one expression; if it is longer than `length` bytes, its beginning and three dots.
pub fn abridged_expr(dag: &Dag, root: usize, length: usize, name: &dyn Fn(u32, &mut String)) -> String {
    abridged(length, |out| Writer::new(dag, Style::Plain).within(length).root(root, out, name))
}

/// The text that `write` writes, which stops with an error once it is longer than `length` bytes.
pub(super) fn abridged(length: usize, write: impl FnOnce(&mut String) -> Result<()>) -> String {
    let mut out = String::new();
    if write(&mut out).is_err() || out.len() > length {
        let end = (0..=length.min(out.len())).rev().find(|k| out.is_char_boundary(*k));
        out.truncate(end.unwrap_or(0));
        out.push_str("...");
    }
    out
}

impl<'d> Writer<'d> {
    pub(crate) fn new(dag: &'d Dag, style: Style) -> Self {
        let words = dag.node_words();
        let mut starts = Vec::with_capacity(dag.node_count());
        let mut rest = words;
        while let Some((_, behind)) = Entry::first(rest) {
            starts.push((words.len() - rest.len()) as u32);
            rest = behind;
        }
        let limit = MAX_TEXT_LENGTH.max(MAX_TEXT_PER_WORD * words.len());
        Writer { dag, style, starts, limit, tasks: Vec::new(), items: Vec::new() }
    }

    /// The writer of a text that may be `limit` bytes long at most.
    pub(super) fn within(self, limit: usize) -> Self {
        Writer { limit: self.limit.min(limit), ..self }
    }

    /// Appends the text of root `k`.
    pub(crate) fn root(&mut self, k: usize, out: &mut String, name: &dyn Fn(u32, &mut String)) -> Result<()> {
        self.tasks.clear();
        self.items.clear();
        self.tasks.push(Task::Expr(self.dag.root_positions()[k] as u32, Level::Sum));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Text(text) => out.push_str(text),
                Task::Char(c) => out.push(c),
                Task::Constant(n, Level::Factor) if n < 0 => {
                    let _ = write!(out, "({n})");
                }
                Task::Number(n) | Task::Constant(n, _) => {
                    let _ = write!(out, "{n}");
                }
                Task::Expr(e, level) => self.expr(e, level, out, name),
                Task::Shifted(e, shift, level) => self.shifted(e, shift, level),
                Task::WithConstant(e, constant, level) => {
                    let first = self.items.len();
                    self.push_items(e);
                    self.sum(first, constant, level);
                }
                Task::Scaled(e, factor, constant, level) => self.scaled(e, None, factor, constant, level),
                Task::Without(e, variable, factor, constant) => {
                    self.scaled(e, Some(variable), factor, constant, Level::Sum);
                }
                Task::Group(first, end, level) => self.layout(first as usize, end as usize, 0, level),
            }
            if out.len() > self.limit {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    format!(
                        "the text would be longer than {} bytes: what is shared is written again and again; read `nodes()` \
                         instead, where each stands once",
                        self.limit
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Prints `factor * e + shift`, without the term of a variable.
    fn scaled(&mut self, e: u32, without: Option<u32>, factor: i64, shift: i64, level: Level) {
        let first = self.items.len();
        self.push_items(e);
        let mut k = first;
        while k < self.items.len() {
            if Some(self.items[k].expr) == without {
                self.items.remove(k);
                continue;
            }
            self.items[k].coeff = self.items[k].coeff.wrapping_mul(factor);
            k += 1;
        }
        let constant = self.own_constant(e).wrapping_mul(factor).wrapping_add(shift);
        self.sum(first, constant, level);
    }

    pub(super) fn entry(&self, e: u32) -> Entry<'d> {
        let Some(k) = e.checked_sub(self.dag.first_variables()) else { return Entry::Variable(e) };
        let words = &self.dag.node_words()[self.starts[k as usize] as usize..];
        Entry::first(words).map_or(Entry::Constant(0), |(entry, _)| entry)
    }

    pub(super) fn constant_of(&self, e: u32) -> Option<i64> {
        match self.entry(e) {
            Entry::Constant(c) => Some(c),
            _ => None,
        }
    }

    fn expr(&mut self, e: u32, level: Level, out: &mut String, name: &dyn Fn(u32, &mut String)) {
        match self.entry(e) {
            Entry::Variable(v) => name(v, out),
            Entry::Constant(c) => self.tasks.push(Task::Constant(c, level)),
            Entry::FloorDiv(..) | Entry::Min(_) | Entry::Max(_) => self.shifted(e, 0, level),
            Entry::Mod(a, b) => self.binary(" mod ", Task::Expr(a as u32, Level::Factor), b as u32, level),
            Entry::Product(args) => {
                self.bracketed(level, Level::Term, |w| {
                    for (k, &a) in args.iter().enumerate().rev() {
                        w.tasks.push(Task::Expr(a as u32, Level::Factor));
                        if k > 0 {
                            w.tasks.push(Task::Text(" * "));
                        }
                    }
                });
            }
            Entry::Sum(constant, pairs) => {
                let first = self.items.len();
                self.push_terms(pairs);
                self.sum(first, constant, level);
            }
        }
    }

    /// Pushes what `content` pushes, in brackets if `level` requires them around an expression that binds like `own`.
    fn bracketed(&mut self, level: Level, own: Level, content: impl FnOnce(&mut Self)) {
        if level > own {
            self.tasks.push(Task::Char(')'));
        }
        content(self);
        if level > own {
            self.tasks.push(Task::Char('('));
        }
    }

    fn binary(&mut self, operator: &'static str, left: Task, right: u32, level: Level) {
        self.bracketed(level, Level::Term, |w| {
            w.tasks.extend([Task::Expr(right, Level::Factor), Task::Text(operator), left]);
        });
    }

    /// The remainder by `m` of what `dividend` prints.
    pub(super) fn remainder(&mut self, dividend: Task, m: i64, level: Level) {
        self.bracketed(level, Level::Term, |w| {
            w.tasks.extend([Task::Constant(m, Level::Factor), Task::Text(" mod "), dividend]);
        });
    }

    // ------------------------------------------------------------------ quotients, minima, maxima

    /// The constant of a node read as a sum.
    pub(super) fn own_constant(&self, e: u32) -> i64 {
        match self.entry(e) {
            Entry::Sum(c, _) | Entry::Constant(c) => c,
            _ => 0,
        }
    }

    fn shifted(&mut self, e: u32, shift: i64, level: Level) {
        match self.entry(e) {
            Entry::FloorDiv(a, b) => {
                let (a, b) = (a as u32, b as u32);
                // The choice of the shift ensured that this stays in int64.
                let constant = self.own_constant(a).wrapping_add(shift);
                let floor = if self.style == Style::Xla { " / " } else { " floordiv " };
                match self.constant_of(b) {
                    Some(m) if self.is_cheaper_up(a, constant, m) => {
                        let above = constant.wrapping_sub(m - 1);
                        self.binary(" ceildiv ", Task::WithConstant(a, above, Level::Factor), b, level);
                    }
                    Some(_) if shift != 0 => {
                        self.binary(floor, Task::WithConstant(a, constant, Level::Factor), b, level);
                    }
                    _ => self.binary(floor, Task::Expr(a, Level::Factor), b, level),
                }
            }
            Entry::Min(args) => self.call("min(", args, 1, shift),
            Entry::Max(args) => self.call("max(", args, 1, shift),
            _ => self.tasks.push(Task::Expr(e, level)),
        }
    }

    /// A minimum or maximum of `factor * a + shift` for each argument `a`.
    pub(super) fn call(&mut self, open: &'static str, args: &[i64], factor: i64, shift: i64) {
        let shared = self.shared_term(args, factor, shift);
        let (group, single): (Vec<i64>, Vec<i64>) = match shared {
            Some(t) => args.iter().copied().partition(|a| self.has_term(*a as u32, t)),
            None => (Vec::new(), args.to_vec()),
        };
        let one = |a: i64| match (factor, shift) {
            (1, 0) => Task::Expr(a as u32, Level::Sum),
            _ => Task::Scaled(a as u32, factor, shift, Level::Sum),
        };
        let mut printed: Vec<Vec<Task>> = single.into_iter().map(|a| vec![one(a)]).collect();
        if let Some(t) = shared {
            let rest = group.iter().map(|a| vec![Task::Without(*a as u32, t.expr, factor, shift)]).collect();
            let mut tasks = self.arguments(open, rest);
            let coeff = t.coeff.wrapping_mul(factor);
            let first = self.items.len();
            self.items.push(Item { coeff: coeff.abs(), ..t });
            tasks.extend([
                Task::Text(if coeff < 0 { " - " } else { " + " }),
                Task::Group(first as u32, first as u32 + 1, Level::Term),
            ]);
            printed.insert(0, tasks);
        }
        let tasks = self.arguments(open, printed);
        self.tasks.extend(tasks.into_iter().rev());
    }

    /// The tasks that print a minimum or maximum of these arguments, from the left.
    fn arguments(&self, open: &'static str, arguments: Vec<Vec<Task>>) -> Vec<Task> {
        let (nested, count) = (self.style == Style::Xla, arguments.len());
        let opened = if nested { count - 1 } else { 1 };
        let mut tasks = vec![Task::Text(open); opened];
        for (k, own) in arguments.into_iter().enumerate() {
            if k > 0 {
                tasks.push(Task::Text(", "));
            }
            tasks.extend(own);
            if nested && k > 0 && k + 1 < count {
                tasks.push(Task::Char(')'));
            }
        }
        tasks.push(Task::Char(')'));
        tasks
    }

    /// The term of a variable that most arguments have, if it costs less behind a minimum of what is left of them.
    fn shared_term(&self, args: &[i64], factor: i64, shift: i64) -> Option<Item> {
        if !(3..=MAX_SHARING_ARGUMENTS).contains(&args.len()) {
            return None;
        }
        let is_variable = |t: &Item| matches!(self.entry(t.expr), Entry::Variable(_));
        // An extremum within would be joined with the one around it.
        let is_extremum = |t: Item| matches!(self.entry(t.expr), Entry::Min(_) | Entry::Max(_));
        if args.iter().any(|a| self.terms_of(*a as u32).any(is_extremum)) {
            return None;
        }
        let sharing = |t: Item| args.iter().filter(move |a| self.has_term(**a as u32, t));
        let mut best: Option<(usize, Item)> = None;
        for t in args.iter().flat_map(|a| self.terms_of(*a as u32)).filter(is_variable) {
            let count = sharing(t).count();
            if count > best.map_or(1, |b| b.0) {
                best = Some((count, t));
            }
        }
        let (count, t) = best?;
        let is_alone = |a: &&i64| {
            let constant = self.own_constant(**a as u32).wrapping_mul(factor).wrapping_add(shift);
            constant == 0 && self.terms_of(**a as u32).count() == 1
        };
        let additions = count - sharing(t).filter(is_alone).count();
        let scaled = t.coeff.checked_mul(factor).filter(|c| *c != i64::MIN)?;
        let factors = if matches!(scaled, 1 | -1) { 0 } else { count - 1 };
        (additions + factors > 1).then_some(t)
    }

    /// The terms of an expression read as a sum.
    fn terms_of(&self, e: u32) -> impl Iterator<Item = Item> + 'd {
        let (pairs, one): (&'d [i64], _) = match self.entry(e) {
            Entry::Sum(_, pairs) => (pairs, None),
            Entry::Constant(_) => (&[], None),
            _ => (&[], Some(Item { coeff: 1, expr: e, shift: 0 })),
        };
        items_of(pairs).chain(one)
    }

    fn has_term(&self, e: u32, t: Item) -> bool {
        self.terms_of(e).any(|own| own == t)
    }

    fn push_terms(&mut self, pairs: &[i64]) {
        self.items.extend(items_of(pairs));
    }

    fn push_items(&mut self, e: u32) {
        match self.entry(e) {
            Entry::Sum(_, pairs) => self.push_terms(pairs),
            Entry::Constant(_) => {}
            _ => self.items.push(Item { coeff: 1, expr: e, shift: 0 }),
        }
    }
}

/// The terms of a sum, not shifted.
pub(super) fn items_of(pairs: &[i64]) -> impl Iterator<Item = Item> + '_ {
    pairs.chunks_exact(2).map(|p| Item { coeff: p[0], expr: p[1] as u32, shift: 0 })
}

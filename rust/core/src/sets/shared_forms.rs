//! Variables on which a map depends only through one linear form: for questions about results, the form is one variable.

use crate::expr::{Arena, Expr, Node, Term};
use crate::int::gcd;
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;
use crate::sets::changed_variables::roots;
use crate::sets::image::ArithmeticProgression;
use crate::sets::work::Work;
use std::collections::BTreeMap;

/// The places where a variable is a term of a sum or an operand, numbered, with its coefficients there.
type Occurrences = Vec<(usize, i64)>;

impl Work<'_> {
    /// Replaces variables that occur only in multiples of one linear form, whose values are evenly spaced, by one variable: the
    /// results stay the same, but not the number of points. Whether there were any.
    pub(super) fn replace_shared_forms(&mut self, map: &mut MapBuilder) -> bool {
        let mut forms: BTreeMap<Occurrences, Vec<(usize, i64)>> = BTreeMap::new();
        for (v, own) in occurrences(self.arena, map).into_iter().enumerate() {
            let factor = own.iter().fold(0, |g, (_, c)| gcd(g, *c) as i64);
            if factor == 0 || map.intervals[v].is_point() {
                continue;
            }
            let factor = if own[0].1 < 0 { -factor } else { factor };
            let form = own.into_iter().map(|(place, c)| (place, c / factor)).collect();
            forms.entry(form).or_default().push((v, factor));
        }
        let mut replaced = false;
        for terms in forms.into_values().filter(|terms| terms.len() > 1) {
            replaced |= replace(self.arena, map, &terms).is_some();
        }
        if replaced {
            self.simplify(map);
        }
        replaced
    }
}

/// The places of each variable in the results and constraints.
fn occurrences(arena: &mut Arena, map: &MapBuilder) -> Vec<Occurrences> {
    let mut all = vec![Vec::new(); map.intervals.len()];
    let mut place = 0;
    let roots = roots(map);
    for e in roots.iter().filter_map(|e| arena.as_variable(*e)) {
        all[e as usize].push((place, 1));
        place += 1;
    }
    for e in arena.post_order(&roots) {
        if let Node::Sum(_, terms) = arena.node(e) {
            let variables = terms.iter().filter_map(|t| Some((arena.as_variable(t.expr)?, t.coeff)));
            variables.for_each(|(v, c)| all[v as usize].push((place, c)));
            place += 1;
            continue;
        }
        arena.for_each_operand(e, |operand| {
            if let Some(v) = arena.as_variable(operand) {
                all[v as usize].push((place, 1));
                place += 1;
            }
        });
    }
    all
}

/// Replaces a form by one of its variables, with the values of the form; `None` if these are not evenly spaced, or leave int64.
fn replace(arena: &mut Arena, map: &mut MapBuilder, terms: &[(usize, i64)]) -> Option<()> {
    let common = terms.iter().fold(0, |g, (_, c)| gcd(g, *c) as i64);
    let (kept, sign) = terms.iter().find(|(_, c)| c.abs() == common).map(|(v, c)| (*v, c.signum()))?;
    let term = |(v, c): &(usize, i64)| Term { coeff: c / common, expr: arena.variable(*v as u32) };
    let form: Vec<Term> = terms.iter().map(term).collect();
    let form = arena.sum(0, &form).ok()?;
    let values = ArithmeticProgression::of(arena, map, form)?;
    let last = i64::try_from(values.count).ok()? - 1;
    let number = arena.variable(kept as u32);
    let number = arena.affine(number, values.step * sign, values.first * sign).ok()?;
    let zero = arena.constant(0);
    let mut variables: Vec<Expr> = (0..map.intervals.len()).map(|v| arena.variable(v as u32)).collect();
    terms.iter().for_each(|(v, _)| variables[*v] = zero);
    variables[kept] = number;
    map.substitute(arena, &variables).ok()?;
    terms.iter().for_each(|(v, _)| map.intervals[*v] = Interval::point(0));
    map.intervals[kept] = Interval::new(0, last);
    Some(())
}

//! Instances of a parametric map as columns: each expression is a sum of terms, a coefficient in the parameters times a
//! factor in the other variables. A tuner thus gets the strides and bounds of a million tile sizes without a million maps.

use crate::error::{Error, Result};
use crate::expr::flat::Dag;
use crate::expr::{Arena, Expr, Node};
use crate::interval::Interval;
use crate::map::indexing_map::MapKind;
use crate::map::parametric::ParametricMap;

/// A coefficient: a constant that all instances share, or a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coefficient {
    /// The constant of all instances.
    Constant(i64),
    /// The number of the column.
    Column(usize),
}

/// The results and constraints of a parametric map as terms: each is the sum of its coefficients times its factors.
///
/// ```
/// use indexing_core::{
///     read_indexing_map, Arena, Coefficient, Interval, Parameter, ParametricMap, ParametricTerms, ReadScratch, Scratch,
/// };
///
/// let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
/// let text = "(d0, T)[s0] -> (d0 * T + 2 * d0), domain: d0 in [0, 9], T in [1, 64], s0 in [0, 63], s0 - T in [-64, -1]";
/// let map = read_indexing_map(text, &mut arena, &mut ReadScratch::default())?;
/// let tile = Parameter { variable: 1, interval: Interval::new(1, 64), step: 1 };
/// let tiled = ParametricMap::new(&mut arena, &mut scratch, &map, vec![tile])?;
/// let terms = ParametricTerms::new(&mut arena, &tiled)?;
/// let columns = terms.columns(&[&[1, 10, 64]], 3)?;
/// assert_eq!(terms.ends(), [1, 2]); // that of d0 in the result, and of s0 in the constraint
/// assert_eq!(terms.coefficients(), [Coefficient::Column(0), Coefficient::Constant(-1)]);
/// assert_eq!(terms.bounds(), [(Coefficient::Column(1), Coefficient::Column(2))]);
/// assert_eq!(columns, [vec![3, 12, 66], vec![0, -9, -63], vec![63, 54, 0]]);
/// # Ok::<(), indexing_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParametricTerms {
    ends: Vec<usize>,
    factors: Dag,
    coefficients: Vec<Coefficient>,
    bounds: Vec<(Coefficient, Coefficient)>,
    /// The columns, over the parameters in their order.
    columns: Dag,
}

impl ParametricTerms {
    /// The terms of the map, simplified for all parameter values: of its results, then its constraints, then an empty sum for
    /// each parameter whose values these narrow. A known-empty map has none.
    ///
    /// Errors: coefficients that leave int64.
    pub fn new(arena: &mut Arena, map: &ParametricMap) -> Result<Self> {
        let simplified = map.simplified();
        let is_defined = simplified.kind() == MapKind::Defined;
        let roots = if is_defined { arena.import(simplified.dag()) } else { Vec::new() };
        let mut is_parameter = vec![false; simplified.num_variables()];
        let mut places: Vec<Expr> = (0..is_parameter.len()).map(|v| arena.variable(v as u32)).collect();
        for (k, p) in map.parameters().iter().enumerate() {
            if let Some(flag) = is_parameter.get_mut(p.variable) {
                *flag = true;
                places[p.variable] = arena.variable(k as u32);
            }
        }
        let (mut columns, mut bounds) = (Columns::default(), Vec::new());
        let (mut ends, mut factors, mut coefficients) = (Vec::new(), Vec::new(), Vec::new());
        let one = arena.constant(1);
        let intervals: Vec<Interval> =
            if is_defined { simplified.constraint_bounds().collect() } else { Vec::new() };
        let mut intervals =
            (0..simplified.num_results()).map(|_| None).chain(intervals.into_iter().map(Some));
        for root in roots {
            let interval = intervals.next().flatten();
            let mut constant = arena.constant(0);
            for (coefficient, factor) in terms_of(arena, &is_parameter, root)? {
                if factor == one && interval.is_some() {
                    constant = coefficient;
                    continue;
                }
                factors.push(factor);
                coefficients.push(columns.of(arena, coefficient));
            }
            ends.push(factors.len());
            if let Some(i) = interval {
                let lower = moved(arena, i.lower, constant, i64::MIN)?;
                let upper = moved(arena, i.upper, constant, i64::MAX)?;
                bounds.push((columns.of(arena, lower), columns.of(arena, upper)));
            }
        }
        for p in map.parameters().iter().filter(|_| is_defined) {
            let (i, parameter) = (simplified.interval(p.variable), arena.variable(p.variable as u32));
            if i != p.interval {
                let lower = moved(arena, i.lower, parameter, i64::MIN)?;
                let upper = moved(arena, i.upper, parameter, i64::MAX)?;
                bounds.push((columns.of(arena, lower), columns.of(arena, upper)));
                ends.push(factors.len());
            }
        }
        let differing = arena.substitute(&columns.0, &places)?;
        let (factors, columns) = (arena.export(&factors), arena.export(&differing));
        Ok(ParametricTerms { ends, factors, coefficients, bounds, columns })
    }

    /// The end of each result's terms, then of each constraint's, in the lists of all terms.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The factor of each term over the map's variables, 1 for the constant of a result. A factor depends on a parameter only
    /// if it cannot be factored out.
    pub fn factors(&self) -> &Dag {
        &self.factors
    }

    /// The coefficient of each term.
    pub fn coefficients(&self) -> &[Coefficient] {
        &self.coefficients
    }

    /// The least and the greatest value of each constraint's sum of terms; the ends of int64 stand for no bound.
    pub fn bounds(&self) -> &[(Coefficient, Coefficient)] {
        &self.bounds
    }

    /// The number of columns.
    pub fn num_columns(&self) -> usize {
        self.columns.root_count()
    }

    /// The columns for many values: `values[k]` are those of parameter `k`, all `length` of them.
    ///
    /// Errors: as [`ParametricTerms::columns_into`].
    pub fn columns(&self, values: &[&[i64]], length: usize) -> Result<Vec<Vec<i64>>> {
        let mut columns = vec![vec![0i64; length]; self.num_columns()];
        let mut out: Vec<&mut [i64]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
        self.columns_into(values, &mut out)?;
        Ok(columns)
    }

    /// As [`ParametricTerms::columns`], to `out`. Errors: numbers that leave int64, in any row.
    pub fn columns_into(&self, values: &[&[i64]], out: &mut [&mut [i64]]) -> Result<()> {
        self.columns.evaluate_block(values, out)
    }
}

/// The expressions that differ between instances, each once.
#[derive(Default)]
struct Columns(Vec<Expr>);

impl Columns {
    fn of(&mut self, arena: &Arena, e: Expr) -> Coefficient {
        if let Some(constant) = arena.as_constant(e) {
            return Coefficient::Constant(constant);
        }
        let known = self.0.iter().position(|c| *c == e);
        Coefficient::Column(known.unwrap_or_else(|| {
            self.0.push(e);
            self.0.len() - 1
        }))
    }
}

/// A bound less a constant; `none` stays what it is.
fn moved(arena: &mut Arena, bound: i64, constant: Expr, none: i64) -> Result<Expr> {
    let bound_itself = arena.constant(bound);
    if bound == none {
        return Ok(bound_itself);
    }
    arena.sub(bound_itself, constant)
}

/// Terms of a product that is multiplied out, at most; the factors of one with more stay as they are.
const MAX_TERMS: usize = 64;

/// The coefficients and factors of an expression, those of one factor together, in the order in which they stand.
fn terms_of(arena: &mut Arena, is_parameter: &[bool], e: Expr) -> Result<Vec<(Expr, Expr)>> {
    let mut terms: Vec<(Expr, Expr)> = Vec::new();
    for (coefficient, part) in summands(arena, e) {
        let factors: Vec<Expr> = match arena.node(part) {
            Node::Product(factors) => factors.to_vec(),
            _ => vec![part],
        };
        let one = arena.constant(1);
        let mut products = vec![(arena.constant(coefficient), one)];
        for factor in factors {
            products = times(arena, is_parameter, &products, factor)?;
        }
        for (scale, factor) in products {
            match terms.iter().position(|(_, f)| *f == factor) {
                Some(k) => terms[k].0 = arena.add(terms[k].0, scale)?,
                None => terms.push((scale, factor)),
            }
        }
    }
    Ok(terms)
}

/// The coefficients and nodes of a sum; of another node, that alone.
fn summands(arena: &mut Arena, e: Expr) -> Vec<(i64, Expr)> {
    let one = arena.constant(1);
    match arena.node(e) {
        Node::Sum(constant, terms) => {
            let constant = (constant != 0).then_some((constant, one));
            terms.iter().map(|t| (t.coeff, t.expr)).chain(constant).collect()
        }
        _ => vec![(1, e)],
    }
}

/// Terms, each times a factor: one of parameters alone joins the coefficients, a sum in which one stands is multiplied out.
fn times(
    arena: &mut Arena,
    is_parameter: &[bool],
    terms: &[(Expr, Expr)],
    factor: Expr,
) -> Result<Vec<(Expr, Expr)>> {
    let among =
        |arena: &mut Arena, e| arena.variables(&[e]).iter().map(|v| is_parameter[*v as usize]).collect();
    let on_parameters: Vec<bool> = among(arena, factor);
    let is_mixed = on_parameters.contains(&true) && on_parameters.contains(&false);
    let parts = if is_mixed { summands(arena, factor) } else { vec![(1, factor)] };
    let parts = if terms.len() * parts.len() > MAX_TERMS { vec![(1, factor)] } else { parts };
    let mut products = Vec::with_capacity(terms.len() * parts.len());
    for (scale, other) in terms {
        for (coefficient, part) in &parts {
            let alone = !among(arena, *part).contains(&false);
            let scale = arena.scale(*scale, *coefficient)?;
            products.push(if alone {
                (arena.mul(scale, *part)?, *other)
            } else {
                (scale, arena.mul(*other, *part)?)
            });
        }
    }
    Ok(products)
}

impl ParametricMap {
    /// The first row of values that the parameters do not take, with the error that says which one.
    pub fn first_refused(&self, columns: &[Vec<i64>]) -> Option<(usize, Error)> {
        let both = self.parameters().iter().zip(columns);
        let row = both.filter_map(|(p, column)| column.iter().position(|v| !p.takes(*v))).min()?;
        let values: Vec<i64> = columns.iter().map(|c| c[row]).collect();
        self.check(&values).err().map(|error| (row, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::parametric::Parameter;
    use crate::simplify::Scratch;
    use crate::text::{read_indexing_map, ReadScratch};

    fn terms(arena: &mut Arena, text: &str, variables: &[usize]) -> ParametricTerms {
        let map = read_indexing_map(text, arena, &mut ReadScratch::default()).unwrap();
        let of = |v: &usize| Parameter { variable: *v, interval: Interval::new(1, 100), step: 1 };
        let parameters = variables.iter().map(of).collect();
        let map = ParametricMap::new(arena, &mut Scratch::default(), &map, parameters).unwrap();
        ParametricTerms::new(arena, &map).unwrap()
    }

    #[test]
    fn coefficients_of_one_factor_are_one_column_and_constants_of_constraints_are_bounds() {
        let mut arena = Arena::new();
        let text =
            "(d0, T, U) -> (d0 * T * U + d0 * 5 + T * 3 - 1, (d0 floordiv T) * U), domain: d0 in [0, 99], \
                    T in [1, 9], U in [1, 9], d0 * U + T in [40, 1000]";
        let map_terms = terms(&mut arena, text, &[2, 1]);
        assert_eq!(map_terms.ends(), [2, 3, 4]);
        assert_eq!(map_terms.coefficients(), [0, 1, 2, 2].map(Coefficient::Column));
        assert_eq!(map_terms.bounds(), [(Coefficient::Column(3), Coefficient::Column(4))]);
        let columns = map_terms.columns(&[&[2, 3], &[10, 20]], 2).unwrap();
        assert_eq!(columns, [vec![29, 59], vec![25, 65], vec![2, 3], vec![30, 20], vec![990, 980]]);
        let factors = arena.import(map_terms.factors());
        let d0 = arena.variable(0);
        assert_eq!((factors[0], factors[1], factors[3]), (arena.constant(1), d0, d0));
    }

    #[test]
    fn sums_in_which_a_parameter_stands_are_multiplied_out_up_to_a_limit() {
        let mut arena = Arena::new();
        let domain = "domain: d0 in [0, 9], d1 in [0, 9], T in [1, 9]";
        let map_terms =
            terms(&mut arena, &format!("(d0, d1, T) -> ((d0 * 4 + T * 3 - 2) * T), {domain}"), &[2]);
        assert_eq!(map_terms.columns(&[&[8, 32]], 2).unwrap(), [vec![32, 128], vec![176, 3008]]);
        let map_terms = terms(&mut arena, &format!("(d0, d1, T) -> ((d0 + T) * (d1 - T)), {domain}"), &[2]);
        assert_eq!(map_terms.factors().root_count(), 4);
        let all = "(d0 + T) * (d1 - T) * (d0 - T) * (d1 + T) * (d0 + T) * (d1 - T) * (d0 - T)";
        let map_terms = terms(&mut arena, &format!("(d0, d1, T) -> ({all}), {domain}"), &[2]);
        assert!(map_terms.factors().root_count() <= MAX_TERMS && map_terms.num_columns() > 0);
    }

    #[test]
    fn values_that_the_domain_has_no_points_for_are_out_of_bounds() {
        let mut arena = Arena::new();
        let map_terms =
            terms(&mut arena, "(d0, T) -> (d0), domain: d0 in [0, 9], T in [1, 9], T * 2 in [0, 9]", &[1]);
        assert_eq!((map_terms.ends(), map_terms.bounds().len()), ([1, 1].as_slice(), 1));
        assert_eq!(map_terms.columns(&[&[4, 5]], 2).unwrap()[1], [0, -1]); // 4 - T
    }

    #[test]
    fn a_map_without_points_has_no_terms() {
        let mut arena = Arena::new();
        let map_terms =
            terms(&mut arena, "(d0, T) -> (d0), domain: d0 in [0, 9], T in [1, 9], d0 in [20, 30]", &[1]);
        assert!(map_terms.ends().is_empty() && map_terms.columns(&[&[1, 2]], 2).unwrap().is_empty());
    }

    #[test]
    fn columns_that_leave_int64_are_an_error() {
        let mut arena = Arena::new();
        let text = "(d0, T) -> (d0 * T * 3000000000000000000), domain: d0 in [0, 1], T in [1, 9]";
        let map_terms = terms(&mut arena, text, &[1]);
        assert!(map_terms.columns(&[&[1, 3]], 2).is_ok() && map_terms.columns(&[&[1, 4]], 2).is_err());
    }

    #[test]
    fn the_first_row_with_a_value_that_is_none_is_named() {
        let mut arena = Arena::new();
        let text = "(d0, T, U) -> (d0), domain: d0 in [0, 9], T in [1, 9], U in [1, 9]";
        let map = read_indexing_map(text, &mut arena, &mut ReadScratch::default()).unwrap();
        let of = |variable| Parameter { variable, interval: Interval::new(1, 9), step: 2 };
        let map = ParametricMap::new(&mut arena, &mut Scratch::default(), &map, vec![of(1), of(2)]).unwrap();
        assert!(map.first_refused(&[vec![1, 3], vec![5, 9]]).is_none());
        let (row, error) = map.first_refused(&[vec![1, 3, 4], vec![5, 11, 9]]).unwrap();
        assert!(row == 1 && error.message().contains("U lies in [1, 9] in steps of 2; got 11"));
    }
}

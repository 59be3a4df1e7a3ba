//! Replica groups, in all textual forms.

use super::error::{HloError, Result};
use super::lexer::{integers, Cursor};

/// Most ids that replica groups may list; `[2,64]<=[128]` is short text for many.
const MAX_REPLICAS: i64 = 1 << 20;

/// Reads replica groups of any form.
pub(super) fn replica_groups(cursor: &mut Cursor) -> Result<Vec<Vec<i64>>> {
    cursor.skip_space()?;
    match cursor.peek() {
        b'[' => iota_groups(cursor),
        b'm' => mesh_groups(cursor),
        _ => listed_groups(cursor),
    }
}

fn listed_groups(cursor: &mut Cursor) -> Result<Vec<Vec<i64>>> {
    cursor.require(b'{')?;
    cursor.list(b'}', |cursor| {
        cursor.skip_space()?;
        if cursor.peek() != b'{' {
            return Err(cursor.expected("'{' and a group"));
        }
        integers(cursor)
    })
}

/// Sizes in `open` ... `close`.
fn sizes(cursor: &mut Cursor, open: u8, close: u8) -> Result<Vec<i64>> {
    cursor.require(open)?;
    cursor.items(close, |cursor| cursor.integer("a size"))
}

/// `[groups, members]<=[reshape dimensions]T(permutation)`: ids 0, 1, ... reshaped, transposed, reshaped.
fn iota_groups(cursor: &mut Cursor) -> Result<Vec<Vec<i64>>> {
    let start = cursor.at;
    let shape = sizes(cursor, b'[', b']')?;
    cursor.require(b'<')?;
    cursor.require(b'=')?;
    let reshape = sizes(cursor, b'[', b']')?;
    let order = permutation(cursor, reshape.len())?;
    match (total(&shape), total(&reshape), order) {
        (Some(a), Some(b), Some(order)) if a == b && shape.len() == 2 => {
            Ok(transposed(&shape, &reshape, &order))
        }
        _ => Err(HloError::new(
            start,
            "expected replica groups such as [2,4]<=[4,2]T(1,0): equal products, a permutation",
        )),
    }
}

/// `T(1,0)`, or nothing; `None` for what is no permutation.
fn permutation(cursor: &mut Cursor, rank: usize) -> Result<Option<Vec<i64>>> {
    if !cursor.take(b'T')? {
        return Ok(Some((0..rank as i64).collect()));
    }
    let order = sizes(cursor, b'(', b')')?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    Ok(sorted.iter().copied().eq(0..rank as i64).then_some(order))
}

/// The product of positive sizes, where it is not too large.
fn total(sizes: &[i64]) -> Option<i64> {
    let positive =
        |p: i64, s: i64| if s < 1 { None } else { p.checked_mul(s).filter(|&p| p <= MAX_REPLICAS) };
    sizes.iter().try_fold(1_i64, |p, &s| positive(p, s))
}

fn transposed(shape: &[i64], reshape: &[i64], permutation: &[i64]) -> Vec<Vec<i64>> {
    let mut strides = vec![1_i64; reshape.len()];
    for i in (1..reshape.len()).rev() {
        strides[i - 1] = strides[i] * reshape[i];
    }
    let id = |mut position: i64| {
        permutation.iter().rev().fold(0, |id, &p| {
            let (size, stride) = (reshape[p as usize], strides[p as usize]);
            let digit = position % size;
            position /= size;
            id + digit * stride
        })
    };
    (0..shape[0]).map(|g| (0..shape[1]).map(|m| id(g * shape[1] + m)).collect()).collect()
}

/// One factor of a mesh's axis: an axis that no group splits is one factor.
struct Factor {
    axis: usize,
    /// Product of the factors of the axis in front of this one.
    before: i64,
    size: i64,
}

/// `mesh['a'=2,'b'=4], device_ids=(...) {'b':(2)2,'a'}`: the groups run along the named axes, or parts of axes.
fn mesh_groups(cursor: &mut Cursor) -> Result<Vec<Vec<i64>>> {
    let start = cursor.at;
    let bad = |why: &str| HloError::new(start, format!("{why}; mesh['a'=2,'b'=2] {{'b'}} is an example"));
    if !cursor.take_word("mesh")? {
        return Err(cursor.expected("replica groups"));
    }
    let axes = mesh_axes(cursor)?;
    let sizes: Vec<i64> = axes.iter().map(|(_, size)| *size).collect();
    let count = total(&sizes).ok_or_else(|| bad("the axes have no positive sizes"))?;
    let ids = device_ids(cursor, count)?;
    let parts = group_parts(cursor, &axes)?;
    let factors = factors(&sizes, &parts).ok_or_else(|| bad("the parts of an axis do not divide it"))?;
    let grouped: Option<Vec<usize>> =
        parts.iter().map(|&(axis, before, size)| find_factor(&factors, axis, before, size)).collect();
    let distinct = |g: &Vec<usize>| g.iter().enumerate().all(|(i, f)| !g[..i].contains(f));
    let grouped = grouped.filter(distinct).ok_or_else(|| bad("the parts of an axis overlap"))?;
    let mut order: Vec<i64> = (0..factors.len()).filter(|f| !grouped.contains(f)).map(|f| f as i64).collect();
    order.extend(grouped.iter().map(|&f| f as i64));
    let reshape: Vec<i64> = factors.iter().map(|f| f.size).collect();
    let members: i64 = grouped.iter().map(|&f| factors[f].size).product();
    let mut groups = transposed(&[count / members, members], &reshape, &order);
    groups.iter_mut().flatten().for_each(|place| *place = ids[*place as usize]);
    Ok(groups)
}

/// `['a'=2,'b'=4]`.
fn mesh_axes<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(&'a str, i64)>> {
    cursor.require(b'[')?;
    cursor.items(b']', |cursor| {
        let name = cursor.quoted()?;
        cursor.require(b'=')?;
        Ok((name, cursor.integer("an axis' size")?))
    })
}

/// `, device_ids=(0,2,1,3)` or `, device_ids=([2,2]T(1,0))`; 0, 1, ... where absent.
fn device_ids(cursor: &mut Cursor, count: i64) -> Result<Vec<i64>> {
    if !cursor.take(b',')? {
        return Ok((0..count).collect());
    }
    let start = cursor.at;
    if !cursor.take_word("device_ids")? {
        return Err(cursor.expected("device_ids"));
    }
    cursor.require(b'=')?;
    cursor.require(b'(')?;
    cursor.skip_space()?;
    let ids = if cursor.peek() == b'[' {
        let reshape = sizes(cursor, b'[', b']')?;
        let permutation = permutation(cursor, reshape.len())?;
        let fits = total(&reshape) == Some(count);
        let order = permutation.filter(|_| fits);
        cursor.require(b')')?;
        order.map(|order| transposed(&[1, count], &reshape, &order).remove(0))
    } else {
        cursor.at -= 1;
        Some(sizes(cursor, b'(', b')')?)
    };
    let ids = ids.filter(|ids| ids.len() as i64 == count);
    ids.ok_or_else(|| HloError::new(start, format!("device_ids must name the mesh's {count} devices")))
}

/// `{'b':(2)2,'a'}` as axis, size in front of the part, size of the part.
fn group_parts(cursor: &mut Cursor, axes: &[(&str, i64)]) -> Result<Vec<(usize, i64, i64)>> {
    cursor.require(b'{')?;
    cursor.items(b'}', |cursor| {
        cursor.skip_space()?;
        let at = cursor.at;
        let name = cursor.quoted()?;
        let axis = axes.iter().position(|(axis, _)| *axis == name);
        let axis = axis.ok_or_else(|| HloError::new(at, format!("the mesh has no axis '{name}'")))?;
        if !cursor.take(b':')? {
            return Ok((axis, 1, axes[axis].1));
        }
        cursor.require(b'(')?;
        let before = cursor.integer("the size in front of the part")?;
        cursor.require(b')')?;
        Ok((axis, before, cursor.integer("the size of the part")?))
    })
}

/// The axes cut where a part begins or ends.
fn factors(sizes: &[i64], parts: &[(usize, i64, i64)]) -> Option<Vec<Factor>> {
    let mut factors = Vec::new();
    for (axis, &size) in sizes.iter().enumerate() {
        let mut cuts = vec![1, size];
        for &(_, before, part) in parts.iter().filter(|p| p.0 == axis) {
            cuts.push(before);
            cuts.push(before.checked_mul(part).filter(|_| before >= 1 && part >= 1)?);
        }
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() == 1 {
            factors.push(Factor { axis, before: 1, size: 1 });
        }
        for pair in cuts.windows(2) {
            let divides = pair[1] % pair[0] == 0 && pair[1] <= size;
            factors.push(Factor { axis, before: pair[0], size: divides.then(|| pair[1] / pair[0])? });
        }
    }
    Some(factors)
}

fn find_factor(factors: &[Factor], axis: usize, before: i64, size: i64) -> Option<usize> {
    factors.iter().position(|f| f.axis == axis && f.before == before && f.size == size)
}

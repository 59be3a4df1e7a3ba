//! Calls on many maps: the GIL is released, all cores work, order is kept.

use crate::argument::{text_of, Threads};
use crate::error::raise;
use crate::indexing_map::PyIndexingMap;
use crate::workspace::{self, Workspace};
use indexing_core::{
    compose, compose_simplified, read_indexing_map, simplify, Error, IndexingMap, PointVariables, Result,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// The most items that a thread takes at a time.
const MAX_CHUNK: usize = 64;
/// The fewest: towards the end threads take less, for expensive items may stand together there.
const MIN_CHUNK: usize = 4;
/// Bytes of expressions for each thread that pay for starting threads: 0.1 to 0.2 ms of work.
const WORTH_A_THREAD: usize = 1 << 15;

type Failure = (usize, Error);

/// `size` says how many bytes of expressions an item is, give or take.
fn run<T: Sync>(
    items: &[T],
    threads: Option<usize>,
    size: impl Fn(&T) -> usize,
    work: impl Fn(&mut Workspace, &T) -> Result<IndexingMap> + Sync,
) -> std::result::Result<Vec<IndexingMap>, Failure> {
    // A loop, for `collect` of results doesn't know how many there will be.
    let each = |places: Range<usize>| {
        let mut done = Vec::with_capacity(places.len());
        workspace::with(|w| {
            for i in places {
                w.arena.clear();
                match work(w, &items[i]) {
                    Ok(map) => done.push(map),
                    Err(e) => return Err((i, e)),
                }
            }
            Ok(done)
        })
    };
    let threads = useful_threads(threads, items.iter().map(size));
    if threads <= 1 {
        return each(0..items.len());
    }
    let next = AtomicUsize::new(0);
    let chunk_from = |start: usize| {
        let left = items.len() - start;
        start..start + (left / (4 * threads)).clamp(MIN_CHUNK, MAX_CHUNK).min(left)
    };
    let take = |start: usize| (start < items.len()).then(|| chunk_from(start).end);
    let chunks = || {
        let mut done = Vec::new();
        loop {
            let Ok(start) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) else {
                return done;
            };
            let chunk = each(chunk_from(start));
            let failed = chunk.is_err();
            done.push((start, chunk));
            if failed {
                // Chunks before this one are taken already: the first bad item is in one of those that are done.
                next.store(items.len(), Ordering::Relaxed);
            }
        }
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(chunks)).collect();
        let mut all = chunks();
        for worker in workers {
            match worker.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(start, _)| *start);
    let mut out = Vec::with_capacity(items.len());
    for (_, chunk) in all {
        out.extend(chunk?);
    }
    Ok(out)
}

/// As many threads as there is enough work for: at most so many, or as there are cores.
fn useful_threads(most: Option<usize>, sizes: impl Iterator<Item = usize>) -> usize {
    if most == Some(1) {
        return 1;
    }
    match sizes.sum::<usize>() / WORTH_A_THREAD {
        // To ask for the cores takes longer than many a list.
        0 | 1 => 1,
        enough => enough.min(most.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))),
    }
}

fn finish(
    py: Python<'_>,
    result: std::result::Result<Vec<IndexingMap>, Failure>,
    text: impl Fn(usize) -> Option<String>,
) -> PyResult<Vec<PyIndexingMap>> {
    match result {
        Ok(maps) => Ok(maps.into_iter().map(PyIndexingMap).collect()),
        Err((i, error)) => Err(raise(py, &error, text(i).as_deref(), &format!("item {i}: "))),
    }
}

/// The place of the first text that is equal to each text, and the texts that are first.
fn first_of_equals<'t>(texts: &[&'t str]) -> (Vec<usize>, Vec<&'t str>) {
    // Seeded anew in each process: nobody can choose texts that collide.
    let mut places = foldhash::HashMap::with_capacity_and_hasher(texts.len(), Default::default());
    let mut different = Vec::with_capacity(texts.len());
    let first = texts.iter().enumerate().map(|(i, text)| {
        *places.entry(*text).or_insert_with(|| {
            different.push(*text);
            i
        })
    });
    (first.collect(), different)
}

/// Read many maps; the GIL is released. The first bad text raises with its position.
///
/// At most `threads` threads work, else as many as there are cores; fewer where there is too little work to share.
/// Equal texts are read once, and are one object.
#[pyfunction]
#[pyo3(signature = (texts, threads = None))]
pub fn parse_all<'py>(
    py: Python<'py>,
    texts: Vec<Bound<'py, PyString>>,
    threads: Option<Threads>,
) -> PyResult<Vec<Bound<'py, PyIndexingMap>>> {
    let texts = texts.iter().map(text_of).collect::<PyResult<Vec<&str>>>()?;
    let size = |text: &&str| text.len() / workspace::TEXT;
    let read = |w: &mut Workspace, text: &&str| read_indexing_map(text, &mut w.arena, &mut w.reading);
    let (first, result) = py.detach(|| {
        let (first, different) = first_of_equals(&texts);
        (first, run(&different, threads.map(|n| n.0), size, read))
    });
    let is_first = |i: &usize| first[*i] == *i;
    let result = result.map_err(|(n, error)| ((0..first.len()).filter(is_first).nth(n).unwrap_or(n), error));
    let mut read = finish(py, result, |i| Some(texts[i].to_owned()))?.into_iter();
    let mut maps: Vec<Bound<'py, PyIndexingMap>> = Vec::with_capacity(texts.len());
    for place in first {
        if let Some(equal) = maps.get(place) {
            maps.push(equal.clone());
        } else if let Some(map) = read.next() {
            maps.push(Bound::new(py, map)?);
        }
    }
    Ok(maps)
}

/// Simplify many maps, in their order; `threads` as in `parse_all`.
#[pyfunction]
#[pyo3(signature = (maps, threads = None))]
pub fn simplify_all(
    py: Python<'_>,
    maps: Vec<Bound<'_, PyIndexingMap>>,
    threads: Option<Threads>,
) -> PyResult<Vec<PyIndexingMap>> {
    let maps: Vec<&IndexingMap> = maps.iter().map(|m| &m.get().0).collect();
    let size = |m: &&IndexingMap| m.dag().byte_size();
    let simplified = |w: &mut Workspace, m: &&IndexingMap| {
        simplify(&mut w.arena, &mut w.scratch, m, PointVariables::Replace)
    };
    let result = py.detach(|| run(&maps, threads.map(|n| n.0), size, simplified));
    finish(py, result, |_| None)
}

type Pair<'py> = (Bound<'py, PyIndexingMap>, Bound<'py, PyIndexingMap>);

fn pair_of<'py>(pair: &Bound<'py, PyAny>) -> PyResult<Pair<'py>> {
    pair.extract().map_err(|_| PyTypeError::new_err("expected pairs of maps, (first, second)"))
}

/// Compose many pairs, the second after the first, and simplify; `threads` as in `parse_all`.
#[pyfunction]
#[pyo3(signature = (pairs, simplify = true, threads = None))]
pub fn compose_all(
    py: Python<'_>,
    pairs: &Bound<'_, PyAny>,
    simplify: bool,
    threads: Option<Threads>,
) -> PyResult<Vec<PyIndexingMap>> {
    let pairs = pairs.try_iter()?.map(|pair| pair_of(&pair?)).collect::<PyResult<Vec<Pair<'_>>>>()?;
    let pairs: Vec<(&IndexingMap, &IndexingMap)> =
        pairs.iter().map(|(a, b)| (&a.get().0, &b.get().0)).collect();
    let join = |w: &mut Workspace, (a, b): &(&IndexingMap, &IndexingMap)| match simplify {
        true => compose_simplified(&mut w.arena, &mut w.scratch, a, b),
        false => compose(&mut w.arena, a, b),
    };
    let size = |(a, b): &(&IndexingMap, &IndexingMap)| a.dag().byte_size() + b.dag().byte_size();
    let result = py.detach(|| run(&pairs, threads.map(|n| n.0), size, join));
    finish(py, result, |_| None)
}

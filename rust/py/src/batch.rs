//! Calls on many maps, which release the GIL, use all cores, and preserve the order.

use crate::argument::{text_of, Threads};
use crate::error::{guarded, raise};
use crate::indexing_map::PyIndexingMap;
use crate::workspace::{self, Workspace};
use indexing_core::{
    compose, compose_simplified, read_indexing_map, simplify, Error, IndexingMap, PointVariables,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// The maximal number of items that a thread takes at a time.
const MAX_CHUNK: usize = 64;
/// The minimal number: threads take fewer towards the end, where several expensive items may be left.
const MIN_CHUNK: usize = 4;
/// The bytes of expressions per thread from which on starting threads pays: 0.1 to 0.2 ms of work.
const WORTH_A_THREAD: usize = 1 << 15;

type Failure = (usize, Error);

/// All of `count` results, or the first error. A loop, because `collect` into a result cannot reserve memory.
fn all_of<T, E>(count: usize, results: impl Iterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let mut all = Vec::with_capacity(count);
    for result in results {
        all.push(result?);
    }
    Ok(all)
}

/// `size` returns the approximate size of an item, in bytes of expressions.
fn run<T: Sync>(
    items: &[T],
    threads: Option<usize>,
    size: impl Fn(&T) -> usize,
    work: impl Fn(&mut Workspace, &T) -> Result<IndexingMap, Error> + Sync,
) -> Result<Vec<IndexingMap>, Failure> {
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
                // Earlier chunks were taken already, so that the first bad item is found.
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

/// The number of threads for which there is enough work: at most `threads`, or the number of cores.
fn useful_threads(most: Option<usize>, sizes: impl Iterator<Item = usize>) -> usize {
    if most == Some(1) {
        return 1;
    }
    match sizes.sum::<usize>() / WORTH_A_THREAD {
        // Querying the number of cores takes longer than a short list.
        0 | 1 => 1,
        enough => enough.min(most.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))),
    }
}

fn finish(
    py: Python<'_>,
    result: Result<Vec<IndexingMap>, Failure>,
    text: impl Fn(usize) -> Option<String>,
) -> PyResult<Vec<PyIndexingMap>> {
    match result {
        Ok(maps) => Ok(maps.into_iter().map(PyIndexingMap).collect()),
        Err((i, error)) => Err(raise(py, &error, text(i).as_deref(), &format!("item {i}: "))),
    }
}

/// The index of each text among the distinct texts, and these.
fn first_of_equals<'t>(texts: &[&'t str]) -> (Vec<usize>, Vec<&'t str>) {
    // Seeded randomly in each process, so that nobody can choose texts that collide.
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

/// Read many maps; the GIL is released. The error for the first bad text states its position.
///
/// Uses at most `threads` threads, by default as many as there are cores, and fewer if there is too little work to share.
/// Equal texts are read once, and share one object.
#[pyfunction]
#[pyo3(signature = (texts, threads = None))]
pub fn parse_all<'py>(
    py: Python<'py>,
    texts: Vec<Bound<'py, PyString>>,
    threads: Option<Threads>,
) -> PyResult<Vec<Bound<'py, PyIndexingMap>>> {
    let texts: Vec<&str> = all_of(texts.len(), texts.iter().map(text_of))?;
    let size = |text: &&str| text.len() / workspace::TEXT;
    let read = |w: &mut Workspace, text: &&str| read_indexing_map(text, &mut w.arena, &mut w.reading);
    let work = || {
        let (first, different) = first_of_equals(&texts);
        (first, run(&different, threads.map(|n| n.0), size, read))
    };
    let (first, result) = guarded(py, || py.detach(work))?;
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
    let result = guarded(py, || py.detach(|| run(&maps, threads.map(|n| n.0), size, simplified)))?;
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
    let each = pairs.try_iter()?.map(|pair| pair_of(&pair?));
    let pairs: Vec<Pair<'_>> = all_of(pairs.len().unwrap_or(0), each)?;
    let pairs: Vec<(&IndexingMap, &IndexingMap)> =
        pairs.iter().map(|(a, b)| (&a.get().0, &b.get().0)).collect();
    let join = |w: &mut Workspace, (a, b): &(&IndexingMap, &IndexingMap)| match simplify {
        true => compose_simplified(&mut w.arena, &mut w.scratch, a, b),
        false => compose(&mut w.arena, a, b),
    };
    let size = |(a, b): &(&IndexingMap, &IndexingMap)| a.dag().byte_size() + b.dag().byte_size();
    let result = guarded(py, || py.detach(|| run(&pairs, threads.map(|n| n.0), size, join)))?;
    finish(py, result, |_| None)
}

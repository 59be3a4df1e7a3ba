//! Calls on many maps, which release the GIL, use all cores, and preserve the order.
//!
//! Equal items are worked on once. Items are taken in blocks, between which Python is asked for signals and told of the progress.

use crate::argument::{effort_of, refused, Threads};
use crate::different_items::Batch;
use crate::error::{broken_text, guarded, raise};
use crate::indexing_map::PyIndexingMap;
use crate::maps::PyMaps;
use crate::objects::{Any, Given, Str};
use crate::questions::product;
use crate::workspace::{self, Workspace};
use indexing_core::{
    compose, compose_simplified, count, read_indexing_map, simplify, Error, IndexingMap, Options,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString};
use std::hash::Hash;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// The maximal number of items that a thread takes at a time.
const MAX_CHUNK: usize = 64;
/// The minimal number: threads take fewer towards the end, where several expensive items may be left.
const MIN_CHUNK: usize = 4;
/// The bytes of expressions per thread from which on starting threads pays: 0.1 to 0.2 ms of work.
const WORTH_A_THREAD: usize = 1 << 15;
/// Bytes of expressions that are hashed while one is worked on.
const HASHED: usize = 16;
/// The number of different items between two looks at signals.
const BLOCK: usize = 1 << 15;

type Failure = (usize, Error);
/// A map of Python.
type Map<'py> = Bound<'py, PyIndexingMap>;

/// `size` returns the approximate size of an item, in bytes of expressions.
fn run<T: Copy + Sync, R: Send>(
    items: &[T],
    threads: Option<usize>,
    size: impl Fn(T) -> usize,
    work: impl Fn(&mut Workspace, T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Failure> {
    let each = |places: Range<usize>| {
        let mut done = Vec::with_capacity(places.len());
        workspace::with(|w| {
            for i in places {
                w.arena.clear();
                match work(w, items[i]) {
                    Ok(map) => done.push(map),
                    Err(e) => return Err((i, e)),
                }
            }
            Ok(done)
        })
    };
    let threads = useful_threads(threads, items.iter().map(|item| size(*item)).sum());
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
fn useful_threads(most: Option<usize>, size: usize) -> usize {
    if most == Some(1) {
        return 1;
    }
    match size / WORTH_A_THREAD {
        // Querying the number of cores takes longer than a short list.
        0 | 1 => 1,
        enough => enough.min(most.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))),
    }
}

/// The options that the calls of this file have in common.
struct Call<'a, 'py> {
    py: Python<'py>,
    threads: Option<usize>,
    progress: Option<&'a Any<'py>>,
}

impl Call<'_, '_> {
    /// The results for the different items, block by block; `text` is that of an item, for the message of its error.
    fn run<T: Copy + Send + Sync, R: Send>(
        &self,
        batch: &Batch<T>,
        size: impl Fn(T) -> usize + Sync,
        work: impl Fn(&mut Workspace, T) -> Result<R, Error> + Sync,
        text: impl Fn(usize) -> Option<String>,
    ) -> PyResult<Vec<R>> {
        let (py, threads, total) = (self.py, self.threads, batch.different.len());
        let mut done = Vec::new();
        for block in batch.different.chunks(BLOCK) {
            let result = guarded(py, || py.detach(|| run(block, threads, &size, &work)))?;
            let failed = |(k, error): Failure| {
                let item = batch.first[done.len() + k];
                raise(py, &error, text(item).as_deref(), &format!("item {item}: "))
            };
            let results = result.map_err(failed)?;
            match done.is_empty() {
                true => done = results, // as they are: most calls have one block
                false => done.extend(results),
            }
            py.check_signals()?;
            if let Some(progress) = self.progress {
                progress.call1((done.len(), total))?;
            }
        }
        Ok(done)
    }
}

/// The items of an iterable. Error: one is of another type; the message states its position.
fn items_of<'py, T>(given: &Any<'py>, item: impl Fn(usize, &Any<'py>) -> PyResult<T>) -> PyResult<Vec<T>> {
    let mut items = Vec::with_capacity(given.len().unwrap_or(0));
    let values = given.try_iter().map_err(|_| refused(given, "an iterable"))?;
    for (k, value) in values.enumerate() {
        items.push(item(k, &value?).map_err(|failure| at_item(given.py(), k, failure))?);
    }
    Ok(items)
}

/// A TypeError with the position of the item; another error as it is.
fn at_item(py: Python<'_>, k: usize, failure: PyErr) -> PyErr {
    match failure.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(format!("item {k}: {}", failure.value(py))),
        false => failure,
    }
}

/// The text of item `k`, which keeps the str.
fn text_of(k: usize, item: &Any<'_>) -> PyResult<PyBackedStr> {
    let Ok(text) = item.cast::<PyString>() else {
        return Err(refused(item, "a str"));
    };
    let broken = |failure: PyErr| broken_text(text, &failure, &format!("item {k}: "));
    PyBackedStr::try_from(text.clone()).map_err(broken)
}

fn map_of<'py>(item: &Any<'py>) -> PyResult<Map<'py>> {
    item.cast::<PyIndexingMap>().cloned().map_err(|_| refused(item, "an IndexingMap"))
}

/// The maps of an iterable, whose objects are kept in `items` unless it is `Maps`.
fn maps_of<'a, 'py>(
    given: &'a Any<'py>,
    items: &'a mut Vec<Map<'py>>,
    threads: Option<usize>,
) -> PyResult<Batch<&'a IndexingMap>> {
    if let Ok(maps) = given.cast::<PyMaps>() {
        return Ok(maps.get().batch());
    }
    *items = items_of(given, |_, item| map_of(item))?;
    let maps: Vec<&IndexingMap> = items.iter().map(|item| &item.get().0).collect();
    Ok(batch_of(given.py(), &maps, threads, size_of))
}

/// The different ones among items, of about these sizes in bytes of expressions.
fn batch_of<T: Copy + Hash + Eq + Send + Sync>(
    py: Python<'_>,
    items: &[T],
    threads: Option<usize>,
    size: impl Fn(T) -> usize,
) -> Batch<T> {
    let threads = useful_threads(threads, items.iter().map(|item| size(*item)).sum::<usize>() / HASHED);
    py.detach(|| Batch::of(items, threads))
}

impl PyMaps {
    /// The maps as a batch, whose different ones are known.
    fn batch(&self) -> Batch<&IndexingMap> {
        let most = self.different.maps.len();
        let mut place = vec![u32::MAX; most];
        let (mut different, mut first) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let index = self.index.iter().enumerate().map(|(k, at)| {
            let own = &mut place[*at as usize];
            if *own == u32::MAX {
                *own = different.len() as u32;
                different.push(&self.different.maps[*at as usize]);
                first.push(k);
            }
            *own
        });
        let index = index.collect();
        Batch { different, first, index }
    }
}

fn size_of(map: &IndexingMap) -> usize {
    map.dag().byte_size()
}

/// Read many maps from an iterable of texts; the GIL is released. The error for the first bad text states its position.
///
/// Equal texts are read once. Uses at most `threads` threads, by default as many as there are cores, and fewer if there is too
/// little work to share. `progress` is called with the number of different items that are done, and of all.
#[pyfunction]
#[pyo3(signature = (texts, threads = None, progress = None))]
pub fn parse_all(texts: &Any<'_>, threads: Option<Threads>, progress: Option<&Any<'_>>) -> PyResult<PyMaps> {
    let call = Call { py: texts.py(), threads: threads.map(|n| n.0), progress };
    if texts.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "expected an iterable of texts, not a str, which IndexingMap.parse reads",
        ));
    }
    let kept = items_of(texts, text_of)?;
    let texts: Vec<&str> = kept.iter().map(|text| &**text).collect();
    let size = |text: &str| text.len() / workspace::TEXT;
    let batch = batch_of(call.py, &texts, call.threads, size);
    let read = |w: &mut Workspace, text: &str| read_indexing_map(text, &mut w.arena, &mut w.reading);
    let maps = call.run(&batch, size, read, |item| Some(texts[item].to_string()))?;
    Ok(PyMaps::new(batch.index, maps))
}

/// Simplify many maps, in their order; `effort` as in `IndexingMap.simplify`, the rest as in `parse_all`.
#[pyfunction]
#[pyo3(signature = (maps, threads = None, effort = None, progress = None))]
pub fn simplify_all(
    maps: &Any<'_>,
    threads: Option<Threads>,
    effort: Option<&Str<'_>>,
    progress: Option<&Any<'_>>,
) -> PyResult<PyMaps> {
    let call = Call { py: maps.py(), threads: threads.map(|n| n.0), progress };
    let options = Options { effort: effort_of(effort)?, ..Options::default() };
    let mut items = Vec::new();
    let batch = maps_of(maps, &mut items, call.threads)?;
    let work = |w: &mut Workspace, m: &IndexingMap| simplify(&mut w.arena, &mut w.scratch, m, options);
    let simplified = call.run(&batch, size_of, work, |_| None)?;
    Ok(PyMaps::new(batch.index, simplified))
}

/// Count the points of many maps, in their order, as `IndexingMap.count`; the rest as in `parse_all`.
#[pyfunction]
#[pyo3(signature = (maps, threads = None, progress = None))]
pub fn count_all<'py>(
    maps: &Any<'py>,
    threads: Option<Threads>,
    progress: Option<&Any<'py>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = maps.py();
    let call = Call { py, threads: threads.map(|n| n.0), progress };
    let mut items = Vec::new();
    let batch = maps_of(maps, &mut items, call.threads)?;
    let work = |w: &mut Workspace, m: &IndexingMap| count(&mut w.arena, &mut w.scratch, m);
    let factors = call.run(&batch, size_of, work, |_| None)?;
    let counts = factors.iter().map(|f| product(py, f)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, batch.index.iter().map(|place| &counts[*place as usize]))
}

/// Whether what was composed is simplified.
pub struct Simplifies(bool);

impl<'py> FromPyObject<'_, 'py> for Simplifies {
    type Error = PyErr;

    fn extract(value: Given<'_, 'py>) -> PyResult<Self> {
        let told =
            "expected True or False; the pairs are one argument, as in compose_all(zip(firsts, seconds))";
        value.extract().map(Simplifies).map_err(|_| PyTypeError::new_err(told))
    }
}

fn pair_of<'py>(pair: &Any<'py>) -> PyResult<(Map<'py>, Map<'py>)> {
    pair.extract().map_err(|_| PyTypeError::new_err("expected pairs of maps, (first, second)"))
}

/// Compose many pairs, the second after the first, and simplify; the rest as in `parse_all`.
#[pyfunction]
#[pyo3(signature = (pairs, simplify = Simplifies(true), threads = None, progress = None), text_signature = "(pairs, simplify=True, threads=None, progress=None)")]
pub fn compose_all(
    pairs: &Any<'_>,
    simplify: Simplifies,
    threads: Option<Threads>,
    progress: Option<&Any<'_>>,
) -> PyResult<PyMaps> {
    let call = Call { py: pairs.py(), threads: threads.map(|n| n.0), progress };
    let kept = items_of(pairs, |_, item| pair_of(item))?;
    let items: Vec<_> = kept.iter().map(|(first, second)| (&first.get().0, &second.get().0)).collect();
    let size = |(first, second): (&IndexingMap, &IndexingMap)| size_of(first) + size_of(second);
    let batch = batch_of(call.py, &items, call.threads, size);
    let join = |w: &mut Workspace, (a, b): (&IndexingMap, &IndexingMap)| match simplify.0 {
        true => compose_simplified(&mut w.arena, &mut w.scratch, a, b),
        false => compose(&mut w.arena, a, b),
    };
    let composed = call.run(&batch, size, join, |_| None)?;
    Ok(PyMaps::new(batch.index, composed))
}

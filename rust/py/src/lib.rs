//! `indexing._core`: conversions, locking and GIL release around `indexing-core`; no logic.

mod argument;
mod array_memory;
mod batch;
mod certificate;
mod different_items;
mod draft;
mod equivalence;
mod error;
mod expr;
mod forks;
mod hlo;
mod host_views;
mod indexing_map;
mod interval;
mod laws;
mod map;
mod maps;
mod memory_traffic;
mod notebook;
mod objects;
mod operand_maps;
mod parametric;
mod parts;
mod piecewise_map;
mod points;
mod prediction;
mod propagation;
mod questions;
mod vector;
mod workspace;

use pyo3::prelude::*;

/// Maps are many small values made and dropped from several threads, where the system's allocator is the largest cost.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hlo::register(module)?;
    module.add_function(wrap_pyfunction!(draft::build_hlo, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<interval::PyInterval>()?;
    module.add_class::<interval::PyVariable>()?;
    module.add_class::<expr::PyExpr>()?;
    module.add_class::<map::PySymbolicMap>()?;
    module.add_class::<indexing_map::PyIndexingMap>()?;
    module.add_class::<piecewise_map::PyPiecewiseMap>()?;
    module.add_class::<maps::PyMaps>()?;
    module.add_class::<parametric::PyParametricMap>()?;
    module.add_class::<parametric::PyInstances>()?;
    module.add_class::<equivalence::PyEquivalence>()?;
    module.add_class::<points::PyPoints>()?;
    module.add_class::<laws::PyLaw>()?;
    module.add_class::<host_views::PyHostViews>()?;
    module.add_class::<propagation::PyPropagation>()?;
    module.add("Unstated", module.py().get_type::<propagation::Unstated>())?;
    module.add_function(wrap_pyfunction!(laws::rules, module)?)?;
    module.add_function(wrap_pyfunction!(expr::variable, module)?)?;
    module.add_function(wrap_pyfunction!(expr::constant, module)?)?;
    module.add_function(wrap_pyfunction!(indexing_map::compose_maps, module)?)?;
    module.add_function(wrap_pyfunction!(batch::parse_all, module)?)?;
    module.add_function(wrap_pyfunction!(batch::simplify_all, module)?)?;
    module.add_function(wrap_pyfunction!(batch::compose_all, module)?)?;
    module.add_function(wrap_pyfunction!(batch::count_all, module)?)?;
    forks::register(module)?;
    let sequence = module.py().import("collections.abc")?.getattr("Sequence")?;
    sequence.call_method1("register", (module.py().get_type::<maps::PyMaps>(),))?;
    module.add_function(wrap_pyfunction!(prediction::predict_times, module)?)?;
    module.add_function(wrap_pyfunction!(memory_traffic::global_memory_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(memory_traffic::shared_memory_traffic, module)?)
}

//! `indexing._core`: conversions, locking and GIL release around `indexing-core`; no logic.

use pyo3::prelude::*;

mod hlo;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hlo::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}

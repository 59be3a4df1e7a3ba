//! Reading of the corpus that the benchmarks run over.

/// The lines of the file that `CORPUS` names, or of the one beside this crate.
pub fn corpus() -> Vec<String> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus.maps");
    let path = std::env::var("CORPUS").ok().filter(|p| !p.is_empty()).unwrap_or_else(|| beside.into());
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.lines().map(str::to_owned).collect()
}

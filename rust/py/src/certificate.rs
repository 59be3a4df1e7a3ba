//! Certificates of simplification, as the data of `indexing.certificates`.

use indexing_core::{
    write_indexing_map, Arena, Certificate, CertifiedStep, Claim, IndexingMap, Result, Style,
};

/// The parts of a step: its law, the texts of one expression or of two equal ones, their bounds and congruence, the law's
/// letters, and the steps that it follows from.
pub type Parts = (&'static str, Vec<String>, Option<[i64; 4]>, Vec<(&'static str, String)>, Vec<usize>);

/// The maps before and after, the steps and the results of a certificate, as `indexing.certificates` takes them.
pub type Recorded = ([String; 2], Vec<Parts>, Vec<Option<usize>>);

/// The parts of a certificate of the map `before`.
pub fn recorded(
    arena: &mut Arena,
    [before, after]: [&IndexingMap; 2],
    certificate: &Certificate,
) -> Result<Recorded> {
    let texts = [write_indexing_map(before, Style::Plain)?, write_indexing_map(after, Style::Plain)?];
    Ok((texts, parts(before, arena, certificate)?, certificate.results.clone()))
}

fn parts(map: &IndexingMap, arena: &mut Arena, certificate: &Certificate) -> Result<Vec<Parts>> {
    certificate.steps.iter().map(|step| parts_of(map, arena, step)).collect()
}

fn parts_of(map: &IndexingMap, arena: &mut Arena, step: &CertifiedStep) -> Result<Parts> {
    let (claimed, range) = match step.claim {
        Claim::Within(e, i) => (vec![e], Some([i.bounds.lower, i.bounds.upper, i.modulus, i.residue])),
        Claim::Equal(before, after) => (vec![before, after], None),
        Claim::Never => (Vec::new(), None),
    };
    let roots: Vec<_> = claimed.iter().copied().chain(step.bindings.iter().map(|b| b.1)).collect();
    let dag = arena.export(&roots);
    let texts = (0..claimed.len()).map(|k| map.text_of(&dag, k)).collect::<Result<Vec<_>>>()?;
    let letters = step.bindings.iter().enumerate();
    let bindings =
        letters.map(|(k, b)| Ok((b.0, map.text_of(&dag, claimed.len() + k)?))).collect::<Result<_>>()?;
    Ok((step.law, texts, range, bindings, step.from.clone()))
}

"""The C header says what the crate exports: functions, structs, numbers of the status; the example calls all but a few."""

import re
from pathlib import Path

import indexing as ix
from indexing.model.prediction import DEMANDS

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "rust/capi/include/indexing.h").read_text()
CODE = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
RUST = "".join(file.read_text() for file in sorted((ROOT / "rust/capi/src").glob("*.rs")))
STATUS = (ROOT / "rust/capi/src/status.rs").read_text()
MODEL = (ROOT / "rust/core/src/access/prediction.rs").read_text()
C_TYPES = {
    "c_char": "char",
    "usize": "size_t",
    "i64": "int64_t",
    "u64": "uint64_t",
    "f64": "double",
    "bool": "bool",
    "Status": "indexing_status",
    "Map": "indexing_map",
    "OwnedPredictor": "indexing_predictor",
    "WithSize<ProgramText>": "indexing_program",
    "WithSize<Kernel>": "indexing_kernel",
    "WithSize<KnobColumn>": "indexing_knob",
    "WithSize<Device>": "indexing_device",
    "WithSize<Demand>": "indexing_demand",
    "WithSize<Prediction>": "indexing_prediction",
}


def c_type(rust: str) -> str:
    """`*const *const Map` as `const indexing_map*const*`."""
    *pointers, name = re.findall(r"\*const|\*mut|[\w<>]+", rust)
    if not pointers:
        return C_TYPES[name]
    const = "const " if pointers[-1] == "*const" else ""
    outer = ("const*" if p == "*const" else "*" for p in reversed(pointers[:-1]))
    return f"{const}{C_TYPES[name]}*{''.join(outer)}"


def exported() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    results = {}
    pattern = r"#\[no_mangle\]\s*pub (?:unsafe )?extern \"C\" fn (\w+)\(([^)]*)\)(?: -> ([^{]+))? \{"
    for name, arguments, result in re.findall(pattern, RUST):
        pairs = [part.split(":") for part in arguments.split(",") if part.strip()]
        results[name] = (c_type(result) if result else "void", [(c_type(t), n.strip()) for n, t in pairs])
    return results


def declared() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    results = {}
    for result, name, arguments in re.findall(r"^(\w[\w *]*?)(indexing_\w+)\(([^)]*)\);", CODE, re.MULTILINE):
        pairs = [] if arguments == "void" else re.findall(r"([^,]*?)(\w+)\s*(?:,|$)", arguments)
        results[name] = (
            result.replace(" *", "*").strip(),
            [(re.sub(r"\s*\*\s*", "*", t).strip(), n) for t, n in pairs],
        )
    return results


def test_the_header_declares_what_the_crate_exports() -> None:
    assert len(exported()) == RUST.count("#[no_mangle]") > 10
    assert declared() == exported()


def test_structs_have_the_fields_of_the_core_in_order() -> None:
    for name in ("Device", "Demand", "Prediction"):
        body = re.search(rf"^    pub struct {name} \{{(.*?)\n    \}}", MODEL, re.DOTALL | re.MULTILINE)
        fields = re.findall(r"pub (\w+): f64", body[1]) if body else []
        stated = re.search(rf"struct indexing_{name.lower()} \{{(.*?)\}}", CODE, re.DOTALL)
        assert stated and re.findall(r"(\w+) (\w+);", stated[1]) == [
            ("size_t", "size"),
            *(("double", f) for f in fields),
        ]
        assert fields


def test_structs_of_predictors_have_the_fields_of_the_crate_in_order() -> None:
    for rust, c in (("ProgramText", "program"), ("Kernel", "kernel"), ("KnobColumn", "knob")):
        body = re.search(rf"pub struct {rust} \{{(.*?)\}}", RUST, re.DOTALL)
        fields = re.findall(r"pub (\w+): ([^,]+),", body[1]) if body else []
        stated = re.search(rf"struct indexing_{c} \{{(.*?)\}}", CODE, re.DOTALL)
        stated_fields = re.findall(r"(\w[\w ]*?[ *]+)(\w+);", stated[1]) if stated else []
        assert [(t.replace(" *", "*").strip(), n) for t, n in stated_fields] == [
            ("size_t", "size"),
            *((c_type(t), n) for n, t in fields),
        ]


def test_the_example_of_programs_prints_what_python_predicts() -> None:
    source = (ROOT / "examples/c/programs.c").read_text()
    (program,) = ("".join(re.findall(r'"(.*)\\n"', part)) for part in re.findall(r"on_h100\((\"[^;]*)\);", source)[:1])
    module = ix.hlo.parse(program)
    report, plans = ix.analyze(module, "h100"), ix.predict(module.entry, device="h100")
    lines = [f"the program takes {report.seconds * 1e6:.1f} us; its kernels:"]
    lines += [f"  {f.name}: {(f.seconds or 0) * 1e6:.1f} us, limited by {f.limit}" for f in report.fusions]
    best = sorted(plans.plan(int(plans.time.argmin())).items())
    lines += [
        f"the fastest of {len(plans)} plans takes {plans.time.min() * 1e6:.1f} us: {' '.join(f'{n}={v}' for n, v in best)}"
    ]
    assert (ROOT / "examples/c/programs.out").read_text().startswith("\n".join(lines) + "\nstatus 1 at byte 54: ")


def test_demands_of_python_are_the_fields_of_the_struct_in_order() -> None:
    renamed = {"cache_bytes": "moved", "memory_bytes": "memory"}
    stated = re.search(r"struct indexing_demand \{(.*?)\}", CODE, re.DOTALL)
    assert stated and re.findall(r"double (\w+);", stated[1]) == [renamed.get(name, name) for name in DEMANDS]


def test_statuses_have_the_numbers_of_the_crate() -> None:
    rust = re.findall(r"^    (\w+) = (\d),", STATUS, re.MULTILINE)
    spelled = [("INDEXING_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper(), number) for name, number in rust]
    assert numbers("indexing_status") == spelled != []


def test_limits_have_the_numbers_of_the_core() -> None:
    names = re.findall(r"\w+", MODEL.partition("LIMITS: [&str; 5] = [")[2].partition("]")[0])
    assert numbers("indexing_limit") == [(f"INDEXING_LIMIT_{n.upper()}", str(k)) for k, n in enumerate(names)] != []


def numbers(enum: str) -> list[tuple[str, str]]:
    body = re.search(rf"typedef enum {enum} \{{(.*?)\}}", CODE, re.DOTALL)
    return re.findall(r"(INDEXING_\w+) = (\d)", body[1] if body else "")


def test_the_document_shows_the_examples_and_what_they_print() -> None:
    document = (ROOT / "docs/c.md").read_text()
    for example in ("tiles", "programs"):
        assert (ROOT / f"examples/c/{example}.out").read_text() in document
    assert not set(re.findall(r"`(indexing_\w+)", document)) - set(declared()) - {"indexing_status"}

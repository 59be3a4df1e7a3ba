"""The library of intrinsics: definitions need the names of their text, and each target's compiler takes all."""

from dataclasses import replace
from pathlib import Path

import pytest

from indexing.kernels.ir.fragments import PANEL_PRODUCTS
from indexing.kernels.targets import TARGETS, Target
from indexing.kernels.targets.library import closure, definition_of, library_of, macro, read_definitions, typedef
from indexing.kernels.targets.library_math import NUMBERS
from indexing.runtime.compiler import find_compiler


def test_definitions_need_the_names_of_their_code() -> None:
    library = library_of(
        [
            *map(typedef, ("f32", "f64"), ("float", "double")),
            macro("exp_f32", "expf"),
            macro("log_f32", "logf"),
            macro("sin_f32", "sinf"),
            definition_of('$T f_$T($T x) { print("log_f32"); return exp_$T(x); }  // no sin_f32', T="f32"),
        ]
    )
    assert [d.name for d in closure(["f_f32"], library)] == ["f32", "exp_f32", "f_f32"]


def test_files_have_one_definition_between_empty_lines() -> None:
    read = {d.name: d for d in read_definitions("math.c", **dict.fromkeys(NUMBERS, "0"))}
    assert read["two_to"].text == "f32 two_to(s32 n) { return float_f32((u32)(n + 127) << 23); }  // a normal number"
    assert read["angle"].text == "typedef struct { f64 r; u32 quadrant; } angle;" and not read["angle"].is_function
    assert read["mul_add_f64"].text.startswith("#if") and read["two_over_pi"].text.startswith("static const")
    assert not any(d.text.startswith("//") or "\n\n" in d.text for d in read.values())


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_all_targets_have_the_same_names(target: Target) -> None:
    every = set(TARGETS["cuda"].library)
    own = {"angle", "angle_of", "two_over_pi", "limit_f64"}
    own |= {"exp_terms_of_f64", "log_terms_f32", "log_terms_f64", "quarter_expm1", "beyond_tiny"}
    own |= {"exp_terms", "exp_terms_of", "two_to", "rem_part", "scalar_branch"}
    own |= {"choose_f32", "choose_f64", "choose_pred"}
    own |= {
        "VECTOR_BYTES",
        "CONTRACTS",
        "WORD_VECTOR_BYTES",
        "MAY_HAVE_TILES",
        "ROWS_AT_ONCE",
        "has_tiles",
        "set_tiles",
    }
    own |= {
        "words",
        "signed_words",
        "four_words",
        "floats",
        "pairs",
        "unsigned_pairs",
        "products_of_pairs",
        "add_products",
    }
    kinds = [name for name in target.library if name.startswith(("multiply_tiles_", "sum_of_row_"))]
    own |= {*kinds, *(f"multiply_panels_{kind}" for kind in PANEL_PRODUCTS)}
    extra = {n for n in target.library if n not in every and n not in own and not n.endswith("_wide")}
    missing = every - set(target.library)
    asked_for_first = (
        "matrices",
        "load_transposed",
        "load_vector",
        "load_written_vector",
        "store_vector",
        "copy_async",
        "wait_copies",
        "pack",
        "quotient_s32",
        "remainder_s32",
        "_at_",
        "_after_",
    )
    assert all(any(name in n for name in asked_for_first) for n in missing)
    assert extra == set()


def whole_library(target: Target) -> str:
    """A source with all definitions, whose functions are not static, so that a compiler makes code of each."""
    names = closure(target.library, target.library)
    qualifier = target.function.replace("static", "").replace("inline", "").strip()
    lines = [*target.prelude, *(d.text for d in names if not d.is_function)]
    return "\n".join([*lines, *(f"{qualifier} {d.text}" for d in names if d.is_function)]) + "\n"


def build_c(source: str, folder: Path) -> None:
    compiler = find_compiler()
    strict = replace(compiler, flags=(*compiler.flags, "-Werror=implicit-function-declaration", "-O1"))
    strict.build("library", source, folder / "library.so")


def build_cuda(source: str, folder: Path) -> None:
    program = pytest.importorskip("cuda.core").Program
    from cuda.core import ProgramOptions

    options = ProgramOptions(name="library.cu", arch="sm_80", std="c++17")
    assert program(source, "c++", options=options).compile("cubin").code


def build_opencl(source: str, folder: Path) -> None:
    cl = pytest.importorskip("pyopencl")
    from opencl_runtime import device as opencl_device

    source += "__kernel void nothing(__global float *x) { x[0] = logistic_f32(x[1]); }\n"
    assert cl.Program(opencl_device()._context, source).build(options=["-w", "-cl-std=CL1.2"])


#: A compiler of each target.
BUILDS = {"c": build_c, "cuda": build_cuda, "opencl": build_opencl}


@pytest.mark.parametrize("name", TARGETS)
def test_a_compiler_takes_all(name: str, tmp_path: Path) -> None:
    BUILDS[name](whole_library(TARGETS[name]), tmp_path)

"""The library of intrinsics: what definitions say they need is what they use, and each target's compiler takes all."""

import re

import pytest

from indexing.kernels.ir.fragments import PANEL_TYPES
from indexing.kernels.targets import TARGETS, Target
from indexing.kernels.targets.library import Definition, closure
from indexing.runtime.compiler import find_compiler

WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def names_in(definition: Definition, target: Target) -> set[str]:
    text = re.sub(r"//.*|\"[^\"]*\"", "", definition.text)
    return (set(WORD.findall(text)) & set(target.library)) - {definition.name}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_definitions_state_what_they_use(target: Target) -> None:
    wrong = {}
    for definition in target.library.values():
        if not definition.text.startswith("typedef ") or definition.needs:
            stated, used = set(definition.needs), names_in(definition, target)
            if stated != used:
                wrong[definition.name] = (stated - used, used - stated)
    assert wrong == {}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_all_targets_have_the_same_names(target: Target) -> None:
    every = set(TARGETS["cuda"].library)
    own = {"angle", "angle_of", "two_over_pi", "limit_f64"}
    own |= {"exp_terms", "exp_terms_of", "two_to", "rem_part", "choose_f32", "choose_f64", "scalar_branch"}
    own |= {"VECTOR_BYTES", *(f"multiply_panels_{kind}" for kind in PANEL_TYPES)}
    extra = {n for n in target.library if n not in every and n not in own and not n.endswith("_wide")}
    missing = every - set(target.library)
    asked_for_first = (
        "matrices",
        "load_transposed",
        "store_vector",
        "copy_async",
        "wait_copies",
        "pack",
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


def test_the_c_compiler_takes_all(tmp_path: object) -> None:
    from dataclasses import replace
    from pathlib import Path

    strict = replace(find_compiler(), flags=(*find_compiler().flags, "-Werror=implicit-function-declaration", "-O1"))
    strict.build("library", whole_library(TARGETS["c"]), Path(str(tmp_path)) / "library.so")


def test_nvrtc_takes_all() -> None:
    program = pytest.importorskip("cuda.core").Program
    source = whole_library(TARGETS["cuda"])
    from cuda.core import ProgramOptions

    options = ProgramOptions(name="library.cu", arch="sm_80", std="c++17")
    assert program(source, "c++", options=options).compile("cubin").code


def test_an_opencl_compiler_takes_all() -> None:
    cl = pytest.importorskip("pyopencl")
    from opencl_runtime import device as opencl_device

    device = opencl_device()
    source = whole_library(TARGETS["opencl"])
    source += "__kernel void nothing(__global float *x) { x[0] = logistic_f32(x[1]); }\n"
    assert cl.Program(device._context, source).build(options=["-w", "-cl-std=CL1.2"])

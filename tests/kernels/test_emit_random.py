"""Random fusions of 1 to 30 ops: the CPU kernel agrees with the reference, and so does the program in several kernels."""

import hypothesis
import hypothesis.strategies as st
import numpy as np

import indexing as ix
from kernels import as_fusion, assert_written_once, check, close, compiled, random_array
from random_fusions import random_fusion, random_hero_fusion

SETTINGS = hypothesis.settings(max_examples=20, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))


@SETTINGS
@hypothesis.given(st.integers(0, 2**20))
def test_one_kernel(seed: int) -> None:
    check(random_fusion(seed), seed=seed, tolerance=1e-2)


@SETTINGS
@hypothesis.given(st.integers(0, 2**20))
def test_one_kernel_with_a_hero(seed: int) -> None:
    text = random_hero_fusion(seed)
    kernel = check(text, seed=seed, tolerance=1e-2)
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))


@hypothesis.settings(SETTINGS, max_examples=6)
@hypothesis.given(st.integers(0, 2**20))
def test_a_program(seed: int) -> None:
    text = random_fusion(seed)
    module = ix.hlo.parse(text)
    rng = np.random.default_rng(seed)
    arrays = [random_array(p.shape, rng) for p in module.entry.parameters]
    got, want = compiled(module, "cpu")(*arrays), ix.evaluate(module, *arrays)
    for g, w in zip(got if isinstance(got, tuple) else [got], want if isinstance(want, tuple) else [want], strict=True):
        close(np.asarray(g), np.asarray(w), 1e-2)


@SETTINGS
@hypothesis.given(st.integers(0, 2**20))
def test_the_same_fusion_gives_the_same_source(seed: int) -> None:
    text = random_fusion(seed)
    for dialect in ("cuda", "opencl"):
        first, second = (ix.emit(as_fusion(text), dialect=dialect) for _ in range(2))
        assert first == second

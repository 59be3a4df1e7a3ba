"""Programs of one library call, and what they give."""

import json

import numpy as np

import indexing as ix
from kernels import compiled
from reached import program


def dims(sizes):
    return "[" + ",".join(map(str, sizes)) + "]"


def call(target, results, shapes, config=None, attributes="", quoted=False):
    """A program of one call over parameters of the shapes."""
    text = "" if config is None else config if isinstance(config, str) else json.dumps(config)
    if quoted:
        text = '"' + text.replace('"', '\\"') + '"'
    operands = ", ".join(f"p{k}" for k in range(len(shapes)))
    rest = f', custom_call_target="{target}"{attributes}' + (f", backend_config={text}" if text else "")
    return program(f"{results} custom-call({operands}){rest}", *shapes)


def results(text, *arrays):
    """What the reference and the executable give, which must agree up to the rounding of sums."""
    values = ix.evaluate(text, *arrays)
    run = compiled(text)
    for _ in range(2):
        for one, other in zip(_tuple(run(*arrays)), _tuple(values), strict=True):
            assert one.dtype == other.dtype
            wide = complex if one.dtype.kind == "c" else float
            np.testing.assert_allclose(one.astype(wide), other.astype(wide), rtol=2e-5, atol=2e-6)
    return _tuple(values)


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


def drawn(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, s).astype(np.float32) for s in shapes]

"""Kernel Tuner itself takes what a search gives it: it compiles, checks and times the kernels in C; of CUDA it has the plans."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from fusion_texts import fusion
from indexing.device.detect import find_device
from indexing.device.table import portable_device
from indexing.kernels import emit_fused
from indexing.tuning.trials import TuningTarget

IN_PLACE = """ENTRY f { p = f32[64,8] parameter(0)
  q = f32[4,8] parameter(1)
  z = s32[] constant(3)
  ROOT u = f32[64,8] dynamic-update-slice(p, q, z, z) }"""
NARROW = """ENTRY f { p = bf16[40,24] parameter(0)
  q = pred[40,24] parameter(1)
  n = bf16[40,24] negate(p)
  ROOT s = bf16[40,24] select(q, p, n) }"""


def searched(computation: ix.hlo.Computation, device: str) -> ix.Tuning:
    described = find_device(device)
    return ix.Tuning("", "f", "", (), described, (), TuningTarget(computation, True, described))


def tune_kernel(actual: ix.Tuning, evaluations: int = 2, **changes: object) -> list[dict]:
    arguments = {**actual.to_kernel_tuner(), **changes}
    kernel_tuner = importlib.import_module("kernel_tuner")
    options = {"max_fevals": evaluations}
    results, _ = kernel_tuner.tune_kernel(
        **arguments, strategy="random_sample", strategy_options=options, quiet=True, iterations=1
    )
    return results


@pytest.mark.parametrize("name", ["row reduction", "sorted scatter", "loop of outputs of two sizes"])
def test_it_runs_kernels_in_c_and_finds_their_results_right(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trials = searched(fusion(name), "cpu")
    results = tune_kernel(trials)
    assert len(results) == 2 and all(r["time"] > 0 for r in results)
    assert trials.space.allows({n: [r[n] for r in results] for n in trials.space.names}).all()


@pytest.mark.parametrize("text", [IN_PLACE, NARROW])
def test_results_in_place_and_types_that_numpy_lacks(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tune_kernel(searched(ix.hlo.parse(text).entry, "cpu"), 1)[0]["time"] > 0


def test_it_sees_wrong_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trials = searched(fusion("transpose"), "cpu")
    data, answer = trials.to_kernel_tuner()["arguments"], trials.to_kernel_tuner()["answer"]
    assert isinstance(data, list) and isinstance(answer, list)
    assert answer[0] is None and np.array_equal(answer[1].reshape(90, 70), data[0].reshape(70, 90).T)
    with pytest.raises(RuntimeError, match="Kernel result verification failed"):
        tune_kernel(trials, 1, answer=[None, answer[1] + 1])


def test_of_cuda_it_has_the_plans_with_their_sources_and_launches() -> None:
    kernel_tuner, util = importlib.import_module("kernel_tuner"), importlib.import_module("kernel_tuner.util")
    searchspace = importlib.import_module("kernel_tuner.searchspace")
    trials = searched(fusion("row reduction"), "H100")
    arguments = trials.to_kernel_tuner()
    inspect.signature(kernel_tuner.tune_kernel).bind(**arguments)
    plans = searchspace.Searchspace(arguments["tune_params"], arguments["restrictions"], 1024)
    assert plans.size > 10
    for values in plans.list[:: plans.size // 5]:
        named = dict(zip(plans.param_names, values, strict=True))
        kernel = emit_fused(trials.computation, portable_device("cuda"), **{n: named[n] for n in trials.space.names})
        divided = [arguments[f"grid_div_{d}"] for d in "xyz"]
        threads, grid = util.setup_block_and_grid(arguments["problem_size"], divided, named, ["block_size_x", "y", "z"])
        assert (threads, grid) == (kernel.block, kernel.launch_grid)
        source = importlib.import_module("kernel_tuner.core").KernelSource(
            arguments["kernel_name"], arguments["kernel_source"], arguments["lang"], arguments["defines"]
        )
        name, text, _ = source.prepare_list_of_files(
            arguments["kernel_name"], named, grid, threads, ["block_size_x", "y", "z"]
        )
        assert name == kernel.name and text.strip().endswith(kernel.source.strip())
    passed = [a for a in emit_fused(trials.computation, portable_device("cuda")).arguments if a.alias_of is None]
    assert [len(a) for a in arguments["arguments"]] == [a.element_count for a in passed]

"""What needs Ray (the extra `ray`): a search on a cluster of two nodes here, one of which is killed. `make ray` runs it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

import indexing as ix
from fusion_texts import fusion
from indexing.executable.devices import device_of_dialect
from indexing.executable.tuned_plans import tuned_plan
from indexing.runtime.plan_store import Measured, Store
from indexing.tuning.bench import ClusterBench

LOOP = "ENTRY f { p = f32[40,25] parameter(0)\n ROOT n = f32[40,25] negate(p) }"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        yield made
    finally:
        made.shutdown()


def test_a_search_loses_nothing_when_a_node_is_killed(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cluster.add_node(num_cpus=1)
    stored: list[str] = []
    put = Store.put

    def killing(self: Store, key: str, plan: str, measured: Measured) -> None:
        put(self, key, plan, measured)
        stored.append(plan)
        if len(stored) == 3:
            cluster.remove_node(second, allow_graceful=False)

    monkeypatch.setattr(Store, "put", killing)
    path = tmp_path / "tuning.sqlite"
    trials = ix.tune(fusion("row reduction"), budget=12, seed=1, device="cpu", store=path, ray=cluster.address)
    assert [t.measured.state for t in trials.trials] == ["measured"] * 12
    assert len(set(stored)) == 12 and not ray.is_initialized()
    assert tuned_plan(fusion("row reduction"), device_of_dialect("c"), Store(path)) == trials.best
    count = len(stored)
    here = ix.tune(fusion("row reduction"), budget=12, seed=1, device="cpu", store=path)
    assert here.trials == trials.trials and len(stored) == count


def test_a_worker_without_memory_is_a_trial_that_failed(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, failed = ClusterBench._outcome, []

    def killed() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def first_fails(self: ClusterBench, reference: object) -> Measured:
        if failed:
            return outcome(self, reference)
        failed.append(reference)
        return outcome(self, ray.remote(max_retries=0)(killed).remote())

    monkeypatch.setattr(ClusterBench, "_outcome", first_fails)
    trials = ix.tune(ix.hlo.parse(LOOP).entry, budget=3, device="cpu", store=tmp_path / "s.sqlite", ray=cluster.address)
    states = sorted(t.measured.state for t in trials.trials)
    assert states == ["failed", "measured", "measured"]
    (detail,) = (t.measured.detail for t in trials.trials if t.seconds is None)
    assert "WorkerCrashedError" in detail or "OutOfMemoryError" in detail


def test_a_cluster_that_is_not_there(cluster: Cluster, tmp_path: Path) -> None:
    computation = ix.hlo.parse(LOOP).entry
    with pytest.raises(ix.IndexingError, match="the Ray cluster has no GPU"):
        ix.tune(computation, device="H100", store=tmp_path / "s.sqlite", ray=cluster.address)
    with pytest.raises(ix.IndexingError, match="there is no Ray cluster at nowhere:1"):
        ix.tune(computation, device="cpu", store=tmp_path / "s.sqlite", ray="nowhere:1")

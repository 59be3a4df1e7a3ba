"""What needs Ray (the extra `ray`): a cluster of two nodes here, one of which is killed on the way. `make ray` runs it."""

from pathlib import Path

import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster

import indexing as ix

COPY = (
    "HloModule m{0}\nENTRY e {{ p = f32[64,{0}] parameter(0) ROOT t = f32[{0},64] transpose(p), dimensions={{1,0}} }}"
)
COUNT = 200


def test_every_row_is_there_once_when_a_node_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    for k in range(COUNT):
        (folder / f"m{k:03}.hlo").write_text(COPY.format(k + 1))
    (folder / "broken.hlo").write_text("no program")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    ended = []

    def progress(done: int, total: int) -> None:
        if done == 20:
            cluster.remove_node(second, allow_graceful=False)
            ended.append(done)

    try:
        summary = ix.analyze_files(folder, tmp_path / "out", ray=cluster.address, progress=progress)
        again = ix.analyze_files(folder, tmp_path / "out", ray=cluster.address)
    finally:
        cluster.shutdown()
    assert ended and (summary.analyzed, summary.failed) == (COUNT + 1, 1)
    assert (again.analyzed, again.known) == (0, COUNT + 1)
    paths = pq.read_table(summary.programs)["path"].to_pylist()
    assert sorted(paths) == sorted(map(str, folder.iterdir()))
    assert len(pq.read_table(summary.fusions)) == COUNT
    assert not ray.is_initialized()

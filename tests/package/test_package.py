"""The package's own names: what is there at once, what is loaded when it is asked for, and that nobody can tell."""

import pickle
import py_compile
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import indexing as ix


def loaded_by(script: str) -> set[str]:
    """The libraries that a script loads into a fresh interpreter."""
    begin = "import sys; own = set(sys.modules)\n"
    end = "\nprint(*{name.split('.')[0] for name in set(sys.modules) - own})"
    command = [sys.executable, "-c", begin + script + end]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


MAPS = """
import indexing as ix
maps = ix.parse_all(["(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 7], s0 in [0, 3]"] * 2)
ix.simplify_all(maps)
(both,) = ix.compose_all([(ix.IndexingMap.parse("(d0) -> (d0 floordiv 4), domain: d0 in [0, 31]"), maps[0])])
both.count(), both.inverse(), both.is_injective(), list(both.points()), str(both), hash(both)
"""


def test_maps_need_no_other_library() -> None:
    libraries = {"numpy", "ml_dtypes", "cuda", "pyopencl", "jax", "torch", "islpy", "z3"}
    assert not {"typing", *libraries} & loaded_by(MAPS)
    assert not libraries & loaded_by(MAPS + "both.explain(), both.simplify(certificate=True)\n")


def test_maps_need_neither_stubs_nor_sources(tmp_path: Path) -> None:
    package = Path(ix.__file__).parent
    (tmp_path / "indexing").mkdir()
    for name in ("__init__", "lazy", "errors"):
        py_compile.compile(str(package / f"{name}.py"), str(tmp_path / "indexing" / f"{name}.pyc"))
    core = Path(ix._core.__file__)
    (tmp_path / "indexing" / core.name).symlink_to(core)
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{MAPS}"]
    subprocess.run(command, check=True)


PROGRAMS = """
import indexing as ix
module = ix.hlo.parse('''
f {
  p = f32[8,6] parameter(0)
  q = f32[6] parameter(1)
  b = f32[8,6] broadcast(q), dimensions={1}
  s = f32[8,6] subtract(p, b)
  e = f32[8,6] exponential(s)
  ROOT t = f32[6,8] transpose(e), dimensions={1,0}
}
ENTRY main {
  x = f32[8,6] parameter(0)
  y = f32[6] parameter(1)
  ROOT out = f32[6,8] fusion(x, y), kind=kLoop, calls=f
}''')
ix.output_to_input(module.entry.root), ix.input_to_output(module.entry.root), ix.partition(module.computations["f"])
ix.propagate_tile(module.entry.root), ix.emit(module.entry.root).source, str(module)
"""


def test_maps_of_programs_need_no_arrays() -> None:
    assert not {"numpy", "ml_dtypes", "cuda", "pyopencl"} & loaded_by(PROGRAMS)


def test_no_name_of_the_package_needs_a_device_library() -> None:
    loaded = loaded_by("from indexing import *; compile, emit, evaluate, coalescing")
    assert not {"cuda", "pyopencl", "jax", "jaxlib", "torch", "islpy", "z3"} & loaded


@pytest.mark.parametrize(("name", "home"), vars(ix)["_homes"].items())
def test_a_name_is_the_one_of_its_module(name: str, home: str) -> None:
    if home == "indexing":
        assert getattr(ix, name) is import_module(f"{home}.{name}")
    else:
        assert getattr(ix, name) is getattr(import_module(home), name)
    assert name in dir(ix)
    assert name in ix.__all__ or name == "__version__"


def test_all_names_are_there() -> None:
    assert {"IndexingMap", "simplify_all", "ParseError", "hlo", "emit"} <= set(ix.__all__)
    assert not {"lazy", "load_later"} & set(ix.__all__)
    for name in ix.__all__:
        assert hasattr(ix, name)


def test_names_can_be_replaced_and_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ix, "emit", len)
        assert ix.emit is len
    assert ix.emit is import_module("indexing.kernels").emit


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'indexing' has no attribute 'simplfy'"):
        ix.simplfy  # noqa: B018  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'simplfy'"):
        exec("from indexing import simplfy")


def test_classes_pickle_by_the_names_they_have_in_the_package() -> None:
    for name in ("IndexingMap", "Interval", "ParseError", "Tile", "Executable"):
        assert pickle.loads(pickle.dumps(getattr(ix, name))) is getattr(ix, name)

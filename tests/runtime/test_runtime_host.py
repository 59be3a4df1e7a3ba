"""The processor as a device: the compiler, the objects on disk, blocks on all cores."""

from __future__ import annotations

import multiprocessing
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.targets.c_family import joint_source
from indexing.runtime import cache, compiler, object_files
from indexing.runtime.compiling_together import MIN_BYTES, compile_together
from indexing.runtime.host import Host
from indexing.runtime.host_kernel import HostKernel
from indexing.runtime.host_memory import MemoryPool, address, aligned_bytes
from ir_kernels import elementwise, run
from kernels import compiled

SOURCE = "void NAME(void *const *b, long long first, long long last) { for (long long k = first; k < last; k++) ((int *)b[0])[k] += 1; }\n"


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path))
    return tmp_path / "host"


@pytest.fixture
def forgotten_compiler() -> object:
    compiler.find_compiler.cache_clear()
    yield
    compiler.find_compiler.cache_clear()


def counts(blocks: int) -> np.ndarray:
    array = aligned_bytes(4 * blocks).view(np.int32)
    array[...] = 0
    return array


def test_each_block_runs_once_on_all_cores() -> None:
    kernel = HostKernel("many", SOURCE.replace("NAME", "many"), (1000, 10, 10), 1024)
    array = counts(100_000)
    for turn in range(1, 4):
        kernel.launch([address(array)])
        assert (array == turn).all()


def test_no_blocks_are_no_work() -> None:
    HostKernel("many", SOURCE.replace("NAME", "many"), (0, 1, 1), 1).launch([0])


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_ranges_are_disjoint_and_complete(helpers: int) -> None:
    script = f"""
import ctypes
import numpy as np
from indexing.runtime.host_kernel import HostKernel, ThreadPool
pool, kernel = ThreadPool({helpers}), HostKernel("many", {SOURCE.replace("NAME", "many")!r}, (1, 1, 1), 1)
assert pool.helpers == {helpers}
for blocks in (1, 2, 7, 1000):
    for size in (1, 3, blocks, blocks + 5):
        array = np.zeros(blocks, np.int32)
        for _ in range(50):
            pool.run(kernel.function, (ctypes.c_void_p * 1)(array.ctypes.data), blocks, size)
        assert (array == 50).all()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)  # beside other work


def test_several_threads_may_launch_at_a_time() -> None:
    kernel = HostKernel("many", SOURCE.replace("NAME", "many"), (50_000, 1, 1), 1024)
    arrays = [counts(50_000) for _ in range(6)]
    threads = [threading.Thread(target=lambda a=a: [kernel.launch([address(a)]) for _ in range(5)]) for a in arrays]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all((a == 5).all() for a in arrays)


def _launch_in_child(result: multiprocessing.Queue) -> None:
    kernel = HostKernel("many", SOURCE.replace("NAME", "many"), (100_000, 1, 1), 1024)
    array = counts(100_000)
    kernel.launch([address(array)])
    result.put(bool((array == 1).all()))


def test_a_forked_process_has_threads_of_its_own() -> None:
    if not hasattr(os, "fork"):
        return
    test_each_block_runs_once_on_all_cores()  # this process has its threads
    context = multiprocessing.get_context("fork")
    result = context.Queue()
    child = context.Process(target=_launch_in_child, args=(result,))
    child.start()
    assert result.get(timeout=600)
    child.join()


# ---------------------------------------------------------------- memory


def test_memory_comes_back_when_its_last_view_is_gone() -> None:
    pool = MemoryPool()
    first = pool.lease(1000)
    place = address(first)
    assert place % 64 == 0 and first.nbytes == 1000
    view = first[10:20].view(np.uint16)[::2]
    del first
    assert pool.kept == 0 and address(pool.lease(1000)) != place
    del view
    assert pool.kept > 0
    again = [pool.lease(1000), pool.lease(1000)]
    assert place in map(address, again) and pool.kept == 0


def test_free_memory_is_limited() -> None:
    pool = MemoryPool(limit=1000)
    for nbytes in (300, 400, 500, 2000):
        pool.lease(nbytes)
    assert pool.kept == 900
    places = {address(pool.lease(400)), address(pool.lease(500))}
    assert len(places) == 2 and pool.kept == 900


def test_a_result_keeps_its_memory_while_it_is_used() -> None:
    host = Host()
    results = [host.download(host.upload(np.full(50, k)), np.dtype(np.int64), (50,))[::2] for k in range(20)]
    assert all((result == k).all() for k, result in enumerate(results))


# ---------------------------------------------------------------- objects on disk


def objects(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix in (".so", ".dll", ".dylib"))


def test_an_object_is_compiled_once(empty_cache: Path) -> None:
    first = compiler.shared_library("once", SOURCE.replace("NAME", "once"))
    before = first.stat().st_ino
    assert compiler.shared_library("once", SOURCE.replace("NAME", "once")) == first
    assert first.stat().st_ino == before
    assert objects(empty_cache) == [first]
    assert compiler.shared_library("once", SOURCE.replace("NAME", "other")) != first


def test_a_cached_kernel_loads_within_milliseconds(empty_cache: Path) -> None:
    source = SOURCE.replace("NAME", "cached")
    HostKernel("cached", source, (1, 1, 1), 1)
    times = []
    for _ in range(5):
        start = time.process_time()
        HostKernel("cached", source, (1, 1, 1), 1)
        times.append(time.process_time() - start)
    assert min(times) < 0.005


def test_several_processes_compile_at_a_time(empty_cache: Path) -> None:
    script = (
        "from indexing.runtime.compiler import shared_library\n"
        f"source = {SOURCE!r}\n"
        "names = [f'k{i}' for i in range(4)]\n"
        "print(len({shared_library(n, source.replace('NAME', n)) for n in names}))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [p.communicate()[0].strip() for p in running] == ["4"] * 3
    assert len(objects(empty_cache)) == 4
    assert list(empty_cache.glob("*.part")) == []


MANY = """HloModule many
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[40,30] parameter(0)
  c = f32[30] constant({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30})
  zero = f32[] constant(0)
  s = f32[30] reduce(x, zero), dimensions={0}, to_apply=add
  t = f32[30] multiply(s, c)
  u = f32[40] reduce(x, zero), dimensions={1}, to_apply=add
  e = f32[40] negate(u)
  y = f32[30,40] transpose(x), dimensions={1,0}
  z = c64[40] complex(e, u)
  w = c64[40] multiply(z, z)
  r = f32[40,30] reverse(x), dimensions={0}
  v = f32[40,30] logistic(r)
  ROOT out = (f32[30], c64[40], f32[30,40], f32[40,30]) tuple(t, w, y, v)
}
"""


def test_kernels_of_a_program_are_compiled_together_and_found_alone(empty_cache: Path) -> None:
    kernels = ix.emit_all(ix.hlo.parse(MANY), dialect="c")
    assert len(kernels) >= 4
    built: list[str] = []
    compiler.Compiler.build, build = lambda self, *a: (built.append(a[0]), build(self, *a)), compiler.Compiler.build
    try:
        Host().prepare(kernels)
        count = len(built)
        for kernel in kernels:
            Host().load(kernel)
        Host().prepare(kernels)
    finally:
        compiler.Compiler.build = build
    assert len(built) == count < len(kernels)
    x = np.random.default_rng(0).integers(-3, 4, (40, 30)).astype(np.float32) / 8
    run = compiled(MANY, "cpu")
    for got, want in zip(run(x), ix.evaluate(ix.hlo.parse(MANY), x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_all_kernels_of_the_golden_files_stand_in_one_source(empty_cache: Path) -> None:
    golden = sorted((Path(__file__).parents[1] / "golden").glob("*.hlo"))
    kernels = {k.source: k for f in golden for k in ix.emit_all(ix.hlo.parse(f.read_text()), dialect="c")}
    assert len(kernels) > 20
    source = joint_source((k.source_parts, f"kernel_{number}") for number, k in enumerate(kernels.values()))
    command = [*compiler.find_compiler().command, *compiler.FLAGS, "-O0", "-fsyntax-only", "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert source.count("\nvoid ") == len(kernels)


def test_a_kernel_that_the_compiler_refuses_is_named_where_others_are_compiled_with_it(empty_cache: Path) -> None:
    kernels = ix.emit_all(ix.hlo.parse(MANY), dialect="c")
    wrong = replace(kernels[0].source_parts, own=("int y = undefined_name;",), name="wrong")
    compile_together([(str(wrong), wrong), *((k.source, k.source_parts) for k in kernels[1:])], 1)
    Host().load(kernels[1])
    with pytest.raises(CompileError, match="kernel wrong"):
        HostKernel("wrong", str(wrong), (1, 1, 1), 1)


@pytest.mark.parametrize(("more", "objects"), [(0, 1), (MIN_BYTES, 2)])
def test_small_kernels_share_a_compiler_even_if_there_are_more_workers(
    empty_cache: Path, more: int, objects: int
) -> None:
    first, second, *_ = ix.emit_all(ix.hlo.parse(MANY), dialect="c")
    assert len(first.source) + len(second.source) < MIN_BYTES
    kernels = [(k.source + " " * more, k.source_parts) for k in (first, second)]
    compile_together(kernels, 2)
    assert len({compiler.object_path(source).read_bytes() for source, _ in kernels}) == objects


def test_another_processor_has_objects_of_its_own() -> None:
    """The key holds the macros that the compiler defines for this machine's instructions."""
    command = compiler.find_compiler().command
    here, elsewhere = compiler.with_known_flags(command), compiler.with_known_flags(command, processors=((),))
    assert here is not None and elsewhere is not None and here.identity != elsewhere.identity


def test_macros_of_the_processor_are_part_of_the_key() -> None:
    """The same compiler with the same flags on a machine that lacks an instruction."""
    preprocessed = partial(compiler.identity_by, ("cc",), compiler.FLAGS)
    wide, narrow = "#define __AVX2__ 1\n#define __x86_64__ 1\n", "#define __x86_64__ 1\n"
    assert preprocessed(wide) != preprocessed(narrow)
    assert preprocessed(wide) == preprocessed(wide + '#define __DATE__ "today"\n')


def test_options_of_the_compiler_are_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch, forgotten_compiler: object
) -> None:
    """`CC` may have options that define no macro."""
    plain = compiler.find_compiler()
    monkeypatch.setenv("CC", shlex.join([*plain.command, "-funroll-loops"]))
    compiler.find_compiler.cache_clear()
    assert compiler.find_compiler().identity != plain.identity


def test_what_is_used_least_recently_goes(empty_cache: Path) -> None:
    empty_cache.mkdir(parents=True)
    for age in range(10):
        path = empty_cache / f"{age}.so"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    object_files.throw_away(empty_cache, limit=500)
    assert {p.name for p in empty_cache.iterdir()} == {"0.so", "1.so", "2.so"}
    object_files.throw_away(empty_cache, limit=500)
    assert len(list(empty_cache.iterdir())) == 3


def test_use_keeps_an_object_young(empty_cache: Path) -> None:
    path = compiler.shared_library("young", SOURCE.replace("NAME", "young"))
    os.utime(path, (5, 5))
    compiler.shared_library("young", SOURCE.replace("NAME", "young"))
    assert path.stat().st_mtime > 1_000_000


def test_a_home_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.delenv("INDEXING_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(blocked))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert str(cache.directory("host")).startswith(str(tmp_path / "indexing-"))


# ---------------------------------------------------------------- compilers


def test_what_the_compiler_refuses_is_shown() -> None:
    with pytest.raises(CompileError) as refusal:
        HostKernel("wrong", "int x;\nint y = undefined_name;\n", (1, 1, 1), 1)
    assert "2 | int y = undefined_name;" in str(refusal.value)
    assert "kernel wrong" in str(refusal.value)


def test_without_a_compiler_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, forgotten_compiler: object
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with pytest.raises(CompileError, match="set CC to one, install gcc or clang, or"):
        Host()
    assert not compiler.is_available()


@pytest.mark.parametrize("chosen", ["/nowhere/cc -g", "false", 'cc "-g', '"'])
def test_the_compiler_that_the_user_chose(
    chosen: str, monkeypatch: pytest.MonkeyPatch, forgotten_compiler: object
) -> None:
    monkeypatch.setenv("CC", chosen)
    with pytest.raises(CompileError, match=re.escape(f"CC is {chosen!r}, which isn't there or compiles no C: set it")):
        Host()
    assert not compiler.is_available()


def test_a_full_disk_is_no_fault_of_the_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, forgotten_compiler: object
) -> None:
    def full(part: str, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(object_files.os, "replace", full)
    with pytest.raises(
        CompileError, match=r"\(No space left on device\): make room there, or set INDEXING_CACHE_DIR"
    ) as said:
        Host()
    assert "set CC" not in str(said.value)


@pytest.mark.parametrize("refused", [[], ["-march=native"], ["-march=native", "-mcpu=native"]], ids=len)
def test_a_compiler_is_told_of_the_processor_as_it_understands(
    refused: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, forgotten_compiler: object
) -> None:
    """Clang for ARM may know `-mcpu=native` alone, a cross compiler neither: both compile kernels nevertheless."""
    script = tmp_path / "cc"
    real = shutil.which("cc") or f'"{sys.executable}" -m ziglang cc'
    known = f'case "$*" in {" ".join(f"*{flag}*) exit 1;;" for flag in refused)} esac' if refused else ""
    script.write_text(
        f'#!/bin/sh\n{known}\nfor a; do case "$a" in -mcpu=native) ;; *) set -- "$@" "$a";; esac; shift; done\n'
        f'exec {real} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    c_compiler = compiler.find_compiler()
    assert c_compiler.flags.count("-march=native") == (not refused)
    assert c_compiler.flags.count("-mcpu=native") == (len(refused) == 1)
    x = np.linspace(-5, 5, 100).astype(np.float32)
    (got,) = run(elementwise(lambda a: ir.Op("neg", "f32", (a,)), ["f32"], "f32", x.size), x)
    np.testing.assert_array_equal(got, -x)


@pytest.mark.parametrize("module", ["ziglang"])
def test_the_compiler_in_a_wheel(
    module: str, monkeypatch: pytest.MonkeyPatch, empty_cache: Path, forgotten_compiler: object
) -> None:
    pytest.importorskip(module)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    assert compiler.find_compiler().command[-2:] == ("ziglang", "cc")
    x = np.linspace(-5, 5, 1000).astype(np.float32)
    for opcode in ("tanh", "sin"):
        (got,) = run(elementwise(lambda a, opcode=opcode: ir.Op(opcode, "f32", (a,)), ["f32"], "f32", x.size), x)
        np.testing.assert_allclose(got, getattr(np, opcode)(x.astype(np.float64)), rtol=1e-6)


def test_buffers_copy_and_come_back() -> None:
    host = Host()
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    one, two = host.upload(array), host.empty(array.nbytes)
    host.copy(one, two)
    np.testing.assert_array_equal(host.download(two, array.dtype, array.shape), array)
    assert address(one.handle) != address(array)
    shared = host.share(array)
    assert shared.borrowed and address(shared.handle) == address(array)
    assert address(host.share(array.T).handle) != address(array)
    assert two.borrowed  # it is the array's memory now
    assert host.download(host.upload(np.zeros((0, 3))), np.dtype(np.float64), (0, 3)).shape == (0, 3)

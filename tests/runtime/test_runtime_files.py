"""Compiled objects on disk: damaged ones, links, threads and processes that write at once, folders of other users."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from indexing.errors import CompileError
from indexing.runtime import cache, compiler, object_files
from indexing.runtime.host_kernel import HostKernel, thread_pool
from indexing.runtime.host_memory import MemoryPool, address, aligned_bytes
from indexing.runtime.nvrtc import is_whole
from indexing.runtime.once import Once

SOURCE = "void one_more(void *const *b, long long first, long long last) { for (long long k = first; k < last; k++) ((int *)b[0])[k] += 1; }\n"
PROGRAM = """
import os, sys
os.umask(int(sys.argv[1], 8))
import numpy as np
from indexing import compile
run = compile("ENTRY e { p = f32[3] parameter(0) ROOT n = f32[3] negate(p) }", device="cpu")
print(run(np.ones(3, np.float32)).tolist())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path / "kept"))
    result = cache.directory("host")
    assert result is not None
    return result


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file belong to somebody else; without the right to give it away, be somebody else."""
    if os.getuid() == 0:
        os.chown(path, 1234, 1234)
    else:
        monkeypatch.setattr(cache, "user", lambda: os.getuid() + 1)


def works() -> bool:
    array = aligned_bytes(40).view(np.int32)
    array[:] = range(10)
    HostKernel("one_more", SOURCE, (10, 1, 1), 1).launch([address(array)])
    return array.tolist() == list(range(1, 11))


# ---------------------------------------------------------------- damaged objects and links


@pytest.mark.parametrize("damage", ["empty", "half", "a byte less", "a byte more", "a byte changed", "its end changed"])
def test_a_damaged_object_is_compiled_anew(damage: str, folder: Path) -> None:
    path = compiler.shared_library("one_more", SOURCE)
    whole = path.read_bytes()
    middle = len(whole) // 2
    damaged = {
        "empty": b"",
        "half": whole[:middle],
        "a byte less": whole[:-1],
        "a byte more": whole + b"x",
        "a byte changed": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "its end changed": whole[:-1] + bytes([whole[-1] ^ 1]),
    }[damage]
    path.unlink()
    path.write_bytes(damaged)
    path.chmod(0o600)
    assert not object_files.is_whole(path)
    assert works() and object_files.is_whole(path)


def test_an_object_is_not_written_through_a_link(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = compiler.object_path(SOURCE)
    path.symlink_to(victim)
    assert works()
    assert victim.read_text() == "precious" and not path.is_symlink()
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert works() and not (tmp_path / "nowhere").exists()


def test_what_is_no_file_is_no_object(folder: Path) -> None:
    path = compiler.object_path(SOURCE)
    os.mkfifo(path)
    assert not object_files.is_whole(path)
    assert works()
    path.unlink()
    path.mkdir()
    with pytest.raises(CompileError, match="can't be written"):
        works()


def test_threads_give_one_name_to_their_objects_at_the_same_moment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have linked their object, or written it, before either renames it."""
    meeting, replace = threading.Barrier(2, timeout=60), os.replace
    made = folder / "made.so"
    object_files.put(made, b"\x7fELF")
    failures: list[BaseException] = []

    def late(part: str, path: Path) -> None:
        meeting.wait()
        replace(part, path)

    def write(k: int) -> None:
        try:
            object_files.put_link(made, folder / "linked.so")
            object_files.put(folder / "written.so", b"content %d" % k)
        except BaseException as failure:
            failures.append(failure)

    monkeypatch.setattr(object_files.os, "replace", late)
    threads = [threading.Thread(target=write, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    monkeypatch.undo()
    assert failures == []
    assert sorted(p.name for p in folder.iterdir()) == ["linked.so", "made.so", "written.so"]
    assert all(object_files.is_whole(p) for p in folder.iterdir())


def test_without_hard_links_objects_are_copied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(made: Path, part: Path) -> None:
        raise OSError("no hard links")

    monkeypatch.setattr(object_files.os, "link", refuse)
    object_files.put(folder / "a.so", b"content")
    object_files.put_link(folder / "a.so", folder / "b.so")
    assert (folder / "a.so").read_bytes() == (folder / "b.so").read_bytes()
    assert object_files.is_whole(folder / "b.so") and len(list(folder.iterdir())) == 2


def test_a_full_disk_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(part: str, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(object_files.os, "replace", full)
    with pytest.raises(CompileError, match=f"{folder}.*No space left"):
        works()
    assert list(folder.iterdir()) == []


def test_machine_code_that_was_cut_off_is_not_whole() -> None:
    header = bytearray(64)
    header[0x20:0x30] = (100).to_bytes(8, "little") + (64).to_bytes(8, "little")  # of programs, of sections
    header[0x36:0x3E] = b"".join(n.to_bytes(2, "little") for n in (10, 5, 6, 6))
    assert is_whole(bytes(header) + bytes(86))
    assert not is_whole(bytes(header) + bytes(85)) and not is_whole(bytes(header)[:50]) and not is_whole(b"")


# ---------------------------------------------------------------- other users


@pytest.mark.parametrize("which", ["the folder", "its parent", "the named folder"])
@pytest.mark.parametrize("right", [0o020, 0o002])
def test_a_folder_that_others_can_write_is_refused(which: str, right: int, folder: Path, tmp_path: Path) -> None:
    place = {"the folder": folder, "its parent": folder.parent, "the named folder": tmp_path}[which]
    assert works()
    place.chmod(0o700 | right)
    with pytest.raises(CompileError, match=f"the folder {place} can be written by other users.*chmod"):
        works()
    place.chmod(0o700)
    assert works()


def test_others_replace_no_folder_in_a_parent_with_the_sticky_bit(folder: Path) -> None:
    folder.parent.chmod(0o1777)
    assert works()
    folder.chmod(0o1777)
    with pytest.raises(CompileError, match="can be written by other users"):
        works()


@pytest.mark.parametrize("is_parent", [False, True])
def test_a_folder_of_another_user_is_refused(is_parent: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder.parent if is_parent else folder
    give_away(place, monkeypatch)
    with pytest.raises(CompileError, match="belongs to the user .*INDEXING_CACHE_DIR"):
        cache.directory("host")


def test_a_link_to_a_folder_of_another_user_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir(mode=0o777)
    (tmp_path / "theirs").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path / "link"))
    with pytest.raises(CompileError, match=f"{tmp_path / 'theirs'} can be written"):
        cache.directory("host")


def test_the_users_own_cache_folder_is_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDEXING_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory("host") == tmp_path / "indexing" / "host"
    (tmp_path / "indexing").chmod(0o777)
    with pytest.raises(CompileError, match=f"{tmp_path / 'indexing'} can be written"):
        cache.directory("host")


def test_an_object_of_another_user_is_not_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = compiler.shared_library("one_more", SOURCE)
    path.chmod(0o620)
    with pytest.raises(CompileError, match=f"{path.name} can be written by other users.*not loaded"):
        works()
    path.chmod(0o600)
    give_away(path, monkeypatch)
    with pytest.raises(CompileError, match="belongs to the user"):
        object_files.is_whole(path)


def test_an_entry_of_another_user_in_a_folder_of_entries_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "ab").mkdir()
    (folder / "ab" / "entry").write_bytes(b"code")
    cache.check_entries(folder)
    give_away(folder / "ab" / "entry", monkeypatch)
    cache.check_entries.cache_clear()
    with pytest.raises(CompileError, match="entry belongs to the user"):
        cache.check_entries(folder)


@pytest.mark.parametrize(("umask", "is_fallback"), [("000", False), ("000", True), ("077", False)])
def test_new_folders_and_objects_are_private_whatever_the_umask(umask: str, is_fallback: bool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    without = {k: v for k, v in os.environ.items() if k not in ("INDEXING_CACHE_DIR", "XDG_CACHE_HOME")}
    home = {"XDG_CACHE_HOME": str(tmp_path / ("file" if is_fallback else "new") / "cache")}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, umask],
            env=without | home | {"TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "[-1.0, -1.0, -1.0]"
    kept = tmp_path / f"indexing-{os.getuid()}" if is_fallback else tmp_path / "new" / "cache"
    actual = [kept, *kept.rglob("*")]
    assert any(p.suffix == ".so" for p in actual)
    assert not any(p.lstat().st_mode & 0o077 for p in actual)


def test_why_the_folder_of_last_resort_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDEXING_CACHE_DIR", "/proc/none")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    own = tmp_path / f"indexing-{os.getuid()}"
    own.symlink_to(tmp_path)
    with pytest.raises(CompileError, match=f"{own} is a link"):
        compiler.object_path(SOURCE)
    own.unlink()
    own.mkdir()
    own.chmod(0o777)
    with pytest.raises(CompileError, match=f"{own} can be written by other users"):
        compiler.object_path(SOURCE)


# ---------------------------------------------------------------- threads of one process


def test_a_value_is_made_once_by_threads_that_ask_at_the_same_moment() -> None:
    made: list[int] = []
    second = threading.Thread(target=lambda: value())

    def make() -> int:
        made.append(len(made))
        if len(made) == 1:
            second.start()
            second.join(timeout=0.3)  # it waits, or else it makes another value
        return made[-1]

    value = Once(make)
    assert value() == 0
    second.join()
    assert made == [0] and value() == 0
    value.cache_clear()
    assert value() == 1


def test_the_thread_pool_and_the_compiler_are_made_once() -> None:
    assert isinstance(thread_pool, Once) and isinstance(compiler.find_compiler, Once)


def test_memory_may_come_back_while_the_pool_is_at_work() -> None:
    """An array may die between any two instructions: in another thread, or in this one, by the garbage collector."""

    class Dying(dict):
        victims: list[np.ndarray]

        def get(self, key, default=None):
            self.victims.clear()
            return super().get(key, default)

        def pop(self, key, *default):
            self.victims.clear()
            return super().pop(key, *default)

    pool = MemoryPool()
    pool._free = free = Dying()
    free.victims = []
    for _ in range(3):
        lease = pool.lease(1000)
        free.victims = [pool.lease(1000), pool.lease(1000)]
        del lease
    free.victims = []
    assert pool.kept == sum(m.nbytes for actual in free.values() for m in actual) == 3000


def test_many_threads_lease_and_return_memory() -> None:
    pool = MemoryPool(limit=100_000)

    def work(k: int) -> None:
        for turn in range(300):
            mine = pool.lease(100 + turn % 7)
            mine[:] = k
            other = pool.lease(100 + turn % 5)
            other[:] = k + 1
            assert (mine == k).all() and (other == k + 1).all()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert pool.kept == sum(m.nbytes for actual in pool._free.values() for m in actual)


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize("kind", [np.float32, np.complex64, bool, ml_dtypes.bfloat16, ml_dtypes.int4])
@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("is_writable", [False, True])
def test_the_address_of_an_array_is_that_of_its_first_element(kind: type, count: int, is_writable: bool) -> None:
    array = np.zeros(count + 3, kind)[3:]
    array.flags.writeable = is_writable
    assert address(array) == array.ctypes.data

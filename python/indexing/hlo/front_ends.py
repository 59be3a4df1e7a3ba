"""Programs from elsewhere: JAX functions and exports, StableHLO, HLO protocol buffers.

JAX is imported on the first call.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from types import ModuleType
from typing import Any, Literal

from indexing import _core
from indexing.arguments import described
from indexing.device.detect import chosen_device
from indexing.device.record import Device
from indexing.errors import CompileError, IndexingError, ParseError, UnsupportedOp
from indexing.extras import missing_extra
from indexing.hlo.program import Module
from indexing.lazy import np

_NOTHING_TUNED = "--xla_gpu_autotune_level=0"  # autotuning would measure on a device
_LOG_LINES = 20  # the last lines of the output of a process that died

#: The stage of a JAX function's program: as it is lowered, or as XLA optimized it.
Stage = Literal["lowered", "compiled"]

_PLACE = re.compile(r":(\d+):(\d+): (?:error: )?(.*)")
_LAYOUT = re.compile(r"(?<=\])\{[\d,]*\}")
_GPU = ("cuda",)
# Wire types of protocol buffers, and the sizes of the fixed ones.
_VARINT, _MESSAGE, _SIZES = 0, 2, {1: 8, 5: 4}
# The remedy where bytes end too early.
CUT_OFF = "if it was cut off, copy or write it again"
# The errors of flatbuffers and JAX for bytes that are not an export.
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, AssertionError, OverflowError, struct.error)


def from_jax(
    function: Callable[..., object],
    *args: object,
    stage: Stage | None = None,
    target: Device | str | None = None,
    **kwargs: object,
) -> Module:
    """The HLO program of a JAX function for these arguments: arrays, or anything with a shape and a dtype.

    `function` is a plain function, a result of `jax.jit`, of `jax.jit(f).lower(..)`, or of `.compile()` on that. With
    `stage="lowered"`, the program is not optimized; with `stage="compiled"`, XLA has optimized it for this machine's default
    back end, whose fusions differ from a GPU's, or, with a `target` (a name such as "h100", or a Device), for that GPU,
    which need not be present. The default is "compiled" with a target, else "lowered". Keyword arguments are passed to the
    function. Constants are never elided.

    Raises UnsupportedOp if JAX or one of its dependencies is not installed, CompileError if XLA refuses the program for the
    target, and any error of JAX for the function.
    """
    if hasattr(function, "runtime_executable"):
        if args or kwargs or target is not None or stage == "lowered":
            raise IndexingError("the function is compiled already: give no arguments, target or other stage")
        return _parsed(_text(_only_module(function)))
    stage = stage or ("lowered" if target is None else "compiled")
    if stage not in ("lowered", "compiled"):
        raise UnsupportedOp(f"a JAX function has no stage {stage!r}; one of 'lowered', 'compiled'")
    if target is not None and stage == "lowered":
        raise IndexingError("a target has a compiled program: leave out stage, or give stage='compiled'")
    if target is not None:
        described = chosen_device(target)
        return _parsed(_compile_for_gpu(_bytecode(lower(function, args, kwargs, _GPU)), described))
    lowered = lower(function, args, kwargs)
    if stage == "compiled":
        return _parsed(_text(_only_module(lowered.compile())))
    return _parsed(_row_major(_text(lowered.compiler_ir("hlo").get_hlo_module())))


def lower(
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    platforms: tuple[str, ...] | None = None,
) -> Any:
    """The function lowered by JAX for these arguments, unused ones kept; a lowered function is returned unchanged."""
    jax = _needed("jax")
    if hasattr(function, "compiler_ir"):
        if args or kwargs:
            raise IndexingError("the function is lowered already: its arguments are known, give no others")
        return function
    if isinstance(function, np.ufunc):
        raise TypeError(f"{function.__name__} is a function of numpy, which JAX can't trace; expected one of jax.numpy")
    jitted: Any = function if hasattr(function, "trace") else jax.jit(function, keep_unused=True)
    traced = jitted.trace(*args, **kwargs)
    lowered = traced.lower(lowering_platforms=platforms)
    if _parameter_count(lowered) < len(leaves(traced.args_info)):
        return _with_unused(traced, jitted).lower(lowering_platforms=platforms)
    return lowered


def _parameter_count(lowered: Any) -> int:
    symbol_table = _needed("jaxlib.mlir.ir").SymbolTable(lowered.compiler_ir("stablehlo").operation)
    return len(symbol_table["main"].arguments)


def _with_unused(traced: Any, jitted: Any) -> Any:
    """A function that `jax.jit` made and traced, traced such that its program has the unused arguments as well."""
    jax, trees = _needed("jax"), _needed("jax.tree_util")
    run = _needed("jax.extend.core").jaxpr_as_fun(traced.jaxpr)

    @wraps(jitted)  # whose signature names the parameters
    def program(*args: object, **kwargs: object) -> object:
        return trees.tree_unflatten(traced.out_tree, run(*leaves((args, kwargs))))

    args, kwargs = trees.tree_map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), traced.args_info)
    donated = [k for k, a in enumerate(traced.args_info[0]) if all(leaf.donated for leaf in leaves(a))]
    return jax.jit(program, keep_unused=True, donate_argnums=donated).trace(*args, **kwargs)


def with_arrays(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[Any, tuple[Any, ...]]:
    """The function lowered for these arguments, whose program has their arrays as parameters, and these arrays; all else is
    constant: numbers, and what is static.
    """
    trees = _needed("jax.tree_util")
    given, tree = trees.tree_flatten((tuple(args), dict(kwargs)))
    places = [k for k, leaf in enumerate(given) if hasattr(leaf, "shape") and hasattr(leaf, "dtype")]

    @wraps(function)
    def of_arrays(*arrays: object) -> object:
        filled = {**dict(enumerate(given)), **dict(zip(places, arrays, strict=True))}
        all_args, all_kwargs = trees.tree_unflatten(tree, filled.values())
        return function(*all_args, **all_kwargs)

    arrays = tuple(given[k] for k in places)
    return lower(of_arrays, arrays, {}), arrays


def output_names(lowered: Any) -> tuple[str, ...]:
    """The names of the arrays that a lowered function returns, by the leaves of its result: `result['loss']`."""
    leaves = _needed("jax.tree_util").tree_flatten_with_path(lowered.out_info)[0]
    keystr = _needed("jax.tree_util").keystr
    return tuple(f"result{keystr(path)}" for path, _ in leaves)


def leaves(arguments: Any) -> tuple[Any, ...]:
    """The arrays in arguments that are pytrees, in the order of a program's parameters."""
    return tuple(_needed("jax.tree_util").tree_leaves(arguments))


def _bytecode(lowered: Any) -> bytes:
    """The StableHLO of a lowered function, with source locations."""
    data = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(data)
    return data.getvalue()


def _only_module(compiled: Any) -> Any:
    modules = compiled.runtime_executable().hlo_modules()
    if len(modules) != 1:
        raise UnsupportedOp(f"the function compiles to {len(modules)} HLO modules; only one can be read")
    return modules[0]


def _text(module: Any) -> str:
    """The text of jaxlib's HloModule with large constants and metadata."""
    options = sys.modules[type(module).__module__].HloPrintOptions()
    options.print_large_constants = True
    return str(module.to_string(options))


def from_stablehlo(program: str | bytes, target: Device | str | None = None) -> Module:
    """The HLO program of StableHLO, text or bytecode, converted by XLA, or, with a `target`, compiled for that GPU.

    Raises ParseError for text that is not StableHLO, UnsupportedOp if JAX is not installed or XLA cannot convert the program,
    CompileError if XLA refuses it for the target.
    """
    if not isinstance(program, str | bytes):
        raise TypeError(f"from_stablehlo: program is {described(program)}; expected text or bytes")
    _needed("jax")
    if target is not None:
        return _compiled_stablehlo(program, chosen_device(target))
    mlir = _needed("jaxlib._jax").mlir
    runtime_error = _needed("jax.errors").JaxRuntimeError
    try:
        computation = mlir.mlir_module_to_xla_computation(program, use_tuple_args=False, return_tuple=False)
    except (ValueError, TypeError, runtime_error) as e:
        raise _refused(program, str(e)) from None
    return _parsed(_row_major(_text(computation.get_hlo_module())))


def _compiled_stablehlo(program: str | bytes, target: Device) -> Module:
    data = program.encode() if isinstance(program, str) else program
    try:
        return _parsed(_compile_for_gpu(data, target))
    except CompileError as refused:
        if _PLACE.search(str(refused)) is None:
            raise
        raise _refused(program, str(refused)) from None


def from_exported(exported: Any, target: Device | str | None = None) -> Module:
    """The HLO program of a result of `jax.export.export(..)(..)`, or of the bytes of its `serialize()`.

    With a `target`, it is compiled for that GPU. Raises UnsupportedOp if JAX, or flatbuffers for bytes, is missing,
    IndexingError for bytes that are not an export.
    """
    if isinstance(exported, bytes | bytearray):
        exported = _deserialized(bytearray(exported))
    serialized = getattr(exported, "mlir_module_serialized", None)
    if not isinstance(serialized, bytes):
        raise TypeError(f"from_exported: exported is {described(exported)}; expected a jax.export.Exported, or bytes")
    return from_stablehlo(serialized, target)


def _deserialized(data: bytearray) -> Any:
    deserialize = _needed("jax.export").deserialize
    _needed("flatbuffers")
    try:
        return deserialize(data)
    except _UNREADABLE as error:
        raise IndexingError(f"these bytes are no export of JAX: {error}; {CUT_OFF}") from None


def from_proto(data: bytes) -> Module:
    """The program of a serialized HloModuleProto, or of the HloProto that XLA dumps as `.hlo.pb`.

    Raises UnsupportedOp if JAX is not installed, IndexingError for bytes that are neither.
    """
    if not isinstance(data, bytes):
        raise TypeError(f"from_proto: data is {described(data)}; expected bytes")
    read = _needed("jaxlib.xla_client").XlaComputation
    for _ in _fields(data):  # XLA would take those that are whole for the program
        pass
    inner = _first_field(data)
    for candidate in (inner, data) if inner.startswith(b"\n") else (data,):
        try:
            return _parsed(_text(read(candidate).get_hlo_module()))
        except (ValueError, RuntimeError) as error:
            failure = error
    raise IndexingError(f"these bytes are no HLO module: {failure}; {CUT_OFF}")


def _first_field(data: bytes) -> bytes:
    """The bytes of field 1 at the start of a protocol buffer; empty if it starts with another field."""
    tag, field = next(_fields(data), (0, b""))
    return field if tag == _MESSAGE | 1 << 3 else b""


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protocol buffer: tags, and the bytes of those with a length. Raises IndexingError if one is cut off."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        size, start = _varint(data, at) if tag & 7 in (_VARINT, _MESSAGE) else (_SIZES.get(tag & 7, 0), at)
        at = start if tag & 7 == _VARINT else start + size
        if at > len(data):
            raise IndexingError(f"a protocol buffer that ends {at - len(data)} bytes too early; {CUT_OFF}")
        yield tag, data[start:at]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer of 7 bits a byte, least significant first, and where it ends."""
    value = 0
    for shift, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    raise IndexingError(f"a protocol buffer that ends within a number; {CUT_OFF}")


def _refused(program: str | bytes, message: str) -> ParseError | UnsupportedOp:
    """The error of MLIR for a program, with its position if it states one."""
    place = _PLACE.search(message)
    if place is None or isinstance(program, bytes):
        remedy = f"; {CUT_OFF}" if isinstance(program, bytes) else ""
        return UnsupportedOp(f"XLA does not convert this StableHLO: {message.strip()}{remedy}")
    line, column = max(int(place[1]), 1), max(int(place[2]), 1)
    lines = program.split("\n")
    source = lines[line - 1] if line <= len(lines) else ""
    error = ParseError(place[3], line, column, source)
    if program.lstrip().startswith("HloModule"):
        error.add_note("This looks like HLO: ix.hlo.parse reads it.")
    return error


def _row_major(text: str) -> str:
    """The text without layouts: before layout assignment, they are artifacts of the conversion, and JAX's arrays are
    row-major.
    """
    return _LAYOUT.sub("", text)


def _parsed(text: str) -> Module:
    return Module(_core.parse_hlo(text))


def _needed(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("reading programs of JAX", "jax", missing)) from None


def _compile_for_gpu(program: bytes, target: Device) -> str:
    """The text of the optimized HLO of a StableHLO program (text or bytecode) for this GPU, without tuning or running.

    XLA compiles in a process of its own. Raises UnsupportedOp if the extra is missing, CompileError if XLA refuses the program
    or aborts.
    """
    import subprocess  # imported late: it takes as long as this package

    request = json.dumps({"config": target.xla_description()}).encode() + b"\n" + program
    command = [sys.executable, "-P", "-m", "indexing.hlo.gpu_compiler"]
    done = subprocess.run(command, input=request, capture_output=True, env=_environment(), check=False)
    if done.returncode:
        said = "\n".join(done.stderr.decode(errors="replace").splitlines()[-_LOG_LINES:])
        raise CompileError(f"XLA's compiler for {target.name} ended with status {done.returncode}; it said:\n{said}")
    answer = json.loads(done.stdout)
    if "missing" in answer:
        failure = ImportError(answer["missing"])
        raise UnsupportedOp(missing_extra("compiling for a GPU that isn't there", "jax-cuda", failure))
    if "refused" in answer:
        raise CompileError(f"XLA does not compile this program for {target.name}: {answer['refused'].strip()}")
    return str(answer["program"])


def _environment() -> dict[str, str]:
    """The caller's environment, XLA_FLAGS included, with JAX on the CPU, since its plug-in would look for a GPU."""
    flags = os.environ.get("XLA_FLAGS", "")
    flags = flags if "xla_gpu_autotune_level" in flags else f"{flags} {_NOTHING_TUNED}".strip()
    path = os.pathsep.join(os.path.abspath(p) for p in sys.path)
    settings = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return {**os.environ, **settings}

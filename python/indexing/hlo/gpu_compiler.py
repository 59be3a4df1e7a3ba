"""The process in which XLA's GPU compiler runs: it has its own settings of JAX, and isolates aborts of XLA.

    python -m indexing.hlo.gpu_compiler < request > answer

The request is a line of JSON with the device's description, then StableHLO, as text or bytecode. The answer is JSON: the
optimized program as HLO text, a missing dependency, or XLA's error. `front_ends.from_jax` is the caller.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from typing import Any

_BYTECODE = b"ML\xefR"
_PORTABLE = b"StableHLO_v"  # the version of the dialect follows, near the beginning
_HEAD = 64


def main() -> None:
    """Answer the request on standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    program = sys.stdin.buffer.read()
    try:
        answer = {"program": optimized(program, request["config"])}
    except ImportError as missing:  # JAX, or its plug-in
        answer = {"missing": str(missing)}
    except (ValueError, RuntimeError) as refused:
        answer = {"refused": str(refused)}
    json.dump(answer, sys.stdout)


def optimized(program: bytes, config: str) -> str:
    """The program optimized by XLA for the number of devices for which it is partitioned."""
    from jaxlib import xla_client

    module = mlir_module(program)
    attributes = module.operation.attributes
    count = attributes["mhlo.num_partitions"].value if "mhlo.num_partitions" in attributes else 1
    devices = described_devices(config, count)
    client: Any = devices[0].client
    compiled = client.compile(module, xla_client.DeviceList(devices), options_for(devices))
    (module,) = compiled.hlo_modules()
    printing = sys.modules[type(module).__module__].HloPrintOptions()
    printing.print_large_constants = True
    return str(module.to_string(printing))


def mlir_module(program: bytes) -> Any:
    """The MLIR module of StableHLO, given as text, bytecode, or the portable bytecode of exports."""
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.interpreters.mlir import make_ir_context

    with make_ir_context() as context:
        if program.startswith(_BYTECODE) and _PORTABLE in program[:_HEAD]:
            return stablehlo.deserialize_portable_artifact(context, program)
        try:
            return ir.Module.parse(program)
        except ir.MLIRError as refused:  # not a subclass of an error that callers catch
            raise ValueError(str(refused)) from None


def described_devices(config: str, count: int) -> tuple[Any, ...]:
    """The given number of described devices of one host, none of which is present."""
    from jax.experimental import topologies

    if not any(find_spec(f"jax_plugins.xla_cuda{version}") for version in (12, 13)):
        raise ImportError("JAX has no plug-in for CUDA")
    topology = topologies.get_topology_desc(platform="cuda", target_config=config, topology=f"1x1x{count}")
    return tuple(topology.devices)


def options_for(devices: tuple[Any, ...]) -> Any:
    """Compile options for one replica with a partition for each device."""
    import numpy as np
    from jaxlib import xla_client

    options: Any = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = 1, len(devices)
    ids = np.array([[d.id for d in devices]], np.int32)
    options.device_assignment = xla_client.DeviceAssignment.create(ids)
    if len(devices) > 1:
        options.executable_build_options.use_spmd_partitioning = True
        options.executable_build_options.use_shardy_partitioner = True
    return options


if __name__ == "__main__":
    main()

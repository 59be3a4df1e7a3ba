"""GPUs for which XLA can compile without a device: the parameters that its compiler needs, from vendors' public figures."""

from __future__ import annotations

from dataclasses import dataclass, fields

from indexing.arguments import check_fields, integer, of_type
from indexing.errors import IndexingError

__all__ = ["GPU_TARGETS", "GpuTarget", "gpu_target"]

_GIGA = 10**9
_MIB = 1 << 20
_KIB = 1 << 10
# Common to all NVIDIA GPUs since 2012: limits from CUDA's programming guide.
_COMMON = {
    "threads_per_block_limit": 1024,
    "threads_per_warp": 32,
    "shared_memory_per_block": 48 * _KIB,
    "block_dim_limit_x": 2**31 - 1,
    "block_dim_limit_y": 2**16 - 1,
    "block_dim_limit_z": 2**16 - 1,
    "registers_per_core_limit": 65536,
    "registers_per_block_limit": 65536,
}


@dataclass(frozen=True, slots=True)
class GpuTarget:
    """An NVIDIA GPU as XLA's compiler describes one: `cores` are streaming multiprocessors, sizes are in bytes,
    `memory_bandwidth` in bytes per second. `accelerated`: with architecture-specific instructions (sm_90a).
    """

    name: str
    capability: tuple[int, int]
    cores: int
    fpus_per_core: int
    clock_ghz: float
    memory_bandwidth: int
    memory_bytes: int
    l2_bytes: int
    shared_per_core: int
    shared_per_block: int
    threads_per_core: int = 2048
    accelerated: bool = False

    def __post_init__(self) -> None:
        check_fields(self, name=of_type(str), clock_ghz=of_type(float, int), capability=of_type(tuple))
        numbers = [f.name for f in fields(self) if f.type == "int"]
        check_fields(self, **dict.fromkeys(numbers, integer))
        if min(self.clock_ghz, *(getattr(self, n) for n in numbers)) <= 0 or '"' in self.name:
            raise IndexingError(f"GPU {self.name!r}: figures must be positive, and the name must not contain quotes")

    def config(self) -> str:
        """The text of XLA's GpuTargetConfigProto."""
        facts: dict[str, object] = _COMMON | {
            "shared_memory_per_core": self.shared_per_core,
            "shared_memory_per_block_optin": self.shared_per_block,
            "threads_per_core_limit": self.threads_per_core,
            "core_count": self.cores,
            "fpus_per_core": self.fpus_per_core,
            "memory_bandwidth": self.memory_bandwidth,
            "l2_cache_size": self.l2_bytes,
            "clock_rate_ghz": self.clock_ghz,
            "device_memory_size": self.memory_bytes,
        }
        major, minor = self.capability
        feature = " feature_extension: ACCELERATED_FEATURES" if self.accelerated else ""
        lines = [f"  {key}: {value}" for key, value in facts.items()]
        lines.append(f"  cuda_compute_capability {{ major: {major} minor: {minor}{feature} }}")
        body = "\n".join(lines)
        about = f'platform_name: "CUDA"\ndevice_description_str: "{self.name}"\n'
        return f"gpu_device_info {{\n{body}\n}}\n{about}"


GPU_TARGETS: dict[str, GpuTarget] = {
    "a100": GpuTarget(
        "NVIDIA A100-SXM4-80GB",
        capability=(8, 0),
        cores=108,
        fpus_per_core=64,
        clock_ghz=1.41,
        memory_bandwidth=2039 * _GIGA,
        memory_bytes=80 * _GIGA,
        l2_bytes=40 * _MIB,
        shared_per_core=164 * _KIB,
        shared_per_block=163 * _KIB,
    ),
    "h100": GpuTarget(
        "NVIDIA H100 80GB HBM3",
        capability=(9, 0),
        cores=132,
        fpus_per_core=128,
        clock_ghz=1.98,
        memory_bandwidth=3350 * _GIGA,
        memory_bytes=80 * _GIGA,
        l2_bytes=50 * _MIB,
        shared_per_core=228 * _KIB,
        shared_per_block=227 * _KIB,
        accelerated=True,
    ),
    "h200": GpuTarget(
        "NVIDIA H200",
        capability=(9, 0),
        cores=132,
        fpus_per_core=128,
        clock_ghz=1.98,
        memory_bandwidth=4800 * _GIGA,
        memory_bytes=141 * _GIGA,
        l2_bytes=50 * _MIB,
        shared_per_core=228 * _KIB,
        shared_per_block=227 * _KIB,
        accelerated=True,
    ),
    "b200": GpuTarget(
        "NVIDIA B200",
        capability=(10, 0),
        cores=148,
        fpus_per_core=128,
        clock_ghz=1.965,
        memory_bandwidth=7700 * _GIGA,
        memory_bytes=180 * _GIGA,
        l2_bytes=126 * _MIB,
        shared_per_core=228 * _KIB,
        shared_per_block=227 * _KIB,
        accelerated=True,
    ),
    "l4": GpuTarget(
        "NVIDIA L4",
        capability=(8, 9),
        cores=58,
        fpus_per_core=128,
        clock_ghz=2.04,
        memory_bandwidth=300 * _GIGA,
        memory_bytes=24 * _GIGA,
        l2_bytes=48 * _MIB,
        shared_per_core=100 * _KIB,
        shared_per_block=99 * _KIB,
        threads_per_core=1536,
    ),
}


def gpu_target(target: str | GpuTarget) -> GpuTarget:
    """The target of this name, such as `"h100"`, in any case. Raises IndexingError if there is none."""
    if isinstance(target, GpuTarget):
        return target
    if not isinstance(target, str):
        raise TypeError(f"target is a {type(target).__name__}; expected a name or a GpuTarget")
    found = GPU_TARGETS.get(target.casefold())
    if found is None:
        raise IndexingError(
            f"there is no target {target!r}; one of {', '.join(GPU_TARGETS)}, or a GpuTarget of your own"
        )
    return found

"""Properties of a device's memory that determine the cost of an access."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.arguments import check_fields, integer, of_type
from indexing.errors import IndexingError

__all__ = ["A100", "A6000", "B200", "DEVICES", "H100", "H200", "L4", "V100", "Device", "device_named"]


@dataclass(frozen=True, slots=True)
class Device:
    """The properties of a device that analyses of memory accesses use.

    Threads run in warps of `warp_size`; global memory is transferred in sectors of `sector_bytes`, with cache lines of
    `line_bytes`; shared memory has `banks` banks, each `bank_bytes` wide. `memory_bandwidth` is in bytes per second, from
    the vendor's data sheet.
    """

    name: str
    warp_size: int = 32
    sector_bytes: int = 32
    line_bytes: int = 128
    banks: int = 32
    bank_bytes: int = 4
    memory_bandwidth: int = 3_350 * 10**9

    def __post_init__(self) -> None:
        check_fields(self, name=of_type(str), warp_size=integer, sector_bytes=integer, line_bytes=integer)
        check_fields(self, banks=integer, bank_bytes=integer, memory_bandwidth=integer)
        sizes = (self.warp_size, self.sector_bytes, self.line_bytes, self.banks, self.bank_bytes)
        if min(*sizes, self.memory_bandwidth) < 1 or self.line_bytes % self.sector_bytes:
            raise IndexingError(
                f"device {self.name!r}: sizes must be positive, and a line ({self.line_bytes} bytes) whole sectors "
                f"({self.sector_bytes} bytes)"
            )


V100 = Device("V100", memory_bandwidth=900 * 10**9)
A100 = Device("A100", memory_bandwidth=2_039 * 10**9)
A6000 = Device("RTX A6000", memory_bandwidth=768 * 10**9)
H100 = Device("H100")
H200 = Device("H200", memory_bandwidth=4_800 * 10**9)
B200 = Device("B200", memory_bandwidth=7_700 * 10**9)
L4 = Device("L4", memory_bandwidth=300 * 10**9)
DEVICES: dict[str, Device] = {d.name: d for d in (V100, A100, A6000, H100, H200, B200, L4)}


def device_named(name: str) -> Device:
    """The device of this name, or with it as last word, in any case. Raises IndexingError if there is none."""
    wanted = name.casefold()
    for known, device in DEVICES.items():
        if wanted in (known.casefold(), known.split()[-1].casefold()):
            return device
    raise IndexingError(f"there is no device {name!r}; one of {', '.join(map(repr, DEVICES))}")

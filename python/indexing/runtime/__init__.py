"""Devices: compile kernels, hold buffers, launch. Nothing else in the package touches a device or a compiler.

Importing this package imports no device library; a module whose library is missing raises with the extra to install.
"""

from indexing.lazy import load_later as _load_later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indexing.runtime.cuda import CudaDevice as CudaDevice
    from indexing.runtime.device import Buffer as Buffer
    from indexing.runtime.device import Device as Device
    from indexing.runtime.device import ExchangingDevice as ExchangingDevice
    from indexing.runtime.device import TimingDevice as TimingDevice
    from indexing.runtime.host import Host as Host
    from indexing.runtime.nvrtc import cubin as cubin
    from indexing.runtime.nvrtc import ptx as ptx
    from indexing.runtime.opencl import OpenCLDevice as OpenCLDevice
else:
    _load_later(
        __name__,
        {
            "indexing.runtime.cuda": "CudaDevice",
            "indexing.runtime.device": "Buffer Device ExchangingDevice TimingDevice",
            "indexing.runtime.host": "Host",
            "indexing.runtime.nvrtc": "cubin ptx",
            "indexing.runtime.opencl": "OpenCLDevice",
        },
    )

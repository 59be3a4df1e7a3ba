"""Devices: compile kernels, hold buffers, launch. Nothing else in the package touches a device or a compiler.

Importing this package imports no device library; a module whose library is missing raises with the extra to install.
"""

from indexing.lazy import load_later as _load_later

# The public names, by the module that each is loaded from when it is first asked for. `make docs` writes the stub.
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

# The public names, for type checkers: `make docs` writes them from the table beside.

from indexing.runtime.cuda import CudaDevice as CudaDevice
from indexing.runtime.device import Buffer as Buffer
from indexing.runtime.device import Device as Device
from indexing.runtime.device import ExchangingDevice as ExchangingDevice
from indexing.runtime.device import TimingDevice as TimingDevice
from indexing.runtime.host import Host as Host
from indexing.runtime.nvrtc import cubin as cubin
from indexing.runtime.nvrtc import ptx as ptx
from indexing.runtime.opencl import OpenCLDevice as OpenCLDevice

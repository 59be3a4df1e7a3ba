"""Devices: compile kernels, hold buffers, launch. Nothing else in the package touches a device or a compiler.

Importing this package imports no device library; a module whose library is missing raises with the extra to install.
"""

from indexing.lazy import load_later as _load_later

_load_later(__name__)

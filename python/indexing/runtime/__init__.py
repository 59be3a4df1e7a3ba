"""Devices: compile kernels, hold buffers, launch. Nothing else in the package touches a device or a compiler.

Importing this package imports no device library; each module says which extra it needs when it does not find it.
"""

"""Products of matrices by numpy, which calls BLAS, on the memory of a program's arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexing.kernels.products import Matrices, StridedProduct
from indexing.runtime.device import Buffer, Launch

DTYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


def numpy_launch(product: StridedProduct) -> Launch:
    """The launcher of a product on buffers in host memory: both factors and the result."""
    batch, m, n, k = product.batch, product.m, product.n, product.k
    dtype = np.dtype(DTYPES[product.types[0]])

    def launch(buffers: Sequence[Buffer]) -> None:
        left, right, result = buffers
        factors = _view(left, (batch, m, k), product.left, dtype), _view(right, (batch, k, n), product.right, dtype)
        with np.errstate(all="ignore"):
            np.matmul(*factors, out=_view(result, (batch, m, n), product.result, dtype))

    return launch


def _view(buffer: Buffer, sizes: tuple[int, int, int], matrices: Matrices, dtype: np.dtype) -> np.ndarray:
    """The matrices in a buffer, without a copy."""
    assert isinstance(buffer.handle, np.ndarray)
    elements = buffer.handle.reshape(-1).view(np.uint8)[: buffer.nbytes].view(dtype)
    strides = (matrices.batch_stride, matrices.row_stride, matrices.column_stride)
    return np.lib.stride_tricks.as_strided(elements, sizes, [stride * dtype.itemsize for stride in strides])

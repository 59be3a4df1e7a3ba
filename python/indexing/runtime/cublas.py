"""Products of matrices by cuBLAS, through the bindings of nvmath-python.

cuBLAS has matrices whose columns are contiguous. A row-major matrix is such a matrix transposed, so that it is asked for the
transposed result: the transposed factors in the other order, each transposed once more if its columns are contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from indexing.errors import CompileError
from indexing.extras import missing_extra
from indexing.kernels.products import Matrices, StridedProduct
from indexing.runtime.device import Buffer, Launch

#: The names of element types, of the type in which sums are computed, and of the scale factors.
TYPES = {
    "f16": ("CUDA_R_16F", "COMPUTE_32F", np.float32),
    "bf16": ("CUDA_R_16BF", "COMPUTE_32F", np.float32),
    "f32": ("CUDA_R_32F", "COMPUTE_32F", np.float32),
    "f64": ("CUDA_R_64F", "COMPUTE_64F", np.float64),
    "c64": ("CUDA_C_32F", "COMPUTE_32F", np.complex64),
    "c128": ("CUDA_C_64F", "COMPUTE_64F", np.complex128),
}


class Cublas:
    """cuBLAS on one stream. Raises CompileError if it, or its bindings, can't be loaded."""

    def __init__(self, stream: int, load: Callable[[str], Any] = import_module) -> None:
        """Load the library, and let it queue its work on the stream of that address."""
        try:
            self.library = load("nvmath.bindings.cublas")
            self.types = load("nvmath").CudaDataType
            self.handle = self.library.create()
        except (ImportError, RuntimeError) as failure:
            missing = failure if isinstance(failure, ImportError) else ImportError(str(failure))
            raise CompileError(missing_extra("matmul='library' on a GPU", "cublas", missing)) from failure
        self.library.set_stream(self.handle, stream)

    def launch(self, product: StridedProduct, address: Callable[[Buffer], int]) -> Launch:
        """The launcher of a product on the buffers of both factors and of the result, which `address` finds in memory."""
        if product.result.column_stride != 1:
            turned = self.launch(product.transposed, address)
            return lambda buffers: turned([buffers[1], buffers[0], buffers[2]])
        types, call = self.types, self.library.gemm_strided_batched_ex
        name, computed, scale = TYPES[product.types[0]]
        kind, result_kind = int(types[name]), int(types[TYPES[product.types[2]][0]])
        compute, algorithm = int(self.library.ComputeType[computed]), int(self.library.GemmAlgo.DFALT)
        scales = np.array([1, 0], scale)  # of the product, and of what the result held
        left, right, result = (_columns(m) for m in (product.left, product.right, product.result))
        operations = [int(self.library.Operation[o]) for o in (right[0], left[0])]
        sizes = product.n, product.m, product.k

        def launch(buffers: Sequence[Buffer]) -> None:
            a, b, c = map(address, buffers)
            alpha, beta = scales.ctypes.data, scales.ctypes.data + scales.itemsize
            factors = alpha, b, kind, *right[1:], a, kind, *left[1:]
            call(
                self.handle,
                *operations,
                *sizes,
                *factors,
                beta,
                c,
                result_kind,
                *result[1:],
                product.batch,
                compute,
                algorithm,
            )

        return launch


def _columns(matrices: Matrices) -> tuple[str, int, int]:
    """Whether the matrices whose columns are contiguous, of which these are the transposed ones, are taken as they are (N) or
    transposed (T); their leading dimension, and the distance from one to the next.
    """
    is_row_major = matrices.column_stride == 1
    leading = matrices.row_stride if is_row_major else matrices.column_stride
    return "N" if is_row_major else "T", leading, matrices.batch_stride

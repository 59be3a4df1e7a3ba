"""Products by libraries: numpy, and cuBLAS as its manual defines it, on arrays in any layout, beside einsum."""

import ctypes
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import indexing as ix
from indexing.kernels.products import StridedProduct
from indexing.model.libraries import library_product
from indexing.runtime.cublas import Cublas
from indexing.runtime.device import Buffer
from indexing.runtime.host import numpy_launch

RNG = np.random.default_rng(5)

# Both factors and the result, each with its layout; dimension numbers; and the product as einsum says it.
BATCH = "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"
CASES = {
    "plain": ("5,7{1,0}", "7,3{1,0}", "5,3{1,0}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,kj->ij"),
    "last": ("5,7{1,0}", "3,7{1,0}", "5,3{1,0}", "lhs_contracting_dims={1}, rhs_contracting_dims={1}", "ik,jk->ij"),
    "first": ("7,5{1,0}", "7,3{1,0}", "5,3{1,0}", "lhs_contracting_dims={0}, rhs_contracting_dims={0}", "ki,kj->ij"),
    "columns": ("5,7{0,1}", "7,3{0,1}", "5,3{0,1}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,kj->ij"),
    "mixed": ("5,7{0,1}", "7,3{1,0}", "5,3{0,1}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,kj->ij"),
    "batch": ("2,5,7{2,1,0}", "2,7,3{2,1,0}", "2,5,3{2,1,0}", BATCH, "bik,bkj->bij"),
    "batch inside": ("2,5,7{2,0,1}", "2,7,3{1,2,0}", "2,5,3{2,0,1}", BATCH, "bik,bkj->bij"),
    "heads": (
        "2,5,4,7{3,2,1,0}", "2,7,3{2,1,0}", "2,5,4,3{3,2,1,0}",
        "lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={1}", "bihk,bkj->bihj",
    ),
    "two contracted": (
        "5,2,7{2,1,0}", "2,7,3{2,1,0}", "5,3{1,0}",
        "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}", "iak,akj->ij",
    ),
    "one row": ("1,7{1,0}", "7,3{1,0}", "1,3{1,0}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,kj->ij"),
    "one column": ("5,7{1,0}", "7,1{1,0}", "5,1{1,0}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,kj->ij"),
    "a vector": ("5,7{0,1}", "7{0}", "5{0}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,k->i"),
    "outer": ("5,1{1,0}", "1,3{1,0}", "5,3{1,0}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ik,kj->ij"),
}  # fmt: skip


def dot_of(left: str, right: str, result: str, numbers: str, kind: str = "f32", out: str = "") -> ix.hlo.Instruction:
    def shape(of: str, kind: str) -> str:
        sizes, layout = of.split("{")
        return f"{kind}[{sizes}]{{{layout}"

    a, b, c = shape(left, kind), shape(right, kind), shape(result, out or kind)
    text = f"ENTRY e {{ a = {a} parameter(0) b = {b} parameter(1) ROOT d = {c} dot(a, b), {numbers} }}"
    return ix.hlo.parse(text).entry.root


def in_memory(array: np.ndarray, shape: ix.hlo.Shape) -> Buffer:
    """A buffer with the elements in the order of the shape's layout."""
    stored = np.ascontiguousarray(array.transpose(tuple(reversed(shape.minor_to_major))))
    return Buffer(stored.reshape(-1).view(np.uint8), stored.nbytes)


def of_memory(buffer: Buffer, shape: ix.hlo.Shape) -> np.ndarray:
    order = tuple(reversed(shape.minor_to_major))
    stored = buffer.handle.view(shape.dtype).reshape([shape.dimensions[d] for d in order])  # type: ignore[attr-defined]
    return stored.transpose(np.argsort(order))


def check(dot: ix.hlo.Instruction, said: str, product: StridedProduct | None, launch: Callable) -> None:
    assert product is not None
    factors = [RNG.integers(-4, 5, o.shape.dimensions).astype(o.shape.dtype) for o in dot.operands]
    if np.iscomplexobj(factors[0]):
        factors = [f * np.asarray(1 + 2j, f.dtype) for f in factors]
    garbage = np.full(dot.shape.dimensions, np.nan, dot.shape.dtype)
    result = in_memory(garbage, dot.shape)
    launch([*(in_memory(f, o.shape) for f, o in zip(factors, dot.operands, strict=True)), result])
    wide = [f if np.iscomplexobj(f) else f.astype(np.float64) for f in factors]
    np.testing.assert_array_equal(of_memory(result, dot.shape), np.einsum(said, *wide).astype(dot.shape.dtype))


@pytest.mark.parametrize("kind", ["f32", "f64", "c64", "c128"])
@pytest.mark.parametrize("case", CASES)
def test_numpy(case: str, kind: str) -> None:
    *shapes, said = CASES[case]
    dot = dot_of(*shapes, kind)
    product = library_product(dot, "c")
    assert product is not None
    check(dot, said, product, numpy_launch(product))


def gemm(_handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int, a: int, atype: int, lda: int, stride_a: int,
         b: int, btype: int, ldb: int, stride_b: int, beta: int, c: int, ctype: int, ldc: int, stride_c: int, batch_count: int,
         compute_type: int, _algo: int) -> None:  # fmt: skip
    """cublasGemmStridedBatchedEx: C[i] = alpha * op(A[i]) * op(B[i]) + beta * C[i], matrices with contiguous columns."""
    kinds = {2: np.float16, 14: ml_dtypes.bfloat16, 0: np.float32, 1: np.float64, 4: np.complex64, 5: np.complex128}
    complex_scale = {68: np.complex64, 70: np.complex128}
    scale = complex_scale[compute_type] if atype in (4, 5) else {68: np.float32, 70: np.float64}[compute_type]
    factors = [read(place, 0, (1,), scale, (1,))[0] for place in (alpha, beta)]
    assert lda >= (k if transa else m) and ldb >= (n if transb else k) and ldc >= m
    for i in range(batch_count):
        left = read(a, i * stride_a, (k, m) if transa else (m, k), kinds[atype], (1, lda))
        right = read(b, i * stride_b, (n, k) if transb else (k, n), kinds[btype], (1, ldb))
        sums = (left.T if transa else left).astype(scale) @ (right.T if transb else right).astype(scale)
        out = read(c, i * stride_c, (m, n), kinds[ctype], (1, ldc))
        out[...] = factors[0] * sums if factors[1] == 0 else factors[0] * sums + factors[1] * out


def read(place: int, first: int, sizes: Sequence[int], kind: type, strides: Sequence[int]) -> np.ndarray:
    """Elements of the memory at an address, by strides in elements."""
    size = np.dtype(kind).itemsize
    last = first + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1
    memory = (ctypes.c_uint8 * (last * size)).from_address(place)
    elements = np.frombuffer(memoryview(memory), kind)[first:]
    return np.lib.stride_tricks.as_strided(elements, sizes, [s * size for s in strides])


NVMATH = {
    "nvmath": SimpleNamespace(
        CudaDataType={
            "CUDA_R_16F": 2, "CUDA_R_16BF": 14, "CUDA_R_32F": 0, "CUDA_R_64F": 1, "CUDA_C_32F": 4, "CUDA_C_64F": 5
        }
    ),
    "nvmath.bindings.cublas": SimpleNamespace(
        create=lambda: 7,
        set_stream=lambda handle, stream: None,
        gemm_strided_batched_ex=gemm,
        ComputeType={"COMPUTE_32F": 68, "COMPUTE_64F": 70},
        GemmAlgo=SimpleNamespace(DFALT=-1),
        Operation={"N": 0, "T": 1},
    ),
}  # fmt: skip


def imported(name: str) -> ModuleType | SimpleNamespace:
    return NVMATH[name]


@pytest.mark.parametrize(
    ("kind", "out"),
    [
        ("f16", "f16"),
        ("f16", "f32"),
        ("bf16", "bf16"),
        ("f32", "f32"),
        ("f64", "f64"),
        ("c64", "c64"),
        ("c128", "c128"),
    ],
)
@pytest.mark.parametrize("case", CASES)
def test_cublas_by_its_definition(case: str, kind: str, out: str) -> None:
    *shapes, said = CASES[case]
    dot = dot_of(*shapes, kind, out)
    product = library_product(dot, "cuda")
    assert product is not None
    check(dot, said, product, Cublas(0, imported).launch(product, lambda buffer: buffer.handle.ctypes.data))  # type: ignore[attr-defined]


def test_without_its_bindings_the_extra_is_named() -> None:
    def missing(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {name!r}")

    with pytest.raises(ix.CompileError, match="the cublas extra .No module named 'nvmath.bindings.cublas'"):
        Cublas(0, missing)


def test_without_the_library_the_extra_is_named() -> None:
    def create() -> int:
        raise RuntimeError("libcublas.so is not found")

    broken = SimpleNamespace(**{**vars(NVMATH["nvmath.bindings.cublas"]), "create": create})
    with pytest.raises(ix.CompileError, match="the cublas extra .libcublas.so is not found"):
        Cublas(0, lambda name: broken if name.endswith("cublas") else imported(name))


@pytest.mark.parametrize(
    ("left", "right", "result", "numbers"),
    [
        # neither rows nor columns are contiguous
        ("2,5,7{0,2,1}", "2,7,3{2,1,0}", "2,5,3{2,1,0}", BATCH),
        ("2,5,7{2,1,0}", "2,7,3{2,1,0}", "2,5,3{0,2,1}", BATCH),
        # rows that do not follow each other
        ("5,4,7{2,0,1}", "7,3{1,0}", "5,4,3{2,1,0}", "lhs_contracting_dims={2}, rhs_contracting_dims={0}"),
        # contracted dimensions in another order
        ("5,2,7{2,1,0}", "7,2,3{2,1,0}", "5,3{1,0}", "lhs_contracting_dims={1,2}, rhs_contracting_dims={1,0}"),
    ],
)
def test_layouts_that_no_library_takes(left: str, right: str, result: str, numbers: str) -> None:
    assert library_product(dot_of(left, right, result, numbers), "c") is None


@pytest.mark.parametrize(("kind", "out"), [("bf16", "bf16"), ("s8", "s32"), ("f32", "f64"), ("f16", "f32")])
def test_types_that_numpy_gives_to_no_library(kind: str, out: str) -> None:
    plain = CASES["plain"][:4]
    assert library_product(dot_of(*plain, kind, out), "c") is None


def test_what_has_no_library() -> None:
    dot = dot_of(*CASES["plain"][:4])
    assert library_product(dot, "opencl") is None
    assert library_product(dot.operands[0], "c") is None
    empty = dot_of("5,0{1,0}", "0,3{1,0}", "5,3{1,0}", "lhs_contracting_dims={1}, rhs_contracting_dims={0}")
    assert library_product(empty, "c") is None

"""rng, rng-bit-generator and rng-get-and-update-state.

Bits come from Threefry-2x32 with 20 rounds and Philox-4x32 with 10 rounds (Salmon et al., Parallel random numbers: as
easy as 1, 2, 3, SC 2011), with counters assigned to elements as in XLA's expansion of rng-bit-generator.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, scalar, whole
from indexing.ops.operation_count import no_operations, one_transcendental_each_element
from indexing.ops.tuples import reads_nothing
from indexing.ops.values import Array, HloValue, only_array

_STATE = "the key passes unchanged and the counter is advanced as one number: not every element depends on all others"


# ---------------------------------------------------------------- rng, rng-get-and-update-state


def rng_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """Each element is drawn from the distribution of the same scalar parameters."""
    return [[scalar(instruction.shape.dimensions)] for _ in instruction.operands]


def no_value(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """Raise UnsupportedOp: there is no reproducible value."""
    raise UnsupportedOp(
        f"{instruction.opcode} {instruction.name} draws from a state that the program doesn't hold, so it has no "
        "reproducible value; use rng-bit-generator with a state of your own"
    )


# ---------------------------------------------------------------- rng-bit-generator


def bits_output_to_input(instruction: Instruction, output: int) -> Indexing:
    """bits[i] = hash(key, counter + i): each element reads the whole state."""
    sizes, state = instruction.shape.leaves[output].dimensions, instruction.operands[0].shape.dimensions
    is_state = instruction.shape.is_tuple and output == 0
    return [[whole(sizes, state, _STATE if is_state else "")]]


def bits_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """The new state and the bits, by the algorithm named; rng_default is Philox, as on XLA's CPU and GPU.

    Where the result is one array, it is the bits.
    """
    state = only_array(values[0]).astype(np.uint64)
    shape = instruction.shape.leaves[-1]
    bits = shape.dtype.itemsize * 8
    if shape.dtype.kind not in "iuf" or bits not in (8, 16, 32, 64):
        raise UnsupportedOp(
            f"rng-bit-generator {instruction.name} has no reference for {shape.element_type}; "
            "ask for an unsigned integer type of 8 to 64 bits"
        )
    algorithm = instruction.text("algorithm", "rng_default")
    generate = {"rng_three_fry": _three_fry, "rng_philox": _philox, "rng_default": _philox}.get(algorithm)
    if generate is None:
        raise UnsupportedOp(
            f"rng-bit-generator {instruction.name}: algorithm {algorithm!r} is none of rng_three_fry, rng_philox"
        )
    with np.errstate(over="ignore"):
        new_state, drawn = generate(state, tuple(shape.dimensions), bits)
    unsigned = drawn.astype(np.dtype(f"u{bits // 8}"))
    numbers = unsigned.view(shape.dtype) if unsigned.dtype != shape.dtype else unsigned
    return (new_state.reshape(state.shape), numbers) if instruction.shape.is_tuple else numbers


def _words(values: Array) -> tuple[Array, Array]:
    """The low and the high 32 bits of 64-bit integers, as 64-bit integers."""
    return _low(values), values >> np.uint64(32)


def _low(values: Array) -> Array:
    return values & np.uint64(0xFFFFFFFF)


def _joined(low: Array, high: Array) -> Array:
    return low | (high << np.uint64(32))


def _three_fry(state: Array, sizes: tuple[int, ...], bits: int) -> tuple[Array, Array]:
    """One counter for each element of the result (64 bits), or for each pair along `_split_dimension` (narrower types)."""
    key, counter = state[0], state[1]
    if bits == 64:
        count = int(np.prod(sizes, dtype=np.int64))
        low, high = _three_fry_2x32(_words(counter + np.arange(count, dtype=np.uint64)), _words(key))
        return np.array([key, counter + np.uint64(count)]), _joined(low, high).reshape(sizes)
    split = _split_dimension(sizes)
    half = (1,) if not sizes else tuple((n + 1) // 2 if k == split else n for k, n in enumerate(sizes))
    count = int(np.prod(half, dtype=np.int64))
    words = _three_fry_2x32(_words(counter + np.arange(count, dtype=np.uint64)), _words(key))
    first, second = (w.reshape(half) for w in words)
    new_state = np.array([key, counter + np.uint64(count)])
    if not sizes:
        return new_state, first.reshape(())
    paired = np.stack([first, second], axis=split + 1)
    merged = paired.reshape([2 * n if k == split else n for k, n in enumerate(half)])
    return new_state, merged.take(np.arange(sizes[split]), axis=split)


def _split_dimension(sizes: tuple[int, ...]) -> int:
    """The first even dimension, else the first of the largest ones."""
    even = [k for k, n in enumerate(sizes) if n % 2 == 0]
    return even[0] if even else max(range(len(sizes)), key=lambda k: (sizes[k], -k), default=0)


def _three_fry_2x32(counter: tuple[Array, Array], key: tuple[Array, Array]) -> tuple[Array, Array]:
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    schedule = (key[0], key[1], key[0] ^ key[1] ^ np.uint64(0x1BD11BDA))
    x, y = _low(counter[0] + schedule[0]), _low(counter[1] + schedule[1])
    for group in range(5):
        for rotation in rotations[group % 2]:
            x = _low(x + y)
            y = _low((y << np.uint64(rotation)) | (y >> np.uint64(32 - rotation)))
            y = x ^ y
        x = _low(x + schedule[(group + 1) % 3])
        y = _low(y + schedule[(group + 2) % 3] + np.uint64(group + 1))
    return x, y


def _philox(state: Array, sizes: tuple[int, ...], bits: int) -> tuple[Array, Array]:
    """Consecutive 128-bit counters, each of which gives four consecutive 32-bit words, or two of 64 bits."""
    key = state[0]
    low, high = (state[1], state[2]) if state.size >= 3 else (state[1], state[0])
    total = int(np.prod(sizes, dtype=np.int64))
    blocks = -(-total * (2 if bits == 64 else 1) // 4)
    lows = low + np.arange(blocks, dtype=np.uint64)
    highs = np.where(lows < low, high + np.uint64(1), high)
    words = _philox_4x32([*_words(lows), *_words(highs)], _words(key))
    if bits == 64:
        words = [_joined(words[0], words[1]), _joined(words[2], words[3])]
    drawn = np.stack(words, axis=1).reshape(-1)[:total].reshape(sizes)
    new_low = low + np.uint64(blocks)
    new_high = high + np.uint64(1) if new_low < low else high
    counter = [new_low, new_high] if state.size >= 3 else [new_low]
    return np.array([key, *counter], np.uint64), drawn


def _philox_4x32(x: list[Array], key: tuple[Array, Array]) -> list[Array]:
    first, second = key
    for _ in range(10):
        p, q = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        (p_low, p_high), (q_low, q_high) = _words(p), _words(q)
        x = [q_high ^ x[1] ^ first, q_low, p_high ^ x[3] ^ second, p_low]
        first, second = _low(first + np.uint64(0x9E3779B9)), _low(second + np.uint64(0xBB67AE85))
    return x


OPS = (
    Op(
        "rng",
        "out[i] ~ distribution(a, b)",
        rng_output_to_input,
        no_value,
        operations=one_transcendental_each_element,
    ),
    Op(
        "rng-bit-generator",
        "new_state, bits[i] = hash(key, counter + i)",
        bits_output_to_input,
        bits_reference,
        exactness="exact for values; a bound for the state",
        operations=one_transcendental_each_element,
    ),
    Op(
        "rng-get-and-update-state",
        "out = the device's state, advanced by delta",
        reads_nothing,
        no_value,
        operations=no_operations,
    ),
)

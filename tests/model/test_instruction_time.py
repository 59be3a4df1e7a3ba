"""Times of single instructions, beside bounds that follow from bytes, operations, and rates of data sheets."""

import numpy as np
import pytest

import indexing as ix
from indexing.model.instruction_time import predict_instruction, product_of
from indexing.model.products import Product, product_seconds
from indexing.model.work_time import predict_work

H100 = ix.find_device("h100")
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
LESS = "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT l = pred[] compare(a, b), direction=LT }\n"
X, Z = "x = f32[8192,8192] parameter(0)", "z = f32[] constant(0)"
BYTES = 4 * 8192 * 8192
#: Programs that stream, with the bytes that must move; a kernel of them may take up to three times as long.
STREAMS = {
    "all rows": (f"{X}\n {Z}\n ROOT t = f32[] reduce(x, z), dimensions={{0,1}}, to_apply=add", BYTES),
    "rows": (f"{X}\n {Z}\n ROOT t = f32[8192] reduce(x, z), dimensions={{1}}, to_apply=add", BYTES),
    "columns": (f"{X}\n {Z}\n ROOT t = f32[8192] reduce(x, z), dimensions={{0}}, to_apply=add", BYTES),
    "transpose": (f"{X}\n ROOT t = f32[8192,8192] transpose(x), dimensions={{1,0}}", 2 * BYTES),
    "windows": (
        f"{X}\n {Z}\n ROOT t = f32[8190,8190] reduce-window(x, z), window={{size=3x3}}, to_apply=add",
        2 * BYTES,
    ),
    "reverse": (f"{X}\n ROOT t = f32[8192,8192] reverse(x), dimensions={{0,1}}", 2 * BYTES),
    "pad": (f"{X}\n {Z}\n ROOT t = f32[8194,8194] pad(x, z), padding=1_1x1_1", 2 * BYTES),
    "slice": (f"{X}\n ROOT t = f32[8192,4096] slice(x), slice={{[0:8192], [7:4103]}}", BYTES),
    "exponential": (f"{X}\n ROOT t = f32[8192,8192] exponential(x)", 2 * BYTES),
    "broadcast": ("x = f32[8192] parameter(0)\n ROOT t = f32[8192,8192] broadcast(x), dimensions={1}", BYTES),
}


def root(body: str) -> ix.hlo.Instruction:
    return ix.hlo.parse(f"{ADD}{LESS}ENTRY e {{ {body} }}").entry.root


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("device", ["h100", "l4", "v100"])
def test_streams_take_the_time_of_their_bytes(name: str, device: str) -> None:
    body, moved = STREAMS[name]
    chosen = ix.find_device(device)
    prediction = predict_instruction(root(body), chosen)
    assert prediction.seconds is not None and moved / chosen.memory.bandwidth < prediction.seconds
    assert prediction.seconds < 3 * moved / chosen.memory.bandwidth and prediction.limit in ("memory", "arithmetic")


@pytest.mark.parametrize(
    "body",
    [
        "x = f32[65536000] parameter(0)\n ROOT s = f32[65536000] sort(x), dimensions={0}, to_apply=less",
        "x = f32[64,32000] parameter(0)\n ROOT t = (f32[64,40], s32[64,40]) topk(x), k=40, largest=true",
        "x = c64[1024,128] parameter(0)\n ROOT t = c64[1024,128] fft(x), fft_type=FFT, fft_length={128}",
        'x = f32[8] parameter(0)\n ROOT t = f32[8] custom-call(x), custom_call_target="mine"',
        "x = f32[8] parameter(0)\n ROOT t = f32[8] all-reduce(x), to_apply=add",
    ],
)
def test_what_has_no_model_has_no_time_and_says_so(body: str) -> None:
    prediction = predict_instruction(root(body), H100)
    assert prediction.seconds is None and prediction.limit is None and prediction.note.startswith("not modelled: ")
    remedy = "exchanges data" if "all-reduce" in body else "`profile` puts its measured time here"
    assert remedy in prediction.note and "fusion" not in prediction.note


def library_product(kind: str, precision: str, batch: int, m: int, k: int, n: int) -> ix.hlo.Instruction:
    dims = (
        '"lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"],'
        '"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]'
    )
    config = (
        f'{{"gemm_backend_config":{{"alpha_real":1,"alpha_imag":0,"beta":0,"dot_dimension_numbers":{{{dims}}},'
        f'"precision_config":{{"operand_precision":["{precision}","{precision}"]}},"epilogue":"DEFAULT"}}}}'
    )
    body = (
        f"x = {kind}[{batch},{m},{k}] parameter(0)\n y = {kind}[{batch},{k},{n}] parameter(1)\n c = ({kind}[{batch},{m},{n}], "
        f's8[4194304]) custom-call(x, y), custom_call_target="__cublas$gemm", backend_config={config}\n '
        f"ROOT r = {kind}[{batch},{m},{n}] get-tuple-element(c), index=0"
    )
    return root(body).operands[0]


@pytest.mark.parametrize(
    ("kind", "precision", "teraflops"),
    [("f32", "HIGHEST", 66.9), ("f32", "DEFAULT", 494.5), ("bf16", "DEFAULT", 989.5)],
)
def test_products_of_libraries_take_most_of_the_rate_of_their_units(
    kind: str, precision: str, teraflops: float
) -> None:
    """The rates are those of NVIDIA's data sheet; tf32 is the default of f32."""
    prediction = predict_instruction(library_product(kind, precision, 1, 8192, 8192, 8192), H100)
    least = 2 * 8192**3 / (teraflops * 1e12)
    assert (
        prediction.seconds is not None and least < prediction.seconds < 1.6 * least and prediction.limit == "arithmetic"
    )


def test_the_overlap_of_windows_moves_once() -> None:
    """A depthwise convolution by a library: each of its 49 reads of an element is part of a matrix, but not of memory."""
    config = '{"cudnn_conv_backend_config":{"conv_result_scale":1,"activation_mode":"kNone"}}'
    call = root(
        "x = bf16[64,112,112,96]{3,2,1,0} parameter(0)\n w = bf16[96,7,7,1]{3,2,1,0} parameter(1)\n "
        "c = (bf16[64,112,112,96]{3,2,1,0}, u8[0]{0}) custom-call(x, w), window={size=7x7 pad=3_3x3_3}, "
        "dim_labels=b01f_o01i->b01f, feature_group_count=96, "
        f'custom_call_target="__cudnn$convForward", backend_config={config}\n '
        "ROOT r = bf16[64,112,112,96]{3,2,1,0} get-tuple-element(c), index=0"
    ).operands[0]
    prediction = predict_instruction(call, H100)
    arrays = 2 * 64 * 112 * 112 * 96 * 2
    assert prediction.seconds is not None and prediction.limit == "arithmetic"
    assert arrays / H100.memory.bandwidth < prediction.seconds < 10 * arrays / H100.memory.bandwidth


def test_a_product_without_a_library_is_priced_as_its_kernel() -> None:
    body = "a = bf16[4096,4096] parameter(0)\n b = bf16[4096,4096] parameter(1)\n "
    dot = root(f"{body}ROOT d = bf16[4096,4096] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
    prediction = predict_instruction(dot, H100)
    assert prediction.seconds is not None and prediction.seconds > 2 * 4096**3 / 989.5e12


def test_products_of_any_layout_are_found_by_their_maps() -> None:
    body = "a = f16[5,7,3,11] parameter(0)\n b = f16[11,13,5] parameter(1)\n "
    dims = "lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={3}, rhs_contracting_dims={0}"
    dot = root(f"{body}ROOT d = f32[5,7,3,13] dot(a, b), {dims}")
    assert product_of(dot) == Product(5, 21, 13, 11, "f16", "f32")
    assert product_of(root(f"{X}\n ROOT t = f32[8192,8192] add(x, x)")) is None


def test_half_filled_tiles_and_few_tiles_take_as_long_as_full_ones() -> None:
    rate = H100.flops("f32")

    def seconds(m: int, n: int, k: int) -> float:
        return product_seconds(Product(1, m, n, k, "f32", "f32"), H100, rate)

    assert seconds(8192, 8192, 8192) >= 2 * 8192**3 / rate
    assert seconds(16370, 16384, 512) == seconds(16384, 16384, 512)
    assert seconds(64, 64, 65536) < 64 * seconds(64, 64, 1024)  # blocks share the contracted dimension


def test_updates_of_few_elements_wait_for_each_other() -> None:
    """2^20 updates of 16 counters, one in a clock; of 2^20 counters, memory decides; blocks add up sums of f32 first."""

    def histogram(bins: int, kind: str = "bf16") -> float:
        body = (
            f"h = {kind}[{bins}] parameter(0)\n i = s32[1048576,1] parameter(1)\n u = {kind}[1048576] parameter(2)\n "
            f"ROOT s = {kind}[{bins}] scatter(h, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=fold"
        )
        fold = f"fold {{ a = {kind}[] parameter(0) b = {kind}[] parameter(1) ROOT c = {kind}[] add(a, b) }}\n"
        seconds = predict_instruction(ix.hlo.parse(f"{fold}ENTRY e {{ {body} }}").entry.root, H100).seconds
        assert seconds is not None
        return seconds

    assert histogram(16) - histogram(32) == pytest.approx(2**15 / H100.rates.clock)
    assert histogram(1 << 20) < histogram(16) / 2
    assert histogram(16, "f32") < histogram(16) / 4


def test_arrays_of_more_elements_than_a_grid_has_blocks() -> None:
    """2^33 elements are read and written: 41 ms on an A100 of 2,039 GB per second, of which streams reach 0.82."""
    computation = ix.hlo.parse(
        "ENTRY e { x = f32[4194304,2048] parameter(0)\n ROOT r = f32[4194304,2048] tanh(x) }"
    ).entry
    prediction = ix.predict(computation, {}, "A100 PCIe 80GB")
    assert prediction.sectors[0] == 2 * 2**33 * 4 / 32
    assert prediction.time[0] == pytest.approx(2 * 2**33 * 4 / (2039e9 * 0.82), rel=0.01)


def test_work_of_which_no_kernel_is_known() -> None:
    actual = predict_work(H100, 3352.32e9 * 0.9)
    assert (actual.seconds, actual.limit) == (pytest.approx(1 + 3.6e-6), "memory")
    assert predict_work(H100, 1.0, {"f32": H100.flops("f32")}).limit == "arithmetic"
    assert predict_work(ix.find_device("cpu"), 0.0, {"f32": 1e9}).limit == "arithmetic"
    assert predict_work(H100, 8.0).limit == "launch"


def test_repeated_reads_of_a_large_array_move_once_from_memory() -> None:
    """Of the nine reads of each element, the first of a wave of blocks moves it; rows at the ends of waves move twice."""
    prediction = ix.predict(root(STREAMS["windows"][0]).computation, {}, "h100")
    assert (
        2 * 0.99 * BYTES
        < prediction.memory_bytes[0]
        < 2 * 1.15 * BYTES
        < prediction.cache_bytes[0]
        < 6 * BYTES
        < prediction.bytes[0]
    )
    assert np.isin(prediction.limit, ("memory", "arithmetic")).all()


def test_the_parts_of_a_time_are_the_demand_over_the_rates_of_the_device() -> None:
    time = predict_instruction(root(STREAMS["exponential"][0]), H100)
    demand, parts = time.demand, time.parts(H100)
    assert demand is not None and time.moved == demand["cache_bytes"] == demand["memory_bytes"] == 2 * BYTES
    assert parts["memory_bytes"] == pytest.approx(2 * BYTES / H100.reached_bandwidth)
    assert parts["cache_bytes"] == pytest.approx(2 * BYTES / H100.memory.l2_bandwidth)
    of_busiest = np.ceil(demand["blocks"] / H100.cores.count) / demand["blocks"]
    clock = H100.rates.clock * H100.rates.reached
    assert parts["issued"] == pytest.approx(demand["issued"] * of_busiest / (clock * H100.cores.issue))
    assert parts["passes"] == pytest.approx(2 * BYTES / 128 * of_busiest / clock)
    assert parts["updates"] == 0 and time.seconds is not None
    assert 0.95 < max(parts.values()) / (time.seconds - H100.launch_seconds) <= 1, "the last wave of blocks waits"


def test_a_small_kernel_of_a_processor_is_the_call_of_a_function() -> None:
    """Fusions of four elements took 6 to 10 ns on x86-64 in 2026, called in a loop."""
    small = ix.hlo.parse("ENTRY e { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }").entry
    assert 3e-9 < ix.predict(small, {}, "cpu").time[0] < 30e-9


def test_small_kernels_of_a_processor_follow_each_other_without_a_launch() -> None:
    """Steps of four elements take 10 to 40 ns on x86-64 in 2026, in a program of 220 as in one of 20: no more than 0.15 us."""

    def seconds(count: int) -> float:
        steps = "".join(f"v{k + 1} = f32[4] fusion(v{k}), kind=kLoop, calls=f{k}\n" for k in range(count))
        called = "".join(
            f"f{k} {{ x = f32[4] parameter(0) ROOT z = f32[4] reverse(x), dimensions={{0}} }}\n" for k in range(count)
        )
        text = f"HloModule m, is_scheduled=true\n{called}ENTRY e {{ v0 = f32[4] parameter(0)\n{steps} ROOT r = f32[4] negate(v{count}) }}"
        return ix.analyze(ix.hlo.parse(text), "cpu").seconds

    assert 10e-9 < (seconds(220) - seconds(20)) / 200 < 150e-9
    assert 20 * 10e-9 < seconds(20) < 20 * 150e-9

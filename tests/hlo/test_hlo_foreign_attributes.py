"""Attributes of other opcodes, ends of other operations, braces behind scalars, sizes below 0: refused where jaxlib refuses
them.
"""

import re

import pytest

import indexing as ix
from opcode_samples import SAMPLES, program

hlo_module_from_text = pytest.importorskip("jaxlib._hlo").hlo_module_from_text

KEYS = """algorithm async_execution_thread batch_group_count body branch_computations called_computations calls channel_id
collapsed_slice_dims condition constrain_layout cross_program_prefetch_index custom_call_has_side_effect custom_call_target
delta dim_labels dimensions direction distribution domain dynamic_slice_sizes entry epsilon exit exponent_bits
feature_group_count feature_index fft_length fft_type index index_vector_dim indices_are_sorted infeed_config
input_batching_dims inserted_window_dims iota_dimension is_associative is_composite is_host_transfer is_reverse is_stable k
kind largest left_side lhs_batch_dims lhs_contracting_dims lhs_ragged_dims literal lower mantissa_bits mode num_carries
offset_dims operand_batching_dims operand_layout_constraints operand_precision outfeed_config outfeed_shape
output_to_operand_aliasing padding replica_groups rhs_batch_dims rhs_contracting_dims rhs_group_dims scatter
scatter_dims_to_operand_dims scatter_indices_batching_dims schedule select slice slice_sizes source_target_pairs
start_index_map start_indices_batching_dims to_apply transpose_a type unique_indices unit_diagonal update_window_dims
result_accuracy use_global_device_ids window""".split()


def message(read: object, text: str) -> str:
    try:
        read(text)  # type: ignore[operator]
    except (ix.ParseError, RuntimeError, ValueError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("opcode", sorted(SAMPLES))
def test_an_attribute_is_foreign_where_jaxlib_says_so(opcode: str) -> None:
    lines = program(opcode).splitlines()
    place = max(k for k, line in enumerate(lines) if re.search(rf"[\s)}}\]]{re.escape(opcode)}\(", line))
    for key in KEYS:
        if f" {key}=" in lines[place]:
            continue
        text = "\n".join([*lines[:place], f"{lines[place].rstrip()}, {key}=0", *lines[place + 1 :]])
        is_foreign = f'unexpected attribute "{key}"' in message(hlo_module_from_text, text)
        actual = message(ix.hlo.parse, text)
        assert actual or not is_foreign, key
        assert is_foreign or f"attribute {key} belongs to other opcodes" not in actual, key


BACKGROUND = """w { q = f32[4] parameter(0) ROOT n = f32[4] negate(q) }
ENTRY e { p = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) %s
          u = ((f32[4]), f32[4], u32[]) %s-update(s) ROOT d = f32[4] %s-done(u) }"""


@pytest.mark.parametrize("start", ["async-start(p), calls=w", "negate-start(p)"])
@pytest.mark.parametrize("update", ["async", "negate", "abs"])
@pytest.mark.parametrize("done", ["async", "negate", "abs"])
def test_an_end_is_of_the_operation_that_was_started(start: str, update: str, done: str) -> None:
    text = BACKGROUND % (start, update, done)
    refused = message(hlo_module_from_text, text)
    actual = message(ix.hlo.parse, text)
    assert bool(actual) == bool(refused) == ("abs" in (update, done))
    assert not refused or "its operand starts negate, not abs" in actual


def test_an_attribute_that_no_opcode_has_is_kept() -> None:
    root = ix.hlo.parse("ENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] negate(p), of_a_tool={1} }").entry.root
    assert root.attributes["of_a_tool"] == "{1}"


@pytest.mark.parametrize("shape", ["f32[]{}", "s32[]{ }", "token[]{}"])
def test_a_scalar_has_no_braces(shape: str) -> None:
    with pytest.raises(ix.ParseError, match="leave out the braces"):
        ix.hlo.parse(f"ENTRY e {{ ROOT r = {shape} parameter(0) }}")


@pytest.mark.parametrize(
    "form", ["true_computation=f", "true_computation=f, false_computation=f, branch_computations={f,f}"]
)
@pytest.mark.parametrize("selector", ["pred", "s32"])
def test_a_conditional_has_the_form_of_its_selector(form: str, selector: str) -> None:
    entry = "f { a = f32[2] parameter(0) ROOT n = f32[2] negate(a) }\nENTRY e { c = %s[] parameter(0) p = f32[2] parameter(1) %s }"
    call = f"ROOT r = f32[2] conditional(c, p, p), {form}"
    with pytest.raises(ix.ParseError, match="needs branch_computations, or true_computation"):
        ix.hlo.parse(entry % (selector, call))
    other = "branch_computations={f,f}" if selector == "pred" else "true_computation=f, false_computation=f"
    with pytest.raises(ix.ParseError, match="needs branch_computations, or true_computation"):
        ix.hlo.parse(entry % (selector, call.replace(form, other)))


@pytest.mark.parametrize(
    ("root", "why"),
    [
        ("f32[2] dynamic-slice(p, i), dynamic_slice_sizes={-1}", "dynamic_slice_sizes must be 0 or more, found -1"),
        ("f32[7] fft(c), fft_type=IRFFT, fft_length={-1}", r"the result has a negative size: \[-1\]"),
        ("f32[7] pad(p, z), padding=0_-7", "padding gives a negative size"),
    ],
)
def test_a_size_below_0_is_no_unbounded_one(root: str, why: str) -> None:
    operands = "p = f32[6] parameter(0) i = s32[] parameter(1) z = f32[] parameter(2) c = c64[1] parameter(3)"
    with pytest.raises(ix.ParseError, match=why):
        ix.hlo.parse(f"ENTRY e {{ {operands} ROOT r = {root} }}")

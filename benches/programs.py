"""A large HLO program, generated: functions that call each other, with the ops that real traced programs consist of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

STATE = 8  # arrays that each function takes and returns
FUNCTIONS = 300
BLOCKS = 9  # the number of blocks of each function
ROWS, COLUMNS = 25, 16


def program(functions: int = FUNCTIONS) -> str:
    """HLO text of about 140 instructions a function; each function but the first calls the one before it."""
    bodies = [_function(k) for k in range(functions)]
    state = ", ".join(_array(ROWS, COLUMNS) for _ in range(STATE))
    entry = [
        f"ENTRY %main ({', '.join(f'x{k}: {_array(ROWS, COLUMNS)}' for k in range(STATE))}) -> ({state}) {{",
        *(f"  %x{k} = {_array(ROWS, COLUMNS)} parameter({k})" for k in range(STATE)),
    ]
    for k in range(functions):
        values = [f"%x{n}" for n in range(STATE)] if k == 0 else [f"%call{k - 1}.{n}" for n in range(STATE)]
        entry.append(f"  %call{k} = ({state}) call({', '.join(values)}), to_apply=%f{k}")
        entry += [
            f"  %call{k}.{n} = {_array(ROWS, COLUMNS)} get-tuple-element(%call{k}), index={n}" for n in range(STATE)
        ]
    last = functions - 1
    entry += [f"  ROOT %out = ({state}) tuple({', '.join(f'%call{last}.{n}' for n in range(STATE))})", "}"]
    return "\n".join([f"HloModule program_of_{functions}_functions", _ADD, *bodies, *entry, ""])


_ADD = """%add (a: f64[], b: f64[]) -> f64[] {
  %a = f64[] parameter(0)
  %b = f64[] parameter(1)
  ROOT %sum = f64[] add(%a, %b)
}"""


def _array(*sizes: int) -> str:
    return f"f64[{','.join(map(str, sizes))}]"


def _function(number: int) -> str:
    """Blocks on the arrays of the state in turn, each of which reads its neighbour as well."""
    names = count()
    lines: list[str] = []

    def put(shape: str, opcode: str, operands: str, attributes: str = "") -> str:
        name = f"%f{number}.{next(names)}"
        lines.append(f"  {name} = {shape} {opcode}({operands}){attributes}")
        return name

    full = _array(ROWS, COLUMNS)
    values = [put(full, "parameter", str(k)) for k in range(STATE)]
    zero = put("f64[]", "constant", "0")
    one = put("s32[]", "constant", "1")
    for block in range(BLOCKS):
        k = (block + number) % STATE
        values[k] = _block(put, values[k], values[(k + 1) % STATE], zero, one, block)
    state = ", ".join(full for _ in range(STATE))
    lines.append(f"  ROOT %f{number}.out = ({state}) tuple({', '.join(values)})")
    parameters = ", ".join(f"p{k}: {full}" for k in range(STATE))
    return "\n".join([f"%f{number} ({parameters}) -> ({state}) {{", *lines, "}"])


def _block(put: Callable[..., str], own: str, beside: str, zero: str, one: str, block: int) -> str:
    """Differences along a dimension, a sum spread again, or a part placed at a position known at run time."""
    full = _array(ROWS, COLUMNS)
    if block % 3 == 0:
        part = _array(ROWS - 1, COLUMNS)
        upper = put(part, "slice", own, f", slice={{[1:{ROWS}], [0:{COLUMNS}]}}")
        lower = put(part, "slice", beside, f", slice={{[0:{ROWS - 1}], [0:{COLUMNS}]}}")
        step = put(part, "subtract", f"{upper}, {lower}")
        scaled = put(part, "multiply", f"{step}, {step}")
        edge = put(_array(1, COLUMNS), "slice", own, f", slice={{[0:1], [0:{COLUMNS}]}}")
        whole = put(full, "concatenate", f"{edge}, {scaled}", ", dimensions={0}")
    elif block % 3 == 1:
        total = put(_array(ROWS), "reduce", f"{own}, {zero}", ", dimensions={1}, to_apply=%add")
        column = put(_array(ROWS, 1), "reshape", total)
        row = put(_array(ROWS), "reshape", column)
        spread = put(full, "broadcast", row, ", dimensions={0}")
        flipped = put(_array(COLUMNS, ROWS), "transpose", beside, ", dimensions={1,0}")
        back = put(full, "transpose", flipped, ", dimensions={1,0}")
        whole = put(full, "divide", f"{spread}, {back}")
    else:
        flat = put(_array(ROWS * COLUMNS), "reshape", beside)
        first = put("f64[1]", "slice", flat, ", slice={[0:1]}")
        scalar = put("f64[]", "reshape", first)
        at = put("s32[]", "convert", scalar)
        part = _array(4, COLUMNS)
        read = put(part, "dynamic-slice", f"{own}, {at}, {one}", f", dynamic_slice_sizes={{4,{COLUMNS}}}")
        whole = put(full, "dynamic-update-slice", f"{beside}, {read}, {at}, {one}")
    sine = put(full, "tanh", whole)
    below = put(f"pred[{ROWS},{COLUMNS}]", "compare", f"{sine}, {own}", ", direction=LT")
    chosen = put(full, "select", f"{below}, {sine}, {own}")
    scaled = put(full, "multiply", f"{chosen}, {chosen}")
    root = put(full, "sqrt", scaled)
    absolute = put(full, "abs", root)
    return put(full, "add", f"{absolute}, {beside}")

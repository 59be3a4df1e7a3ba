"""How programs of JAX are asked for, with a module in JAX's place; and what is said where there is none."""

import subprocess
import sys
import types

import pytest

import indexing as ix

LOWERED = "HloModule lowered ENTRY e { ROOT a = f32[2] constant({1, 2}) }"
COMPILED = "HloModule compiled ENTRY e { ROOT a = f32[2] constant({1, 2}) }"


class Text:
    """What has text once its large constants are asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    def as_hlo_text(self, print_large_constants: bool = False) -> str:
        return self.text if print_large_constants else "HloModule elided"

    def to_string(self, options: "HloPrintOptions") -> str:
        return self.as_hlo_text(options.print_large_constants)


class HloPrintOptions:
    print_large_constants = False


class Jitted:
    """A jitted function, all of its stages in one."""

    def __init__(self, function, modules: int = 1) -> None:
        self.function, self.modules = function, modules

    def lower(self, *args, **kwargs) -> "Jitted":
        self.function(*args, **kwargs)
        return self

    def compiler_ir(self, dialect: str) -> Text:
        assert dialect == "hlo"
        return Text(LOWERED)

    def compile(self) -> "Jitted":
        return self

    def runtime_executable(self) -> "Jitted":
        return self

    def hlo_modules(self) -> list[Text]:
        return [Text(COMPILED)] * self.modules


@pytest.fixture
def fake(monkeypatch) -> dict[str, types.ModuleType]:
    modules = {name: types.ModuleType(name) for name in ("jax", "jax.errors", "jaxlib", "jaxlib._jax")}
    modules["jax"].jit = Jitted
    modules["jax.errors"].JaxRuntimeError = RuntimeError
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return modules


def test_stages_of_a_function(fake) -> None:
    calls = []

    def function(*args, **kwargs):
        calls.append((args, kwargs))

    assert ix.from_jax(function, 1, 2, scale=3).name == "lowered"
    assert ix.from_jax(function, stage="compiled").name == "compiled"
    assert ix.from_jax(Jitted(function), 5).name == "lowered"  # jitted already
    assert calls == [((1, 2), {"scale": 3}), ((), {}), ((5,), {})]
    with pytest.raises(ix.UnsupportedOp, match="no stage 'traced'"):
        ix.from_jax(function, stage="traced")
    with pytest.raises(ix.UnsupportedOp, match="2 HLO modules"):
        ix.from_jax(Jitted(function, modules=2), stage="compiled")


def test_errors_of_stablehlo_have_their_place(fake) -> None:
    def convert(text: str, use_tuple_args: bool, return_tuple: bool) -> Text:
        if "bad" in text:
            raise ValueError("<unknown>:2:3: error: use of undeclared value\nnote")
        if "empty" in text:
            raise RuntimeError("<unknown>:0:0: error: no main")
        if "odd" in text:
            raise RuntimeError("INTERNAL: no lowering")
        return Text(LOWERED)

    fake["jaxlib._jax"].mlir = types.SimpleNamespace(mlir_module_to_xla_computation=convert)
    assert ix.hlo.from_stablehlo("module {}").name == "lowered"
    with pytest.raises(ix.ParseError) as caught:
        ix.hlo.from_stablehlo("module {\n  bad\n}")
    assert str(caught.value) == "line 2, column 3: use of undeclared value\n  bad\n  ^"
    with pytest.raises(ix.ParseError, match="line 1, column 1: no main"):
        ix.hlo.from_stablehlo("empty")
    with pytest.raises(ix.UnsupportedOp, match="no lowering"):
        ix.hlo.from_stablehlo("odd")


def test_without_jax_the_error_names_the_extra() -> None:
    script = (
        "import sys\nsys.modules['jax'] = None\nimport indexing as ix\n"
        "for call in (lambda: ix.from_jax(abs, 1), lambda: ix.hlo.from_stablehlo('module {}')):\n"
        "    try:\n        call()\n    except ix.UnsupportedOp as e:\n        print(e)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.count("needs the jax extra") == out.count(" -m pip install ") == 2

"""Relations as isl prints them: isl itself says whether what was read is the same relation."""

import subprocess
import sys

import islpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from indexing.convert import from_isl, to_isl

TERMS = st.lists(st.integers(-4, 4), min_size=4, max_size=4)
FORMS = st.sampled_from(["{0}", "floor(({0})/{1})", "({0}) mod {1}", "{0} + 2*floor(({0})/{1})", "({0}) mod {1} - d0"])


@st.composite
def relations(draw: st.DrawFn) -> str:
    """A relation of one piece: outputs that are functions, outputs within bounds, congruences, parameters."""
    names = ["d0", "d1", "n"]

    def affine() -> str:
        coefficients = draw(TERMS)
        return " + ".join(f"{c}*{name}" for c, name in zip(coefficients, names, strict=False)) + f" + {coefficients[3]}"

    def value() -> str:
        return draw(FORMS).format(affine(), draw(st.integers(2, 9)))

    parts = [f"0 <= d0 <= {draw(st.integers(0, 12))}", f"-3 <= d1 <= {draw(st.integers(-3, 7))}", "0 <= n <= 5"]
    parts.append(f"o0 = {value()}")
    low, width = affine(), draw(st.integers(0, 4))
    step = draw(st.integers(1, 3))
    parts += [f"{low} <= o1 <= {low} + {width}", f"(o1 + d0) mod {step} = 0", f"o2 = {value()}"]
    if draw(st.booleans()):
        parts.append(f"{value()} <= {draw(st.integers(-5, 20))}")
    return f"[n] -> {{ [d0, d1] -> [o0, o1, o2] : {' and '.join(parts)} }}"


def same_relation(first: islpy.Map, second: islpy.Map) -> bool:
    names = [first.get_dim_name(islpy.dim_type.param, k) for k in range(first.dim(islpy.dim_type.param))]
    assert names == [second.get_dim_name(islpy.dim_type.param, k) for k in range(second.dim(islpy.dim_type.param))]
    return bool(first.is_equal(second))


@pytest.mark.parametrize("kind", [islpy.Map, islpy.BasicMap, islpy.PwMultiAff, islpy.MultiAff])
def test_values_of_islpy_are_read_as_their_text(kind: type) -> None:
    text = "{ [i] -> [(2 + 3i)] }" if kind is islpy.MultiAff else "{ [i] -> [2 + 3i] : 0 <= i <= 9 }"
    converted = from_isl(kind(text))
    assert converted == from_isl(text) and [converted.evaluate([k])[0] for k in range(3)] == [2, 5, 8]


def test_what_is_no_text_of_a_relation_is_named() -> None:
    with pytest.raises(TypeError, match="from_isl: relation is an int; expected a str, or a map of islpy"):
        from_isl(3)


@settings(max_examples=60, deadline=None)
@given(relations())
def test_what_isl_prints_is_read_as_the_same_relation(text: str) -> None:
    relation = islpy.Map(text).compute_divs().coalesce()
    if relation.is_empty():
        assert from_isl(str(relation)).is_empty()
        return
    if len(relation.get_basic_maps()) != 1:
        with pytest.raises(ix.InvalidMap, match="pieces"):
            from_isl(str(relation))
        return
    converted = from_isl(str(relation))
    again = islpy.Map(to_isl(converted))
    assert same_relation(again, relation)
    if len(again.compute_divs().coalesce().get_basic_maps()) == 1:  # not a minimum, which isl splits
        assert same_relation(islpy.Map(to_isl(from_isl(str(again)))), relation)


def test_minima_and_maxima_are_those_of_isl() -> None:
    m = ix.IndexingMap.parse("(d0, d1) -> (min(d0, d1, 3) - max(d0 floordiv 2, 1)), domain: d0 in [0, 5], d1 in [0, 4]")
    text = to_isl(m)
    assert from_isl(text) == m
    stated = " or ".join(
        f"d0 = {a} and d1 = {b} and o = {min(a, b, 3) - max(a // 2, 1)}" for a in range(6) for b in range(5)
    )
    assert same_relation(islpy.Map(text), islpy.Map(f"{{ [d0, d1] -> [o] : {stated} }}"))


@pytest.mark.parametrize(
    ("text", "results", "ranges"),
    [
        ("{ [d0] -> [out0] : (-d0 + out0) mod 8 = 0 and 0 <= d0 <= 30 and 0 <= out0 <= 7 }", ["d0 mod 8"], 0),
        ("{ [i] -> [j] : exists (k : i = 2k and j = k + 1) and 0 <= i < 20 }", ["i floordiv 2 + 1"], 0),
        ("{ S[i] -> A[i, j] : 0 <= i, j < 5 }", ["i", "s0"], 1),
        ("[n] -> { [i] -> [n - i] : 0 <= i < n <= 10 }", ["n - i"], 0),
    ],
)
def test_functions_are_results_and_the_rest_are_ranges(text: str, results: list[str], ranges: int) -> None:
    m = from_isl(text)
    names = {v.name: k for k, v in enumerate(m.variables)}
    assert list(m.results) == [ix.SymbolicExpr.parse(r, names=names) for r in results]
    assert m.num_ranges == ranges


@pytest.mark.parametrize("text", ["{ [i] -> [j] : 1 = 0 and j = 2i }", "{ [i] -> [i] : i < 0 and i > 5 }"])
def test_relations_without_pairs_are_known_empty(text: str) -> None:
    assert from_isl(text).is_known_empty


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("{ [i] -> [i] : i < 3; [i] -> [i + 1] : i > 7 }", ix.InvalidMap, "2 pieces"),
        ("{ [i] -> [", ix.ParseError, "isl says"),
        ("{ [i] -> [2i] : i < 3 }\0", ix.ParseError, "expected"),
        ("{ [i] -> [i * i] }", ix.ParseError, "isl says"),
    ],
)
def test_what_is_no_map_is_refused(text: str, error: type[ix.IndexingError], why: str) -> None:
    with pytest.raises(error, match=why):
        from_isl(text)


def test_without_isl_its_own_form_is_read_and_the_rest_names_the_extra() -> None:
    program = """if True:
        import sys
        sys.modules["islpy"] = None
        from indexing.convert import from_isl
        print(from_isl("{ [d0] -> [out0] : out0 = 2*d0 and 0 <= d0 <= 3 }"))
        try:
            from_isl("{ [i] -> [i] : 0 <= i < 5 }")
        except BaseException as error:
            print(type(error).__name__, error)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "(d0) -> (d0 * 2), domain: d0 in [0, 3]"
    assert "InvalidMap" in done.stdout and "needs the isl extra" in done.stdout

"""Attention in a computation: scores, a product; their softmax; and the product of these weights and values.

An index of the *space* is one of the weights, an operand of the second product: dimensions of its batch, rows, and keys,
which it contracts. Maps are composed from the space down to the scores, so that moves between the parts do not matter. The
exponential, of logits less what is the same for a row, is linear in the weights: what multiplies and divides them by values of
the row is done once to a sum, wherever the program does it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from indexing._core import IndexingMap, compose, constant, variable
from indexing.errors import Undecided
from indexing.hlo import Computation, Instruction, Module
from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.access import Access
from indexing.indexing_analysis.instructions import output_to_input
from indexing.kernels.emitters.dot.match import Product, dimension_numbers, operand_index, product_of
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.emitters.reduction.rows import is_read_at_one_place
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.ops.dot import DOT
from indexing.ops.element_types import element_type
from indexing.ops.reduce import REDUCE
from indexing.ops.registry import traits_of
from indexing.ops.softmax import (
    before_moves,
    exponent_difference,
    is_maximum,
    is_sum,
    linear_operands,
    operand_of,
)
from indexing.ops.tuples import array_source
from indexing.partitioner import PartitionedComputation, Subgraph, partition
from indexing.walks import reached

NAME = "attention"


@dataclass(frozen=True, slots=True)
class Softmax:
    """The instructions of a softmax: exponentials of `logits` less `shift`, the `maximum` of a row's logits, the `total` of its
    exponentials, and those from the weights to the exponential, which scale it (`scaling`).
    """

    logits: Instruction
    shift: Instruction
    exponential: Instruction
    maximum: Instruction
    total: Instruction
    scaling: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """An attention: the product of weights (its operand `side`) and values with what follows it, the product that gives the
    scores, of which operand `query` has the rows, and the softmax between them.

    `places` has the map from an index of the space to that at which an instruction between the products is read; `frontier`
    are the instructions that these read at several indices.
    """

    after: Heroes
    side: int
    scores: Instruction
    query: int
    softmax: Softmax
    places: Mapping[Instruction, IndexingMap]
    frontier: tuple[Instruction, ...]

    @property
    def product(self) -> Instruction:
        """The product of weights and values."""
        return self.after.first

    @property
    def weights(self) -> Instruction:
        """The weights."""
        return operand_of(self.product, self.side)

    @property
    def module(self) -> Module:
        """The module of its computation."""
        return self.product.module

    @property
    def computation(self) -> Computation:
        """The fusion's computation."""
        return self.product.computation

    @property
    def element_type(self) -> str:
        """The type in which it is computed."""
        return element_type(self.softmax.logits.shape.element_type).compute_type

    @property
    def sizes(self) -> Product:
        """The sizes of the second product, its rows those of the weights, whichever operand these are."""
        p = product_of(self.product)
        return p if self.side == 0 else type(p)(p.batch, p.columns, p.rows, p.contracted)

    @property
    def depth(self) -> int:
        """The products in an element of the scores."""
        return prod(product_of(self.scores).contracted)

    @property
    def parts(self) -> PartitionedComputation:
        """The partition that puts what is between the products into the entry, and other instructions into functions."""
        return partition_attention(self)

    @property
    def given(self) -> tuple[Instruction, ...]:
        """The instructions whose values the kernel computes by itself."""
        s = self.softmax
        return self.scores, s.maximum, s.exponential, s.total


@cached_on_module
def match_attention(computation: Computation) -> Attention | None:
    """The attention that every output follows; None if there is none."""
    for product in computation.post_order():
        if traits_of(product) is DOT:
            for side in range(2):
                attention = _Matching(product, side).attention()
                if attention is not None:
                    return attention
    return None


@dataclass
class _Matching:
    """One attempt to match an attention, with the weights as operand `side` of `product`."""

    product: Instruction
    side: int
    accesses: dict[Instruction, set[IndexingMap | None]] = field(default_factory=dict)  # None: not at a single index
    places: dict[Instruction, IndexingMap] = field(default_factory=dict)
    reductions: list[Instruction] = field(default_factory=list)
    scores: list[Instruction] = field(default_factory=list)
    elsewhere: set[Instruction] = field(default_factory=set)

    def attention(self) -> Attention | None:
        self.weights = operand_of(self.product, self.side)
        if not self._has_exponential() or 0 in (*self.weights.shape.dimensions, *self.product.shape.dimensions):
            return None
        self.keys = dimension_numbers(self.product)[self.side][1]
        self._record(self.weights, IndexingMap.identity(self.weights.shape.dimensions).simplify())
        for i in reversed(self.product.computation.post_order()):
            self._place(i)
        after = single_hero_of(self.product.computation, lambda i: i is self.product)
        softmax = self._softmax() if len(self.scores) == 1 and len(self.reductions) == 2 else None
        query = None if softmax is None else self._query()
        if after is None or softmax is None or query is None:
            return None
        frontier = tuple(self._frontier())
        whole = Attention(after, self.side, self.scores[0], query, softmax, self.places, frontier)
        return whole if _is_kept_apart(whole) and _keeps_precision(whole) else None

    def _has_exponential(self) -> bool:
        """Whether the weights are linear in an exponential, at a glance."""
        linear = reached([self.weights], lambda i: (operand_of(i, k) for k in linear_operands(i)))
        return any(exponent_difference(i) is not None for i in linear)

    # ------------------------------------------------------------ places

    def _record(self, operand: Instruction, place: IndexingMap | None) -> None:
        self.accesses.setdefault(array_source(operand, 0)[0], set()).add(place)

    def _place(self, i: Instruction) -> None:
        """Classify an instruction as scores, a reduction of rows, between the products, or neither."""
        reads = self.accesses.pop(i, None) or self._read_later(i)
        if reads is None:
            return
        place = next(iter(reads)) if len(reads) == 1 else None
        if place is not None and traits_of(i) is REDUCE and (elements := self._elements(i, place)) is not None:
            self.places[i] = place
            self.reductions.append(i)
            self._record(arrays_of(i)[0], elements)
            self._record(i.operands[1], None)
        elif place is not None and traits_of(i) is DOT and _is_each_once(place, i):
            self.places[i] = place
            self.scores.append(i)
        elif place is not None and not i.shape.is_tuple and not i.called:
            self.places[i] = place
            self._read(i, place)
        else:
            self.elsewhere.add(i)
            for operand in i.operands:
                self._record(operand, None)

    def _read_later(self, i: Instruction) -> set[IndexingMap | None] | None:
        """The place of a total of exponentials that only what follows the products reads."""
        sizes = self.weights.shape.dimensions
        if traits_of(i) is not REDUCE or i.ints("dimensions") != self.keys or i.operands[0].shape.dimensions != sizes:
            return None
        if exponent_difference(before_moves(operand_of(i, 0), rounds=True)) is None:
            return None
        kept = [variable(d) for d in range(len(sizes)) if d not in self.keys]
        return {IndexingMap.from_tensor_sizes(kept, list(sizes)).simplify()}

    def _elements(self, reduce: Instruction, place: IndexingMap) -> IndexingMap | None:
        """The place of the elements that a reduction, read at `place`, reduces for a row: its dimensions are the keys."""
        gone, shape = reduce.ints("dimensions"), reduce.operands[0].shape
        sizes = self.weights.shape.dimensions
        if len(arrays_of(reduce)) != 1 or not self._is_of_row(place):
            return None
        if [shape.dimensions[d] for d in gone] != [sizes[d] for d in self.keys]:
            return None
        keys, kept = iter(self.keys), iter(place.results)
        results = [variable(next(keys)) if d in gone else next(kept) for d in range(shape.rank)]
        return IndexingMap.from_tensor_sizes(results, list(sizes)).simplify()

    def _read(self, i: Instruction, place: IndexingMap) -> None:
        indexings = output_to_input(i)
        is_plain = all(is_read_at_one_place(m) for maps in indexings for m in maps)
        for operand, maps in zip(i.operands, indexings, strict=True):
            for m in maps:
                self._record(operand, compose(place, m.map).simplify() if is_plain else None)
            if not is_plain:
                self._record(operand, None)

    def _is_of_row(self, place: IndexingMap) -> bool:
        return not any(set(self.keys).intersection(e.used_variables()) for e in place.results)

    def _frontier(self) -> Iterator[Instruction]:
        between = [i for i in self.places if i not in self.scores]
        for operand in dict.fromkeys(operand_of(i, k) for i in between for k in range(len(i.operands))):
            if operand in self.elsewhere and not traits_of(operand).is_source:
                yield operand

    # ------------------------------------------------------------ the softmax

    def _softmax(self) -> Softmax | None:
        """The softmax, if the two reductions and the weights are those of one."""
        maximum, total = sorted(self.reductions, key=is_sum)
        if not is_maximum(maximum) or not is_sum(total):
            return None
        exponential = before_moves(operand_of(total, 0), rounds=True)
        difference = exponent_difference(exponential)
        scaling = self._scaling(exponential)
        if difference is None or scaling is None:
            return None
        logits, shift = (operand_of(difference, k) for k in range(2))
        if before_moves(logits) is not before_moves(operand_of(maximum, 0)):
            return None
        if not self._is_same_for_row(shift) or self._depends(logits, {maximum, total}):
            return None
        return Softmax(logits, shift, exponential, maximum, total, scaling)

    def _scaling(self, exponential: Instruction) -> tuple[Instruction, ...] | None:
        """The instructions from the weights to the exponential, if these only scale it by what a row has in common."""
        i = self.weights
        scaling: list[Instruction] = []
        while i is not exponential:
            paths = [k for k in linear_operands(i) if self._depends(operand_of(i, k), {exponential})]
            others = [operand_of(i, k) for k in range(len(i.operands)) if [k] != paths]
            if len(paths) != 1 or i not in self.places or not all(map(self._is_same_for_row, others)):
                return None
            scaling.append(i)
            i = operand_of(i, paths[0])
        return tuple(scaling) if i in self.places else None

    def _is_same_for_row(self, i: Instruction) -> bool:
        """Whether an instruction has one value for each row of the space."""
        if i.is_constant and i.shape.rank == 0:
            return True
        if i not in self.places or i in self.scores:
            return False
        if self._is_of_row(self.places[i]):
            return True
        is_plain = traits_of(i).has_no_compute or traits_of(i).is_elementwise
        return (
            is_plain
            and bool(i.operands)
            and all(self._is_same_for_row(operand_of(i, k)) for k in range(len(i.operands)))
        )

    def _depends(self, i: Instruction, on: set[Instruction]) -> bool:
        """Whether an instruction is computed from one of `on`, which are between the products."""
        between = reached([i], lambda reader: (o for o in _operands(reader) if o in self.places))
        return any(current in on for current in between)

    def _query(self) -> int | None:
        """The operand of the scores that has the rows; the other one has the keys. None if they don't."""
        product, place = product_of(self.scores[0]), self.places[self.scores[0]]
        batch, rows = len(product.batch), len(product.batch) + len(product.rows)
        used = [
            {v for e in place.results[first:last] for v in e.used_variables()}
            for first, last in ((0, batch), (batch, rows), (rows, len(place.results)))
        ]
        of_batch, of_keys = set(dimension_numbers(self.product)[self.side][0]), set(self.keys)
        if not used[0] <= of_batch:
            return None
        free = [(not u & of_keys, u <= of_batch | of_keys) for u in used[1:]]
        return next((k for k in range(2) if free[k][0] and free[1 - k][1]), None)


def _is_each_once(place: IndexingMap, i: Instruction) -> bool:
    try:
        return place.is_bijection_onto(i.shape.dimensions)
    except Undecided:
        return False


# ---------------------------------------------------------------- what surrounds it


def _is_kept_apart(attention: Attention) -> bool:
    """Whether nothing but the second product needs what is computed for each element, and what follows it reads the maximum
    and the total of its own row.
    """
    s, parts = attention.softmax, attention.after.parts
    (home,) = parts.epilogues
    own_row = _row_of_result(attention)
    following = _following(attention)
    for i in following - {s.maximum, s.total, attention.product}:
        if i in attention.places and not traits_of(i).is_source:
            return False
    for reduction in following & {s.maximum, s.total}:
        if any(parts.find(u) is not home for u in set(reduction.users) & following):
            return False
        place = compose(own_row, attention.places[reduction]).simplify()
        if any(a.map.simplify() != place for reader, a in parts.reads(reduction) if reader is home):
            return False
    return True


def _following(attention: Attention) -> set[Instruction]:
    """The instructions after the second product, and the operands that they read, down to it and to the reductions."""
    ends = {attention.product, attention.softmax.maximum, attention.softmax.total}
    return set(reached([attention.computation.root], lambda i: () if i in ends else _operands(i)))


def _operands(i: Instruction) -> list[Instruction]:
    return [operand_of(i, k) for k in range(len(i.operands))]


def _row_of_result(attention: Attention) -> IndexingMap:
    """The map from an index of the second product to the first element of its row in the space."""
    index = tuple(variable(d) for d in range(attention.product.shape.rank))
    p = product_of(attention.product)
    batch, rows = index[: len(p.batch)], index[len(p.batch) : len(p.batch) + len(p.rows)]
    columns = index[len(p.batch) + len(p.rows) :]
    keys = tuple(constant(0) for _ in p.contracted)
    place = operand_index(attention.product, attention.side, batch, (rows, columns)[attention.side], keys)
    return IndexingMap.from_tensor_sizes(list(place), list(attention.product.shape.dimensions))


def _keeps_precision(attention: Attention) -> bool:
    """Whether results are the program's but for the order and the rounding of sums.

    Weights are not rounded on the way to the sums. So those that the program rounds have no more digits lost than the outputs.
    """
    s = attention.softmax
    numbers = [attention.scores, s.logits, s.exponential, s.maximum, s.total, attention.product]
    kinds = {element_type(i.shape.element_type).compute_type for i in numbers}
    if len(kinds) != 1 or not kinds <= {"f32", "f64"}:
        return False
    rounded = {s.exponential, operand_of(s.exponential, 0), operand_of(s.total, 0), *s.scaling}
    least = min(_mantissa(i.shape.element_type) for i in rounded)
    narrow = least < _mantissa(attention.element_type)
    return not narrow or all(_mantissa(o.shape.element_type) <= least for o in attention.after.after)


def _mantissa(kind: str) -> int:
    """The bits of the mantissa of a float type; none of other types."""
    known = element_type(kind).format
    return 0 if known is None else known.mantissa


# ---------------------------------------------------------------- functions


@cached_on_module
def partition_attention(attention: Attention) -> PartitionedComputation:
    """The partition that puts what is between the products into the entry, and other instructions into functions."""
    computation, given = attention.computation, attention.given
    operands = (*attention.scores.operands, operand_of(attention.product, 1 - attention.side))
    rest = partition(computation, [*attention.frontier, *operands], [attention.after.epilogue])
    members = tuple(i for i in computation.post_order() if i in attention.places and i not in given)
    sizes = attention.weights.shape.dimensions
    whole = (IndexingMap.identity(sizes),)
    entry = Subgraph("scores", members, (attention.weights,), sizes, whole, given)
    owner = {i: rest.find(i) for i in computation.post_order() if rest.holds(i) and i not in given}
    owner |= dict.fromkeys(members, entry)
    accesses = {i: frozenset([(entry, Access(attention.places[i], prod(sizes)))]) for i in reversed(members)}
    each_once = (*attention.frontier, *(array_source(o, 0)[0] for o in operands))
    for i in each_once:
        accesses.setdefault(i, frozenset([(entry, Access.of_all(i.shape.dimensions))]))
    subgraphs = (*rest.epilogues, entry, *(s for s in rest.subgraphs if s not in rest.epilogues))
    epilogues = (*rest.epilogues, entry)
    return PartitionedComputation(computation, subgraphs, epilogues, rest.has_long_indices, owner, accesses)

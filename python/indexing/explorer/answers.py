"""Answers of the explorer about a program's fusions: predictions of plans and layouts, maps, graph, pictures.

Everything is a pure function of the program, the device and the choices; results that take long are cached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from indexing.analysis.memory.global_memory import Access, Coalescing, Tiles, coalescing
from indexing.cached import cached_property
from indexing.device.record import Device
from indexing.errors import IndexingError
from indexing.hlo import Computation, Instruction, Shape
from indexing.hlo.program_like import parameter_names
from indexing.indexing_analysis.programs import maps
from indexing.kernels import emit_fused, knobs_of
from indexing.kernels.kernel import Kernel
from indexing.kernels.knob_space import KnobSpace
from indexing.model.prediction import Predictions, predict
from indexing.model.terms import terms_of
from indexing.reports.kernel_report import FusionReport
from indexing.reports.lines import bytes_text, seconds_text
from indexing.reports.program_report import ProgramReport
from indexing.reports.remedies import with_layouts
from indexing.show.banks import bank_picture
from indexing.show.fusion_pictures import pictures_of_accesses
from indexing.show.graphviz_layout import graph_svgs
from indexing.show.page import MAX_DRAWN, Data
from indexing.show.svg_renderer import cells_svg
from indexing.show.tile_path import follow_tile, tile_picture

EXCESS = 1.005  # a ratio from which on more is moved than must be
MAX_PLANS = 2000  # the best plan is searched among this number at most
Layouts = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Exploration:
    """The questions about a program and their answers: a pure function of its report.

    A question consists of a fusion and choices: knobs by name, layouts as `layout 0`, the sizes of a tile as `tile sizes`.
    All raise IndexingError for an unknown fusion, and for layouts and tiles that are not legal.
    """

    report: ProgramReport
    _changed: dict[tuple[str, Layouts], Computation] = field(default_factory=dict)
    _best: dict[tuple[str, Layouts], Data] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @cached_property
    def fusions(self) -> dict[str, Instruction]:
        """The fusions by name, sorted by waste."""
        return {name: f.instruction for name, f in self._reports.items()}

    @cached_property
    def _reports(self) -> dict[str, FusionReport]:
        return {f.name: f for f in self.report.fusions if f.instruction.is_fusion}

    def _of_runs(self, fusion: str, predictions: Predictions) -> Predictions:
        """Predictions of a fusion's plans as it runs in the program: in a loop, the means of its runs."""
        of_loop = self._reports[fusion].in_loop
        return predictions if of_loop is None else of_loop.mean_of_plans(predictions)

    @property
    def device(self) -> Device:
        """The device of all predictions: each kernel starts when another one ends, as those of the report do."""
        return self.report.device.after_another()

    def listed(self) -> Data:
        """The answer with all fusions."""
        return [{"name": name, "shape": str(i.shape)} for name, i in self.fusions.items()]

    def _chosen(self, fusion: str, choices: Mapping[str, str]) -> tuple[tuple[str, Layouts], Computation]:
        """The fusion's computation with the chosen layouts, which is cached, and its key in the cache."""
        if fusion not in self.fusions:
            raise IndexingError(f"the program has no fusion {fusion!r}")
        computation = self.fusions[fusion].called[0]
        numbers = range(len(computation.parameters))
        key = fusion, tuple((k, choices[f"layout {k}"]) for k in numbers if f"layout {k}" in choices)
        with self._lock:
            if key not in self._changed:
                orders = {k: order_of(computation.parameters[k], layout) for k, layout in key[1]}
                self._changed[key] = with_layouts(computation, orders)
            return key, self._changed[key]

    def _kernel(self, computation: Computation, choices: Mapping[str, str]) -> Kernel:
        return emit_fused(computation, self.device, **plan_of(knobs_of(computation, self.device), choices))

    def predicted(self, fusion: str, choices: Mapping[str, str]) -> Data:
        """The knobs of a fusion's kernel, the predictions for one plan, and its source."""
        _, computation = self._chosen(fusion, choices)
        space = knobs_of(computation, self.device)
        plan = plan_of(space, choices)
        predictions = self._of_runs(fusion, predict(computation, plan, self.device))
        choices_of: list[Data] = [
            {"name": k.name, "value": plan[k.name], "choices": [c for c in k.choices if c in space.legal(k.name, plan)]}
            for k in space.knobs
        ]
        return {
            "fusion": fusion,
            "emitter": predictions.emitter,
            "knobs": choices_of,
            "layouts": [
                layout_choices(n, p.shape)
                for n, p in zip(parameter_names(self.fusions[fusion]), computation.parameters, strict=True)
            ],
            "predicted": {
                heading: with_unit(name, float(getattr(predictions, name)[0]))
                for heading, name in terms_of(self.device).of_plan.items()
            },
            "seconds": float(predictions.time[0]),
            "source": self._kernel(computation, choices).source,
        }

    def best(self, fusion: str, choices: Mapping[str, str]) -> Data:
        """The plan with the least predicted time: of all in the grid, or of a sample if there are too many."""
        key, computation = self._chosen(fusion, choices)
        if key not in self._best:
            every = self._of_runs(fusion, predicted_plans(computation, self.device))
            time = seconds_text(float(every.time.min()))
            self._best[key] = {"plan": dict(every.best()[0]), "time": time, "plans": len(every)}
        return self._best[key]

    def maps(self, fusion: str, choices: Mapping[str, str]) -> Data:
        """The maps of a fusion from output to input, and its graph if that is not too large."""
        _, computation = self._chosen(fusion, choices)
        drawn = len(computation.instructions) <= MAX_DRAWN
        return {"maps": str(maps(self.fusions[fusion])), "graph": graph_svgs([computation])[0] if drawn else ""}

    def accesses(self, fusion: str, choices: Mapping[str, str]) -> Data:
        """Pictures of the memory that warps of a plan's kernel touch: global memory, worst first, then shared memory."""
        if not terms_of(self.device).has_warps:
            return {"sectors": [], "banks": []}
        _, computation = self._chosen(fusion, choices)
        report = coalescing(self._kernel(computation, choices), self.device)
        return {
            "sectors": pictures_by_ratio(computation, report, parameter_names(self.fusions[fusion])),
            "banks": [cells_svg(bank_picture(access, self.device)) for access in report.shared],
        }

    def tile(self, fusion: str, choices: Mapping[str, str]) -> Data:
        """The path of a tile through a fusion, and what loading and storing whole tiles of the output moves."""
        _, computation = self._chosen(fusion, choices)
        asked = choices.get("tile sizes", "").strip()
        sizes = tuple(nonnegative_integer(part) for part in asked.split(",")) if asked else None
        path = follow_tile(computation, sizes)
        return {
            "sizes": list(path.sizes),
            "space": [{"size": d.size, "kind": d.kind} for d in path.space.dimensions],
            "way": cells_svg(tile_picture(computation, path.sizes)),
            "moves": self._moves(computation, path.sizes, parameter_names(self.fusions[fusion])),
        }

    def _moves(self, computation: Computation, sizes: tuple[int, ...], names: Sequence[str]) -> Data:
        """The sectors or cache lines that tiles of the output move, and their ratio to the least; empty for several outputs."""
        if computation.shape.is_tuple:
            return []
        report = coalescing(computation, self.device, Tiles(sizes[: computation.shape.rank]))
        return [
            {
                "access": f"{a.kind} of {names[a.operand] if a.operand is not None else 'the output'}",
                "moved": f"{a.sectors:,.6g} {terms_of(self.device).unit}{'' if a.sectors == 1 else 's'}",
                "ratio": "the least" if a.ratio < EXCESS else f"{a.ratio:.3g} times the least",
            }
            for a in report.accesses
        ]


def nonnegative_integer(text: str) -> int:
    """A nonnegative integer, with few enough digits for a size."""
    if not text.strip().isdecimal() or len(text) > 12:
        raise IndexingError(f"{text!r} is no size: a tile has integers with commas between, such as 32,32")
    return int(text)


def plan_of(space: KnobSpace, choices: Mapping[str, str]) -> dict[str, int]:
    """A legal plan with the choices that are legal; the values of a knob depend on the knobs before it."""
    plan: dict[str, int] = {}
    for knob in space.knobs:
        legal = space.legal(knob.name, space.default | plan)
        asked = choices.get(knob.name, "")
        value = int(asked) if asked.isdecimal() and len(asked) < 12 else knob.default
        plan[knob.name] = value if value in legal else knob.default if knob.default in legal else legal[-1]
    return plan


def predicted_plans(computation: Computation, device: Device) -> Predictions:
    """The predictions for all plans of the grid, or for a sample if there are more than MAX_PLANS."""
    space = knobs_of(computation, device)
    columns = space.grid()
    if len(next(iter(columns.values()), ())) > MAX_PLANS:
        columns = space.sample(MAX_PLANS)
    return predict(computation, columns or None, device)


def pictures_by_ratio(computation: Computation, report: Coalescing, names: Sequence[str]) -> Data:
    """A picture of each access of global memory, sorted by the ratio of moved to needed sectors; a thread's vector is one.

    `names` are those of the operands.
    """

    def ratio(access: Access) -> float:
        return access.unrolled.sectors / access.unrolled.ideal if access.unrolled.ideal else 1.0

    worst = sorted(report.accesses, key=ratio, reverse=True)
    drawn = pictures_of_accesses(computation, worst, names)
    return [{"ratio": ratio_text(ratio(a)), "picture": cells_svg(p)} for a, p in zip(worst, drawn, strict=True)]


def ratio_text(ratio: float) -> str:
    """The sectors that an access moves, compared with those that it needs."""
    return "as many sectors as it needs" if ratio < EXCESS else f"{ratio:.3g} times the sectors that it needs"


def with_unit(name: str, value: float) -> str:
    """A number with a unit."""
    if name == "time":
        return seconds_text(value)
    if name == "memory_bytes":
        return bytes_text(value)
    if name == "occupancy":
        return f"{value:.0%}"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def layout_choices(name: str, shape: Shape) -> Data:
    """An array's name, its current layout, and those to choose from: row-major, column-major, and the current one."""
    if not shape.is_array or len(shape.dimensions) < 2:
        return {"value": "", "choices": []}
    rank = len(shape.dimensions)
    rows, columns = ",".join(map(str, reversed(range(rank)))), ",".join(map(str, range(rank)))
    now = ",".join(map(str, shape.layout)) if shape.layout else rows
    choices: list[Data] = list(dict.fromkeys((now, rows, columns)))
    return {"value": now, "choices": choices, "array": f"{name}, {shape}"}


def order_of(parameter: Instruction, layout: str) -> tuple[int, ...]:
    """The order of a parameter's dimensions, minor first, that a layout states."""
    order, rank = layout.split(","), len(parameter.shape.dimensions)
    if sorted(order) != sorted(map(str, range(rank))):
        raise IndexingError(f"{layout!r} is no order of the {rank} dimensions of {parameter.name}")
    return tuple(map(int, order))

"""Profiles of a program: the time of each step, and of compiling its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from indexing.display import aligned
from indexing.hlo import Instruction
from indexing.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class StepTime:
    """The time of one kernel's launches in a call, or of an instruction that the numpy reference or a library computes
    (`emitter` is `reference`, `numpy`, `cublas` or `solver`). `compile_seconds` were spent once, when the program was compiled.
    """

    name: str
    emitter: str
    launches: int
    seconds: float
    compile_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Profile:
    """The times of one call, longest step first. `other_seconds` went into copying arrays, buffers and control flow."""

    device: str
    steps: tuple[StepTime, ...]
    seconds: float

    @property
    def step_seconds(self) -> float:
        """The time of all steps."""
        return sum(s.seconds for s in self.steps)

    @property
    def other_seconds(self) -> float:
        """The time of the call outside of steps."""
        return max(self.seconds - self.step_seconds, 0.0)

    @property
    def compile_seconds(self) -> float:
        """The time of compiling all kernels, before the first call."""
        return sum(s.compile_seconds for s in self.steps)

    def __str__(self) -> str:
        """A table with a line for each step, the rest of the call, and the whole; compile times are in a column."""
        rows = [("step", "emitter", "launches", "ms", "%", "compile ms")]
        for s in self.steps:
            rows.append((s.name, s.emitter, str(s.launches), *self._share(s.seconds), f"{s.compile_seconds * 1e3:.1f}"))
        rows.append(("other", "", "", *self._share(self.other_seconds), ""))
        launches = sum(s.launches for s in self.steps)
        rows.append(
            (f"on {self.device}", "", str(launches), *self._share(self.seconds), f"{self.compile_seconds * 1e3:.1f}")
        )
        return "\n".join(aligned(rows, left=2))

    def _share(self, seconds: float) -> tuple[str, str]:
        share = seconds / self.seconds if self.seconds else 0.0
        return f"{seconds * 1e3:.3f}", f"{share * 100:.1f}"


@dataclass
class Recorder:
    """Sums up the times of a call's steps. `timed` has the step of each number of a run's times; for None, a change
    of layout, the times are part of the rest.
    """

    device: str
    timed: Sequence[Kernel | Instruction | None]
    seconds: dict[int, float] = field(default_factory=dict)  # by the identity of the kernel or instruction
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, number: int, seconds: float, launches: int) -> None:
        """Add the time of launches."""
        key = id(self.timed[number])
        self.seconds[key] = self.seconds.get(key, 0.0) + seconds
        self.counts[key] = self.counts.get(key, 0) + launches

    def profile(
        self,
        kernels: Sequence[tuple[Kernel, float]],
        instructions: Sequence[tuple[Instruction, str]],
        seconds: float,
    ) -> Profile:
        """The profile of a call of `seconds`: kernels with their compile times, and instructions with what computes them."""
        steps = [
            StepTime(k.name, k.emitter, self.counts.get(id(k), 0), self.seconds.get(id(k), 0.0), compiled)
            for k, compiled in kernels
        ]
        steps += [
            StepTime(i.name, by, self.counts.get(id(i), 0), self.seconds.get(id(i), 0.0)) for i, by in instructions
        ]
        return Profile(self.device, tuple(sorted(steps, key=lambda s: -s.seconds)), seconds)

"""A warp instruction on the banks of shared memory: a column for each bank, a row for each pass."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing.analysis.memory.banks import BankAccess
from indexing.device.record import Device
from indexing.display import count_text
from indexing.show.cells import Cell, Panel, hue, list_in_words
from indexing.show.picture import Picture
from indexing.show.warp import lanes_of, values_of_ranges

SERVED, CONFLICT = "#b9e2c2", "#f2a5a0"
MAX_INSTRUCTIONS = 64  # instructions of the first warp that are compared; the one with most passes is shown


@dataclass(frozen=True, slots=True)
class Word:
    """A word of shared memory that lanes of a warp instruction access: its number, and the pass that serves it, from 0.

    `needed` is the number of passes without bank conflicts for the lanes that are served together. A word has a conflict if
    `place`, its index among the words of its bank, is not below that number.
    """

    word: int
    bank: int
    turn: int
    place: int
    needed: int
    lanes: tuple[int, ...]

    @property
    def conflicts(self) -> bool:
        """Whether it is served in an additional pass because of a bank conflict."""
        return self.place >= self.needed


def words_of_warp(access: BankAccess, device: Device) -> tuple[Word, ...]:
    """The words of the instruction of the first warp (in its first few iterations of loops) that takes most passes."""
    lanes = list(lanes_of(access.map, device.cores.warp_size))
    fixed = [max(v.lower, 0) for v in access.map.runtimes]
    best: tuple[Word, ...] = ()
    for values in itertools.islice(values_of_ranges(access.map), MAX_INSTRUCTIONS):
        symbols = [*values, *fixed]
        reached = {
            lane: int(access.map.evaluate(dims, symbols)[0])
            for lane, dims in lanes
            if access.map.contains(dims, symbols)
        }
        words = tuple(serve_words(reached, access.cell_bytes, device))
        if _passes(words) > _passes(best):
            best = words
    return best


def serve_words(reached: dict[int, int], cell_bytes: int, device: Device) -> Iterator[Word]:
    """The words that lanes access, by the cells of each lane, in the order in which banks serve them.

    A bank serves one word in a pass, for all lanes that access it; a warp with cells wider than a bank is served in parts.
    """
    together = max(device.memory.banks * device.memory.bank_bytes // cell_bytes, 1)
    turn = 0
    for first in range(0, max(reached, default=-1) + 1, together):
        part = {lane: cell for lane, cell in reached.items() if first <= lane < first + together}
        by_bank = _by_bank(part, cell_bytes, device)
        count = sum(map(len, by_bank.values()))
        for bank, words in sorted(by_bank.items()):
            for place, (word, lanes) in enumerate(sorted(words.items())):
                yield Word(word, bank, turn + place, place, -(-count // device.memory.banks), tuple(lanes))
        turn += max(map(len, by_bank.values()), default=0)


def _by_bank(part: dict[int, int], cell_bytes: int, device: Device) -> dict[int, dict[int, list[int]]]:
    """The lanes that access each word, by bank."""
    by_bank: dict[int, dict[int, list[int]]] = {}
    for lane, cell in part.items():
        begin, end = cell * cell_bytes, (cell + 1) * cell_bytes - 1
        for word in range(begin // device.memory.bank_bytes, end // device.memory.bank_bytes + 1):
            by_bank.setdefault(word % device.memory.banks, {}).setdefault(word, []).append(lane)
    return by_bank


def _passes(words: Sequence[Word]) -> int:
    return max((w.turn for w in words), default=-1) + 1


def bank_picture(access: BankAccess, device: Device) -> Picture:
    """A picture of the warp instruction with most passes: its lanes, and its words by bank and pass; conflicts are red."""
    words = words_of_warp(access, device)
    passes = _passes(words)
    waiting = sum(w.conflicts for w in words)
    verdict = f"{waiting} words wait for their bank" if waiting else "no conflicts"
    took = f"{passes} pass{'' if passes == 1 else 'es'} over {device.memory.banks} banks"
    note = f"{took} for {count_text(len(words), 'word')}; {verdict}"
    return Picture(f"{access.kind} of {access.array}", note, (_lanes(words), _banks(words, passes, device)))


def _lanes(words: Sequence[Word]) -> Panel:
    by_lane: dict[int, list[Word]] = {}
    for w in words:
        for lane in w.lanes:
            by_lane.setdefault(lane, []).append(w)
    cells = []
    for lane, of in sorted(by_lane.items()):
        places = list_in_words([f"{w.word} of bank {w.bank} in pass {w.turn + 1}" for w in of])
        keys = tuple(_key(w) for w in of)
        cells.append(Cell(0, lane, f"t{lane}", str(lane), f"lane {lane}: word {places}", hue(lane, 32), keys))
    return Panel("lanes", ("",), ("",) * (max(by_lane, default=0) + 1), tuple(cells))


def _banks(words: Sequence[Word], passes: int, device: Device) -> Panel:
    cells = []
    for w in words:
        who = f"lanes {list_in_words(w.lanes)}" if len(w.lanes) > 1 else f"lane {w.lanes[0]}"
        wait = ", a conflict" if w.conflicts else ""
        title = f"bank {w.bank}, word {w.word}: {who}, pass {w.turn + 1} of {passes}{wait}"
        colour = CONFLICT if w.conflicts else SERVED
        keys = tuple(f"t{lane}" for lane in w.lanes)
        cells.append(Cell(w.turn, w.bank, _key(w), str(w.lanes[0]), title, colour, keys))
    rows = tuple(f"pass {k + 1}" for k in range(passes))
    columns = tuple(str(k) if k % 4 == 0 else "" for k in range(device.memory.banks))
    return Panel("words, by bank and pass", rows, columns, tuple(cells), 1)


def _key(word: Word) -> str:
    return f"w{word.word}p{word.turn}"

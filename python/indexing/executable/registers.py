"""The registers of a tape under construction: which are free, and how many own the array in each."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from indexing.runtime.device import Device
from indexing.runtime.memory import ArrayFormat
from indexing.runtime.tape import Tape

if TYPE_CHECKING:
    import numpy as np


class Value(NamedTuple):
    """An array in a register."""

    register: int
    format: ArrayFormat


class Registers:
    """Allocates registers before anything runs. Those of arguments, constants and scratch memory are never overwritten."""

    def __init__(self, device: Device) -> None:
        """Start with an empty tape for a device."""
        self.tape = Tape()
        self._device = device
        self._owners: defaultdict[int, int] = defaultdict(int)
        self._free: defaultdict[int, list[int]] = defaultdict(list)
        self._fixed: set[int] = set()
        self._constants: dict[tuple[int, ArrayFormat], Value] = {}  # by the identity of the array
        self._constant_arrays: dict[int, np.ndarray] = {}  # of registers
        self._scratch: dict[tuple[int, int], int] = {}
        self._first = 0  # the first register that may be given out again

    def argument(self, form: ArrayFormat) -> Value:
        """An argument of the tape, with one owner."""
        register = self._fixed_register(form.nbytes)
        self.tape.arguments.append(register)
        return self.retained(Value(register, form))

    def constant(self, array: np.ndarray, form: ArrayFormat) -> Value:
        """A constant array in a format, with one more owner."""
        key = id(array), form
        if key not in self._constants:
            register = self._fixed_register(form.nbytes)
            buffer = self._device.share(form.stored(array))
            buffer.borrowed = True
            self.tape.constants[register] = buffer
            self._constant_arrays[register] = array
            self._constants[key] = Value(register, form)
        return self.retained(self._constants[key])

    def constant_array(self, value: Value) -> np.ndarray | None:
        """The array of a constant; None if the value is none, or views it under another shape."""
        array = self._constant_arrays.get(value.register)
        if array is None or (array.dtype, array.shape) != (value.format.dtype, value.format.sizes):
            return None
        return array

    def zeros(self, key: tuple[int, int], array: np.ndarray) -> int:
        """The scratch memory of that key, which is zero before the first run."""
        if key not in self._scratch:
            self._scratch[key] = self._fixed_register(array.nbytes)
            self.tape.zeros[self._scratch[key]] = array
        return self._scratch[key]

    def _fixed_register(self, nbytes: int) -> int:
        register = self.tape.register(nbytes)
        self._fixed.add(register)
        return register

    def take(self, form: ArrayFormat) -> Value:
        """A register for an array, with one owner."""
        free = self._free[form.nbytes]
        register = free.pop() if free else self.tape.register(form.nbytes)
        self._owners[register] = 1
        return Value(register, form)

    def retained(self, value: Value) -> Value:
        """The array, with one more owner."""
        self._owners[value.register] += 1
        return value

    def release(self, *values: Value) -> None:
        """Remove an owner of each array; with the last one, the register is free."""
        for register, _ in values:
            self._owners[register] -= 1
            if self._owners[register] == 0 and register not in self._fixed:
                self._free[self.tape.sizes[register]].append(register)

    def is_sole(self, value: Value) -> bool:
        """Whether an owner of the array may overwrite it: there is no other, and the run owns its memory."""
        return self._owners[value.register] == 1 and value.register not in self._fixed

    def sole(self, value: Value) -> Value:
        """The array for an owner that may overwrite it: a copy if there are other owners."""
        if self.is_sole(value):
            return value
        copy = self.take(value.format)
        self.tape.copy(copy.register, value.register)
        self.release(value)
        return copy

    def exchange(self, source_of: dict[int, int]) -> None:
        """Move arrays from source to target registers, which are free, as a permutation of their addresses."""
        taker = {source: target for target, source in source_of.items()}
        pairs = [pair for pair in source_of.items() if pair[0] != pair[1]]
        for source in sorted(taker.keys() - source_of.keys()):
            last = source
            while last in taker:
                last = taker[last]
            pairs.append((source, last))
            self._free[self.tape.sizes[last]].remove(last)
            self._owners[last], self._owners[source] = 1, 0
            self._free[self.tape.sizes[source]].append(source)
        self.tape.move(pairs)

    def owners(self) -> dict[int, int]:
        """The numbers of owners, for `reset`."""
        return dict(self._owners)

    def reset(self, owners: dict[int, int]) -> None:
        """Restore numbers of owners; registers allocated since then are free."""
        self._owners = defaultdict(int, owners)
        self._free.clear()
        for register, nbytes in enumerate(self.tape.sizes[self._first :], self._first):
            if self._owners[register] == 0 and register not in self._fixed:
                self._free[nbytes].append(register)

    def reserve(self) -> None:
        """Keep all registers until now for a subroutine."""
        self._free.clear()
        self._first = len(self.tape.sizes)

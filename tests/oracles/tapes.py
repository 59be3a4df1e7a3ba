"""The instructions of a program's tape, read word by word."""

from collections.abc import Callable, Sequence

from indexing.runtime.tape import Opcode
from kernels import compiled

WORDS: dict[Opcode, Callable[[Sequence[int]], int]] = {  # the words of an instruction, given those from its opcode on
    Opcode.END: lambda w: 1,
    Opcode.LAUNCH: lambda w: 3 + w[2],
    Opcode.COPY: lambda w: 4,
    Opcode.MOVE: lambda w: 2 + 2 * w[1],
    Opcode.UNLESS: lambda w: 3,
    Opcode.JUMP: lambda w: 2,
    Opcode.SWITCH: lambda w: 3 + w[2],
    Opcode.REPEAT: lambda w: 4,
    Opcode.HOST: lambda w: 4 + w[2] + w[3],
    Opcode.CALL: lambda w: 3,
    Opcode.RETURN: lambda w: 2,
}


def instructions(text: str) -> list[list[int]]:
    """The instructions of a program on the CPU, each as its words."""
    words = compiled(text, device="cpu")._program.tape.words
    result, at = [], 0
    while at < len(words):
        end = at + WORDS[Opcode(words[at])](words[at:])
        result.append(words[at:end])
        at = end
    return result


def opcodes(text: str) -> list[Opcode]:
    """The opcodes of a program's instructions."""
    return [Opcode(words[0]) for words in instructions(text)]

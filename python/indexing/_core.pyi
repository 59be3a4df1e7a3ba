"""The compiled core: HLO text."""

from typing import TypeAlias, TypeVar, final

_View = TypeVar("_View")

__version__: str

#: A constant's value: (shape's row, bytes), a list of a tuple's values, or None for a token.
LiteralData: TypeAlias = tuple[int, bytes | None] | list[LiteralData] | None

def parse_hlo(text: str) -> HloModule:
    """Parses HLO text. Raises ParseError."""

@final
class HloModule:
    """A parsed HLO module. Computations, instructions and shapes are rows of its tables."""

    @property
    def name(self) -> str: ...
    @property
    def entry(self) -> int:
        """Row of the entry computation."""
    @property
    def instruction_count(self) -> int:
        """How many instructions there are."""
    @property
    def signature_count(self) -> int:
        """How many different signatures there are."""
    def header(self) -> list[tuple[str, str]]:
        """The header's attributes."""
    def computations(self) -> list[tuple[str, int, int, int]]:
        """Of each computation: name, first instruction, one past the last, root."""
    def computation_attributes(self, computation: int) -> list[tuple[str, str]]:
        """What follows the closing brace."""
    def rows(self, first: int, last: int) -> list[tuple[str, str, int, int]]:
        """Of each instruction from `first` up to `last`: name, opcode, shape, signature."""
    def shape(self, shape: int) -> tuple[str, list[int], list[bool], tuple[list[int], str] | None, list[int], int]:
        """Element type, sizes, dynamic dimensions, layout (minor-to-major, text), rows of elements, element count."""
    def operands(self, first: int, views: list[_View]) -> list[tuple[_View, ...]]:
        """Given the views of a computation's instructions, which start at row `first`: the operands of each."""
    def users(self, instruction: int) -> list[int]:
        """Rows of the users."""
    def parameter_number(self, instruction: int) -> int:
        """The number of a parameter; -1 for anything else."""
    def attributes(self, instruction: int) -> list[tuple[str, str]]:
        """All attributes as written."""
    def attribute(self, instruction: int, key: str) -> str | None:
        """One attribute as written."""
    def calls(self, instruction: int) -> list[tuple[str, int]]:
        """Called computations: the attribute's key, the computation's row."""
    def integers(self, instruction: int, key: str) -> list[int] | None:
        """The integers of an attribute."""
    def slices(self, instruction: int, key: str) -> list[tuple[int, int, int]] | None:
        """Start, limit, stride of each dimension."""
    def padding(self, instruction: int, key: str) -> list[tuple[int, int, int]] | None:
        """Low, high, interior padding of each dimension."""
    def window(self, instruction: int, key: str) -> list[tuple[int, int, int, int, int, int, bool]] | None:
        """Of each dimension: size, stride, padding low and high, dilation of base and window, reversal."""
    def labels(self, instruction: int, key: str) -> list[tuple[int, int, list[int]]] | None:
        """Of input, kernel, output: batch, feature, spatial dimensions."""
    def replica_groups(self, instruction: int, key: str) -> list[list[int]] | None:
        """The groups, each a list of ids."""
    def literal(self, instruction: int) -> LiteralData:
        """A constant's value. Raises IndexError for what is no constant."""
    def place(self, instruction: int) -> tuple[int, int, str, int]:
        """Where an instruction stands: line, column, the line, the characters in front of the name."""
    def text(self) -> str:
        """The module as text that reads back."""
    def computation_text(self, computation: int) -> str:
        """A computation as text."""
    def instruction_text(self, instruction: int) -> str:
        """An instruction as one line of text."""
    def shape_text(self, shape: int) -> str:
        """A shape as text."""

"""The command `indexing`."""

from indexing.cli.commands import main as main

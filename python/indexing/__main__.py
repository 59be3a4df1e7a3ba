"""`python -m indexing` is the `indexing` command."""

import sys

from indexing.cli import main

if __name__ == "__main__":
    sys.exit(main())

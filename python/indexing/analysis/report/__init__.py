"""What a program's fusions move: the worst first, each access with a reason and a remedy; and what changed between two."""

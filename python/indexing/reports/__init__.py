"""Reports of programs: traffic of fusions, the worst first, each access with a reason and a remedy; and comparisons."""

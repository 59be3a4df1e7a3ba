"""A differential fuzzer: random HLO modules, held against jaxlib's CPU client."""

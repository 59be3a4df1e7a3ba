"""Calls of libraries (custom-call), read as the HLO that they stand for."""

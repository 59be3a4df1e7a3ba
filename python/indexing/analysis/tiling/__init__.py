"""Tiles propagated through maps, and the tile sizes that are valid."""

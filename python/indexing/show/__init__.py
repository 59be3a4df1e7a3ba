"""Pictures of computations, of memory accesses, of tiles; pages about programs."""

from indexing.show.fusion_pictures import access_pictures, bank_pictures
from indexing.show.page import program_page
from indexing.show.picture import Picture
from indexing.show.tile_path import tile_picture

__all__ = [
    "Picture",
    "access_pictures",
    "bank_pictures",
    "program_page",
    "tile_picture",
]

"""Pictures of computations, of memory accesses, of tiles; pages about programs."""

from indexing.show.fusion_pictures import access_pictures, bank_pictures
from indexing.show.map_elements import map_picture
from indexing.show.page import program_page
from indexing.show.picture import Picture
from indexing.show.tile_path import tile_picture

__all__ = [
    "Picture",
    "access_pictures",
    "bank_pictures",
    "map_picture",
    "program_page",
    "tile_picture",
]

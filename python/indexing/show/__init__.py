"""Pictures of computations, of memory accesses, of tiles; pages about programs."""

from indexing.show.fusion_pictures import access_pictures as access_pictures
from indexing.show.fusion_pictures import bank_pictures as bank_pictures
from indexing.show.page import program_page as program_page
from indexing.show.picture import Picture as Picture
from indexing.show.tile_path import tile_picture as tile_picture

"""Indexing maps of tensor programs: which elements of an operand one element of the output needs."""

from indexing._core import Equivalence as Equivalence
from indexing._core import IndexingMap as IndexingMap
from indexing._core import Instances as Instances
from indexing._core import Interval as Interval
from indexing._core import Maps as Maps
from indexing._core import ParametricMap as ParametricMap
from indexing._core import PiecewiseMap as PiecewiseMap
from indexing._core import SymbolicExpr as SymbolicExpr
from indexing._core import SymbolicMap as SymbolicMap
from indexing._core import Variable as Variable
from indexing._core import __version__ as __version__
from indexing._core import compose as compose
from indexing._core import compose_all as compose_all
from indexing._core import constant as constant
from indexing._core import count_all as count_all
from indexing._core import parse_all as parse_all
from indexing._core import simplify_all as simplify_all
from indexing._core import variable as variable
from indexing.errors import CompileError as CompileError
from indexing.errors import IndexingError as IndexingError
from indexing.errors import InvalidMap as InvalidMap
from indexing.errors import Overflow as Overflow
from indexing.errors import ParseError as ParseError
from indexing.errors import ReferenceFallback as ReferenceFallback
from indexing.errors import Undecided as Undecided
from indexing.errors import UnsupportedOp as UnsupportedOp
from indexing.lazy import load_later as _load_later

TYPE_CHECKING = False  # typing takes as long to load as all of this
if TYPE_CHECKING:
    from indexing import convert as convert
    from indexing import hlo as hlo
    from indexing import reference as reference
    from indexing import runtime as runtime
    from indexing import show as show
    from indexing.analysis.memory.distinct_elements import Utilization as Utilization
    from indexing.analysis.memory.distinct_elements import utilization as utilization
    from indexing.analysis.memory.global_memory import Coalescing as Coalescing
    from indexing.analysis.memory.global_memory import Launch as Launch
    from indexing.analysis.memory.global_memory import Tiles as Tiles
    from indexing.analysis.memory.global_memory import coalescing as coalescing
    from indexing.analysis.tiling.propagation import Tile as Tile
    from indexing.analysis.tiling.propagation import propagate_tile as propagate_tile
    from indexing.analysis.tiling.propagation import propagate_tiles as propagate_tiles
    from indexing.analysis.tiling.propagation import valid_tilings as valid_tilings
    from indexing.analysis.tiling.space import TilingSpace as TilingSpace
    from indexing.analysis.tiling.space import tiling_space as tiling_space
    from indexing.certificates import Certificate as Certificate
    from indexing.device.detect import devices as devices
    from indexing.device.detect import find_device as find_device
    from indexing.device.record import Device as Device
    from indexing.executable import Executable as Executable
    from indexing.executable import compile as compile
    from indexing.executable import emit_all as emit_all
    from indexing.explorer.server import Explorer as Explorer
    from indexing.explorer.server import explore as explore
    from indexing.hlo import from_jax as from_jax
    from indexing.hlo import layout as layout
    from indexing.hlo.layout import bitcast_map as bitcast_map
    from indexing.indexing_analysis.instructions import epilogue_indexing as epilogue_indexing
    from indexing.indexing_analysis.instructions import grouped_indexing as grouped_indexing
    from indexing.indexing_analysis.instructions import input_to_output as input_to_output
    from indexing.indexing_analysis.instructions import output_to_input as output_to_input
    from indexing.indexing_analysis.programs import FileMaps as FileMaps
    from indexing.indexing_analysis.programs import ProgramMaps as ProgramMaps
    from indexing.indexing_analysis.programs import maps as maps
    from indexing.kernels import emit as emit
    from indexing.kernels import knobs as knobs
    from indexing.kernels.knob_space import KnobSpace as KnobSpace
    from indexing.model.prediction import Predictions as Predictions
    from indexing.model.prediction import predict as predict
    from indexing.partitioner import Epilogue as Epilogue
    from indexing.partitioner import PartitionedComputation as PartitionedComputation
    from indexing.partitioner import Subgraph as Subgraph
    from indexing.partitioner import partition as partition
    from indexing.reference.evaluation import evaluate as evaluate
    from indexing.reference.evaluation import evaluate_replicas as evaluate_replicas
    from indexing.reports.comparison import compare as compare
    from indexing.reports.many_files import AnalyzedFiles as AnalyzedFiles
    from indexing.reports.many_files import analyze_files as analyze_files
    from indexing.reports.program_report import ProgramReport as ProgramReport
    from indexing.reports.programs import analyze as analyze
    from indexing.show.page import Page as Page
    from indexing.show.page import report as report
    from indexing.tuning.calibration import Calibration as Calibration
    from indexing.tuning.calibration import calibrate as calibrate
    from indexing.tuning.plan_queries import StoredPlans as StoredPlans
    from indexing.tuning.plan_queries import stored_plans as stored_plans
    from indexing.tuning.tuner import Tuning as Tuning
    from indexing.tuning.tuner import tune as tune
else:
    _load_later(
        __name__,
        {
            "indexing": "convert hlo reference runtime show",
            "indexing.certificates": "Certificate",
            "indexing.device.detect": "devices find_device",
            "indexing.device.record": "Device",
            "indexing.analysis.memory.distinct_elements": "Utilization utilization",
            "indexing.analysis.memory.global_memory": "Coalescing Launch Tiles coalescing",
            "indexing.reports.comparison": "compare",
            "indexing.reports.many_files": "AnalyzedFiles analyze_files",
            "indexing.reports.program_report": "ProgramReport",
            "indexing.reports.programs": "analyze",
            "indexing.analysis.tiling.propagation": "Tile propagate_tile propagate_tiles valid_tilings",
            "indexing.analysis.tiling.space": "TilingSpace tiling_space",
            "indexing.kernels": "emit knobs",
            "indexing.kernels.knob_space": "KnobSpace",
            "indexing.executable": "Executable compile emit_all",
            "indexing.explorer.server": "Explorer explore",
            "indexing.hlo": "from_jax layout",
            "indexing.hlo.layout": "bitcast_map",
            "indexing.indexing_analysis.instructions": (
                "epilogue_indexing grouped_indexing input_to_output output_to_input"
            ),
            "indexing.indexing_analysis.programs": "FileMaps ProgramMaps maps",
            "indexing.partitioner": "Epilogue PartitionedComputation Subgraph partition",
            "indexing.reference.evaluation": "evaluate evaluate_replicas",
            "indexing.show.page": "Page report",
            "indexing.tuning.calibration": "Calibration calibrate",
            "indexing.model.prediction": "Predictions predict",
            "indexing.tuning.plan_queries": "StoredPlans stored_plans",
            "indexing.tuning.tuner": "Tuning tune",
        },
    )

"""Indexing maps of tensor programs: which elements of an operand one element of the output needs."""

from indexing import _core as _core  # at once: a package without its core is found out when it is imported
from indexing.lazy import load_later as _load_later

# The public names, by the module that each is loaded from when it is first asked for. `make docs` writes the stub.
_load_later(
    __name__,
    {
        "indexing": "convert hlo reference runtime show",
        "indexing._core": (
            "Equivalence IndexingMap Instances Interval Maps ParametricMap PiecewiseMap SymbolicExpr SymbolicMap "
            "Variable __version__ compose compose_all constant count_all parse_all simplify_all variable"
        ),
        "indexing.analysis.memory.distinct_elements": "Utilization utilization",
        "indexing.analysis.memory.global_memory": "Coalescing Launch Tiles coalescing",
        "indexing.analysis.tiling.propagation": "Tile propagate_tile propagate_tiles valid_tilings",
        "indexing.analysis.tiling.space": "TilingSpace tiling_space",
        "indexing.certificates": "Certificate",
        "indexing.device.detect": "devices find_device",
        "indexing.device.record": "Device",
        "indexing.errors": (
            "CompileError IndexingError InvalidMap Overflow ParseError ReferenceFallback Undecided UnsupportedOp"
        ),
        "indexing.executable": "Executable compile emit_all",
        "indexing.explorer.server": "Explorer explore",
        "indexing.hlo": "from_jax layout",
        "indexing.hlo.layout": "bitcast_map",
        "indexing.indexing_analysis.instructions": "epilogue_indexing grouped_indexing input_to_output output_to_input",
        "indexing.indexing_analysis.programs": "FileMaps ProgramMaps maps",
        "indexing.kernels": "emit knobs",
        "indexing.kernels.knob_space": "KnobSpace",
        "indexing.model.prediction": "Predictions predict",
        "indexing.partitioner": "Epilogue PartitionedComputation Subgraph partition",
        "indexing.reference.evaluation": "evaluate evaluate_replicas",
        "indexing.reports.comparison": "compare",
        "indexing.reports.many_files": "AnalyzedFiles analyze_files",
        "indexing.reports.program_report": "ProgramReport",
        "indexing.reports.programs": "analyze",
        "indexing.show.page": "Page report",
        "indexing.tuning.calibration": "Calibration calibrate",
        "indexing.tuning.plan_queries": "StoredPlans stored_plans",
        "indexing.tuning.tuner": "Tuning tune",
    },
)

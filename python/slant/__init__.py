"""Measures how language models lean: asks them the trials of experiments, and analyses the answers with R.

from slant import collect, fit, tables

collect("slant.duckdb", "rmiat", ["simulated/o3-mini"])    # every answer into one DuckDB file
tables("slant.duckdb")                                      # descriptives and refusals, from SQL views
fit("slant.duckdb", "rmiat", "lme4").table                  # the paper's mixed models, in R
slant.open("slant.duckdb", "rmiat")                         # for several questions: db.tables(), db.fit("lme4") …

`slant.collector` asks models and needs no R; `slant.analysis` reads the database. Both folders lie at the top of the
repository; the links next to this file and the build put them here. Nothing is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slant.analysis import *  # noqa: F403
    from slant.collector import *  # noqa: F403

_HOME = {
    "slant.collector": (
        "BatchReport", "DryRun", "LakeReport", "MergeReport", "Registration", "RunReport", "SlantError",
        "Watcher", "collect", "export_lake", "export_trials", "import_trials", "load_study", "merge", "preregister",
        "read_registration", "showing", "write_registration",
    ),
    "slant.analysis": (
        "Alike", "Calibration", "Database", "FitResult", "MetaAnalysis", "PermutationResult", "PowerPlan", "Retest",
        "Validity", "alike", "calibrate", "check", "compare", "figures", "fit", "game_differences", "game_indices",
        "meta_analysis", "mixed_versions", "open", "open_trials", "permute", "plan_power", "read_draws",
        "read_topics", "replay", "report", "retest", "seal", "specifications", "table_text", "tables", "validity",
    ),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'slant' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__

"""Reads the database, asks R, writes results. Importing it starts no R and opens no file.

from slant import analysis

trials = analysis.open_trials("slant.duckdb")            # Polars, one trial a row
fits = analysis.fit("lme4", "slant.duckdb", study="rmiat")
fits.table, fits.diagnostics, fits.variances, fits.messages
analysis.compare("slant.duckdb")                         # printed beside recomputed
draws = analysis.read_draws("slant.duckdb", fit="interference")   # of a Bayesian model
draws.frame, draws.path, draws.to_arviz()
analysis.check("slant.duckdb").rows["influence"]         # what the paper does not say
analysis.permute("slant.duckdb", permutations=100).tests # interference beside that of arbitrary labels
analysis.specifications("slant.duckdb", "rmiat").table   # the same question, analysed in other ways
analysis.game_indices("slant.duckdb", "hiring").table    # SI, BGD, GASI … with intervals, beside chance
analysis.game_differences("slant.duckdb", "hiring", only=["steer_fair"]).table  # against the game as it stands
analysis.figures("slant.duckdb", "figures")              # SVG and PNG, and the words for them
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from slant.collector.system.operating_system import check_supported

if TYPE_CHECKING:
    from slant.analysis.bayes.draws import read_draws as read_draws
    from slant.analysis.checks import check as check
    from slant.analysis.compare import compare as compare
    from slant.analysis.figures import figures as figures
    from slant.analysis.fits import FitResult as FitResult
    from slant.analysis.fits import fit as fit
    from slant.analysis.games.differences import game_differences as game_differences
    from slant.analysis.games.indices import game_indices as game_indices
    from slant.analysis.open import open_trials as open_trials
    from slant.analysis.permutation.permute import Permuted as Permuted
    from slant.analysis.permutation.permute import permute as permute
    from slant.analysis.report import report as report
    from slant.analysis.sensitivity.specifications import specifications as specifications
    from slant.analysis.tables import tables as tables
    from slant.analysis.topic_models import read_topics as read_topics

_PLACES = {
    "check": "slant.analysis.checks",
    "compare": "slant.analysis.compare",
    "figures": "slant.analysis.figures",
    "fit": "slant.analysis.fits",
    "FitResult": "slant.analysis.fits",
    "game_differences": "slant.analysis.games.differences",
    "game_indices": "slant.analysis.games.indices",
    "open_trials": "slant.analysis.open",
    "permute": "slant.analysis.permutation.permute",
    "Permuted": "slant.analysis.permutation.permute",
    "read_draws": "slant.analysis.bayes.draws",
    "report": "slant.analysis.report",
    "read_topics": "slant.analysis.topic_models",
    "specifications": "slant.analysis.sensitivity.specifications",
    "tables": "slant.analysis.tables",
}
__all__ = [
    "FitResult", "Permuted", "check", "compare", "figures", "fit", "game_differences", "game_indices", "open_trials",
    "permute", "read_draws", "read_topics", "report", "specifications", "tables",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_supported()
    return getattr(import_module(_PLACES[name]), name)


class _Package(ModuleType):
    """Keeps `analysis.tables` the function: importing the module of the same name would put itself in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_its_module = isinstance(value, ModuleType) and name in _PLACES
        super().__setattr__(name, getattr(value, name) if is_its_module else value)


sys.modules[__name__].__class__ = _Package

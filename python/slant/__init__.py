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

_HALVES = ("slant.collector", "slant.analysis")


def __getattr__(name: str) -> Any:
    halves = map(import_module, _HALVES)
    if name == "__all__":
        return sorted(name for half in halves for name in half.__all__)
    if (half := next((half for half in halves if name in half.__all__), None)) is None:
        raise AttributeError(f"module 'slant' has no attribute {name!r}")
    return getattr(half, name)


def __dir__() -> list[str]:
    return __getattr__("__all__")  # type: ignore[no-any-return]

"""The tables of topic models as the database keeps them (sql/migrations/0002_results.sql)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slant.analysis.fitting.tables import KeptTables

_S, _I, _F = pl.String, pl.Int64, pl.Float64
_TEST = {"df": _F, "statistic": _F, "p_value": _F}
_ADJUSTED = {"p_holm": _F, "p_bh": _F}
_INTERVAL = {"conf_low": _F, "conf_high": _F}
TOPIC_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "models": {"n_topics": _I, "n_documents": _I, "n_words": _I, "n_steps": _I, "is_converged": pl.Boolean, "bound": _F,
               "seed": _I, "file": _S, "file_md5": _S, "file_bytes": _I},
    "topics": {"topic": _I, "proportion": _F, "n_dominant": _I, "semantic_coherence": _F, "exclusivity": _F},
    "words": {"topic": _I, "kind": _S, "place": _I, "word": _S},
    "prevalence": {"scope": _S, "topic": _I, "model": _S, "condition": _S, "test": _S, "estimate": _F, **_INTERVAL},
    "contrasts": {"topic": _I, "model": _S, "estimate": _F, "std_error": _F, **_TEST, **_ADJUSTED, **_INTERVAL},
    "shifts": {"topic": _I, "model": _S, "test": _S, "estimate": _F, "std_error": _F, **_TEST, **_INTERVAL,
               "cohens_d": _F},
    "correlations": {"topic": _I, "model": _S, "n_cells": _I, "r": _F, **_TEST, **_ADJUSTED, **_INTERVAL},
    "examples": {"topic": _I, "place": _I, "trial_id": _S, "model": _S, "test": _S, "condition": _S, "proportion": _F,
                 "text": _S},
}  # fmt: skip
TOPIC_TABLES = KeptTables("stm", TOPIC_SCHEMAS, are_of_cells=False)

"""The tables of Bayesian and of binomial mixed models as the database keeps them (sql/migrations/0002_results.sql)."""

from __future__ import annotations

from typing import Any

import polars as pl

from slant.analysis.fitting.tables import KeptTables

_S, _I, _F = pl.String, pl.Int64, pl.Float64
_INTERVAL = {"conf_low": _F, "conf_high": _F}
_CELL: dict[str, Any] = {"model": _S, "domain": _S}
_SAMPLED = {
    "formula": _S, "n": _I, "chains": _I, "iterations": _I, "warmup": _I, "adapt_delta": _F, "max_treedepth": _I,
    "seed": _I, "priors": _S, "reference": _S,
}  # fmt: skip
_DIAGNOSED = {
    "n_draws": _I, "max_rhat": _F, "min_ess_bulk": _F, "min_ess_tail": _F, "n_divergent": _I, "n_max_treedepth": _I,
    "min_ebfmi": _F, "is_converged": pl.Boolean, "verdict": _S, "compile_s": _F, "sampling_s": _F,
}  # fmt: skip
_FILES = {
    "file": _S, "file_md5": _S, "file_bytes": _I, "draws_file": _S, "draws_md5": _S, "draws_bytes": _I,
}  # fmt: skip
BRMS_TABLES = KeptTables(
    "brms",
    {
        "models": {**_SAMPLED, **_DIAGNOSED, **_FILES},
        "predictions": {**_CELL, "block": _S, "kind": _S, "estimate": _F, **_INTERVAL},
        "contrasts": {**_CELL, "kind": _S, "scale": _S, "estimate": _F, "median": _F, **_INTERVAL, "p_positive": _F},
        "checks": {**_CELL, "block": _S, "statistic": _S, "observed": _F, "predicted": _F, **_INTERVAL, "p_value": _F},
        "loo": {"elpd_loo": _F, "se_elpd_loo": _F, "p_loo": _F, "se_p_loo": _F, "looic": _F, "se_looic": _F,
                "max_pareto_k": _F, "n_bad_pareto_k": _I, "n_draws": _I},
    },
)  # fmt: skip
LME4_TABLES = KeptTables(
    "lme4",
    {
        "predictions": {**_CELL, "block": _S, "kind": _S, "estimate": _F, "std_error": _F, **_INTERVAL},
        "contrasts": {**_CELL, "kind": _S, "scale": _S, "estimate": _F, "std_error": _F, **_INTERVAL, "p_value": _F},
    },
)
"""Of fits with `family = "binomial"` only; a linear mixed model has none."""

"""The tables of Bayesian and of binomial mixed models as the database keeps them (sql/migrations/0004_bayes.sql)."""

from __future__ import annotations

from typing import Any

import polars as pl

from analysis.kept.tables import KeptTables

_S, _I, _F = pl.String, pl.Int64, pl.Float64
_INTERVAL = {"conf_low": _F, "conf_high": _F}
_CELL: dict[str, Any] = {"model": _S, "domain": _S}
_SAMPLED = {"n_chains": _I, "n_iterations": _I, "n_warmup": _I, "n_draws": _I, "adapt_delta": _F, "seed": _I}
_DIAGNOSED = {
    "rhat_max": _F, "ess_bulk_min": _F, "ess_tail_min": _F, "n_divergent": _I, "n_max_treedepth": _I, "ebfmi_min": _F,
    "is_converged": pl.Boolean, "verdict": _S, "sampling_s": _F,
}  # fmt: skip
_FILES = {
    "file": _S, "file_md5": _S, "file_bytes": _I, "draws_file": _S, "draws_md5": _S, "draws_bytes": _I,
}  # fmt: skip
BRMS_TABLES = KeptTables(
    "brms",
    {
        "models": {"outcome": _S, "reference": _S, "dropped": _S, "priors": _S, **_SAMPLED, **_DIAGNOSED, **_FILES},
        "parameters": {"term": _S, "median": _F, "rhat": _F, "ess_bulk": _F, "ess_tail": _F},
        "predictions": {**_CELL, "block": _S, "kind": _S, "estimate": _F, **_INTERVAL},
        "contrasts": {**_CELL, "kind": _S, "scale": _S, "estimate": _F, "median": _F, **_INTERVAL, "p_positive": _F},
        "checks": {"statistic": _S, **_CELL, "block": _S, "observed": _F, "estimate": _F, **_INTERVAL, "p_value": _F},
        "loo": {"elpd_loo": _F, "elpd_loo_se": _F, "p_loo": _F, "p_loo_se": _F, "looic": _F, "looic_se": _F,
                "n_high_pareto_k": _I, "pareto_k_max": _F},
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

"""The printed numbers, from the study's file interference.csv: what each row of it is called here."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from slant.analysis.paper.family import Row, read_printed
from slant.collector.studies.catalogue import Study

FILE = "interference.csv"
_TABLES = {"Table 1 and text": "Table 1", "Table 2": "Table 2", "Table 3": "Table 3"}
_HOLDS_0 = "CrI overlaps 0"
SETTINGS = "settings"
"""The table of what the paper says of its models and requests as such."""
OF_SETTINGS = (
    "chains", "iterations", "warmup", "n_draws", "prior_b", "prior_Intercept", "prior_sd", "family", "formula",
    "reference", "inference_parameters", "response_format", "prompt_text", "software",
)  # fmt: skip
_ENDS = ("conf_low", "conf_high")
_QUANTITIES = {
    "delta P": "delta_p", "P(delta P > 0)": "p_positive", "delta P permuted": "permuted_delta_p",
    "posterior compliance": "compliance_percent", "observed compliance": "valid_percent", "sigma_item": "sigma_item",
    "log-odds difference vs Claude Sonnet-4": "log_odds", "absolute probability reduction": "reduction_points",
    "posterior compliance lower bound": "least_compliance", "R-hat": "max_rhat", "divergent transitions": "n_divergent",
    "models": "n_models", "domains": "n_domains", "blocks": "n_blocks", "categories per domain": "n_categories",
    "words per category": "n_words", "unique items per domain": "n_items", "trials per full run": "n_trials_of_run",
    "total trials": "n_trials", "chains": "chains", "iterations": "iterations", "warmup": "warmup",
    "post-warmup draws": "n_draws", "coverage of task-consistency coding, % of valid": "coverage_percent",
    "prior b": "prior_b", "prior Intercept": "prior_Intercept", "prior sd": "prior_sd", "family": "family",
    "formula": "formula", "reference levels": "reference", "inference parameters": "inference_parameters",
    "response format": "response_format", "prompt text": "prompt_text", "software": "software",
}  # fmt: skip


def printed(study: Study, quantities: Collection[str]) -> Iterator[Row]:
    """The rows whose quantity (the name before its interval) is among these, in the order of the file."""
    models = {model.label: model.model for model in study.models}
    domains = {test.label: test.test for test in study.tests}
    for row in read_printed(study, FILE):
        quantity = _QUANTITIES.get(str(row["metric"]), "")
        if quantity not in quantities or row["value"] is None:  # "not reported" is a row without a value
            continue
        if row["value"] == _HOLDS_0:
            quantity = "holds_0"
        table = _TABLES.get(str(row["source"]), _table(quantity, row["section"]))
        block = (row["block"] or "").lower()
        cell = (table, models.get(str(row["model"])), domains.get(str(row["domain"])), None)
        key = (*cell, block if block in study.data.blocks else None)
        yield (*key, quantity, _with_sign(row["value"]))
        ends = zip(_ENDS, (row["ci_low"], row["ci_high"]), strict=True)
        yield from ((*key, name_of_end(quantity, end), value) for end, value in ends if value is not None)
        if row["numerator"] and row["denominator"]:
            yield (*key, "n_valid", row["numerator"])
            yield (*key, "n_trials", row["denominator"])


def _table(quantity: str, section: str | None) -> str:
    if quantity in OF_SETTINGS:
        return SETTINGS
    return "text" if (section or "").startswith("3") else "design"


def name_of_end(quantity: str, end: str) -> str:
    """What the end of an interval is called. Tables have one interval a row, the text has several."""
    return end if quantity in ("delta_p", "compliance_percent") else f"{quantity}_{end}"


def _with_sign(value: str) -> str:
    """A bound has its sign before it, as everywhere here: "> 0.98"."""
    return f"{value[0]} {value[1:]}" if value[0] in "<>" else value

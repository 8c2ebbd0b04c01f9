"""The finding about what the effects of all tests and models come to. R's meta_analysis() has pooled them."""

from __future__ import annotations

from collections.abc import Mapping

from slant.analysis.questions.checks.sentences import CheckRows, Context, Verdict, number, percent
from slant.analysis.questions.meta import MIN_CELLS
from slant.collector.terminal import count_text


def pooled_effects(rows: CheckRows, context: Context) -> Verdict:
    """Return the effects over words and wordings, pooled over tests and models."""
    n_cells = rows["crossed"].drop_nulls("estimate").height
    if n_cells < MIN_CELLS:
        verdict = f"It takes {MIN_CELLS} effects to pool them; there are {n_cells}."
        return Verdict("note", verdict)
    pooled = {str(row["row"]): row for row in rows["meta"].to_dicts()} if "meta" in rows else {}
    if "mean" not in pooled:
        return Verdict("not checked", "The effects could not be pooled; the warnings say why.")
    mean = pooled["mean"]
    level = percent(1 - context.alpha, 0)
    new = {"new_test": "a new test", "new_model": "a new model", "new_cell": "a new test of a new model"}
    between = {"tau_test": "between tests", "tau_model": "between models", "tau_cell": "beyond both"}
    expected = (f"{words} {_interval(pooled[name])}" for name, words in new.items() if name in pooled)
    varied = (f"{number(pooled[name]['estimate'])} {words}" for name, words in between.items() if name in pooled)
    return Verdict(
        "note",
        f"Over {count_text(mean['n'], 'effect')} the mean is {number(mean['estimate'])} standard deviations ({level} "
        f"interval {_interval(mean)}, p = {number(mean['p_value'], 3)}).",
        (
            f"To expect ({level} prediction intervals): {'; '.join(expected)}.",
            f"Standard deviation of true effects: {', '.join(varied)}.",
            *([str(mean["messages"])] if mean["messages"] else []),
            "Pooled are the effects over words and wordings, by R's metafor: random effects of test, model and cell.",
        ),
    )


def _interval(row: Mapping[str, float]) -> str:
    return f"{number(row['conf_low'])} to {number(row['conf_high'])}"

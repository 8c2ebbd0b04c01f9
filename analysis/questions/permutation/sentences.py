"""Say what a permutation test shows, in sentences: what to compare with, and what is doubtful."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from slant.analysis.questions.permutation.conditions import GRAIN
from slant.analysis.questions.permutation.permutations import PermutationResult

_STATUSES = {
    "divergent": "had divergent transitions",
    "unconverged": "ended with an R-hat above 1.05 or fewer than 100 effective draws in some cell",
    "warned": "ended with a warning of lme4 (--show refits shows it)",
}


def result_sentences(result: PermutationResult) -> Iterator[str]:
    """Yield sentences for stderr, for each test: the reference cell's null, failed or doubtful refits, the noise."""
    for grain, tests in result.tests.group_by(GRAIN, maintain_order=True):
        cells = tests.filter(pl.col("scale") == "difference")
        for sentence in null_sentences(cells):
            yield f"{cells['variant'][0]}, {cells['source'][0]}: {sentence[0].lower()}{sentence[1:]}"
        main = tests.filter(pl.col("kind") == "population", pl.col("scale") == "delta_p")
        if not main.is_empty():
            yield _reference(main.row(0, named=True))
        yield from _doubtful(result.refits.filter(pl.col("number") > 0, **dict(zip(GRAIN, grain, strict=True))), tests)
        yield from _separated(tests)
        yield from _prior_driven(main)
        n = main["p_one_sided"].count()
        if n > 1:
            yield (
                f"Each p is of its cell alone: {n} cells are tested, and nothing is corrected for that. By Bonferroni, "
                f"compare p with .05 / {n} = {0.05 / n:.2g}, which only {20 * n - 1} permutations or more can reach."
            )
        share = main["noise_share"].max()
        if isinstance(share, float):
            yield (
                f"Monte Carlo error of the short chains makes up at most {share:.1%} of a cell's null variance. The "
                "observed value has the same error, so p is valid, with slightly less power."
            )
    if result.left_out:
        yield f"Excluded, because they have answers in one condition only: {', '.join(result.left_out)}."


_KINDS = {
    "model, test": ", with all their wordings",
    "model, test, wording": " within each wording (the sharp null: no word has an effect in any wording)",
}


def last_permutations(rows: pl.DataFrame) -> pl.DataFrame:
    """Return from the view permutation_tests the rows of the last of each kind of permutation, model and test."""
    kind = ["source", "study_version", "variant", "engine", "within", "model", "test"]
    return (
        rows.sort("finished_at", maintain_order=True)
        .unique(kind, keep="last", maintain_order=True)
        .sort(*kind[:-2], "model_no", "test_no", maintain_order=True)
    )


def null_sentences(cells: pl.DataFrame) -> Iterator[str]:
    """Say how often something is found where there is nothing, and what that leaves of the findings. There is a
    sentence for each kind of permutation among `cells`, which are of conditions, in one source, version and variant.
    """
    if cells.is_empty():
        return
    for kind, part in cells.group_by("engine", *(["within"] if "within" in cells.columns else []), maintain_order=True):
        test = "Welch's test" if part["engine"][0] == "difference" else "the study's mixed model"
        rates: list[float] = part["false_positives"].to_list()
        mean, low, high = (100 * rate for rate in (sum(rates) / len(rates), min(rates), max(rates)))
        found = part.filter(pl.col("p_engine") < 0.05)
        yield (
            f"With words assigned to groups at random{_KINDS.get(str(kind[-1]), '')}, p of {test} is below .05 in "
            f"{mean:.1f} % of the permutations ({low:.1f} to {high:.1f} % by model and test). As observed it is in "
            f"{found.height} of {part.height} cells; in {(found['p_two_sided'] < 0.05).sum()} of these p by "
            "permutation is, too. Nothing is corrected for multiple testing."
        )


def _reference(cell: dict[str, Any]) -> str:
    """Return the first cell: all of its factors are at their reference levels."""
    name = " and ".join(part for part in (cell["model"], cell["test"]) if part)
    centre = f"In the reference cell ({name}) arbitrary labels give a ΔP of {cell['null_mean']:+z.4f} on average"
    explanation = ""
    if cell["engine"] == "brms":
        explanation = (
            ", which need not be 0: under treatment coding the same priors weigh otherwise on this cell than on others"
        )
    spread = f"(sd {cell['null_sd'] or 0:.4f})"
    return f"{centre} {spread}{explanation}. Compare the observed {cell['observed']:+z.4f} with that."


def _doubtful(refits: pl.DataFrame, tests: pl.DataFrame) -> Iterator[str]:
    counts = dict(refits["status"].value_counts().iter_rows())
    if failed := counts.get("failed", 0):
        largest_p = tests.select(pl.col("p_if_failed_large").max()).row(0)[0]
        yield (
            f"{failed} of {refits.height} refits failed and are excluded from p. Counting each of them as equally "
            f"large, no p_one_sided is above {largest_p or 1:.3g}. The same command tries them again."
        )
    for status, saying in _STATUSES.items():
        if counts.get(status):
            yield f"{counts[status]} of {refits.height} refits {saying}; p includes them."


def _separated(tests: pl.DataFrame) -> Iterator[str]:
    cells = tests.filter(pl.col("engine") == "lme4", pl.col("n_separated") > 0).select("model", "test").unique()
    if not cells.is_empty():
        yield (
            f"In {cells.height} cells some refits had a condition with equal answers (n_separated): glmer's log "
            "odds are not finite there, and s is meaningless. Read the item-averaged ΔP."
        )


def _prior_driven(cells: pl.DataFrame) -> Iterator[str]:
    """Warn if no relabelling changes a cell's own answers: then its ΔP moves only with the others."""
    dependent = cells.filter(pl.col("engine") == "brms", pl.col("n") > 0, pl.col("n_separated") == pl.col("n"))
    if not dependent.is_empty():
        names = "; ".join(" and ".join(filter(None, row)) for row in dependent.select("model", "test").iter_rows())
        yield (
            "All cells are permuted together, so p is against a difference in none of them. Too few failures to decide "
            f"by themselves: {names}. Their ΔP follows the reference cell's through the priors: a small p there "
            "is no evidence for interference in these cells."
        )

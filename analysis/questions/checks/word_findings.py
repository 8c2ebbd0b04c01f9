"""What prompts and words have to do with an effect: what varies by them, and whether it holds for others than these."""

from __future__ import annotations

import polars as pl

from slant.analysis.questions.checks.sentences import (
    CheckRows,
    Context,
    Verdict,
    count_of,
    count_text,
    middle,
    number,
    percent,
    spread,
    standing,
    which_cells,
)


def variance_shares(rows: CheckRows, context: Context) -> Verdict:
    """How much of the variance lies between prompts and between words."""
    results = rows["variance_shares"]
    shares = {str(group): part for (group,), part in results.group_by("group", maintain_order=True)}
    details = []
    for group, part in shares.items():
        if group != "residual":
            largest = part.sort("share", descending=True, nulls_last=True).to_dicts()[0]
            details.append(
                f"Percent by {_GROUPS.get(group, group)}: {spread(100 * part['share'], 1)} ({context.cell(largest)})."
            )
    shares_text = " and ".join(
        f"{_GROUPS.get(group, group)}s account for {percent(middle(part['share']))}"
        for group, part in shares.items()
        if group != "residual"
    )
    return Verdict(
        "note",
        f"Of the variance that the condition leaves, {shares_text} (in the middle model); the rest is between trials.",
        tuple(details),
    )


_GROUPS = {"wording": "prompt", "item": "word"}


def words(rows: CheckRows, context: Context) -> Verdict:
    """Words that differ; then words and wordings in which the effect differs, which is what it takes to speak of others
    than these."""
    shift, crossed = rows["words"].drop_nulls("changes_conclusion"), rows["crossed"].drop_nulls("verdict")
    if crossed.is_empty():
        return Verdict("not checked", "No model could be refitted over words and wordings.")
    significant = crossed.filter(pl.col("verdict").is_in(["stays", "lost"]))
    changed = crossed.filter(pl.col("verdict").is_in(["lost", "gained"]))
    shifted, failed = shift.filter("changes_conclusion"), rows["crossed"].filter(pl.col("verdict").is_null())
    details = [
        *(
            f"{context.cell(row)}: {row['verdict']} (p = {number(row['p_beside'], 3)} in the study's own model, "
            f"{number(row['p_value'], 3)} over words and wordings; its standard error is "
            f"{number(row['std_error_ratio'])} times as large)."
            for row in changed.to_dicts()
        ),
        f"Standard errors over words and wordings are {spread(crossed['std_error_ratio'])} times the model's own. Of "
        f"their square, words have {percent(middle(crossed['share_words']))} and wordings "
        f"{percent(middle(crossed['share_wordings']))} (in the middle model), which no repetition makes smaller.",
        f"What could have been found (80 % power, two-sided 5 %): {spread(crossed['mde_d'])} standard deviations; "
        f"{spread(crossed['mde'], 1)} in units of the outcome.",
        f"Words that differ, but not in the effect, (1 | item): other conclusions in "
        f"{count_of(shifted.height, shift.height, 'model')}{which_cells(shifted, context)}.",
    ]
    singular = crossed.filter("is_singular")
    if singular.height:
        details.append(
            f"Singular: {count_of(singular.height, crossed.height, 'model')} in which a variance is 0; their numbers "
            "are those of the largest model that is not, as the column fitted has it."
        )
    if failed.height:
        are = "is" if failed.height == 1 else "are"
        details.append(
            f"Could not be refitted over words and wordings, and {are} not counted: "
            f"{count_text(failed.height, 'model')}{which_cells(failed, context)}."
        )
    kept = significant.filter(pl.col("verdict") == "stays").height
    return Verdict(
        standing(changed.height, failed.height),
        f"Of {count_text(significant.height, 'significant effect')}, {kept} stay so over other words and wordings.",
        tuple(details),
    )

"""Show models next to people in a report: what was found of each part, what it rests on, and what may be said."""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, MissingResult, SectionData
from slant.analysis.pages.report_tables import filled_columns
from slant.analysis.questions.alike import PARTS, verdict_sentence

ALIKE = "alike_{part}"
"""The name of a part among a report's tables."""
_METHODS = (
    "Models and people answered the same items in the same words. A model's units are its repetitions, people's are "
    "persons; differences of means are Welch's, with both errors, and their equivalence is two one-sided tests against "
    "a bound in standard deviations of people's answers (Lakens, 2017). Ratios of variances, Wasserstein's distance "
    "and the share of people's answers outside the model's central 95 % are tested by permuting units between sides. "
    "The order of items is a correlation of means, corrected for the errors of both. p values of items are corrected "
    "by Holm's method."
)
_LIMITS = (
    "Verdicts are about these items, in this wording, and the people who answered here. They don't "
    "generalise to other items, or to a population from which these people were not sampled."
)
_CAPTIONS = {
    "differences": "Model minus people, over all items, by item and by level",
    "spread": "Do models vary as people do?",
    "order": "Are items in the same order?",
    "range": "People's answers outside the central 95 % of the model's",
    "personas": "Does a persona follow the people of that group?",
}
_UNSHOWN = ("status", "messages")


def models_and_people(section: SectionData) -> Group | None:
    """Show each model's verdict, then the parts, folded; nothing if there are no answers of people."""
    summary = section.own(ALIKE.format(part="summary"))
    if summary.is_empty():
        return None
    said = [
        f"{section.labels.get(row['model'], row['model'])}, {row['test']}: {verdict_sentence(row)}"
        for row in summary.drop_nulls("verdict").to_dicts()
    ]
    tables = [CaptionedTable.of("Models and people", _known(summary), is_open=True)]
    parts = ((part, _known(section.own(ALIKE.format(part=part)))) for part in PARTS)
    tables += [CaptionedTable.of(_CAPTIONS[part], rows) for part, rows in parts if rows.height]
    return Group("models_and_people", "models and people", (*said, _LIMITS, _METHODS), tuple(tables))


def _known(rows: pl.DataFrame) -> pl.DataFrame:
    return filled_columns(rows.drop("source", "study_version", "variant", *_UNSHOWN, strict=False))


_EXPLANATION = (
    "The same trials were repeated on another day, as separate answers: no other table or fit counts them. Answers are "
    "equal if they chose the same, or failed to choose in the same way; kappa corrects for agreement by chance. The "
    "intraclass correlation is the proportion of the measure's variance that lies between trials: over all of them, "
    "whose tests and conditions differ, and within cells, for trials of one test and condition. The shift is the later "
    "mean minus the first, with its 95 % interval."
)


def retests(section: SectionData) -> Group | None:
    """Show each later occasion; all tests together first, then each test, folded."""
    occasions = section.captioned("retest_occasions")
    if occasions is None:
        return None
    rows = section.own("retest_reliability")
    if rows.is_empty():
        to_make = MissingResult("Agreement with the first occasion", f"analyze retest --study {section.study.as_typed}")
        return Group("retests", "the same trials on another occasion", (), (occasions,), (to_make,))
    together, by_test = rows.filter(pl.col("test").is_null()), rows.filter(pl.col("test").is_not_null())
    tables = (
        CaptionedTable.of(
            "Later occasions compared with the first, all tests together", together, _RETESTS.format(""), is_open=True
        ),
        CaptionedTable.of("The same by test", by_test, _RETESTS.format("test")),
        occasions,
    )
    return Group("retests", "the same trials on another occasion", (_EXPLANATION,), tables)


_RETESTS = """
model | occasion | {} | measure | answers = n_answers | equal (%) = share_equal:%1 | kappa:.2 | with the measure = n
ICC = icc:.2 | ICC, 95 % = {{icc_low:3s}} to {{icc_high:3s}} | ICC within cells = icc_residual:.2
within cells, 95 % = {{icc_residual_low:3s}} to {{icc_residual_high:3s}} | shift:3s
shift, 95 % = {{shift_low:3s}} to {{shift_high:3s}} | p = p_value:3s
"""

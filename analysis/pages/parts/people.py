"""Show models next to people in a report: what was found of each part, what it rests on, and what may be said."""

from __future__ import annotations

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table
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
    "Verdicts are of these items, in this wording, for the people who answered here. They say "
    "nothing of other items, nor of a population that these people were not drawn from."
)
_CAPTIONS = {
    "differences": "Model less people, for all items, by item and by level",
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
    tables = [CaptionedTable("Models and people", text_table(_known(summary)), is_open=True)]
    for part in PARTS:
        rows = _known(section.own(ALIKE.format(part=part)))
        if rows.height:
            tables.append(CaptionedTable(_CAPTIONS[part], text_table(rows)))
    return Group("models_and_people", "models and people", (*said, _LIMITS, _METHODS), tuple(tables))


def _known(rows: pl.DataFrame) -> pl.DataFrame:
    grain = ("source", "study_version", "variant", *_UNSHOWN)
    return rows.select(n for n in rows.columns if n not in grain and rows[n].null_count() < rows.height)

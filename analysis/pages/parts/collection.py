"""Show what was asked, which model answered when and with which settings, and what was left out, for reviewers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table
from slant.collector.errors import SlantError
from slant.collector.plan.prompts import one_model_a_frame, planned_prompts
from slant.collector.studies.catalogue import with_variant

_ENDS = ("n_refused", "n_filtered", "n_truncated", "n_malformed", "n_rejected", "n_failed_attempts")
_COUNTED = ("n_trials", "n_answered", *_ENDS)


def collected_trials(section: SectionData) -> Group | None:
    """Show one full prompt of each frame, the models with their settings and days, and what ended without an answer."""
    tables = tuple(filter(None, (_models(section), _without_answer(section))))
    if not tables:
        return None
    prompts = tuple(_prompts(section))
    texts = [_left_out_text(section)]
    if prompts:
        texts.append("The first prompt of the plan in each frame, as it is sent (collect prompts shows the others):")
    return Group("collection", "what was asked, and who answered when", tuple(texts), tables, quotes=prompts)


def _models(section: SectionData) -> CaptionedTable | None:
    rows = section.own("served_models")
    if rows.is_empty():
        return None
    settings = {model.model: json.dumps(dict(model.settings)) for model in section.study.models if model.settings}
    shown = rows.select(
        pl.col("model").replace(dict(section.labels)),
        "provider",
        pl.col("requested_model").alias("asked for"),
        pl.col("served_model").alias("answered"),
        pl.col("model").replace_strict(settings, default="").alias("settings of the study"),
        pl.col("first_done_at").dt.strftime("%Y-%m-%d %H:%M").alias("first answer (UTC)"),
        pl.col("last_done_at").dt.strftime("%Y-%m-%d %H:%M").alias("last answer (UTC)"),
        pl.col("n_trials").alias("trials"),
    )
    return CaptionedTable("Models, settings and days", text_table(shown), is_open=True)


def _without_answer(section: SectionData) -> CaptionedTable | None:
    rows = section.own("outcome_counts")
    if rows.is_empty():
        return None
    counts = [name for name in _COUNTED if name in rows.columns]
    by_cell = rows.group_by("model", "test", "condition", maintain_order=True).agg(pl.col(counts).sum())
    named = by_cell.with_columns(pl.col(name).replace(dict(section.labels)) for name in ("model", "test"))
    used = [name for name in counts if name in _COUNTED[:2] or int(named[name].sum())]
    shown = named.select("model", "test", "condition", *used).rename(
        {name: name[2:].replace("_", " ") for name in used}
    )
    return CaptionedTable("How trials ended, by model, test and condition", text_table(shown))


def _left_out_text(section: SectionData) -> str:
    """Say in one sentence what is not among the rows of fits, and why."""
    rows = section.own("outcome_counts")
    n_trials = int(rows["n_trials"].sum()) if rows.height else 0
    counts = {name: int(rows[name].sum()) for name in _ENDS[:-1] if name in rows.columns}
    kinds = ", ".join(f"{n:,} {name[2:]}" for name, n in counts.items() if n)
    ended = f"{sum(counts.values()):,} ended without an answer ({kinds})" if kinds else "none ended without an answer"
    flags = sorted({flag for fit in section.study.fits.values() for flag in fit.drop_flags})
    rule = f" Fits leave out rows with {' or '.join(flags)}." if flags else ""
    n_differs = int(section.own("served_models")["n_left_out"].sum()) if section.own("served_models").height else 0
    differs = f" {n_differs:,} were answered by another model than the snapshot asked for, and left out." * bool(
        n_differs
    )
    return f"Of {n_trials:,} trials, {ended}.{rule}{differs}"


def _prompts(section: SectionData) -> Iterator[str]:
    try:
        study = with_variant(section.study, str(section.grain.get("variant", section.study.variant)))
        for model in one_model_a_frame(study):
            prompt = next(planned_prompts(study, [model], one_a_cell=True), None)
            if prompt is not None:
                head = f"{model.frame} (as for {model.label}): " if model.frame else ""
                yield f"{head}{prompt.test}, {prompt.condition}, {prompt.item}\n\n{prompt.text}"
    except SlantError:  # the text of the study, as it was asked, is not at hand
        return

"""List the groups of tables of a report, in order. A new one is a function and a row here; a group for which the
function returns None is not in the study.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from slant.analysis.pages.parts import choice_models, forced_choice, games, over_words, pairings, people, series
from slant.analysis.pages.parts.records import (
    CaptionedTable,
    Group,
    GroupFunction,
    MissingResult,
    SectionData,
    declared_columns,
    print_comparison,
)
from slant.analysis.pages.provenance import without_folders
from slant.analysis.questions.calibration import calibration_sentences, last_calibrations
from slant.analysis.questions.permutation.sentences import last_permutations, null_sentences
from slant.analysis.rows.cells import GRAIN
from slant.collector.errors import SlantError
from slant.collector.plan.conversations import one_model_a_frame, planned_prompts
from slant.collector.stopping.looks import looks_by_plan, looks_clause, looks_of_rows
from slant.collector.studies.catalogue import with_variant

_CELL = ["model", "test"]
_TEXT = (
    "A count is read as an interval between it and the next step of the model's counts, a count of 0 as anything below "
    "a step. Words and wordings vary, in level and in effect. Intervals are 95 % credible intervals."
)
_LOO = (
    "Expected log probability of a held-out count, minus that of the lognormal: below 0 a family is worse. It "
    "is on the scale of counts, so families and steps are comparable."
)


def ratios(section: SectionData) -> Group | None:
    """Return the group, None without kept models."""
    rows = section.own("bayes_ratios")
    if rows.is_empty():
        return None
    last = rows.unique([*GRAIN, *_CELL, "family"], keep="last", maintain_order=True)
    effects = last.filter(family="lognormal")
    tables = []
    if effects.height:
        caption = "Ratio of tokens, and the study's own estimate"
        tables.append(CaptionedTable.of(caption, _effects(section, effects), is_open=True))
    others = last.filter(pl.col("family") != "lognormal")
    if others.height:
        tables.append(CaptionedTable.of("Other families of the same counts", others, _FAMILIES))
    doubtful = last.filter(~pl.col("is_converged")).to_dicts()
    doubts = sorted({f"{row['model_label']}, {row['test_label']}: {row['verdict']}" for row in doubtful})
    texts = (_TEXT, *((_LOO,) if others.height else ()), *doubts)
    return Group("counts", "Bayesian models of token counts", texts, tuple(tables))


def _effects(section: SectionData, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the effects beside those in the study's own mixed model, if the report has fitted it."""
    fitted = section.own("effects_over_words")
    schema = {"model": pl.String, "test": pl.String, "reference_estimate": pl.Float64, "reference_p": pl.Float64}
    own = fitted.select(*schema).unique(_CELL, keep="first") if fitted.height else pl.DataFrame(schema=schema)
    compared = rows.join(own, on=_CELL, how="left", maintain_order="left")
    named = declared_columns(compared, _EFFECTS)
    return named.drop(name for name in ("own model (tokens)", "p") if own.is_empty())


_EFFECTS = """
model = model_label | test = test_label | own model (tokens) = reference_estimate:.1 | p = reference_p:3s
ratio of medians = ratio:.2 | 95 % = {ratio_low:.2} to {ratio_high:.2} | P(above 1) = p_above:.3
counts in steps of = step | zeros, reference % (predicted) = {zeros_reference:%1} ({zeros_reference_predicted:%1})
zeros, other % (predicted) = {zeros_other:%1} ({zeros_other_predicted:%1}) | doubtful = is_converged:not
"""
_FAMILIES = """
model = model_label | test = test_label | family:words | to the lognormal = elpd_difference:.1
its standard error = se_difference:.1 | nats a trial = nats:.3 | ratio of medians = ratio:.2
Pareto k above 0.7 = n_bad_pareto_k | doubtful = is_converged:not
"""


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
    return Group("collection", "prompts, models and days", tuple(texts), tables, quotes=prompts)


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
    return CaptionedTable.of("Models, settings and days", shown, is_open=True)


def _without_answer(section: SectionData) -> CaptionedTable | None:
    rows = section.own("outcome_counts")
    if rows.is_empty():
        return None
    counts = [name for name in _COUNTED if name in rows.columns]
    by_cell = rows.group_by("model", "test", "condition", maintain_order=True).agg(pl.col(counts).sum())
    named = by_cell.with_columns(pl.col(name).replace(dict(section.labels)) for name in ("model", "test"))
    used = [name for name in counts if name in _COUNTED[:2] or int(named[name].sum())]
    heads = {name[2:].replace("_", " "): name for name in used}
    shown = named.select("model", "test", "condition", **heads)
    return CaptionedTable.of("How trials ended, by model, test and condition", shown)


def _left_out_text(section: SectionData) -> str:
    """Say in one sentence what is not among the rows of fits, and why."""
    rows = section.own("outcome_counts")
    n_trials = int(rows["n_trials"].sum()) if rows.height else 0
    counts = {name: int(rows[name].sum()) for name in _ENDS[:-1] if name in rows.columns}
    kinds = ", ".join(f"{n:,} {name[2:]}" for name, n in counts.items() if n)
    ended = f"{sum(counts.values()):,} ended without an answer ({kinds})" if kinds else "none ended without an answer"
    flags = sorted({flag for fit in section.study.fits.values() for flag in fit.drop_flags})
    rule = f" Fits exclude rows with {' or '.join(flags)}." if flags else ""
    n_differs = int(section.own("served_models")["n_left_out"].sum()) if section.own("served_models").height else 0
    differs = f" {n_differs:,} were answered by another model than the requested snapshot, and excluded."
    return f"Of {n_trials:,} trials, {ended}.{rule}{differs if n_differs else ''}"


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


_EXPLAINED = (
    "The fit was repeated on outcomes drawn from its own priors. If model, priors, coding and sampler are correct, "
    "ranks of truths among posterior draws are uniform, and coverage of the 95 % intervals is 95 %."
)


def calibration(section: SectionData) -> Group | None:
    rows = section.own("calibration_summary")
    if rows.is_empty():
        return None
    last = last_calibrations(rows)
    shown = declared_columns(last, _CALIBRATION).drop(n for n in _CELL if last[n].null_count() == last.height)
    table = CaptionedTable.of("Ranks, intervals, z-scores and shrinkage of each quantity", shown)
    texts = (_EXPLAINED, *calibration_sentences(last))
    return Group("calibration", "is the sampler correct?", texts, (table,))


_CALIBRATION = """
fit | model | test | quantity | data sets = n | doubtful = n_doubtful | failed = n_failed
p of the ranks = p_value:.3 | p (Holm) = p_adjusted:.3 | truth in its 95 % interval (%) = coverage:%1
mean z = mean_z:.2 | sd of z = sd_z:.2 | shrinkage:.2
"""


_TOPICS = (
    "topic_models", "topic_proportions", "topic_matches", "topic_prevalence", "topic_contrasts", "topic_correlations",
    "topic_quality", "topic_effects", "topic_searches", "topic_examples",
)  # fmt: skip


def topics(section: SectionData) -> Group | None:
    tables = section.captioned_tables(*_TOPICS)
    text = (
        "Topics have no fixed order: their numbers are those of this fit. The examples are what models wrote, word for "
        "word."
    )
    return Group("topics", "topics of the reasoning", (text,), tables) if tables else None


def robustness(section: SectionData) -> Group | None:
    """Show each specification, if `analyze sensitivity` has kept some."""
    if not section.study.sensitivity:
        return None
    tables = section.captioned_tables("specifications")
    to_make = MissingResult("Sensitivity analysis", f"analyze sensitivity --study {section.study.as_typed}")
    return Group("robustness", "other ways to analyse the same trials", (), tables, () if tables else (to_make,))


def nothing(section: SectionData) -> Group | None:
    """Return the false positives with words assigned at random, if `analyze permute` has stored them."""
    rows = section.own("permutation_tests")
    rows = rows.filter(pl.col("scale") == "difference") if rows.height else rows
    if rows.is_empty():
        return None
    rows = last_permutations(rows)
    text = (
        "The words of each test were assigned to its two groups at random, so the same analysis then finds only chance."
    )
    table = CaptionedTable.of("Observed difference, and differences without an effect", rows, _NOTHING)
    return Group("nothing", "false positives: random labels", (text, *null_sentences(rows)), (table,))


_NOTHING = """
model = model_label | test = test_label | engine | observed difference = observed:.1
95 % without an effect = {null_low:.1} to {null_high:.1} | p by permutation = p_two_sided:3s
p of the engine = p_engine:3s | false positives, p < .05 (%) = false_positives:%1 | permutations = n
"""


def stopping(section: SectionData) -> Group | None:
    """Return the rule by which collecting was to end on precision, the width at each look, and why it ended."""
    rows = section.own("interval_widths")
    if rows.is_empty():
        return None
    looks = list(looks_of_rows(rows.to_dicts()))
    rules = dict.fromkeys(look.rule.sentences(look.outcome) for look in looks)
    by_plan = looks_by_plan(looks).values()
    ends = [f"{section.labels.get(m[-1].model, m[-1].model)}: {looks_clause(m)}." for m in by_plan]
    table = CaptionedTable.of(f"Half of each 95 % interval at each look, in {looks[-1].outcome}", rows, _LOOKS)
    return Group("stopping", "when collecting ended", (*rules, *ends), (table,))


_LOOKS = """
model = model_label | test = test_label | look = look_no | repetitions | half of the interval = half_width:.1
wanted = until_width | at best, with endless repetitions = least_half_width:.1 | decision | status | trials = n_trials
"""


GROUPS: tuple[GroupFunction, ...] = (
    people.models_and_people,
    forced_choice.stages, calibration, forced_choice.answers, forced_choice.falsification,
    over_words.held, nothing, over_words.pooled, over_words.at_same_words, stopping, ratios, robustness,
    people.retests, series.occasions_and_successors, forced_choice.order, forced_choice.stimuli, pairings.bias,
    pairings.decisions, games.ends, games.indices, games.differences, games.questions, games.choices,
    choice_models.models_of_choice, print_comparison, topics,
    collected_trials,
)  # fmt: skip


def groups(section: SectionData) -> list[Group]:
    made = [group for maker in GROUPS if (group := maker(section))]
    return [_without_folder_names(group) for group in (*_declared(section), *made)]


def _declared(section: SectionData) -> Iterator[Group]:
    """Yield the groups that the study's design declares and that have rows."""
    for part in section.study.design.analyses.report_parts:
        if tables := section.captioned_tables(*part.views):
            yield Group(part.name, part.title, part.texts, tuple(replace(t, is_open=part.is_open) for t in tables))


def _without_folder_names(group: Group) -> Group:
    """Name the file of a study without its folders: readers of a report need not know where it is."""
    to_make = tuple(replace(result, command=without_folders(result.command)) for result in group.to_make)
    return replace(group, to_make=to_make)

"""List the groups of tables of a report, in order. A new one is a function and a row here; a group for which the
function returns None is not in the study.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from slant.analysis.pages.parts import (
    calibrations,
    choice_models,
    collection,
    counts,
    forced_choice,
    games,
    occasions,
    over_words,
    pairings,
    people,
    printed_tables,
)
from slant.analysis.pages.parts.records import CaptionedTable, Group, GroupFunction, MissingResult, SectionData
from slant.analysis.pages.provenance import without_folders
from slant.analysis.pages.report_tables import text_table
from slant.analysis.questions.permutation.sentences import last_permutations, null_sentences
from slant.collector.stopping.looks import looks_by_plan, looks_clause, looks_of_rows

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
    return Group("robustness", "other ways to analyse the same", (), tables, () if tables else (to_make,))


def nothing(section: SectionData) -> Group | None:
    """Return what is found if words are dealt to groups at random, if `analyze permute` has kept it."""
    rows = section.own("permutation_tests")
    rows = rows.filter(pl.col("scale") == "difference") if rows.height else rows
    if rows.is_empty():
        return None
    rows = last_permutations(rows)
    limits = pl.format("{} to {}", pl.col("null_low").round(1), pl.col("null_high").round(1))
    table = rows.select(
        pl.col("model_label").alias("model"),
        pl.col("test_label").alias("test"),
        "engine",
        pl.col("observed").round(1).alias("observed difference"),
        limits.alias("95 % where nothing is"),
        pl.col("p_two_sided").round_sig_figs(3).alias("p by permutation"),
        pl.col("p_engine").round_sig_figs(3).alias("p of the engine"),
        (100 * pl.col("false_positives")).round(1).alias("p < .05 where nothing is (%)"),
        pl.col("n").alias("permutations"),
    )
    text = "The words of each test were dealt to its two groups at random: what the same analysis then finds is chance."
    caption = "Observed difference next to what is found where there is nothing"
    return Group(
        "nothing",
        "what is found where there is nothing",
        (text, *null_sentences(rows)),
        (CaptionedTable(caption, text_table(table)),),
    )


def stopping(section: SectionData) -> Group | None:
    """Return the rule by which collecting was to end on precision, the width at each look, and why it ended."""
    rows = section.own("interval_widths")
    if rows.is_empty():
        return None
    looks = list(looks_of_rows(rows.to_dicts()))
    rules = dict.fromkeys(look.rule.sentences(look.outcome) for look in looks)
    by_plan = looks_by_plan(looks).values()
    ends = [f"{section.labels.get(m[-1].model, m[-1].model)}: {looks_clause(m)}." for m in by_plan]
    table = rows.select(
        pl.col("model_label").alias("model"),
        pl.col("test_label").alias("test"),
        pl.col("look_no").alias("look"),
        "repetitions",
        pl.col("half_width").round(1).alias("half of the interval"),
        pl.col("until_width").alias("wanted"),
        pl.col("least_half_width").round(1).alias("at best, by repetitions"),
        "decision",
        "status",
        pl.col("n_trials").alias("trials"),
    )
    caption = f"Half of each 95 % interval at each look, in {looks[-1].outcome}"
    return Group("stopping", "when collecting ended", (*rules, *ends), (CaptionedTable(caption, text_table(table)),))


GROUPS: tuple[GroupFunction, ...] = (
    people.models_and_people,
    forced_choice.stages, calibrations.calibration, forced_choice.answers, forced_choice.falsification,
    over_words.held, nothing, over_words.pooled, over_words.at_same_words, stopping, counts.ratios, robustness,
    occasions.retests, forced_choice.order, forced_choice.stimuli, pairings.bias, pairings.decisions, games.ends,
    games.indices, games.differences, games.questions, games.choices,
    choice_models.models_of_choice, printed_tables.print_comparison, topics,
    collection.collected_trials,
)  # fmt: skip


def groups(section: SectionData) -> list[Group]:
    made = [group for maker in GROUPS if (group := maker(section))]
    return [_without_folder_names(group) for group in (*_declared(section), *made)]


def _declared(section: SectionData) -> Iterator[Group]:
    """Yield the groups that the study's design declares and that have rows."""
    for part in section.study.design.report_parts:
        if tables := section.captioned_tables(*part.views):
            yield Group(part.name, part.title, part.texts, tables)


def _without_folder_names(group: Group) -> Group:
    """Name the file of a study without its folders: readers of a report need not know where it is."""
    to_make = tuple(replace(result, command=without_folders(result.command)) for result in group.to_make)
    return replace(group, to_make=to_make)

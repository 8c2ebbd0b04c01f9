"""The groups of tables of a report, in its order. A new one is a function and a row here; what it returns None for, the
study does not have.
"""

from __future__ import annotations

from dataclasses import replace

from slant.analysis.pages.parts import forced_choice, games, printed_tables
from slant.analysis.pages.parts.records import Group, Maker, Material, ToMake
from slant.analysis.pages.provenance import without_folders

_TOPICS = (
    "topic_models", "topic_proportions", "topic_matches", "topic_prevalence", "topic_contrasts", "topic_correlations",
    "topic_quality", "topic_effects", "topic_searches", "topic_examples",
)  # fmt: skip


def topics(material: Material) -> Group | None:
    tables = tuple(shown for name in _TOPICS if (shown := material.captioned(name)))
    text = (
        "Topics have no fixed order: their numbers are those of this fit. The examples are what models wrote, word for "
        "word."
    )
    return Group("topics", "topics of the reasoning", (text,), tables) if tables else None


def robustness(material: Material) -> Group | None:
    """Specification by specification, where `analyze sensitivity` has kept some."""
    if not material.study.sensitivity:
        return None
    shown = material.captioned("specifications")
    to_make = ToMake("Sensitivity analysis", f"analyze sensitivity --study {material.study.as_typed}")
    tables, missing = ((shown,), ()) if shown else ((), (to_make,))
    return Group("robustness", "other ways to analyse the same", tables=tables, to_make=missing)


GROUPS: tuple[Maker, ...] = (
    forced_choice.stages, forced_choice.answers, forced_choice.falsification, robustness, forced_choice.order,
    forced_choice.stimuli, games.ends, games.indices, games.differences, games.questions, games.choices,
    printed_tables.printed_tables, topics,
)  # fmt: skip


def groups(material: Material) -> list[Group]:
    return [_told(group) for maker in GROUPS if (group := maker(material))]


def _told(group: Group) -> Group:
    """A study's file is named without its folders: whoever reads a report need not know where it lies."""
    to_make = tuple(replace(one, command=without_folders(one.command)) for one in group.to_make)
    return replace(group, to_make=to_make)

"""The numbers of the papers in families: what is printed of each, and how it is had again from the database.

A new family of numbers is one module with two functions, `printed` and `recomputed` (see family.py), and a row here,
under the design of the studies that it is of.
"""

from __future__ import annotations

from collections.abc import Mapping

from slant.analysis.paper import (
    claims,
    descriptives,
    earlier_version,
    effect_sizes,
    iat_mentions,
    mixed_models,
    own_print,
    refusals,
    topics,
)
from slant.analysis.paper.family import Family
from slant.analysis.paper.hiring import of_print, questions, text
from slant.analysis.paper.hiring import tables as games
from slant.analysis.paper.interference import counts, permuted, posteriors, sampling
from slant.collector.studies.catalogue import Study

_NO_RAW_DATA = "No raw data: not comparable."

FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "association": (
        Family(
            "effect_sizes", effect_sizes.printed, effect_sizes.recomputed, effect_sizes.needs, is_table_of_models=True
        ),
        Family("refusals", refusals.printed, refusals.recomputed, is_table_of_models=True),
        Family("descriptives", descriptives.printed, descriptives.recomputed, is_table_of_models=True),
        Family(
            "mixed_models", mixed_models.printed, mixed_models.recomputed, mixed_models.needs, is_table_of_models=True
        ),
        Family("iat_mentions", iat_mentions.printed, iat_mentions.recomputed, is_table_of_models=True),
        Family("claims", claims.printed, claims.recomputed, claims.needs),
        Family("topics", topics.printed, topics.recomputed),
        Family("earlier_version", earlier_version.printed, earlier_version.recomputed, earlier_version.needs),
    ),
    "forced_choice": (
        Family("observed_compliance", counts.printed_table, counts.table, counts.needs_table, is_table_of_models=True),
        Family("interference", posteriors.printed_interference, posteriors.interference, posteriors.needs_interference),
        Family("compliance", posteriors.printed_compliance, posteriors.compliance, posteriors.needs_compliance),
        Family("permuted", permuted.printed, permuted.recomputed, permuted.needs),
        Family("design", counts.printed_design, counts.design, counts.needs_design),
        Family("sampling", sampling.printed, sampling.recomputed, sampling.needs),
    ),
    "allocation": (
        Family(
            "games", games.printed, games.recomputed, games.needs, is_table_of_models=True, without_data=_NO_RAW_DATA
        ),
        Family(
            "questions",
            questions.printed,
            questions.recomputed,
            questions.needs,
            is_table_of_models=True,
            without_data=_NO_RAW_DATA,
        ),
        Family("games_in_text", games.printed_text, games.text, games.needs_text, without_data=_NO_RAW_DATA),
        Family("questions_in_text", questions.printed_text, questions.text, questions.needs, without_data=_NO_RAW_DATA),
        Family("text", text.printed, text.recomputed, text.needs, without_data=_NO_RAW_DATA),
        Family("of_print", of_print.printed, of_print.recomputed, of_print.needs, is_of_print=True),
    ),
}


def families_of(study: Study) -> tuple[Family, ...]:
    """Those of the study's design: none where no paper of that kind is known here. A study of one's own may name one
    file of printed numbers instead.
    """
    if own_print.is_own(study):
        return (own_print.OWN_PRINT,)
    return FAMILIES.get(study.design, ())

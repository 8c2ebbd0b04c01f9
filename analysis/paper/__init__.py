"""The numbers of the paper in families: what is printed of each, and how it is had again from the database.

A new family of numbers is one module with two functions, `printed` and `recomputed` (see family.py), and a row here.
"""

from __future__ import annotations

from analysis.paper import (
    claims,
    descriptives,
    earlier_version,
    effect_sizes,
    iat_mentions,
    mixed_models,
    refusals,
    topics,
)
from analysis.paper.family import Family

FAMILIES: tuple[Family, ...] = (
    Family("effect_sizes", effect_sizes.printed, effect_sizes.recomputed, effect_sizes.needs, is_table_of_models=True),
    Family("refusals", refusals.printed, refusals.recomputed, is_table_of_models=True),
    Family("descriptives", descriptives.printed, descriptives.recomputed, is_table_of_models=True),
    Family("mixed_models", mixed_models.printed, mixed_models.recomputed, mixed_models.needs, is_table_of_models=True),
    Family("iat_mentions", iat_mentions.printed, iat_mentions.recomputed, is_table_of_models=True),
    Family("claims", claims.printed, claims.recomputed, claims.needs),
    Family("topics", topics.printed, topics.recomputed),
    Family("earlier_version", earlier_version.printed, earlier_version.recomputed, earlier_version.needs),
)

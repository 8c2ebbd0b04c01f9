"""The sources of numbers that SQL can't give, by design."""

from __future__ import annotations

from collections.abc import Mapping

from slant.analysis.paper import claims, games, print_alone, settings, shown_refusals, topics
from slant.analysis.paper.numbers import Numbers

IN_PYTHON: Mapping[str, tuple[Numbers, ...]] = {
    "association": (claims.NUMBERS, topics.NUMBERS, shown_refusals.NUMBERS),
    "forced_choice": (settings.NUMBERS,),
    "allocation": (*games.NUMBERS, print_alone.NUMBERS),
}

"""What holds of every design."""

from __future__ import annotations

import pytest
from slant.collector.designs import _DESIGNS, Design, design_named

MEMBERS = {*Design.__annotations__, *(name for name, value in vars(Design).items() if callable(value))}


@pytest.mark.parametrize("name", _DESIGNS)
def test_a_design_has_all_that_the_rest_of_slant_asks_of_it(name: str) -> None:
    design = design_named(name)
    asked = {member for member in MEMBERS if not member.startswith("_")}
    assert len(asked) > 12
    assert {member for member in asked if not hasattr(design, member)} <= (
        {"as_imported"} if design.has_games else set()
    )

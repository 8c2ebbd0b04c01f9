"""What holds of every design."""

from __future__ import annotations

from slant.collector.designs import _DESIGNS, Design, design_named
from tests.support.each_row import each_row


@each_row("name", _DESIGNS)
def test_a_design_is_looked_up_once_and_says_its_name(name: str) -> None:
    design = design_named(name)
    assert isinstance(design, Design)
    assert design.name == name
    assert design_named(name) is design


@each_row("name", _DESIGNS)
def test_a_design_gives_its_questions_in_one_of_the_ways_there_are(name: str) -> None:
    own = vars(type(design_named(name)))
    assert {"questions", "plan"} & own.keys() or not design_named(name).asks  # one that asks nobody has none
    assert {"text", "next"} & own.keys()

"""Trials without an answer: how many are worth a sentence, and when two conditions lose unequally many."""

from __future__ import annotations

from pathlib import Path

from slant.collector.ask.endings_seen import malformed_notes
from slant.collector.progress.lost_answers import lost_answer_notes, other_notes, unequal_losses
from tests.support.given import database


def test_shares_that_chance_explains_are_equal() -> None:
    assert unequal_losses([("usual", 2, 100), ("crossed", 4, 100)]) is None
    assert unequal_losses([("usual", 2, 100), ("crossed", 20, 100)]) == "20 of 100 in crossed, 2 of 100 in usual"


def test_trials_without_an_answer_are_told_by_model_and_kind(tmp_path: Path) -> None:
    answered = [{"source": "collected", "study": "own"}] * 10
    lost = [{"source": "collected", "study": "own", "outcome": "malformed", "choice": None}] * 5
    notes = lost_answer_notes(database(tmp_path / "a.duckdb", [*answered, *lost]), "own")
    assert notes[0] == "ATTENTION: 5 of 15 trials of o3-mini ended without an answer (5 malformed)."
    assert "collect view --db" in notes[1]
    assert lost_answer_notes(database(tmp_path / "b.duckdb", answered), "own") == []


def test_what_is_said_first_is_not_said_again_at_the_end() -> None:
    notes = malformed_notes("small", {"malformed": 64})
    assert len(notes) == 1
    assert other_notes(notes, ["ATTENTION: 64 of 64 trials"]) == []
    assert other_notes(notes, []) == notes

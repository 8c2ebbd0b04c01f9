"""Count endings of answers that are unknown to slant or missing, and report them once per run. The same goes for
models none of whose answers can be read, and for questions that are not read in answers to several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.records import Reading, Reply
from slant.collector.terminal import count_text, printable

_LONGEST_WORD = 60


Unread = Mapping[tuple[int, int], int]
"""Count answered trials by the numbers of their questions and of those that were not read."""


def unread_notes(name: str, unread: Unread) -> list[str]:
    """Return the sentence on questions that were not read in answers to several; none if all were."""
    n_trials = sum(n for (_, n_unread), n in unread.items() if n_unread)
    if not n_trials:
        return []
    if len(unread) == 1:
        ((n_questions, n_unread),) = unread
        return [f"{name}: {n_unread} of {n_questions} questions of each trial were not read."]
    n_unread = sum(each * n for (_, each), n in unread.items())
    n_questions = sum(each * n for (each, _), n in unread.items())
    return [
        f"{name}: {n_unread:,} of {count_text(n_questions, 'question')} were not read, in {n_trials:,} of "
        f"{count_text(sum(unread.values()), 'answered trial')}."
    ]


@dataclass
class Endings:
    """Count the endings of one model in one run. `unknown`: how many answers ended with each unknown word; `missing`:
    how many texts without a finish reason were taken for answers; `unread`: how many answered trials there are by the
    numbers of their questions and of those that were not read."""

    unknown: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    unread: Counter[tuple[int, int]] = field(default_factory=Counter)

    def count(self, reply: Reply) -> None:
        """Take note of one reply."""
        if reply.ending == "unknown":
            self.unknown[printable((reply.finish_reason or "")[:_LONGEST_WORD])] += 1
        elif reply.ending == "missing" and reply.outcome is None and reply.spoken:
            self.missing += 1

    def count_questions(self, reading: Reading) -> None:
        """Take note of the questions of one answered trial, if it has several."""
        outcomes = reading.factors.get("outcomes", ())
        if reading.outcome == "answered" and len(outcomes) > 1:
            self.unread[len(outcomes), sum(outcome != "answered" for outcome in outcomes)] += 1

    def notes(self, provider: str) -> list[str]:
        """Return the sentences about them for the end of a run."""
        notes = [
            f"{provider} ended {count_text(n, 'answer')} with {word}, which slant does not know; "
            f"{'it is' if n == 1 else 'they are'} not counted as {'an answer' if n == 1 else 'answers'}."
            for word, n in sorted(self.unknown.items())
        ]
        if self.missing:
            counted = "it counts as one" if self.missing == 1 else "they count as answers"
            notes.append(
                f"{provider} gave no reason why {count_text(self.missing, 'answer')} ended; {counted} all the same."
            )
        return [*notes, *unread_notes(provider, self.unread)]

    def as_message(self) -> dict[str, Any]:
        """Return the counts as JSON-able values for another process; `add` takes them."""
        unread = [[*key, n] for key, n in self.unread.items()]
        return {"unknown": dict(self.unknown), "missing": self.missing, "unread": unread}

    def add(self, message: Mapping[str, Any]) -> None:
        """Add what another process has counted."""
        self.unknown.update(message["unknown"])
        self.missing += message["missing"]
        self.unread.update({(n_questions, n_unread): n for n_questions, n_unread, n in message["unread"]})


_FEWEST = 5
_MOSTLY = 0.9
NOTHING_READ = "are malformed: nothing can be read in them"


def malformed_notes(model: str, outcomes: Mapping[str, int]) -> list[str]:
    """Return a sentence if nearly all answers of a model are malformed: then the study or the server is wrong, not
    chance.
    """
    answers = sum(n for outcome, n in outcomes.items() if outcome != "failed")
    n = outcomes.get("malformed", 0)
    if n < _FEWEST or n < _MOSTLY * answers:
        return []
    return [
        f"WARNING: {n:,} of {answers:,} answers of {model} {NOTHING_READ}. Look at some before you go on: collect view"
    ]

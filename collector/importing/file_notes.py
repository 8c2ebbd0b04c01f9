"""What is odd about the rows of a file: gathered row by row, and said once at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from slant.collector.terminal import count_text

_SHOWN_WORDS = 20


@dataclass
class FileNotes:
    """Hold what was odd about the rows of one file, reported once at its end instead of once a row."""

    unknown_words: dict[str, dict[str, None]] = field(default_factory=dict)
    without_tokens: int = 0
    without_source: int = 0
    rows: int = 0
    labels: int = 0
    seen: Counter[int] = field(default_factory=Counter)
    rows_seen: set[int] = field(default_factory=set)
    repeats: int = 0
    copies: int = 0
    missing: int = 0
    other: int = 0
    tells_sameness: bool = False
    first_answers: dict[int, int] = field(default_factory=dict)
    varied: set[int] = field(default_factory=set)

    def note_answer(self, cell: int, measured: tuple[str, ...]) -> None:
        """Note whether a question that is asked again is answered as it was the first time, in all that is measured."""
        answer = hash(measured)
        if self.first_answers.setdefault(cell, answer) != answer:
            self.varied.add(cell)

    def warnings(self, file: str) -> list[str]:
        repeated = [cell for cell, number in self.seen.items() if number > 1] if self.tells_sameness else []
        same = sum(cell not in self.varied for cell in repeated)
        listed = "; ".join(f"in {test} {_listed(list(words))}" for test, words in self.unknown_words.items())
        copy = "is an exact copy" if self.copies == 1 else "are exact copies"
        have = "has" if same == 1 else "have"
        noted = (
            (len(self.unknown_words), f"words that the study doesn't have were taken: {listed}"),
            (self.without_tokens, f"{_rows(self.without_tokens, 'has')} no token count; it stays unknown, not 0"),
            (self.without_source, _rows(self.without_source, "doesn't")
             + " say what the tokens count (column token_source)"),
            (self.repeats, f"{_rows(self.repeats, 'asks')} what an earlier row asked: taken as further repetitions (a "
             "column repetition would number them)"),
            (self.copies, f"{_rows(self.copies, 'asks')} what an earlier row asked and {copy} of it, cell by cell, "
             "long text or count and all: taken as further repetitions; look whether they were written twice by "
             "mistake"),
            (same, f"of {count_text(len(repeated), 'question')} that stand there more than once, {same:,} {have} the "
             "same answer each time: so it is at temperature 0, and often on short scales; it is a finding, and such "
             "repetitions tell no more than one answer"),
            (self.missing, f"{_rows(self.missing, 'has')} no answer (an empty cell or NA): missing, which is no "
             "refusal, and not taken"),
            (self.other, f"{_rows(self.other, 'names')} no trial and no answer (instructions and the like), and not "
             "taken"),
            (self.rows >= 20 and not self.labels, "not one answer is one of the two labels as this model sees them; is "
             "--model right?"),
        )  # fmt: skip
        return [f"{file}: {sentence}" for n, sentence in noted if n]


_OF_MANY = {"has": "have", "doesn't": "don't", "asks": "ask", "names": "name"}


def _rows(number: int, verb: str) -> str:
    return f"{count_text(number, 'row')} {verb if number == 1 else _OF_MANY[verb]}"


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _SHOWN_WORDS} more" if len(words) > _SHOWN_WORDS else ""
    return ", ".join(words[:_SHOWN_WORDS]) + more

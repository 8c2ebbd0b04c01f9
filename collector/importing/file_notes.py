"""What is odd about the rows of a file: gathered row by row, and said once at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

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
        sentences = []
        if self.unknown_words:
            listed = "; ".join(f"in {test} {_listed(list(words))}" for test, words in self.unknown_words.items())
            sentences.append(f"{file}: words that the study doesn't have were taken: {listed}")
        if self.without_tokens:
            rows = _rows(self.without_tokens, "has", "have")
            sentences.append(f"{file}: {rows} no token count; it stays unknown, not 0")
        if self.without_source:
            rows = _rows(self.without_source, "doesn't", "don't")
            sentences.append(f"{file}: {rows} say what the tokens count (column token_source)")
        if self.repeats:
            rows = _rows(self.repeats, "asks", "ask")
            sentences.append(
                f"{file}: {rows} what an earlier row asked: taken as further repetitions (a column repetition "
                "would number them)"
            )
        if self.copies:
            rows = _rows(self.copies, "asks", "ask")
            copy = "is an exact copy" if self.copies == 1 else "are exact copies"
            sentences.append(
                f"{file}: {rows} what an earlier row asked and {copy} of it, cell by cell, long text or count and all: "
                "taken as further repetitions; look whether they were written twice by mistake"
            )
        repeated = [cell for cell, number in self.seen.items() if number > 1] if self.tells_sameness else []
        if same := sum(cell not in self.varied for cell in repeated):
            sentences.append(
                f"{file}: of {_rows_of(len(repeated), 'question')} that stand there more than once, {same:,} "
                f"{'has' if same == 1 else 'have'} the same answer each time: so it is at temperature 0, and often on "
                "short scales; it is a finding, and such repetitions tell no more than one answer"
            )
        if self.missing:
            rows = _rows(self.missing, "has", "have")
            sentences.append(
                f"{file}: {rows} no answer (an empty cell or NA): missing, which is no refusal, and not taken"
            )
        if self.other:
            rows = _rows(self.other, "names", "name")
            sentences.append(f"{file}: {rows} no trial and no answer (instructions and the like), and not taken")
        if self.rows >= 20 and not self.labels:
            sentences.append(
                f"{file}: not one answer is one of the two labels as this model sees them; is --model right?"
            )
        return sentences


def _rows_of(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _rows(number: int, of_one: str, of_many: str) -> str:
    return f"1 row {of_one}" if number == 1 else f"{number:,} rows {of_many}"


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _SHOWN_WORDS} more" if len(words) > _SHOWN_WORDS else ""
    return ", ".join(words[:_SHOWN_WORDS]) + more

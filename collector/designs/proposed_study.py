"""Help a design propose a study for answers that were collected elsewhere: the files of a study that they fit into."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from slant.collector.errors import StudyError
from slant.collector.reading.spelling import WRAPPING, bare_label

_USUAL = re.compile(
    r"(?:stereotyp\w*|associat\w*)?[\W_]*(?:compatible|congruent|consistent|usual|control|baseline|reference|neutral|true"
    r"|yes|pro|plain)\b.*"
)


class AnsweredCell(NamedTuple):
    """Hold the cell of an answer, by our names; "" if the file does not say. `answer` is "" if it is a long text."""

    test: str
    condition: str
    item: str
    wording: str
    group: str
    option_a: str
    option_b: str
    answer: str


AnsweredCells = Mapping[AnsweredCell, int]
"""Count how often each cell occurs in the files, in the order of their rows."""


@dataclass(frozen=True)
class ProposedStudy:
    """Hold a proposal: files, reasons and a first fit. There is the text of each file by its name (including
    study.toml, which lacks models and [import]), sentences on what was taken for what, and the fit to begin with.
    `mapping` is what `--map` says, None if names and values alone say it; `layout` that of the import, and
    `values` what `--map-value` says of it; `why` says of columns what each is taken for, or why not."""

    files: Mapping[str, str]
    remarks: tuple[str, ...]
    fit: str
    mapping: tuple[str, ...] | None = None
    layout: str = "tidy"
    values: tuple[str, ...] = ()
    table: str = ""
    why: Mapping[str, str] = field(default_factory=dict)


def values_of(cells: AnsweredCells, column: str) -> list[str]:
    """Return the different values of a column in the order of the rows."""
    return list(dict.fromkeys(getattr(cell, column) for cell in cells if getattr(cell, column)))


def ids_of(names: Iterable[str], what: str) -> dict[str, str]:
    """Return by each name the id that a study may have for it: the same except for signs between words, so that an
    import recognises it. StudyError if a name has no letters that an id may have, or two would have the same id."""
    ids: dict[str, str] = {}
    for name in names:
        made = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        is_whole = re.sub(r"[\W_]+", "", name) == re.sub("_", "", made)
        if re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", name, re.ASCII):
            made = name
        elif not is_whole or not 0 < len(made) <= 64:
            raise StudyError(
                f'The {what} "{name}" makes no name of a study: that has letters from a to z, and digits.',
                f"Rename it in the file, or say what all rows are: --map {what}==NAME",
            )
        if made.casefold() in {known.casefold() for known in ids.values()}:
            raise StudyError(f'Two names of a {what} differ in signs or capitals alone, as "{name}".')
        ids[name] = made
    return ids


def two_conditions(cells: AnsweredCells) -> tuple[str, str]:
    """Return both conditions, the usual one first (compatible, congruent, control …); StudyError if there are not
    two."""
    named = values_of(cells, "condition")
    if len(named) != 2:
        listed = f": {', '.join(named[:8])}" if named else ""
        raise StudyError(f"it has two conditions, and the files have {len(named) or 'none that was found'}{listed}")
    first, second = named
    is_usual = [bool(_USUAL.fullmatch(name.casefold())) for name in named]
    if is_usual == [False, True] or (is_usual == [False, False] and (first, second) == ("0", "1")):
        return second, first
    return first, second


def labels_of(cells: AnsweredCells) -> tuple[str, str] | None:
    """Return the two labels that nearly all short answers are, each as it is spelled most often; None if there are
    none.
    """
    spelled: dict[str, Counter[str]] = {}
    for cell, count in cells.items():
        if bare := bare_label(cell.answer):
            spelled.setdefault(bare, Counter())[cell.answer.strip(WRAPPING) or cell.answer] += count
    counts = Counter({bare: sum(spellings.values()) for bare, spellings in spelled.items()})
    most = [bare for bare, _ in counts.most_common(2)]
    are_numbers = all(re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", text) for text in most)
    if len(most) < 2 or counts.total() * 0.5 > sum(counts[bare] for bare in most) or are_numbers:
        return None
    # among equally frequent spellings that with only a capital ("Calm", not "CALM" or "calm")
    first, second = (
        max(spelled[bare].items(), key=lambda each: (each[1], each[0][:1].isupper() and not each[0].isupper(), each[0]))
        for bare in sorted(most)
    )
    return first[0], second[0]


def toml_text(text: str) -> str:
    """Return a text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a CSV with these columns."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()

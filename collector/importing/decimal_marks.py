"""Tell by which mark before decimals the answers in files are read, in a first look at all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from slant.collector.importing.files.kinds import Row
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.layouts.values import word
from slant.collector.importing.renamed import Names
from slant.collector.reading.written_numbers import needed_mark, unsettled
from slant.collector.studies.catalogue import Study

_SHORT_ANSWER = 200

Files = Iterable[tuple[TableFile, Names]]


def different(files: Files, names: Sequence[str]) -> dict[str, set[str]]:
    """Return the different texts in these columns of ours, in a first look at all files."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for file, called in files if names else ():
        plain = called.plain_columns(file, names)
        values = None if plain is None else file.different(list(plain.values()))
        if plain is not None and values is not None:
            for name, column in plain.items():
                found[name] |= set(map(word, values[column]))
            continue
        for row in called.rows(file):
            if isinstance(row, Row):
                for name in names:
                    found[name].add(word(row.cells.get(name)))
    return found


def mark_of_answers(study: Study, files: Files, decimal: str | None, warnings: list[str]) -> str | None:
    """Return the mark before decimals by which answers are read, where a study asks for numbers: said, or shown by some
    of the answers; None if no answer needs it, or none shows it, which is added to `warnings`."""
    questions = getattr(study.data, "questions", {})
    asked = [question for question in questions.values() if getattr(question, "kind", "") in ("number", "scale")]
    if not asked:
        return None
    short = sorted(text for text in different(files, ["answer"])["answer"] if len(text) <= _SHORT_ANSWER)
    mark, either_way = needed_mark(short, decimal), next(iter(unsettled(short)), "")
    if mark is None and any(q.read(either_way, "forward", ()).detail == "ambiguous" for q in asked):
        number = re.sub(r"^\D+", "", either_way).split()[0]  # no more of a person's text
        warnings.append(
            f"numbers as {number[:20]} may have decimals or thousands, and nothing says which: malformed, unless "
            "--decimal . or --decimal , says it"
        )
    return mark

"""Edits of documents: a factor whose levels each change one place (or several) of the documents of another factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slant.collector.errors import StudyError
from slant.collector.study.folder import NOTES, StudyFolder, csv_header
from slant.collector.study.toml_table import Table, shortened

BASELINE = "baseline"
"""Name of the level that leaves a document unedited."""
Changes = tuple[tuple[str, str], ...]
"""What is found in a document, and what replaces it."""


@dataclass(frozen=True)
class Edits:
    """Hold the edits of the documents of the factor `of`: changes by level and document, "" for all documents."""

    of: str
    changes: Mapping[tuple[str, str], Changes]

    @property
    def rows(self) -> list[dict[str, str]]:
        """Return the levels: the unedited document first."""
        return [{"level": level} for level in dict.fromkeys((BASELINE, *(level for level, _ in self.changes)))]

    def edited(self, text: str, level: str, document: str) -> str:
        """Return a document's text with one edit."""
        for find, replace in self.changes.get((level, document), self.changes.get((level, ""), ())):
            text = text.replace(find, replace)
        return text


def read_edits(own: Table, name: str, folder: StudyFolder) -> Edits:
    """Read `of` and `file`, a CSV with the columns level (or the factor's name), find, replace, and perhaps one of the
    edited factor's name that says which document a row is about.
    """
    of, file = own.text("of"), own.text("file")
    header = csv_header(folder.text(file))
    level = name if name in header else "level"
    more = tuple(column for column in header if column not in (level, "find", "replace", *NOTES))
    changes: dict[tuple[str, str], Changes] = {}
    for row in folder.rows(own, "file", (level, "find", "replace"), may=tuple(set(more) & {of})):
        if not row["find"] or row["find"] == row["replace"] or row[level] == BASELINE:
            raise StudyError(
                f'The edit "{shortened(row[level])}" of {file} changes nothing, or is called "{BASELINE}".',
                f'"find" has a text of the document, "replace" another one; "{BASELINE}" is the unedited document.',
            )
        key = (row[level], row.get(of, ""))
        changes[key] = (*changes.get(key, ()), (row["find"], row["replace"]))
    return Edits(of, changes)


def check_edits(edits: Edits, documents: Mapping[str, Sequence[str]], where: str) -> None:
    """Raise StudyError unless each edit is found exactly once in each of its documents (texts by name)."""
    for level in dict.fromkeys(level for level, _ in edits.changes):
        for document, texts in documents.items():
            changes = edits.changes.get((level, document), edits.changes.get((level, ""), ()))
            if not changes:
                raise StudyError(f'The edit "{level}" of {where} has no row for "{document}".')
            for text in texts:
                for find, replace in changes:
                    if (n := text.count(find)) != 1:
                        raise StudyError(
                            f'The edit "{level}" of {where} must find its text exactly once in "{document}", but finds '
                            f"it {n} times: {shortened(find)!r}.",
                            "Write more of the text around it into the column find, and the same into replace.",
                        )
                    text = text.replace(find, replace)
    if unknown := {document for _, document in edits.changes} - {"", *documents}:
        raise StudyError(f'{where.capitalize()} edits "{min(unknown)}", which is no level of "{edits.of}".')

"""Say of each column of a file what it was taken for, and why, or why it was not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from slant.collector.designs.proposed_study import AnswerTable, ProposedStudy
from slant.collector.importing.files.records import tidy_name
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.layouts.tidy import IDS, TAKEN
from slant.collector.importing.proposals.columns import Roles


def reasons_of_roles(file: TableFile, roles: Roles, without: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each column, where columns have roles by their names and values."""
    left_out = set(map(tidy_name, without))
    for column in dict.fromkeys([*filter(None, file.columns), *roles.why]):
        inside = any(re.match(rf"{re.escape(column)}[.\[]", path) for path in roles.why)
        if column in left_out:
            yield f"{column}: not taken: said by --not"
        elif column in roles.why:
            yield f"{column}: {roles.why[column]}"
        elif column in roles.left:
            yield f"{column}: not taken: its name and values are of no role"
        elif column in IDS:
            yield f"{column}: the name of a request, which may say what was asked"
        elif column in TAKEN:
            yield f"{column}: taken under its own name"
        elif not inside:
            yield f"{column}: not taken: it is empty, or has fields or lists inside it"


def reasons_of_table(table: AnswerTable, study: ProposedStudy) -> Iterator[str]:
    """Yield a sentence for each column, where a design has read the whole table."""
    for name in table.columns:
        if "#" not in name:
            usual = table.why_no_factor(name) or "nothing of this design is called so"
            yield f"{name}: {study.why.get(name) or f'not taken: {usual}'}"

"""Checks of files before a study is proposed for them, and mappings of columns that are mapped themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice

from slant.collector.errors import UsageError
from slant.collector.importing.files.records import Problem, Row
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.renamed import names
from slant.collector.terminal import count_text

_LOOKED_AT = 5_000
_OF_PROFILE = re.compile(r"([a-z]\w{0,20}?)[-_.]?(\d{1,2})[-_.](\d{1,2})[-_.](\d{1,2})")
_LEAST_OF_TASKS = 8
_NO_UTF_8 = "a byte that is not UTF-8"


def check_rows(files: Sequence[TableFile]) -> list[str]:
    """Check that some row can be read: if none can, its reason is what a person must hear, not what columns lack.
    Return what is to be said of those that can't."""
    problems: list[Problem] = []
    n_read = 0
    for file in files:
        for row in islice(file.rows(), _LOOKED_AT):
            n_read += isinstance(row, Row)
            problems += [row] if isinstance(row, Problem) else []
    if not problems:
        return []
    rows = f"none of its {count_text(len(problems), 'row')} can be" if len(problems) > 1 else "its row can't be"
    how = ["Save it as CSV UTF-8, or: iconv -f WINDOWS-1252 -t UTF-8 FILE"] if _NO_UTF_8 in str(problems[0]) else []
    if not n_read:
        start = f"No study can be proposed for {files[0].name}: {rows} read."
        raise UsageError(start, f"The first one: {problems[0]}", *how)
    return [f"{count_text(len(problems), 'row')} can't be read, the first: {problems[0]}", *how]


def check_columns(files: Sequence[TableFile]) -> None:
    """Check that files have columns in common: a codebook lies in many a zip."""
    if len(files) > 1 and not set.intersection(*(set(file.columns) for file in files)) - {""}:
        held = [f"{file.name}: {', '.join(file.columns[:6])}" for file in files[:4]]
        raise UsageError(
            f"No study can be proposed for {count_text(len(files), 'file')} that have no column in common.",
            *held,
            "Name only those that hold answers (of a zip file, unpack it first).",
        )


def check_tasks(files: Sequence[TableFile]) -> None:
    """Check that no row holds several tasks of profiles, as surveys of conjoints do: F-2-1-3 is the third attribute of
    the first profile in the second task."""
    cells = [match for name in files[0].columns if (match := _OF_PROFILE.fullmatch(name))]
    tasks = {match[2] for match in cells}
    if len(cells) >= _LEAST_OF_TASKS and len(tasks) > 1:
        shown = ", ".join(match[0] for match in cells[:3])
        raise UsageError(
            f"No study can be proposed for {files[0].name}: a row has {len(tasks)} tasks of a conjoint, in {shown} …",
            "Write a row for each profile, with participant, task, profile, its attributes and chosen (1 or 0), as "
            "cjoint::read.qualtrics() or cregg::cj_tidy() of R do.",
        )


def check_lists(files: Sequence[TableFile], mapping: Sequence[str]) -> None:
    """Check that no list of several answers in a record would be cut to its first one."""
    for part in mapping:
        ours, _, path = part.partition("=")
        before = path.partition("[0]")[0]
        if ours != "answer" or before == path:
            continue
        for file in files:
            some = islice(names([f"answer={before}"]).rows(file), _LOOKED_AT)
            cells = [row.cells.get("answer") for row in some if isinstance(row, Row)]
            lists = [json.loads(cell) if isinstance(cell, str) and cell[:1] == "[" else cell for cell in cells]
            most = max((len(each) for each in lists if isinstance(each, list)), default=0)
            if most > 1:
                raise UsageError(
                    f"No study can be proposed for {file.name}: a record has up to {most} answers, in {before}.",
                    "Write a record for each answer, as pandas.json_normalize(records, record_path=…, meta=[…]) does.",
                )


def lists_inside(file: TableFile) -> list[str]:
    """Return the `--map` to type for columns whose cells are lists or tables, of which no element is chosen by
    default."""
    rows = [row for row in islice(file.rows(), _LOOKED_AT) if isinstance(row, Row)]
    lists = [name for name in file.columns if any(isinstance(row.cells.get(name), list) for row in rows)]
    if not lists:
        return []
    typed = f"its first element: --map answer={lists[0]}[0]; all of them: a record for each"
    return [f"Lists are in {', '.join(lists[:6])}. To take one, as {typed}."]


def within(mapping: Sequence[str], inner: Sequence[str]) -> tuple[list[str], list[str]]:
    """Resolve aliases of aliases; return the mapping and the unmapped columns."""
    paths = {ours: path for ours, _, path in (part.partition("=") for part in inner)}
    made, used = [], set()
    for part in mapping:
        ours, _, theirs = part.partition("=")
        plain = theirs.removesuffix("+1")
        used |= {plain} & paths.keys()
        made.append(f"{ours}={paths[plain]}{theirs[len(plain) :]}" if plain in paths else part)
    return made, [part for part in inner if part.partition("=")[0] not in used]

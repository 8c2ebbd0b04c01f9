"""Tells what the columns of a file of answers are, by their names first and by their values where names say nothing.

The rules, in the order of columns.csv: a role goes to the column whose name is the first in its list (in any case, with
any sign between words; of a field in a field its last word counts, too) and whose values can be of that role. Columns
of one name but for a part (answer_usual, answer_crossed) hold several answers in a row. The values say what is left:
two values that every item has are the condition, many short texts that come again the items, two words the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from slant.collector.designs.factorial.proposed_conjoint import ANSWERS
from slant.collector.designs.proposed_study import without_accents
from slant.collector.importing.files.kinds import Row, tidy_name
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.layouts.tidy import IDS, TAKEN
from slant.collector.importing.layouts.values import is_missing, word
from slant.collector.importing.proposals.request_names import parts_of_ids
from slant.collector.importing.renamed import VALUES, names_in, starred
from slant.collector.reading.spelling import bare_label
from slant.collector.system.json_text import json_or

LOOKED_AT = 5_000
"""Rows of each file from which roles are recognised."""
LONGEST_LOOKED_AT = 20_000
"""Characters of a cell that say what it is."""
_DEEPEST = 6
_LONG_TEXT = 60
_OF_TRIALS = frozenset(names_in("told")["trial"])
"""Tables inside records that say what was shown; scores and events of a log do not."""
_IS_ASKED = re.compile(
    r"(?:^|[.\]])(?:usage|prompt|prompts|messages|input|inputs|instance|request|arguments)[.\[]", re.IGNORECASE
)
"""Match a field of what was asked, or counted, in which no answer is."""
"""Characters; a longer text is neither an item nor a label."""
_MOST_GROUPS = 60
_MOST_WORDINGS = 10_000
_OF_LABELS = 0.7
"""Share of cells that are one of two words where these are the labels; of three levels of a factor two have .67."""
MODEL = re.compile(
    r"gpt|claude|gemini|gemma|llama|qwen|mi[sx]tral|deepseek|grok|command-r|phi-?\d|smollm|olmo|\bo[134](?:-|$)|/", re.I
)
_CONGRUENCE = re.compile(r"(?:in|non)?[\W_]*(?:compatible|consistent|congruent)", re.I)

Values = Sequence[str]


def _whole(values: Values) -> bool:
    return all(re.fullmatch(r"\d+(?:\.0*)?", value) for value in values)


def _few(values: Values) -> bool:
    return len(set(values)) <= _MOST_GROUPS and all(len(value) <= _LONG_TEXT for value in values)


def _short(values: Values) -> bool:
    return all(len(value) <= _LONG_TEXT for value in values)


_CAN_BE: Mapping[str, Callable[[Values], bool]] = {
    "any": lambda values: True,
    "whole": _whole,
    "numbered": lambda values: _whole(values) and len(set(values)) <= _MOST_WORDINGS,
    "few": _few,
    "several": lambda values: _few(values) and len(set(values)) > 1,
    "short": _short,
    "texts": lambda values: not _whole(values) or len(set(values)) < 2,
}
"""What values may be, by the words for it in columns.csv."""
_WIDE = ("answer", "tokens", "reasoning_tokens", "output_tokens")


@dataclass
class Column:
    """Hold a column (or a field in a field, by its path) with its values in the rows looked at, "" if none."""

    path: str
    values: list[str] = field(default_factory=list)

    @cached_property
    def given(self) -> list[str]:
        return [value for value in self.values if not is_missing(value)]

    @property
    def names(self) -> tuple[str, ...]:
        """Return its possible names in a list of names: its entire path, and the last word of that."""
        return (_plain(self.path), _plain(self.path.split(".")[-1]))


@dataclass(frozen=True)
class Roles:
    """Hold what was found: `mapping` as `--map` takes it, `taken` a sentence a role, `left` columns not taken, `why`
    the role and the reason of each column that was taken."""

    mapping: tuple[str, ...]
    taken: tuple[str, ...]
    left: tuple[str, ...]
    ours: frozenset[str]
    has_ids: bool
    answer: str | None = None
    """The column of answers, if its name says so."""
    has_fields: bool = True
    """Whether there are fields inside fields."""
    why: Mapping[str, str] = field(default_factory=dict)


def read_roles(files: Sequence[TableFile], given: Iterable[str] = (), without: Iterable[str] = ()) -> Roles:
    """Return the roles of the files' common columns; `given` are mappings that a person typed, which are left alone,
    `without` columns that have none.
    """
    left_out = {tidy_name(name) for name in without}
    columns = {path: column for path, column in _columns(files).items() if re.split(r"[.\[]", path)[0] not in left_out}
    mapping = [part.strip() for words in given for part in words.split(",")]
    typed = {name for part in mapping for name in part.partition("=")[0].split(":")}
    typed_columns = {part.partition("=")[2] for part in mapping}
    taken: list[str] = []
    columns |= {
        name: Column(name, values)
        for name, values in parts_of_ids({path: column.values for path, column in columns.items()}).items()
        if len(re.sub(r"[^\W_]", "", name.partition("#")[2])) > 1  # others tell their place when they are imported
    }
    free = {path: column for path, column in columns.items() if path not in typed_columns}
    found: dict[str, str] = dict.fromkeys(typed, "")
    reasons = {path: f"{ours}, said by --map" for ours, _, path in (part.partition("=") for part in mapping)}

    def take(ours: str, path: str, why: str = "") -> None:
        found[ours] = path
        free.pop(path)
        taken.append(f"{ours}: {path}{f' ({why})' if why else ''}")
        reasons[path] = f"{ours}, by its {f'values: {why}' if why else 'name'}"
        if path != ours:
            mapping.append(f"{ours}={path}")

    for ours, path in list(_by_name(free, found)):
        take(ours, path)
    answer = found.get("answer")
    if "answer" not in found:
        header = set.intersection(*(set(file.columns) for file in files))
        for part, said, paths in list(_wide([path for path in free if path in header], found)):
            mapping.append(part)
            taken.append(said)
            found |= dict.fromkeys(part.partition("=")[0].split(":"), "")
            for path in paths:
                free.pop(path)
                reasons[path] = f"{part.partition('=')[0].replace(':', ' and ')}, one of several columns of one name"
    for ours, path, why in list(_by_value(free, found)):
        take(ours, path, why)
    has_ids = any(name in columns for name in IDS)
    left = tuple(path for path in free if path not in (*IDS, *TAKEN) and not set(".#") & set(path))
    has_fields = any("." in path for path in columns)
    return Roles(tuple(mapping), tuple(taken), left, frozenset(found), has_ids, answer, has_fields, reasons)


def _columns(files: Sequence[TableFile]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    shared: set[str] | None = None
    n_before = 0
    for file in files:
        paths: set[str] = set()
        headers = file.header_lines()
        some = (row for row in islice(file.rows(), LOOKED_AT) if isinstance(row, Row))
        rows = [row.cells for row in some if row.line not in headers]
        for number, cells in enumerate(rows):
            for path, value in _flat(cells):
                column = columns.setdefault(path, Column(path))
                column.values += [""] * (n_before + number - len(column.values)) + [value]
                paths.add(path)
        n_before += len(rows)
        shared = paths if shared is None else shared & paths
    for column in columns.values():
        column.values += [""] * (n_before - len(column.values))
    return {
        path: column
        for path, column in columns.items()
        if path in (shared or ()) and column.given and not set(path) & set(",=*:") and not path.isspace() and path
    }


def fields_inside(files: Sequence[TableFile]) -> dict[str, list[str]]:
    """Return the values of fields inside fields, by their paths, but for what was asked and what is a column as
    well."""
    columns = _columns(files)
    plain = {path: column.values for path, column in columns.items() if "." not in path}
    return {
        path: column.values
        for path, column in columns.items()
        if "." in path and plain.get(path.rpartition(".")[2]) != column.values
    }


def is_shown(path: str) -> bool:
    """Return whether a field is inside a table that says what was shown."""
    return "." in path and re.split(r"[.\[]", path)[0] in _OF_TRIALS


def is_answered(path: str) -> bool:
    """Return whether a field inside others, neither shown nor asked, is called as answers are."""
    return not (is_shown(path) or _IS_ASKED.search(path)) and path.rpartition(".")[2] in ANSWERS


def _flat(cells: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterable[tuple[str, str]]:
    for name, cell in cells.items():
        yield from _flat_cell(f"{before}{name}", _document(cell), depth)


def _flat_cell(path: str, value: Any, depth: int) -> Iterable[tuple[str, str]]:
    """Yield the fields inside a field, as `--map` writes their paths; of a list the first one."""
    if isinstance(value, dict):
        if depth < _DEEPEST:
            yield from _flat({str(key).lower(): inner for key, inner in value.items()}, f"{path}.", depth + 1)
    elif isinstance(value, list):
        if value and isinstance(value[0], dict) and depth < _DEEPEST:
            yield from _flat_cell(f"{path}[0]", value[0], depth + 1)
    else:
        yield path, word(value)[:LONGEST_LOOKED_AT]


def _document(cell: Any) -> Any:
    """Return the contents of a JSON text, if a provider sent it rather than a model answered it."""
    if isinstance(cell, str) and cell.lstrip()[:1] == "{":
        document = json_or(cell, {})
        return document if document.keys() & {"content", "text", "usage", "choices", "message", "output"} else cell
    return cell


def _plain(name: str) -> str:
    plain = without_accents(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name))
    return re.sub(r"[\W_]+", "_", plain).strip("_").lower()


def _by_name(columns: Mapping[str, Column], found: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    used: set[str] = set()
    named = set(found)
    names_of = {path: column.names for path, column in columns.items()}
    for ours, names in names_in("any").items():
        can_be = _CAN_BE[VALUES[ours]]
        if ours in found:
            continue
        is_other_count = {"reasoning_tokens", "output_tokens"} & named  # a prompt is no part of what an answer took
        path = next(
            (
                path
                for place in (0, 1)
                for name in names
                for path, column in columns.items()
                if names_of[path][place] == name
                and path not in used
                and not (name == "total_tokens" and is_other_count)
                and can_be(column.given)
                and _is_of_role(ours, column, columns)
            ),
            None,
        )
        if path is not None:
            used.add(path)
            named.add(ours)
            yield ours, path


def _is_of_role(ours: str, column: Column, columns: Mapping[str, Column]) -> bool:
    """Return True if a column can have this role: a repetition grows within a cell, and is no number of the row."""
    if ours == "answer":
        return not _IS_ASKED.search(column.path)
    if ours != "repetition":
        return True
    return len(set(column.given)) * 3 <= len(column.given) and len(columns) > 2


def _by_value(columns: Mapping[str, Column], found: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    named = set(found)
    free = {path: column for path, column in columns.items() if path not in IDS and _can_be_place(path)}
    texts = {path: column for path, column in free.items() if not _whole(column.given) and _short(column.given)}

    def take(ours: str, why: str, is_it: Callable[[Column], bool]) -> Iterable[tuple[str, str, str]]:
        path = None if ours in named else next((path for path, column in texts.items() if is_it(column)), None)
        if path is not None:
            texts.pop(path)
            named.add(ours)
            yield ours, path, why

    yield from take("model", "names of models", lambda column: all(map(MODEL.search, column.given)))
    congruence = "words for compatible and incompatible"
    yield from take("condition", congruence, lambda column: all(map(_CONGRUENCE.match, column.given)))
    many = "short texts that come again"
    yield from take(
        "item", many, lambda column: 3 < len(set(column.given)) <= len(column.given) / 2 and not _are_labels(column)
    )
    texts = dict(sorted(texts.items(), key=lambda pair: -len(set(pair[1].given))))  # answers are spelled in many ways
    if not any(map(is_answered, columns)):  # these say more than two words elsewhere
        yield from take("answer", "two words", lambda column: _are_labels(column) and not is_shown(column.path))
    yield from take("condition", "two values", lambda column: len(set(column.given)) == 2)


def _are_labels(column: Column) -> bool:
    """Return whether most cells are one of two words, however they are spelled."""
    counts = Counter(bare_label(value) for value in column.given)
    two = sum(count for _, count in counts.most_common(2))
    return len(counts) > 1 and two > _OF_LABELS * len(column.given)


def _can_be_place(path: str) -> bool:
    """Return False for a field of a provider's: it is no place of a trial, whatever its values look
    like.
    """
    return re.split(r"[.\[]", path)[0] not in ("response", "body", "result", "request", "error", "output", "usage")


def _wide(columns: Sequence[str], found: Mapping[str, str]) -> Iterable[tuple[str, str, list[str]]]:
    """Return columns that are one role but for a part of their name, which is the condition (of two), the repetition
    (if it is a number) or the item."""
    stems = {ours: names for ours, names in names_in("any").items() if ours in _WIDE and ours not in found}
    wide: dict[str, tuple[str, dict[str, str]]] = {}
    for ours, names in stems.items():
        for name in sorted(names, key=len, reverse=True):
            for pattern in (f"{name}_*", f"{name}.*", f"*_{name}", f"{name} *", f"* {name}"):
                parts = starred(pattern, columns)
                if len(parts) > 1 and len(parts) > len(wide.get(ours, ("", {}))[1]):
                    wide[ours] = (pattern, parts)
    if "answer" not in wide:
        return
    parts = wide["answer"][1]
    is_numbered = all(part.isdecimal() for part in parts) and "item" in found
    of_part = "repetition" if is_numbered else "condition" if len(parts) == 2 and "condition" not in found else "item"
    if of_part in found:
        return
    for ours, (pattern, named) in wide.items():
        if named.keys() <= parts.keys():
            listed = ", ".join(list(named)[:4]) + (" …" if len(named) > 4 else "")
            said = f"{of_part} and {ours}: {len(named)} columns {pattern} ({listed})"
            yield f"{of_part}:{ours}={pattern}", said, list(named.values())


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

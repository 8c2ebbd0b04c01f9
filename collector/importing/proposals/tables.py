"""Read files whole, as the columns from which a design proposes a study by what its rows show.

Checks of files before a study is proposed for them, and mappings of columns that are mapped themselves.

Files with a column for each model: seen as long ones, with the mapping that makes them so."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from slant.collector.designs import design_named, design_names
from slant.collector.designs.factorial.proposed_conjoint import ANSWERS
from slant.collector.designs.proposed_study import AnswerTable, ProposedStudy, without_accents
from slant.collector.errors import StudyError, UsageError
from slant.collector.importing.files.kinds import Problem, Row
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.layouts.values import composed, is_empty, word
from slant.collector.importing.proposals.columns import LONGEST_LOOKED_AT, MODEL, fields_inside, is_answered, is_shown
from slant.collector.importing.proposals.request_names import parts_of_ids
from slant.collector.importing.renamed import FILE, Names, names, names_in, starred
from slant.collector.terminal import count_text

_STEMS = names_in("of_models")
_OF_MODELS = {*names_in("table")["model"]} - {"agent"} | {"modèle"}
_LONGEST = 60
_MOST_LEVELS = 200
_OF_ANSWERS = (*_STEMS, "model", "input_tokens")
_SIGNS = set(",=*:")
_NO_MODELS = frozenset(names_in("told")["no_model"])
"""Words of columns about what a model said, or that it was asked."""


@dataclass
class LongView(TableFile):
    """Show a file of columns by model with a row for each model."""

    called: Names | None = None

    @property
    def columns(self) -> list[str]:
        """Return the columns by our names; those of models have become `model` and what they hold."""
        assert self.called is not None
        return self.called.columns_of(self._file())

    def rows(self) -> Iterator[Row | Problem]:
        """Yield a row for each model that has a cell in the file's row."""
        assert self.called is not None
        yield from self.called.rows(self._file())

    def _file(self) -> TableFile:
        return TableFile(self.name, self.path, self.kind, self.remarks)


def columns_of_models(files: Sequence[TableFile]) -> list[str]:
    """Return the `--map` for columns named after models (`gpt-4o`, `claude answer`); nothing if there are fewer than
    two, or a column holds the models."""
    shared = set.intersection(*(set(file.columns) for file in files))
    header = [name for name in files[0].columns if name in shared]
    if _OF_MODELS & set(header):
        return []
    plain = [name for name in header if _is_model(name)]
    found: dict[str, tuple[str, set[str]]] = {}
    for ours, stems in _STEMS.items():
        for stem, sign in product(stems, "_ .-"):
            for pattern in (f"*{sign}{stem}", f"{stem}{sign}*"):
                of = set(filter(_is_model, starred(pattern, header)))
                if len(of) > 1 and ours not in found:
                    found[ours] = (pattern, of)
    if "answer" in found:
        models = found["answer"][1]
        return [f"model:{ours}={pattern}" for ours, (pattern, of) in found.items() if of <= models]
    if len(plain) > 1:
        return [f"model:answer={':'.join(plain)}"]
    return []


def models_of_files(files: Sequence[TableFile]) -> list[str]:
    """Return the `--map` for files that are named after models and hold none themselves; nothing for others."""
    stems = [file.stem for file in files]
    has_models = any(_OF_MODELS & set(file.columns) for file in files)
    is_so = len(set(stems)) == len(files) > 1 and all(map(_is_model, stems)) and not has_models
    return [f"model={FILE}"] if is_so else []


def nested_columns(files: Sequence[TableFile], mapping: Sequence[str]) -> list[str]:
    """Return the `--map` for fields inside fields: those that have roles (`mapping`), and others of a few short values,
    under the last word of their paths."""
    roles = {part.partition("=")[0]: part.partition("=")[2] for part in mapping}
    found = [f"{ours}={path}" for ours, path in roles.items() if ours in _OF_ANSWERS and re.search(r"[.\[]", path)]
    paths = {part.partition("=")[2] for part in found}
    taken = {part.partition("=")[0] for part in found} | set.union(*(set(file.columns) for file in files))
    fields = fields_inside(files)
    has_answer = "answer" in roles or not (taken - {words_of(path)[0] for path in fields}).isdisjoint(ANSWERS)
    for path, values in fields.items():
        is_answer = not has_answer and is_answered(path)
        if not (is_answer or is_shown(path)) or "[" in path:
            continue
        levels = set(values) - {""}
        if path in paths or not 1 < len(levels) <= _MOST_LEVELS or max(map(len, levels)) > _LONGEST:
            continue
        words = words_of(path)
        name = next((name for name in (words[-1], "_".join(words[-2:])) if name not in taken), None)
        if name is not None and (is_answer or len(levels) * 2 <= len(values)):
            found.append(f"{name}={path}")
            taken.add(name)
    return found


def words_of(path: str) -> list[str]:
    """Return the words and numbers of a path: choices[0].text has three."""
    return re.split(r"[.\[\]]+", path.strip("]"))


def as_long(files: Sequence[TableFile], mapping: Sequence[str]) -> list[TableFile]:
    """Return the files as they are after the mapping."""
    called = names(mapping)
    return [LongView(file.name, file.path, file.kind, file.remarks, called=called) for file in files]


def _is_model(name: str) -> bool:
    """Return True for the name of a model, and for one that says nothing else: gpt_reason is no model."""
    named = MODEL.search(name)
    if named is None or named[0] == "/" or len(name) > _LONGEST or _SIGNS & set(name):
        return False
    return not set(re.split(r"[^a-z]+", name.lower())) & _NO_MODELS


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
    """Return the `--map` to type for columns whose cells are lists or tables, of which no element, or field that has no
    name of an answer, is chosen by default."""
    rows = [row for row in islice(file.rows(), _LOOKED_AT) if isinstance(row, Row)]
    lists = [name for name in file.columns if any(isinstance(row.cells.get(name), list) for row in rows)]
    parts: Sequence[Any] = next((row.cells[name] for name in lists[:1] for row in rows if row.cells.get(name)), [])
    spoken = [n for n, part in enumerate(parts) if isinstance(part, dict) and part.get("role") == "assistant"]
    typed = f"its first element: --map answer={lists[0]}[0]; all of them: a record for each" if lists else ""
    typed = f"what was answered: --map answer={lists[0]}[{spoken[-1]}].content" if spoken else typed
    said = [f"Lists are in {', '.join(lists[:6])}. To take one, as {typed}."] if lists else []
    fields = [path for path in fields_inside([file]) if "[" not in path]
    if fields:
        one = next((path for path in fields if not is_shown(path)), fields[0])
        said.append(f"Fields inside fields: {', '.join(fields[:12])}. To take one: --map answer={one}")
    return said


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


_IN_ORDER = ("allocation", "observed", "factorial")
_OF_JSPSYCH = frozenset(names_in("told")["jspsych"])
_MOST_CELLS = 40_000_000
_USUAL = 0.8
_FEW_ROWS = 10


def answer_table(
    files: Sequence[TableFile],
    answers: Sequence[str],
    without: Collection[str] = (),
    *,
    n_per_row: int = 1,
    decimal: str | None = None,
    forced: frozenset[str] = frozenset(),
) -> AnswerTable:
    """Return the columns that all files have, but for those of `without`. `answers` are columns that a person named; of
    the rest see `AnswerTable`."""
    shared = set.intersection(*(set(file.columns) for file in files)) - set(without)
    names = [name for name in files[0].columns if name in shared and name and not set(name) & set(",=*:")]
    exact: dict[str, None] = {}
    columns: dict[str, list[str]] = {name: [] for name in names}
    nested: dict[str, None] = {}
    headers = {file.name: file.header_lines() for file in files}
    rows = (row for f in files for row in f.rows() if isinstance(row, Row) and row.line not in headers[f.name])
    for number, row in enumerate(rows, 1):
        if number * len(names) > _MOST_CELLS:
            raise UsageError(f"No study can be proposed: the files have more than {_MOST_CELLS:,} cells.")
        for name in names:
            value = row.cells.get(name)
            if isinstance(value, dict | list):  # what a tool keeps for itself
                nested[name] = None
            elif isinstance(value, float):
                exact[name] = None
            columns[name].append("" if is_empty(value) else composed(word(value)[:LONGEST_LOOKED_AT]))
    columns = {name: values for name, values in columns.items() if name not in nested or name in answers}
    columns = _of_trials(_of_answers(columns))
    parts = parts_of_ids(columns)
    model = _model_in(columns)
    return AnswerTable({**columns, **parts}, answers, model, frozenset(exact), n_per_row, decimal, forced)


def _of_answers(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the columns without rows that have none of what nearly all rows have: heads and ends of logs."""
    if any(said := columns.get("answer", ())):
        columns = _where(columns, said)
    n_rows = len(next(iter(columns.values()), ()))
    usual = [values for values in columns.values() if sum(map(bool, values)) >= _USUAL * n_rows]
    if n_rows < _FEW_ROWS or not usual:
        return columns
    return _where(columns, map(any, zip(*usual, strict=True)))


def _where(columns: Mapping[str, list[str]], is_kept: Iterable[object]) -> dict[str, list[str]]:
    """Return the columns in the rows of which this is true."""
    kept = list(is_kept)
    return {name: [v for v, is_so in zip(values, kept, strict=True) if is_so] for name, values in columns.items()}


def _of_trials(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the columns of jsPsych without the rows of instructions and pauses, which have nothing that an
    experiment's own trials say; and without the response as it came, next to the answer made of it.
    """
    if not {"trial_type", "trial_index"} <= columns.keys():
        return columns
    columns = {name: values for name, values in columns.items() if name != "response" or "answer" not in columns}
    said = columns.get("answer") or columns.get("response") or ()
    columns = _where(columns, said)
    own = [values for name, values in columns.items() if name not in _OF_JSPSYCH and not all(values) and any(values)]
    return _where(columns, map(any, zip(*own, strict=True))) if own else columns


def _model_in(columns: dict[str, list[str]]) -> str | None:
    """Return the column of models: one that is called so, or whose every value looks like a model's name."""
    plain = {without_accents(name): name for name in columns}
    named = [plain[name] for name in names_in("table")["model"] if name in plain]
    by_value = [name for name in columns if (known := set(columns[name])) and all(map(MODEL.search, known))]
    likely = [name for name in named if name != "agent" or name in by_value]
    may_hold = re.compile("mod[ei]l|llm|agent|participant|^(?:sheet|file|key)$")
    likely += [name for name in by_value if may_hold.search(without_accents(name))]
    return next(iter(likely), None)


def study_from_table(table: AnswerTable) -> tuple[str, ProposedStudy] | list[str]:
    """Return a design and its study, or why no design fits."""
    failures = []
    designs = [design_named(name) for name in design_names()]
    place = {name: number for number, name in enumerate(_IN_ORDER)}
    for design in sorted(designs, key=lambda design: (place.get(design.name, len(place)), design.name)):
        try:
            return design.name, design.imports.proposed_from_table(table)
        except StudyError as error:
            failures += [f"Not {design.name}: {error.what.rstrip('.')}."] if error.what else []
    return failures


def reasons_of_table(table: AnswerTable, study: ProposedStudy) -> Iterator[str]:
    """Yield a sentence for each column, where a design has read the whole table."""
    for name in table.columns:
        if "#" not in name:
            usual = table.why_no_factor(name) or "nothing in this design has this name"
            yield f"{name}: {study.why.get(name) or f'not taken: {usual}'}"

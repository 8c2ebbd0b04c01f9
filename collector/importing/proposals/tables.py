"""Read files whole, as the columns from which a design proposes a study by what its rows show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from slant.collector.designs import design_named, design_names
from slant.collector.designs.proposed_study import AnswerTable, ProposedStudy, without_accents
from slant.collector.errors import StudyError, UsageError
from slant.collector.importing.column_names import names_in
from slant.collector.importing.files.records import Row
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.layouts.values import composed, is_empty, word
from slant.collector.importing.proposals.columns import LONGEST_LOOKED_AT, MODEL
from slant.collector.importing.proposals.request_names import parts_of_ids

_IN_ORDER = ("allocation", "observed", "factorial")
_OF_JSPSYCH = {
    "stimulus", "rt", "response", "answer", "rt_key_duration", "trial_type", "trial_index", "plugin_version",
    "time_elapsed", "internal_node_id", "choices", "question_order", "view_history", "slider_start", "button_html",
    "html", "prompt", "success", "timeout", "failed_images", "failed_audio", "failed_video", "width", "height",
    "labels",
}  # fmt: skip
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

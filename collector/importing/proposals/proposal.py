"""Proposes a study for files of answers: `collect import FILE` without a study writes it, with the mapping in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from slant.collector.designs import design_named, design_names
from slant.collector.designs.proposed_study import AnsweredCell, AnsweredCells, ProposedStudy, toml_text, values_of
from slant.collector.errors import DesignError, StudyError, UnknownNameError, UsageError
from slant.collector.importing.files.kinds import Row, tidy_name
from slant.collector.importing.files.table_file import TableFile, TableFiles
from slant.collector.importing.layouts.tidy import ALIASES, COUNTS, OF_GAMES, TAKEN
from slant.collector.importing.layouts.values import composed, is_empty, is_missing, word
from slant.collector.importing.people.columns import OURS
from slant.collector.importing.proposals import tables
from slant.collector.importing.proposals.columns import Roles, read_roles, reasons_of_roles
from slant.collector.importing.proposals.request_names import by_id, told_apart
from slant.collector.importing.renamed import Names, names
from slant.collector.providers import PROVIDERS
from slant.collector.reading.spelling import folded
from slant.collector.studies.catalogue import list_studies, load_study
from slant.collector.system.files import write_file
from slant.collector.system.scratch import temporary_folder
from slant.collector.terminal import count_text

STUDY_FILE = "study.toml"
UNNAMED = "unnamed"
_UNNAMED_ROWS = f"model: not in the files, so all rows are called {UNNAMED} (or say --model NAME)"
_LONGEST_LABEL = 60
_MOST_CELLS = 2_000_000
_PROVIDERS = (
    (r"(?:chat)?gpt-[345]|o[134](?:-|$)|text-davinci", "openai"),
    (r"claude", "anthropic"),
    (r"gemini", "gemini"),
    (r"deepseek-(?:chat|reasoner)", "deepseek"),
)
"""Who serves a model of this name; all others are taken for local ones."""


@dataclass(frozen=True)
class ProposedImport:
    """Hold a study for some files: the folder and the text of each file in it, what was taken for what, and what comes
    next. `model` is what `--model` must say, None if the files name their models."""

    folder: Path
    files: dict[str, str]
    design: str
    taken: tuple[str, ...]
    remarks: tuple[str, ...]
    left: tuple[str, ...]
    fit: str
    model: str | None
    layout: str = "tidy"
    values: tuple[str, ...] = ()
    table: str = ""
    why: tuple[str, ...] = ()

    def write(self) -> Path:
        """Write the study file and those next to it. UsageError, and nothing written, where one is there
        already.
        """
        for name in self.files:
            if (self.folder / name).exists():
                raise UsageError(
                    f"Can't propose a study: {self.folder / name} is there already.",
                    f"Import with that: --study ./{self.folder}/{STUDY_FILE}, or move {self.folder} away.",
                )
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            write_file(self.folder / name, text)
        return self.folder / STUDY_FILE


def propose_study(
    paths: Iterable[str | Path],
    columns: Sequence[str] = (),
    map_models: Sequence[str] = (),
    model: str | None = None,
    decimal: str | None = None,
    on_rows: Callable[[int], None] | None = None,
    *,
    is_of_people: bool = False,
    without: Sequence[str] = (),
) -> ProposedImport:
    """Propose a study for these files; nothing is written. The arguments are those of
    `import_trials`; `is_of_people`: people have answered, as the layout "people" says; `without`: columns of the files
    that are nothing of a study.

    UsageError if no column can be the answer, or no design fits: it says what each column was taken for.
    """
    with TableFiles(paths) as written:
        unread = tables.check_rows(written)
        tables.check_columns(written)
        tables.check_tasks(written)
        is_said = model is not None or any({"answer", "model"} & _names_in(text) for text in columns)
        wide = [] if is_said or is_of_people else tables.columns_of_models(written) or tables.models_of_files(written)
        files = tables.as_long(written, wide) if wide else written
        for name in without:
            if not any(tidy_name(name) in file.columns for file in files):
                raise UnknownNameError(f"column (of --not) in {files[0].name}", name, files[0].columns)
        roles = read_roles(files, columns, without)
        tables.check_lists(files, roles.mapping)
        source = files[0].name if len(files) == 1 else f"{count_text(len(files), 'file')} from {files[0].name} on"
        taken = list(roles.taken)
        typed = [part.strip() for text in columns for part in text.split(",")]
        taken += _said_of_models(wide)
        remarks = (*unread, *(remark for file in written for remark in file.remarks))
        nested = [] if wide or is_of_people or not roles.has_fields else tables.nested_columns(files, roles.mapping)
        inner = [
            *typed,
            *(wide or [part for part in nested if part.partition("=")[0] not in _names_in(",".join(typed))]),
        ]
        shown = tables.as_long(written, inner) if inner else written
        by_name = [roles.answer] if roles.answer and not nested and not typed else []
        table = partial(_from_table, shown, typed, by_name, map_models, model, decimal, source, inner, without)
        failures: list[str] = []
        has_counts = False
        if not is_of_people and ("answer" in roles.ours or "answer" in files[0].columns):
            given = list(roles.mapping)
            if "model" not in roles.ours and model is None:
                given.append(f"model=={UNNAMED}")
                taken.append(_UNNAMED_ROWS)
            cells, models, has_counts = _cells(files, names(given, map_models, decimal), roles, on_rows)
            for design in sorted(
                map(design_named, design_names()), key=lambda design: (design.imports.proposal_place, design.name)
            ):
                if design.analyses.counts_tokens and not has_counts:
                    lacking = "it needs a count of tokens, and no column was found that has one"
                    failures.append(f"Not {design.name}: {lacking}.")
                    continue
                try:
                    study = design.imports.proposed_study(cells)
                except StudyError as error:
                    failures += [f"Not {design.name}: {error.what}."] if error.what else []
                    continue
                mapping = [*wide, *_from_one(given, cells)]
                why = reasons_of_roles(files[0], roles, without)
                made = _made(files[0], source, design.name, study, mapping, map_models, models, model, taken)
                return replace(made, remarks=(*remarks, *made.remarks), left=roles.left, why=tuple(why))
        elif not is_of_people:
            failures = ["No column with answers was found: name it by --map answer=COLUMN."]
        proposed, more = table()
        if proposed is None:
            raise _no_study(files[0], taken, roles, *failures, *more)
        # of files with counts of tokens an association study may have been meant
        meant = failures if has_counts else []
        return replace(proposed, remarks=(*remarks, *proposed.remarks, *meant))


def _from_table(
    files: Sequence[TableFile],
    typed: Sequence[str],
    by_name: Sequence[str],
    map_models: Sequence[str],
    model: str | None,
    decimal: str | None,
    source: str,
    inner: Sequence[str],
    without: Sequence[str],
) -> tuple[ProposedImport | None, list[str]]:
    """Return a study by what each row says was shown or played; else why there is none. `inner`: what the files are
    mapped by already, `typed` of it by a person."""
    said = {name for part in typed for name in part.partition("=")[0].split(":")}
    answers = ["answer"] if "answer" in said else []
    n_per_row = max([1, *(len(columns) for file in files[:1] for *_, columns in names(inner).plan(_plain(file)).long)])
    forced = frozenset(said - {"answer", "model", *_PLACED})
    table = tables.answer_table(files, answers, without, n_per_row=n_per_row, decimal=decimal, forced=forced)
    found = tables.study_from_table(table)
    if isinstance(found, list) and by_name and not answers and by_name[0] in table.columns:
        found = tables.study_from_table(replace(table, answers=by_name))
    if isinstance(found, list):
        return None, found
    design, study = found
    taken = _said_of_models([part for part in inner if part not in typed])
    long = [part for part in inner if ":" in part.partition("=")[0]]
    mapping, plain = tables.within([*(study.mapping or ())], [part for part in inner if part not in long])
    inner = [*long, *plain]
    named: list[str] = []
    if study.layout == "tidy" and table.model is None and model is None:
        mapping.append(f"model=={UNNAMED}")
        taken.append(_UNNAMED_ROWS)
        named = [UNNAMED]
    elif study.layout == "tidy" and model is None:
        named = table.levels(table.model or "")
    of_files = {part.partition("=")[2].removesuffix("+1") for part in mapping}
    taken += [f"{part.partition('=')[0]}: {part.partition('=')[2]}" for part in mapping if "==" not in part]
    of_files |= {part.partition("=")[2] for part in study.mapping or ()}
    used = of_files | {name for part in of_files for name in part.split(":")}
    text = "\n".join(study.files.values())
    used |= {*TAKEN, *OF_GAMES, *OURS, "task", "place", "template"}
    used |= {name.partition("#")[0] for name in used}
    left = tuple(
        name
        for name in table.columns
        if name not in used and "#" not in name and not re.search(rf"\b{re.escape(name)}\b", text)
    )
    of_all = model if study.layout == "tidy" else None
    made = _made(files[0], source, design, study, [*inner, *mapping], map_models, named, of_all, taken)
    return replace(made, left=left, why=tuple(tables.reasons_of_table(table, study))), []


def _made(
    file: TableFile,
    source: str,
    design: str,
    study: ProposedStudy,
    mapping: Sequence[str],
    map_models: Sequence[str],
    models: Sequence[str],
    model: str | None,
    taken: Sequence[str],
) -> ProposedImport:
    """Return the proposal without what is said of columns, after a check that its study can be read. `models` are
    those that rows name, `model` the one of all rows if a person said it."""
    known, model_maps = _models(models if model is None else [model])
    maps = [*map_models, *(model_maps if model is None else [])]
    folder = Path(_name_of(file))
    texts = _texts(folder.name, design, source, study, known, mapping, maps, taken)
    _check(texts)
    asked = known[0][0] if model else None
    own = (study.layout, study.values, study.table)
    return ProposedImport(folder, texts, design, tuple(taken), study.remarks, (), study.fit, asked, *own)


_PLACED = ("test", "wording", "repetition", "task", "place", "participant", "item:answer")


def _plain(file: TableFile) -> TableFile:
    return TableFile(file.name, file.path, file.kind, file.remarks)


def _said_of_models(mapping: Sequence[str]) -> list[str]:
    return [f"{part.partition('=')[0].replace(':', ' and ')}: {part.partition('=')[2]}" for part in mapping]


def _names_in(mapping: str) -> set[str]:
    return {name.strip() for part in mapping.split(",") for name in part.partition("=")[0].split(":")}


_ONLY_NUMBERS = (
    "The names of requests (custom_id) say nothing of what was asked, as in emily-nurse-1: if that is in the file that "
    "was sent, put its columns next to these by custom_id (a join in R or pandas), and import the result."
)


def _no_study(file: TableFile, taken: Sequence[str], roles: Roles, *reasons: str) -> UsageError:
    return UsageError(
        f"No study can be proposed for {file.name}.",
        *reasons,
        f"Columns were read as: {'; '.join(taken) or 'none'}.",
        *([f"Not taken: {', '.join(roles.left[:20])}."] if roles.left else []),
        *tables.lists_inside(file),
        *([_ONLY_NUMBERS] if roles.has_ids and not {"condition", "item"} & roles.ours else []),
        "If that is wrong, type --map condition=COLUMN,item=COLUMN. Or write a study: collect studies new --help",
    )


def _cells(
    files: Sequence[TableFile], called: Names, roles: Roles, on_rows: Callable[[int], None] | None
) -> tuple[AnsweredCells, list[str], bool]:
    """Return the number of rows of each cell in the files, the models in the order of rows, and whether any row has a
    count."""
    cells: Counter[AnsweredCell] = Counter()
    models: dict[str, None] = {}
    has_counts = False
    is_by_id = roles.has_ids and not {"condition", "item"} <= roles.ours
    rows = (row for file in files for row in called.rows(file) if isinstance(row, Row))
    for number, row in enumerate(rows, start=1):
        if on_rows and number % 500 == 0:
            on_rows(500)
        known = {ALIASES.get(name, name): cell for name, cell in row.cells.items()} | dict(row.cells)
        if is_missing(known.get("answer")):
            continue
        if not is_empty(known.get("model")):
            models[called.model(word(known["model"]))] = None
        has_counts = has_counts or any(not is_empty(known.get(name)) for name in COUNTS)
        answer = word(known["answer"])
        said = map(known.get, AnsweredCell._fields[:-1])
        place = ["" if is_empty(value) else composed(word(value)) for value in said]
        if is_by_id:
            place = by_id(known, place)
        cells[AnsweredCell._make((*place, answer if len(answer) <= _LONGEST_LABEL else ""))] += 1
        if len(cells) > _MOST_CELLS:
            raise UsageError(f"No study can be proposed: the files have more than {_MOST_CELLS:,} different cells.")
    return (told_apart(cells) if is_by_id else cells), list(models), has_counts


def _from_one(mapping: Sequence[str], cells: AnsweredCells) -> list[str]:
    """Return the mapping with 1 added to wordings that the files count from 0."""
    if "0" not in values_of(cells, "wording"):
        return list(mapping)
    plain = [part for part in mapping if not part.startswith("wording=")]
    column = next((part.partition("=")[2] for part in mapping if part.startswith("wording=")), "wording")
    return [*plain, f"wording={column}" if column.endswith("+1") else f"wording={column}+1"]


def _models(named: Sequence[str]) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return id, provider and requested name of each model, and what `--map-model` must say of other names."""
    known: dict[str, tuple[str, str, str]] = {}
    maps = []
    for name in named:
        if name.startswith("simulated/"):
            raise UsageError(f'Rows of "{name}" can\'t be imported: an import would make them look like real answers.')
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name.rpartition("/")[2]).strip("-._")[:60] or "model"
        made = plain
        while made.casefold() in {other.casefold() for other in known}:
            made = f"{plain}-{len(known) + 1}"
        provider, slash, requested = name.partition("/")
        if not slash or provider not in PROVIDERS:
            provider = next((who for pattern, who in _PROVIDERS if re.match(pattern, plain.casefold())), "local")
            requested = name
        known[made] = (made, provider, requested)
        if made != name:
            maps.append(f"{name}={made}")
    return list(known.values()), maps


def _name_of(file: TableFile) -> str:
    stem = Path(file.name).name.split(".")[0]
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", folded(stem)).strip("_-")[:40] or "answers"
    return f"{name}_study" if name in list_studies() or not name[0].isalnum() else name


def _texts(
    name: str,
    design: str,
    source: str,
    study: ProposedStudy,
    models: Sequence[tuple[str, str, str]],
    mapping: Sequence[str],
    map_models: Sequence[str],
    taken: Sequence[str],
) -> dict[str, str]:
    head = [
        f"# Proposed by `collect import` for {_comment(source)}. Check it, and correct what is wrong:",
        *(f"#   {_comment(text)}" for text in (*taken, *study.remarks)),
        "",
        f"name = {toml_text(name)}",
        f"title = {toml_text(name)}",
        f"design = {toml_text(design)}",
        "seed = 1",
    ]
    own = study.files[STUDY_FILE]
    after = ["", "# What `collect import` takes the columns and models of the files for.", "[import]"]
    after.append(f"map = [{', '.join(map(toml_text, mapping))}]")
    if map_models:
        after.append(f"map_models = [{', '.join(map(toml_text, map_models))}]")
    for made, provider, requested in models:
        after += ["", "[[models]]", f"model = {toml_text(made)}", f"provider = {toml_text(provider)}"]
        after += [f"requested_model = {toml_text(requested)}"] if requested != made else []
    return {**study.files, STUDY_FILE: "\n".join([*head, own.rstrip("\n"), *after]) + "\n"}


def _comment(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _check(texts: dict[str, str]) -> None:
    """Check that the study can be read before it is written."""
    with temporary_folder("proposal") as place:
        for file, text in texts.items():
            write_file(place / file, text)
        try:
            load_study(place / STUDY_FILE)
        except (StudyError, DesignError) as error:
            raise UsageError("No study can be proposed: " + error.what, *error.details) from None

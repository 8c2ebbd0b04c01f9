"""Factors of a study and their levels: the name in every table, the text that is shown, and what else a level is.

A factor is a list of levels (`gender = ["woman", "man"]`), a table with texts (`job = { levels = { nurse = "a nurse" }
}`, by template where they differ: `nurse = { english = "a nurse", dutch = "een verpleegkundige" }`), a file with the
columns level, perhaps text (or text_TEMPLATE), and more (a property of a level, such as a name's gender, is a factor of
the analysis, too), files that are a level each, or edits of the levels of another factor: each changes
one document in one place (or in several, one row each), and each place is found exactly once, because a text that is
found twice or nowhere would change something else than its row says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, TypeGuard

from slant.collector.designs.factorial.edits import Edits, check_edits, read_edits
from slant.collector.errors import StudyError, UnknownNameError, check_known
from slant.collector.study.crossed_fits import WORDS_OF_R
from slant.collector.study.folder import NOTES, OF_TEMPLATE, StudyFolder, csv_header, csv_rows
from slant.collector.study.toml_table import Table, shortened

ABSENT = ""
"""Name of the level of a nested factor where it does not exist."""


def is_file(value: Any, templates: Sequence[str] = ()) -> TypeGuard[Mapping[str, str]]:
    """Return whether a value names a file whose text is meant: { file = "letter.txt" }."""
    return isinstance(value, dict) and set(value) == {"file"} and "file" not in templates


def literal_text(text: str, names: Sequence[str]) -> str:
    """Return a text of a file as a template: the placeholders of these names, every other brace doubled."""
    known = "|".join(map(re.escape, names)) or "(?!)"
    return re.sub(rf"(\{{(?:{known})\}})|[{{}}]", lambda match: match[1] or match[0] * 2, text)


def document_rows(patterns: Sequence[str], folder: StudyFolder) -> list[dict[str, str]]:
    """Return a level for each file: its name without its ending, its text to the byte."""
    files = dict.fromkeys(name for pattern in patterns for name in folder.names(pattern))
    return [{"level": PurePosixPath(name).stem, "text": folder.text(name)} for name in files]


RESERVED = frozenset({
    "source", "study", "study_version", "variant", "run_id", "trial_id", "task", "model", "model_label", "model_no",
    "participant", "response_time_ms", "is_error", "phase", "respondent", "persona", "test", "test_label", "test_no",
    "question", "kind", "about", "condition", "template",
    "wording", "repetition", "position", "plan_position", "n_profiles", "attribute_order", "direction", "low", "high",
    "answer", "outcome", "is_refusal", "is_valid", "detail", "rating", "scored", "chosen", "choice", "number",
    "measured", "text", "prompt", "attributes", "tokens", "token_source", "latency_s", "cost_usd", "served_model",
    "served_model_differs",
    "profiles", "profile", "intercept", *WORDS_OF_R,
})  # fmt: skip
"""Names of columns that the views of this design have themselves, and words of R: no factor can be called so."""
_NAME = re.compile(r"(?=.{1,40}$)[a-z][a-z0-9]*(?:_[a-z0-9]+)*")  # brms takes no __ and no _ at the end
_BAD = re.compile(r'[\x00-\x1f"\\]')
_LONGEST = 200
MOST_LEVELS = 10_000


@dataclass(frozen=True, slots=True)
class Level:
    """Hold one level. `texts` by template, "" for all others; `more` are the values of the factor's further columns."""

    name: str
    texts: Mapping[str, str]
    more: tuple[str, ...] = ()

    def text(self, template: str) -> str:
        """Return the text of the level in a prompt of this template."""
        return self.texts.get(template, self.texts.get("", ""))


@dataclass(frozen=True)
class Factor:
    """Hold one factor, its levels in the study's order, the reference first. `columns` are properties of a level;
    `edits` change the texts of another factor; levels in `equal` may send the same text. Literal texts, of models,
    are searched for no placeholder. A factor `within` another (its name, some of its levels) exists at these alone; its
    last level, ABSENT, is for all others."""

    name: str
    label: str
    levels: tuple[Level, ...]
    columns: tuple[str, ...] = ()
    edits: Edits | None = None
    equal: frozenset[str] = frozenset()
    is_literal: bool = False
    within: tuple[str, frozenset[str]] | None = None

    @cached_property
    def by_name(self) -> Mapping[str, Level]:
        return {level.name: level for level in self.levels}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of what a trial keeps of this factor: its own, then those of its further columns."""
        return (self.name, *self.columns)

    def values(self, number: int) -> tuple[str, ...]:
        """Return the stored values of a level."""
        return (self.levels[number].name, *self.levels[number].more)

    def levels_of(self, name: str) -> tuple[str, ...]:
        """Return the levels of the factor, or of one of its further columns, each once."""
        place = self.names.index(name)
        values = dict.fromkeys(self.values(number)[place] for number in range(len(self.levels)))
        return tuple(value for value in values if value != ABSENT or self.within is None)


def parse_factor(
    name: str, table: Table, folder: StudyFolder, templates: Sequence[str], *, may_be_empty: bool = False
) -> Factor:
    """Read one factor; StudyError if it breaks the rules. `may_be_empty`: of a persona, which may be nobody."""
    checked_column(name, table.where)
    where = f'the factor "{name}" of {table.where}'
    value = table.optional(name, (list, dict), "a list of levels or a table")
    label, edits, is_written, is_literal = name.replace("_", " ").capitalize(), None, False, False
    equal: tuple[str, ...] = ()
    within = None
    if isinstance(value, list):
        rows = _listed(value, table, name, folder)
    else:
        own = table.table(name)
        label = own.text("label", label)
        edits = read_edits(own, name, folder) if own.has("of") else None
        rows = edits.rows if edits else _rows(own, name, folder, templates)
        within = _within(own) if own.has("within") else None
        is_literal = own.has("from")
        equal = tuple(row["level"] for row in rows) if is_literal else own.texts("equal", ())
        is_written = isinstance(own.optional("levels", (list, dict), "a list or a table"), dict)
        own.finish()
    named = dict.fromkeys(column for row in rows for column in row if column not in ("level", "text"))
    columns = tuple(column for column in named if not column.startswith(OF_TEMPLATE))

    def is_lacking(text: str | None) -> bool:  # an empty cell of a file is a slip, an empty text of a table is meant
        return not may_be_empty and (text is None if is_written else not text)

    levels = tuple(_level(row, columns, templates, where, is_lacking) for row in rows)
    names = [level.name for level in levels]
    for unknown in set(equal) - set(names):
        raise UnknownNameError(f"level (of equal) in {where}", unknown, names)
    _check_levels(levels, where, templates, frozenset(equal))
    for column in columns:
        checked_column(column, where)
    levels = levels if within is None else (*levels, Level(ABSENT, {"": ""}, (ABSENT,) * len(columns)))
    return Factor(name, label, levels, columns, edits, frozenset(equal), is_literal, within)


def _within(own: Table) -> tuple[str, frozenset[str]]:
    """Read `within`: the one factor, and those of its levels, at which this one exists."""
    row, names = own.table("within"), list(own.mapping("within"))
    if len(names) != 1:
        raise StudyError(
            f"{row.where} must name one factor, with the levels of it at which this one exists.",
            'As in: within = { scenario = "potluck" }',
        )
    value = row.optional(names[0], (str, list), "a level or a list of levels")
    return names[0], frozenset([value] if isinstance(value, str) else row.texts(names[0]))


def checked_column(name: str, where: str) -> str:
    """Return a name that can be a column of tables and a term of formulas; StudyError for another one."""
    if not _NAME.fullmatch(name):
        raise StudyError(
            f'In {where}, "{shortened(name)}" can\'t be the name of a factor.',
            "A name has small letters, digits and single underscores between them, starts with a letter, and has at "
            "most 40 characters.",
        )
    if name in WORDS_OF_R:
        raise StudyError(
            f'In {where}, no factor can be called "{name}": in a formula it is a word of R.',
            f'Call it, for example, "{name}_factor".',
        )
    if name in RESERVED:
        raise StudyError(f'In {where}, no factor can be called "{name}": tables have a column of that name.')
    return name


def _listed(value: list[object], table: Table, name: str, folder: StudyFolder) -> list[dict[str, str]]:
    if value and all(isinstance(level, dict) for level in value):
        columns = dict.fromkeys(key for level in value if isinstance(level, dict) for key in level)
        return folder.rows(table, name, ("level",), may=tuple(key for key in columns if key != "level"))
    if not all(isinstance(level, str | int | float) and not isinstance(level, bool) for level in value):
        raise StudyError(f'The levels of "{name}" in {table.where} must be texts or numbers.')
    names = [f"{level:g}" if isinstance(level, float) else str(level) for level in value]
    return [{"level": name.strip()} | ({"text": name} if name != name.strip() else {}) for name in names]


def _rows(own: Table, name: str, folder: StudyFolder, templates: Sequence[str]) -> list[dict[str, str]]:
    files = own.optional("files", (str, list), "a pattern of file names, or a list of them")
    if files is not None:
        own.texts("files") if isinstance(files, list) else own.text("files")
        documents = document_rows([files] if isinstance(files, str) else files, folder)
        return _with_columns(documents, own, name, folder) if own.has("file") else documents
    if own.has("from"):
        return _answer_rows(own, folder)
    if own.has("file"):
        return _file_rows(own, name, folder)
    levels = own.optional("levels", (list, dict), "a list of levels, or a table of their texts")
    if isinstance(levels, list):
        return _listed(levels, own, "levels", folder)
    return [_texts(name, text, own.where, templates, folder) for name, text in (levels or {}).items()]


def _answer_rows(own: Table, folder: StudyFolder) -> list[dict[str, str]]:
    """Return a level for each answer to a question of another study, named by its trial, with what is known of it."""
    name, question = own.text("from"), own.text("question", "")
    text = folder.text(name) if name.endswith(".csv") else folder.answers(name)
    more = tuple(column for column in csv_header(text) if column not in ("trial_id", *NOTES))
    rows = [row for row in csv_rows(text, name, ("trial_id",), more) if row.get("outcome", "answered") == "answered"]
    asked = dict.fromkeys(row.get("question", "") for row in rows)
    if question not in (asked if len(asked) != 1 else ("", *asked)):
        raise UnknownNameError(f"question (of the answers in {own.where})", question, asked)
    rows = [row for row in rows if not question or row["question"] == question]
    kept = {column: column for column in more if column.startswith("of_")}
    kept |= {"of_model": "model"} if "model" in more and "of_model" not in more else {}
    full = {ours: theirs for ours, theirs in kept.items() if all(row[theirs] for row in rows)}
    texts = [row.get("text") or row.get("answer", "") for row in rows]
    properties = [{ours: row[theirs] for ours, theirs in full.items()} for row in rows]
    return [{"level": row["trial_id"], "text": t, **of} for row, t, of in zip(rows, texts, properties, strict=True)]


def _with_columns(documents: list[dict[str, str]], own: Table, name: str, folder: StudyFolder) -> list[dict[str, str]]:
    """Return the documents with the properties that a CSV has of each; StudyError unless both have the same levels."""
    rows = {row["level"]: row for row in _file_rows(own, name, folder)}
    names = [row["level"] for row in documents]
    if unknown := [level for level in (*names, *rows) if (level in rows) != (level in names)]:
        where = "no row" if unknown[0] in names else "no document"
        raise StudyError(f'The level "{shortened(unknown[0])}" of {own.where} has {where}: "file" has a row for each.')
    return [{**rows[row["level"]], **row} for row in documents]


def _file_rows(own: Table, name: str, folder: StudyFolder) -> list[dict[str, str]]:
    header = csv_header(folder.text(own.text("file")))
    tidy = {column: re.sub(r"\s+", "_", column.strip().lower()) for column in header}
    if len(set(tidy.values())) < len(tidy):
        tidy = {column: column for column in header}
    level = next((c for known in ("level", name) for c in header if tidy[c] == known), "level")
    tidy |= {level: "level"}  # or a column of the factor's own name
    more = tuple(column for column in header if column not in (level, *NOTES))
    rows = folder.rows(own, "file", (level,), may=more)
    return [{tidy.get(column, column): cell for column, cell in row.items()} for row in rows]


def _texts(name: str, text: object, where: str, templates: Sequence[str], folder: StudyFolder) -> dict[str, str]:
    if is_file(text, templates):
        return {"level": name, "text": folder.text(text["file"])}
    if isinstance(text, dict):
        for template, shown in text.items():
            if template not in templates:
                raise UnknownNameError(f'template (of the level "{name}") in {where}', str(template), templates)
            if not isinstance(shown, str):
                raise StudyError(f'The level "{name}" in {where} must have a text for "{template}".')
        return {"level": name, **{f"{OF_TEMPLATE}{template}": shown for template, shown in text.items()}}
    if not isinstance(text, str):
        raise StudyError(f'The level "{name}" in {where} must have a text, or a table of texts by template.')
    return {"level": name, "text": text}


def _level(
    row: Mapping[str, str],
    columns: Sequence[str],
    templates: Sequence[str],
    where: str,
    is_lacking: Callable[[str | None], bool],
) -> Level:
    name = _with_curly_quotes(row["level"])
    if not name or _BAD.search(name) or len(name) > _LONGEST:
        raise StudyError(
            f'A level of {where} can\'t be called "{shortened(name)}".',
            f"A level's name has 1 to {_LONGEST} characters, and no quotes, backslashes or line breaks: give its text "
            f'apart, as in {{ levels = {{ short_name = "The text" }} }}.',
        )
    texts = {key.removeprefix(OF_TEMPLATE): text for key, text in row.items() if key.startswith(OF_TEMPLATE)}
    for template in texts:
        check_known(f"template (of a column text_…) in {where}", template, templates)
    if "text" in row or not texts:
        texts[""] = row.get("text", row["level"])
    lacking = next((template for template in templates if is_lacking(texts.get(template, texts.get("")))), None)
    if lacking is not None:
        of = f' in the template "{lacking}"' if "" not in texts else ""
        raise StudyError(f'The level "{name}" of {where} has no text{of}.')
    more = tuple(_with_curly_quotes(row.get(column, "")) for column in columns)
    for column, value in zip(columns, more, strict=True):
        if not value or _BAD.search(value) or len(value) > _LONGEST:
            raise StudyError(f'The level "{name}" of {where} has no usable value in the column "{column}".')
    return Level(name, texts, more)


def _with_curly_quotes(name: str) -> str:
    """Return the name of a level in tables: what is shown keeps its straight quotes, and imports know either."""
    return name.replace('"', "”")


def _check_levels(levels: tuple[Level, ...], where: str, templates: Sequence[str], equal: frozenset[str]) -> None:
    if not levels:
        raise StudyError(f"{where.capitalize()} has no levels.")
    if len(levels) > MOST_LEVELS:
        raise StudyError(f"{where.capitalize()} has {len(levels):,} levels; at most {MOST_LEVELS:,} can be shown.")
    names: set[str] = set()
    for level in levels:
        name = unicodedata.normalize("NFC", level.name)  # readers, imports and eyes can't distinguish é from e + accent
        if name in names:
            raise StudyError(f'The level "{level.name}" of {where} is given twice.')
        names.add(name)
    for template in templates:
        shown: dict[str, str] = {}
        for level in levels:
            other = shown.setdefault(level.text(template), level.name)
            if other != level.name and not {other, level.name} <= equal:
                raise StudyError(
                    f'The levels "{other}" and "{level.name}" of {where} have the same text.',
                    f'If that is intended (a control), declare it: equal = ["{other}", "{level.name}"]',
                )


def check_documents(factors: Sequence[Factor], where: str) -> None:
    """Raise StudyError for an edit that its documents lack, and for levels that name each other."""
    by_name = {factor.name: factor for factor in factors}
    for factor in factors:
        if factor.edits is None:
            continue
        if factor.edits.of == factor.name or factor.edits.of not in by_name:
            raise UnknownNameError(f'factor (of "{factor.name}") in {where}', factor.edits.of, by_name)
        documents = {level.name: tuple(level.texts.values()) for level in by_name[factor.edits.of].levels}
        check_edits(factor.edits, documents, f'the factor "{factor.name}" of {where}')
    filling_order(factors)


def filling_order(factors: Sequence[Factor]) -> dict[str, frozenset[str]]:
    """Return the factors that levels of each factor name in braces, in the order in which their texts are filled:
    each after those that it names. StudyError if two name each other.
    """
    names = {
        factor.name: _named_in(texts, factors) - {factor.name}
        for factor in factors
        for texts in [[] if factor.is_literal else [t for level in factor.levels for t in level.texts.values()]]
    }
    for factor in factors:
        literal = {other.name for other in factors if other.is_literal}
        if factor.edits is not None and factor.edits.of not in literal:  # what an edit writes is a text of the document
            replaced = [new for changes in factor.edits.changes.values() for _, new in changes]
            names[factor.edits.of] |= _named_in(replaced, factors)
    ordered: dict[str, frozenset[str]] = {}
    while left := {name: others for name, others in names.items() if name not in ordered}:
        ready = {name: others for name, others in left.items() if others <= set(ordered)}
        if not ready:
            raise StudyError(f"The levels of {' and '.join(left)} name each other in braces.")
        ordered |= ready
    return ordered


def _named_in(texts: Sequence[str], factors: Sequence[Factor]) -> frozenset[str]:
    return frozenset(factor.name for factor in factors if any(f"{{{factor.name}}}" in text for text in texts))

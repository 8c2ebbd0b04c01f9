"""Files with a column for each model: seen as long ones, with the mapping that makes them so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from slant.collector.importing.column_names import names_in
from slant.collector.importing.files.records import Problem, Row
from slant.collector.importing.files.table_file import TableFile
from slant.collector.importing.proposals.columns import MODEL, fields_inside
from slant.collector.importing.renamed import FILE, Names, names, starred

_STEMS = names_in("of_models")
_OF_MODELS = {*names_in("table")["model"]} - {"agent"} | {"modèle"}
_LONGEST = 60
_MOST_LEVELS = 200
_OF_TRIALS = frozenset({
    "inputs", "input", "metadata", "meta", "vars", "variables", "params", "parameters", "stimulus", "stimuli", "trial",
    "item", "design", "factors", "condition", "conditions", "attributes", "profile", "vignette", "persona", "example",
    "record", "row",
})  # fmt: skip
"""Tables inside records that say what was shown; scores and events of a log do not."""
_OF_ANSWERS = (*_STEMS, "model", "input_tokens")
_SIGNS = set(",=*:")
_NO_MODELS = frozenset({
    "reason", "reasons", "reasoning", "note", "notes", "comment", "comments", "why", "explanation", "justification",
    "rationale", "prompt", "input", "text", "id", "time", "date", "version", "source", "label", "labels", "score",
    "scores", "rating", "ratings", "answer", "answers", "response", "responses", "output", "outputs", "name", "type",
    "count", "length", "tokens", "correct", "is", "has", "cost", "error", "status", "confidence", "summary", "run",
})  # fmt: skip
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
    for path, values in fields_inside(files).items():
        if words_of(path)[0] not in _OF_TRIALS or "[" in path:
            continue
        levels = set(values) - {""}
        if path in paths or not 1 < len(levels) <= _MOST_LEVELS or max(map(len, levels)) > _LONGEST:
            continue
        words = words_of(path)
        name = next((name for name in (words[-1], "_".join(words[-2:])) if name not in taken), None)
        if name is not None and len(levels) * 2 <= len(values):
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

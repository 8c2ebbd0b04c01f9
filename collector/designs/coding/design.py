"""Ask the coding design: a coder reads a text and says which codes of a codebook it gets.

A trial is one text. Its `item` is the id of the coded trial (or any other name of a text), so that codings lie next to
what they are of in the view `second_codings`. What else is known of a text, as who was described in the prompt that it
answers, is kept with the trial and never shown to the coder; neither is a first coding by rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.analyses import Analyses, ReportPart, Vocabulary
from slant.collector.designs.asks import Asks, Question
from slant.collector.designs.coding.codebook import Codebook, parse_codebook
from slant.collector.designs.coding.corrected_fits import AGREEMENT, UNDECIDED, fits_of_codes
from slant.collector.designs.coding.reads import CodingReads, check_typed_code
from slant.collector.designs.coding.simulated import CodingSimulates, CodingSimulation, parse_simulation
from slant.collector.designs.design import Design, Imports
from slant.collector.designs.people import Cells, RowPlacer, cell_text
from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError, UsageError
from slant.collector.records import Trial
from slant.collector.sources import PEOPLE
from slant.collector.stable_ids import stable_id
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import Condition, StudyFile, StudyModel, TestInfo, numbered
from slant.collector.study.toml_table import Table, checked_name

COLUMNS = ("item", "text")
OPTIONAL = ("test", "condition", "first_coding")
"""List what a file of texts may have besides: `first_coding` is a code that a rule has given, or empty."""
TESTS = "texts"
RULE = "local/rule"
"""Name the coder of what a form has read."""


@dataclass(frozen=True, slots=True)
class CodedText:
    """Hold one text to be coded: what the coder sees of it besides (`shown`), and what nobody shows it (`factors`)."""

    test: str
    condition: str
    text: str = field(repr=False)
    first_coding: str
    shown: Mapping[str, str]
    factors: Mapping[str, str]

    @property
    def mark(self) -> str:
        """Return the mark at the beginning and the end of the text in a prompt: no text has a hash of itself in it, so
        none can end before its end and continue as an instruction."""
        return stable_id("text", self.text)[:8]


@dataclass(frozen=True, slots=True)
class CodingData:
    """Hold `Study.data` of a coding study: the texts by id, in the file's order. `factors` have the levels of what is
    known of a text, the reference first (none: any value); `cluster` names the one that texts share, `linked` pairs of
    which some combinations were forbidden. `rule_decides`: models code only texts without a `first_coding`; those that
    have one are the coder RULE's."""

    prompt: str
    codebook: Codebook
    texts: Mapping[str, CodedText]
    factors: Mapping[str, tuple[str, ...]]
    cluster: str
    simulation: CodingSimulation
    rule_decides: bool = False
    linked: tuple[tuple[str, str], ...] = ()

    def labels(self, item: str) -> dict[str, str]:
        """Return the labels that a coder sees for each code, of this text."""
        named = {code.name: code.label.format(**self.texts[item].shown) for code in self.codebook.codes}
        return {name: named.get(name, name) for name in self.codebook.names}


class CodingAnalyses(Analyses):
    vocabulary = Vocabulary(answers="codings", test="set of texts", measured="the codes that a coder gives to a text")
    fits = staticmethod(fits_of_codes)
    figures: Mapping[str, str] = {"confusion": "coding_confusion"}
    report_parts = (
        ReportPart(
            "coded_texts",
            "codings",
            ("coding_counts",),
            ("How far coders agree and whether their errors differ: analyze agreement.",),
        ),
        ReportPart(
            "corrected",
            "corrected for the coder's errors",
            ("corrected_estimates",),
            (
                'Report the rows "corrected": they are right whatever the coder\'s errors are. "coder" takes its codes '
                'as truth, "people" uses their texts alone.',
            ),
            is_open=True,
        ),
    )

    def conditions(self, data: CodingData) -> tuple[Condition, ...]:
        return numbered(dict.fromkeys(text.condition for text in data.texts.values()))

    def attributes(self, data: CodingData) -> Mapping[str, tuple[str, ...]]:
        return {name: levels for name, levels in data.factors.items() if levels}

    def own_columns(self, data: CodingData) -> tuple[str, ...]:
        return tuple(data.factors)

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[Any, ...]]:
        return super().factor_levels(study) | dict(self.attributes(study.data))


class CodingImports(Imports):
    def sheet(self, study: StudyFile, columns: Sequence[str], coders: Sequence[str]) -> dict[str, Any]:
        """Return the import rules for a file of codes: those of coders that are models of the study, or named with a
        provider, as models', all others as people's, whose names are kept to tell coders apart."""
        code = next((name for name in ("code", "label") if name in columns), None)
        named = next((name for name in ("item", "trial_id", "text") if name in columns), None)
        if not {"coder", "text_hash"} & set(columns):
            return {}
        if code is None or named is None or "coder" not in columns:
            raise UsageError(
                "A file of codes has the columns item (or text), coder and code.", f"It has: {', '.join(columns)}."
            )
        renamed = [f"answer={code}", *([f"item={named}"] if named != "item" else [])]
        known = {model.model for model in study.models}
        models = [name for name in coders if name in known or "/" in name]
        if models and len(models) < len(coders):
            people = next(name for name in coders if name not in models)
            raise UsageError(
                f'The file has codes of people ("{people}") and of models ("{models[0]}").',
                "Import each in a file of its own; a person who is called as a model is needs another name.",
            )
        if models:
            return {"layout": "tidy", "columns": [*renamed, "model=coder"]}
        return {
            "layout": "people", "columns": [*renamed, "participant=coder"], "person": ["coder=coder"],
            "consent": "coders of this study, not its participants", "origin": "codes of a sheet or page of this study",
        }  # fmt: skip

    def row_columns(self, data: CodingData) -> tuple[str, ...]:
        return ("text", "text_hash")

    def row_placer(self, study: StudyFile) -> RowPlacer:
        """Return the function that finds the item of a row that has its text alone, and refuses one whose text was
        edited since, and a code of a person's that the codebook lacks."""
        data: CodingData = study.data
        by_text = {text.text.strip(): item for item, text in data.texts.items()}

        def placed(cells: Cells) -> dict[str, Any]:
            named = cell_text(cells, "item") or cell_text(cells, "text")
            item = named if named in data.texts else by_text.get(named, "")
            if not item:
                if named:  # a text may be a person's: it is not shown
                    what = f'"{named}"' if len(named.split()) < 3 and len(named) < 40 else "a text"
                    raise StudyError(f"is of {what}, none of the study's {len(data.texts):,} texts")
                return {}
            said, code = cell_text(cells, "text_hash"), cell_text(cells, "answer")
            if said and said != data.texts[item].mark:
                raise StudyError("is of a text that was edited after it was coded: have it coded again")
            if not code or cell_text(cells, "model"):  # a model may have answered in prose
                return {"item": item}
            typed = re.sub(r"^(\d+)\.0+$", r"\1", code)  # pandas writes numbers next to empty cells so
            check_typed_code(typed, data.codebook, data.labels(item), in_sheet=bool(said))
            return {"item": item, "answer": typed}

        return placed


class CodingAsks(Asks):
    def questions(self, study: StudyFile, model: StudyModel) -> Iterator[Question]:
        data: CodingData = study.data
        for item, coded in data.texts.items():
            if data.rule_decides and coded.first_coding and model.model not in ("", RULE, PEOPLE):
                continue
            yield Question(
                test=coded.test,
                condition=coded.condition,
                item=item,
                group="",
                wording=1,
                factors={
                    "kind": data.codebook.kind,
                    "first_coding": coded.first_coding or None,
                    "order": list(data.codebook.order(study.seed, item)),
                    "names": list(coded.factors),
                    "levels": list(coded.factors.values()),
                },
            )

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        data: CodingData = study.data
        coded = data.texts[trial.item]
        codes = data.codebook.shown(trial.factors["order"], coded.shown)
        marked = f"<text {coded.mark}>\n{coded.text}\n</text {coded.mark}>"
        return data.prompt.format(codes=codes, text=marked, **coded.shown)


class Coding(Design):
    name = "coding"
    asks = CodingAsks()
    simulates = CodingSimulates()
    reads = CodingReads()
    imports = CodingImports()
    analyses = CodingAnalyses()
    starts = ("texts", "two_options")

    def parse(self, table: Table, folder: StudyFolder) -> CodingData:
        shown = table.texts("shown", ())
        factors = _factors(table.mapping("factors"), table.where, shown)
        cluster = table.text("cluster", "")
        if cluster and cluster not in factors:
            raise StudyError(f'The cluster "{cluster}" is none of [factors], which list what is known of a text.')
        linked = _linked(table.texts("linked", ()), factors)
        prompt = table.table("prompt")
        text = prompt.text("text")
        check_placeholders(text, ("codes", "text"), shown, prompt.where)
        prompt.finish()
        codebook = parse_codebook(table.table("codebook"), shown)
        texts: dict[str, CodedText] = {}
        for row in folder.rows(table, TESTS, (*COLUMNS, *shown), (*OPTIONAL, *factors)):
            _check_row(row, texts, codebook, factors, table.where)
            first = row.get("first_coding", "")
            rule = "" if "first_coding" not in row else AGREEMENT if first else UNDECIDED
            texts[row["item"]] = CodedText(
                row.get("test") or TESTS,
                row.get("condition") or rule or TESTS,
                row["text"],
                first,
                {name: row[name] for name in shown},
                {name: row[name] for name in factors if name in row},
            )
        if not texts:
            raise StudyError(f"{table.where} has no text to code.")
        simulation = parse_simulation(table.table("simulation"), codebook, factors)
        rule_decides = table.flag("rule_decides", False)
        return CodingData(text, codebook, texts, factors, cluster, simulation, rule_decides, linked)

    def tests(self, data: CodingData) -> tuple[TestInfo, ...]:
        tests = [text.test for text in data.texts.values() if not (data.rule_decides and text.first_coding)]
        return tuple(
            TestInfo(test, number, test, tests.count(test), ("",))
            for number, test in enumerate(dict.fromkeys(text.test for text in data.texts.values()), start=1)
        )


DESIGN = Coding()


def _factors(table: Mapping[str, Any], where: str, shown: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    factors = {}
    for name, levels in table.items():
        checked_name(name, "factor")
        if name in (*COLUMNS, *OPTIONAL):
            raise StudyError(f'"{name}" is a column of every file of texts, and no factor ({where}).')
        if name in shown:
            raise StudyError(f'"{name}" is both in shown and in [factors]: a coder either sees it or does not.')
        if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
            raise StudyError(f'The factor "{name}" of {where} must be a list of its levels, the reference first.')
        factors[name] = tuple(levels)
    return factors


def _linked(pairs: Sequence[str], factors: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    found = [(one, other) for one, _, other in (pair.partition(":") for pair in pairs)]
    named = [name for pair in found for name in pair]
    if unknown := [name for name in named if not factors.get(name)]:
        raise StudyError(f'linked names "{unknown[0]}", which [factors] gives no levels: as in "education:job".')
    if len(set(named)) < len(named):
        raise StudyError("Each factor is linked to one other at most.")
    return tuple(found)


def _check_row(
    row: Mapping[str, str],
    texts: Mapping[str, CodedText],
    codebook: Codebook,
    factors: Mapping[str, tuple[str, ...]],
    where: str,
) -> None:
    """Raise StudyError for a row without its text, of a text that is there already, or with what the study lacks."""
    item = row["item"][:80]
    if empty := [name for name, cell in row.items() if not cell and name not in (*OPTIONAL, *factors)]:
        raise StudyError(f'A text of {where} is incomplete: item "{item}" has no {empty[0]}.')
    if row["item"] in texts:
        raise StudyError(f'The item "{item}" is there twice in {where}.')
    first = row.get("first_coding", "")
    if first and first not in codebook.names:
        raise StudyError(f'The first_coding of the item "{item}" must be a code or empty, but is "{first[:40]}".')
    for name, levels in factors.items():
        if levels and row.get(name, "") not in ("", *levels):
            raise StudyError(f'The {name} of the item "{item}" is "{row[name][:40]}", which is not one of its levels.')

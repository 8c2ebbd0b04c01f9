"""Ask the coding design: a model reads an answer of another study and says to which of two options something was given.

A trial is one answer. Its `item` is the id of the coded trial, so that both codings are next to each other in the view
`second_codings`; the first coding is kept with the trial and never shown to the model.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from slant.collector.designs.analyses import Analyses
from slant.collector.designs.asks import Asks, Question
from slant.collector.designs.declared import Vocabulary
from slant.collector.designs.design import Design
from slant.collector.designs.draws import log_normal, simulated_reply, uniforms
from slant.collector.designs.reads import Reads
from slant.collector.designs.simulates import Simulates
from slant.collector.designs.wordings import check_placeholders
from slant.collector.errors import StudyError
from slant.collector.reading.labels import read_label
from slant.collector.reading.phrases import is_refusal, refusal_detail
from slant.collector.reading.spelling import folded, unwrapped, without_markdown
from slant.collector.records import Reading, Reply, Trial
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import Condition, StudyFile, StudyModel, TestInfo, numbered
from slant.collector.study.toml_table import Table

COLUMNS = ("item", "test", "option_a", "option_b", "asked", "answer", "first_coding")
"""List the columns of a file of answers; `first_coding` is a, b or empty."""
PLACEHOLDERS = ("option_1", "option_2", "answer")
AGREEMENT, UNDECIDED = "agreement", "undecided"
"""Name the conditions: answers that were coded before, and those that were not."""
NEITHER = "neither"
"""Code an answer that gives it to neither option, or doesn't say."""
_LONGEST_READ = 2_000
_NUMBER = re.compile(r"(?<![\w.,])\(?([123])\b(?![.,]\d)")
_NEITHER = re.compile(
    r"(?:to )?(?:neither|none|both|nobody|no one|undecided|unclear|(?:can'?t|cannot) (?:tell|say|decide))"
    r"(?: of (?:them|these|the two)| of both)?"
)
_SHARE_RIGHT, _SHARE_NEITHER, _SHARE_REFUSED = 0.95, 0.3, 0.01
"""Set how often simulated models agree with a first coding, and how many other answers they leave open."""


@dataclass(frozen=True, slots=True)
class CodedAnswer:
    """Hold one answer to be coded. `asked` is what was given to one of the options; `first_coding` a, b or empty."""

    test: str
    option_a: str
    option_b: str
    asked: str
    answer: str = field(repr=False)
    first_coding: str

    @property
    def condition(self) -> str:
        return AGREEMENT if self.first_coding else UNDECIDED


@dataclass(frozen=True, slots=True)
class CodingData:
    """Hold `Study.data` of a coding study: the answers by the id of their trial, in the file's order."""

    text: str
    answers: Mapping[str, CodedAnswer]


class CodingAnalyses(Analyses):
    vocabulary = Vocabulary(measured="which of two options it gives to the answer that it codes")

    def conditions(self, data: CodingData) -> tuple[Condition, ...]:
        return numbered(dict.fromkeys(answer.condition for answer in data.answers.values()))


class CodingReads(Reads):
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        if reply.outcome is not None and reply.outcome != "answered":
            return Reading(reply.outcome)
        return read_coding(reply.answer or "", trial)


class CodingSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        u_refused, u_coding, u_neither, u_tokens = uniforms(seed, trial.model, trial.item, trial.repetition)
        first = trial.factors["first_coding"]
        coding = (first if u_coding < _SHARE_RIGHT else {"a": "b", "b": "a"}[first]) if first else None
        if coding is None:
            coding = NEITHER if u_neither < _SHARE_NEITHER else "a" if u_coding < 0.5 else "b"
        tokens = round(log_normal(120.0, 40.0, u_tokens))
        number = 3 if coding == NEITHER else 1 if coding == trial.factors["first_option"] else 2
        answer = "I'm sorry, but I can't help with that." if u_refused < _SHARE_REFUSED else str(number)
        return simulated_reply(answer, tokens, model, 2)


class CodingAsks(Asks):
    def questions(self, study: StudyFile, model: StudyModel) -> Iterator[Question]:
        data: CodingData = study.data
        for item, coded in data.answers.items():
            is_a_first = random.Random(f"coding\x1f{study.seed}\x1f{item}").random() < 0.5
            yield Question(
                test=coded.test,
                condition=coded.condition,
                item=item,
                group="",
                wording=1,
                option_a=coded.option_a,
                option_b=coded.option_b,
                factors={
                    "asked": coded.asked,
                    "first_coding": coded.first_coding or None,
                    "first_option": "a" if is_a_first else "b",
                },
            )

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        data: CodingData = study.data
        coded, options = data.answers[trial.item], (trial.option_a, trial.option_b)
        first, second = options if trial.factors["first_option"] == "a" else options[::-1]
        return data.text.format(option_1=first, option_2=second, asked=coded.asked, answer=coded.answer)


class Coding(Design):
    name = "coding"
    asks = CodingAsks()
    simulates = CodingSimulates()
    reads = CodingReads()
    analyses = CodingAnalyses()

    def parse(self, table: Table, folder: StudyFolder) -> CodingData:
        prompt = table.table("prompt")
        text = prompt.text("text")
        check_placeholders(text, PLACEHOLDERS, ("asked",), prompt.where)
        prompt.finish()
        answers = {}
        for row in folder.rows(table, "answers", COLUMNS):
            if not all(row[column] for column in COLUMNS[:-1]):
                raise StudyError(f'An answer of {table.where} is incomplete: item "{row["item"][:80]}".')
            if row["first_coding"] not in ("", "a", "b"):
                raise StudyError(f'The first_coding of the item "{row["item"][:80]}" must be a, b or empty.')
            if row["item"] in answers:
                raise StudyError(f'The item "{row["item"][:80]}" is there twice in {table.where}.')
            answers[row["item"]] = CodedAnswer(*(row[column] for column in COLUMNS[1:]))
        if not answers:
            raise StudyError(f"{table.where} has no answer to code.")
        return CodingData(text, answers)

    def tests(self, data: CodingData) -> tuple[TestInfo, ...]:
        tests = [answer.test for answer in data.answers.values()]
        return tuple(
            TestInfo(test, number, test, tests.count(test), ("",))
            for number, test in enumerate(dict.fromkeys(tests), start=1)
        )


DESIGN = Coding()


def read_coding(answer: str, trial: Trial) -> Reading:
    """Return the number of an answer (1 and 2: the options as they were shown, 3: neither) if it names only one, at its
    end if it is long; else an option whose name occurs without the other's.
    """
    text = without_markdown(answer[-_LONGEST_READ:])
    numbers = set(_NUMBER.findall(text))
    sides = ("a", "b") if trial.factors["first_option"] == "a" else ("b", "a")
    if len(numbers) == 1:
        return _coded((*sides, NEITHER)[int(numbers.pop()) - 1], trial)
    if not numbers and _NEITHER.fullmatch(unwrapped(folded(text))):
        return _coded(NEITHER, trial)
    if not numbers:
        options = _options(trial)
        read = read_label(text, tuple(options.values()), is_strict=False)
        if read.label is not None:
            return _coded(next(side for side, name in options.items() if name == read.label), trial)
        if is_refusal(text):
            return Reading("refused", detail=refusal_detail(text))
    detail = "several_numbers" if numbers else "no_number" if text.strip() else "empty"
    return Reading("malformed", detail=detail)


def _options(trial: Trial) -> dict[str, str]:
    return {"a": trial.option_a or "", "b": trial.option_b or ""}


def _coded(coding: str, trial: Trial) -> Reading:
    return Reading("answered", choice=_options(trial).get(coding), factors={"coding": coding})

"""Ask the forced-choice design: of two options A and B, both pairs of groups, which one holds a word's own?

A trial is word × condition × wording (Cohen & Kincaid, section 2). Blocks are asked one after the other; see
collector/designs/forced_choice/words.py for what is balanced and how.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slant.collector.designs.analyses import Analyses, Vocabulary
from slant.collector.designs.asks import Asks
from slant.collector.designs.design import Design, Imports, Reads
from slant.collector.designs.draws import deal_words
from slant.collector.designs.forced_choice.simulated import ForcedChoiceSimulates, parse_simulation
from slant.collector.designs.forced_choice.words import (
    ChoiceTest,
    ConsistentLetters,
    ForcedChoiceData,
    Place,
    Word,
    parse_tables,
    places,
)
from slant.collector.designs.plan import PromptIndex, QuestionPlan, trial_of
from slant.collector.designs.proposed_study import (
    AnsweredCell,
    AnsweredCells,
    ProposedStudy,
    ids_of,
    toml_text,
    two_conditions,
    values_of,
)
from slant.collector.designs.wordings import same_word, spoken_words
from slant.collector.errors import StudyError
from slant.collector.reading.letters import LETTERS, read_choice
from slant.collector.reading.spelling import folded
from slant.collector.records import Reading, Reply, Trial
from slant.collector.stable_ids import StableIds, stable_id
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import Condition, StudyFile, StudyModel, TestInfo, numbered
from slant.collector.study.toml_table import Table
from slant.collector.system.files import csv_text


class ForcedChoiceAnalyses(Analyses):
    vocabulary = Vocabulary(
        test="domain", measured="whether it chooses one of the two options, and the one that goes with the association"
    )
    trials_view = "forced_choice_trials"
    measured = ("forced_choice_trials", "is_consistent")
    checked_view = "forced_choice_checked"
    checks: Mapping[str, Mapping[str, Any]] = {
        "first_option": {"chosen": "chosen_letter", "first": "first_letter", "expected": "consistent_letter"},
        "order_effect": {"order": "expected_is_first"},
        "block_order": {"order": "block_position"},
        "left_out": {"parts": ["item", "wording", "repetition"]},
        "nothing_in_choices": {},
    }
    choice = "is_consistent"
    pairs_by = ("test", "item", "group", "wording", "repetition")

    def conditions(self, data: ForcedChoiceData) -> tuple[Condition, ...]:
        return numbered(data.conditions)

    def words(self, data: ForcedChoiceData) -> list[dict[str, str]]:
        return [
            {"test": test.test, "group": word.group, "word": word.word, **word.provenance}
            for test in data.tests.values()
            for word in test.words
        ]

    def own_words(self, data: ForcedChoiceData) -> set[str]:
        pairs = [pair for test in data.tests.values() for of_condition in test.pairs.values() for pair in of_condition]
        options = (text.lower() for _, text in pairs)
        return super().own_words(data) | spoken_words(options) | spoken_words(data.wordings.values())

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[Any, ...]]:
        data: ForcedChoiceData = study.data
        conditions, tests = data.conditions, tuple(data.tests)
        paper_words = {"block": conditions, "domain": tests}
        return {"condition": conditions, "test": tests, "wording": tuple(data.wordings), **paper_words}


class ForcedChoiceImports(Imports):
    proposal_place = 1

    def proposed_study(self, cells: AnsweredCells) -> ProposedStudy:
        return proposed_study(cells)

    def as_imported(self, planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
        """Return the trial with the row's sides: by the texts of its options, or by the letter of the
        consistent one. StudyError if it says neither, or both and they differ. `planned` has the study's texts on some
        side.
        """
        letter = _cell_text(draft.get("consistent_letter"))
        if not letter and _cell_text(draft.get("factors")):
            letter = _cell_text(trial.factors.get("consistent_letter"))
        if letter and letter.upper() not in LETTERS:
            raise StudyError(f'consistent_letter must be A or B, but is "{letter[:20]}"')
        letter = letter.upper()
        if _cell_text(draft.get("option_a")) or _cell_text(draft.get("option_b")):
            by_text = LETTERS[trial.expected != trial.option_a]
            if letter and letter != by_text:
                raise StudyError(f"consistent_letter is {letter}, but by its options it is {by_text}")
            return replace(trial, factors=_factors(planned, trial, draft, by_text))
        if not letter:
            raise StudyError("which option was A is not said (columns option_a and option_b, or consistent_letter)")
        consistent = planned.expected
        other = planned.option_b if consistent == planned.option_a else planned.option_a
        texts = (consistent, other) if letter == LETTERS[0] else (other, consistent)
        return replace(trial, option_a=texts[0], option_b=texts[1], factors=_factors(planned, trial, draft, letter))


class ForcedChoiceReads(Reads):
    answer_schema: Mapping[str, Any] | None = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(LETTERS)}},
        "required": ["answer"],
        "additionalProperties": False,
    }

    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        return read_choice(reply, (trial.option_a or "", trial.option_b or ""))


class ForcedChoiceAsks(Asks):
    def dealt(self, data: ForcedChoiceData, seed: int) -> ForcedChoiceData:
        tests: dict[str, ChoiceTest] = {}
        own: dict[tuple[str, str], str] = {}
        for name, test in data.tests.items():
            groups: dict[str, list[Word]] = {}
            for word in test.words:
                groups.setdefault(word.group, []).append(word)
            dealt = deal_words(groups, seed, name).items()
            words = tuple(replace(word, group=group) for group, words in dealt for word in words)
            tests[name] = replace(test, words=words)
            own |= {(name, word.word): word.group for word in test.words}
        return replace(data, tests=tests, own_groups=own)

    def plan(self, study: StudyFile, model: StudyModel, seed: int) -> Cells:
        return Cells(study, model, seed)

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        return rendered(study.data, trial)

    def contents(self, study: StudyFile) -> Iterator[str]:
        return (_content(study, test, n) for test in study.data.tests.values() for n in study.data.wordings)

    def _prompts(self, study: StudyFile, model: StudyModel) -> PromptIndex[tuple[Place, str]]:
        """Return the prompts by place, two of each: whichever letter the consistent option has in it."""
        cells = Cells(study, model, study.seed)

        def trial(at: tuple[Place, str]) -> Trial:
            return cells.trial(at[0], 0, at[1])

        both = [(place, letter) for place in cells.places(1) for letter in LETTERS]
        return PromptIndex(((at, self._prompt(study, model, trial(at))) for at in both), trial)


class ForcedChoice(Design):
    name = "forced_choice"
    asks = ForcedChoiceAsks()
    simulates = ForcedChoiceSimulates()
    reads = ForcedChoiceReads()
    imports = ForcedChoiceImports()
    analyses = ForcedChoiceAnalyses()

    def parse(self, table: Table, folder: StudyFolder) -> ForcedChoiceData:
        return parse_tables(table, folder, parse_simulation(table, folder))

    def tests(self, data: ForcedChoiceData) -> tuple[TestInfo, ...]:
        return tuple(
            TestInfo(
                test.test,
                test.test_no,
                test.label,
                2 * len(test.words) * len(data.wordings),
                tuple(dict.fromkeys(word.group for word in test.words)),
            )
            for test in data.tests.values()
        )


DESIGN = ForcedChoice()


class Cells(QuestionPlan[Place]):
    """Hold the cells of a study for one model, and the trials in them."""

    def __init__(self, study: StudyFile, model: StudyModel, seed: int) -> None:
        self._study, self._model, self._seed = study, model, seed
        self._data: ForcedChoiceData = study.data
        self._tests, self._wordings = list(self._data.tests.values()), list(self._data.wordings)
        self._letters = ConsistentLetters(self._data, seed)
        sent = [dict(model.settings), *(["structured_output"] if model.structured_output else [])]
        names = (study.name, study.variant, model.model, model.provider, model.requested_model)
        self._id = StableIds(*names, stable_id(*sent), seed)
        self._contents = [[_content(study, test, wording) for wording in self._wordings] for test in self._tests]

    def places(self, repetitions: int) -> Iterator[Place]:
        return places(self._data, self._model.model, self._seed, repetitions)

    def trial_id(self, place: Place) -> str:
        test = self._tests[place.test_no]
        word, wording = test.words[place.word_no], self._wordings[place.wording_no]
        content = self._contents[place.test_no][place.wording_no]
        end = StableIds.end(
            content, test.test, self._data.conditions[place.condition_no], word.group, word.word, wording
        )
        return self._id.of(place.repetition, end)

    def cell(self, place: Place) -> tuple[str, str]:
        return self._tests[place.test_no].test, self._data.conditions[place.condition_no]

    def trial(self, place: Place, position: int, letter: str | None = None) -> Trial:
        """Return the trial. `letter`: that of the consistent option; None takes that of the plan."""
        test, condition = self._tests[place.test_no], self._data.conditions[place.condition_no]
        word = test.words[place.word_no]
        letter = letter or self._letters.letter(place.test_no, place.word_no, place.wording_no, place.repetition)
        consistent, other = test.options(condition, word.group)
        is_a = letter == LETTERS[0]
        return trial_of(
            self._study,
            self._model,
            self.trial_id(place),
            test=test.test,
            condition=condition,
            item=word.word,
            group=word.group,
            wording=self._wordings[place.wording_no],
            option_a=consistent if is_a else other,
            option_b=other if is_a else consistent,
            expected=consistent,
            repetition=place.repetition,
            position=position,
            factors={
                "consistent_letter": letter,
                "block_position": place.block_position,
                "position_in_block": place.position_in_block,
                "tier": word.tier,
                "structured_output": self._model.structured_output,
            },
            content=self._contents[place.test_no][place.wording_no],
        )


def _content(study: StudyFile, test: ChoiceTest, wording: int) -> str:
    """Return the content of one test in one wording. All words are in it, for they share the letters among them."""
    pairs = {condition: [(sorted(bound), text) for bound, text in parts] for condition, parts in test.pairs.items()}
    words = [(word.group, word.word) for word in test.words]
    parts = (study.data.wordings[wording], study.data.conditions, pairs, words, study.temperature)
    return stable_id(study.asked_as, test.test, wording, *parts)[:12]


def rendered(data: ForcedChoiceData, trial: Trial) -> str:
    """Return the prompt of a trial, to the byte."""
    return data.wordings[trial.wording].format(option_a=trial.option_a, option_b=trial.option_b, word=trial.item)


_PLACES = ("block_position", "position_in_block")


def _factors(planned: Trial, trial: Trial, draft: Mapping[str, Any], letter: str) -> dict[str, Any]:
    """Return factors with the row's own places in the order of asking: those of the plan would be made up."""
    trial_factors = trial.factors if _cell_text(draft.get("factors")) else {}
    places = {name: _place(draft.get(name, trial_factors.get(name)), name) for name in _PLACES}
    enforced = _cell_text(draft.get("structured_output", trial_factors.get("structured_output")))
    tier = _cell_text(draft.get("tier", trial_factors.get("tier"))) or planned.factors.get("tier")
    return {"consistent_letter": letter, **places, "tier": tier, "structured_output": enforced.lower() in ("true", "1")}


def _place(value: Any, name: str) -> int | None:
    text = _cell_text(value).removesuffix(".0")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise StudyError(f'{name} must be a whole number, but is "{text[:20]}"')
    return int(text)


def _cell_text(value: Any) -> str:
    """Return a cell as text; empty if it is missing (null, NA, NaN)."""
    text = "" if value is None or value != value else str(value).strip()
    return "" if text == "NA" else text


_SEPARATORS = (" + ", " & ", " / ", "+", "/", "&", " and ", " or ", ", ")
_TEXT = "These answers were collected elsewhere.\nA: {option_a}\nB: {option_b}\nWord: {word}"


def proposed_study(cells: AnsweredCells) -> ProposedStudy:
    """Propose each test with its words by group, and the two pairs of groups that are its options in each
    condition."""
    if any(not (cell.option_a and cell.option_b) for cell in cells) or not cells:
        raise StudyError("each row has the texts that were A and B, in two columns, and these files have no such")
    conditions = two_conditions(cells)
    if not values_of(cells, "group"):
        raise StudyError("a column says which group each word belongs to, and none was found")
    tests = ids_of(values_of(cells, "test") or ["test"], "test")
    condition_ids = ids_of(conditions, "condition")
    separator = _separator(text for cell in cells for text in (cell.option_a, cell.option_b))
    stimuli: list[tuple[str, str, str]] = []
    pairs: list[tuple[str, str, str, str]] = []
    remarks: list[str] = []
    for name, test in tests.items():
        of_test = [cell for cell in cells if cell.test in ("", name)]
        words = {(cell.group, same_word(cell.item)): cell.item for cell in of_test}
        groups = list(dict.fromkeys(group for group, _ in words))
        stimuli += [(test, group, word) for (group, _), word in words.items()]
        for condition in conditions:
            bound = _pairs([cell for cell in of_test if cell.condition == condition], separator, groups)
            pairs += [(test, condition_ids[condition], first, second) for first, second in bound]
        remarks.append(f"{name}: {len(words)} words of {', '.join(groups)}")
    congruent, incongruent = (condition_ids[condition] for condition in conditions)
    numbers = [int(float(value)) for value in values_of(cells, "wording")] or [1]
    wordings = sorted({number + (0 in numbers) for number in numbers})
    return ProposedStudy(
        {
            "study.toml": _toml(congruent, incongruent, separator),
            "tests.csv": csv_text(("test", "label"), [(test, name) for name, test in tests.items()]),
            "stimuli.csv": csv_text(("test", "group", "word"), stimuli),
            "pairs.csv": csv_text(("test", "condition", "first_group", "second_group"), pairs),
            "wordings.csv": csv_text(("wording", "text"), [(str(number), _TEXT) for number in wordings]),
        },
        (f"{conditions[0]} is the congruent condition, {conditions[1]} the incongruent one", *remarks),
        "consistency",
    )


def _separator(texts: Iterable[str]) -> str:
    """Return the separator of the two groups in all options; StudyError if they are not pairs."""
    options = set(texts)
    for separator in _SEPARATORS:
        if all(len(text.split(separator)) == 2 for text in options):
            return separator
    raise StudyError(f'each option is a pair of groups, as in "Tea + Calm", and "{min(options)}" is none')


def _pairs(cells: Sequence[AnsweredCell], separator: str, groups: Sequence[str]) -> list[tuple[str, str]]:
    """Return the two pairs of a condition, with its groups spelled as in the words' column."""
    spelled = {folded(group): group for group in groups}
    pairs: dict[tuple[str, ...], tuple[str, str]] = {}
    for text in (text for cell in cells for text in (cell.option_a, cell.option_b)):
        first, second = (re.sub(r"\s+", " ", part).strip() for part in text.split(separator))
        if folded(first) not in spelled or folded(second) not in spelled:
            known = ", ".join(groups)
            raise StudyError(f'options are pairs of the groups of its words ({known}), and "{text}" is none')
        bound = (spelled[folded(first)], spelled[folded(second)])
        pairs.setdefault(tuple(sorted(bound)), bound)
    if len(pairs) != 2:
        raise StudyError(f"a test has two options in a condition, and there are {len(pairs)}")
    return list(pairs.values())


def _toml(congruent: str, incongruent: str, separator: str) -> str:
    levels = f"levels = {{ condition = [{toml_text(congruent)}, {toml_text(incongruent)}] }}"
    return f"""\
conditions = [{toml_text(congruent)}, {toml_text(incongruent)}]  # the congruent one first
tests = "tests.csv"                   # test, label
stimuli = "stimuli.csv"               # test, group, word
pairs = "pairs.csv"                   # test, condition, first_group, second_group

[prompt]
wordings = "wordings.csv"             # their texts are not in the files: write them there before you ask any model
pair_separator = {toml_text(separator)}

# What `analyze --fit NAME` does; `collect studies new NAME --design forced_choice` writes a study with more of them.
[fits.consistency]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_consistent ~ condition * model * test + (1 | item)"
settings = {{ family = "binomial" }}
{levels}

[fits.compliance]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_valid ~ condition * model * test + (1 | item)"
settings = {{ family = "binomial" }}
{levels}
"""

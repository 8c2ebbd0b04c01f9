"""Ask the association design: to which of two labels does a word go, under a rule that follows or crosses an
association?

A trial is word × wording × condition (Lee & Lai, section 2.2). The two conditions of a word and wording are
asked one after the other, in a seeded order.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from slant.collector.designs.analyses import Analyses, Vocabulary
from slant.collector.designs.asks import Asks
from slant.collector.designs.association.proposed import proposed_study
from slant.collector.designs.association.simulated import (
    AssociationSimulates,
    parse_simulation,
    remarks_on_simulation,
    remarks_on_words,
)
from slant.collector.designs.association.words import AssociationData, AssociationTest, check_names, parse_tables
from slant.collector.designs.design import Design, Imports, Reads, used_frames
from slant.collector.designs.draws import deal_words
from slant.collector.designs.placeholders import find_placeholders
from slant.collector.designs.plan import PromptIndex, QuestionPlan, trial_of
from slant.collector.designs.proposed_study import AnsweredCells, ProposedStudy
from slant.collector.designs.wordings import GROUPS, SIDES, spoken_words
from slant.collector.errors import StudyError, check_known
from slant.collector.reading.labels import answer_to_label
from slant.collector.records import REFUSAL_RULES, Reading, Reply, Trial
from slant.collector.stable_ids import StableIds, stable_id
from slant.collector.study import crossed_fits
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import Condition, Fit, StudyFile, StudyModel, TestInfo, numbered
from slant.collector.study.toml_table import Table

Cell = tuple[int, int, int]
"""Locate a trial: the number of its pair, of its condition in the pair (0 or 1), and the repetition from 1."""


class AssociationAnalyses(Analyses):
    counts_tokens = True
    vocabulary = Vocabulary(measured="the number of tokens of its reasoning, or of all of it (by the measure)")
    trials_view = "association_trials"
    measured = ("association_trials", "tokens")
    figures = dict.fromkeys(("tokens", "refusals", "token_steps", "same_words"), "")
    number_sources = ("topics",)
    pairs_by = ("test", "item", "group", "wording", "repetition")

    def conditions(self, data: AssociationData) -> tuple[Condition, ...]:
        return numbered(data.conditions)

    def words(self, data: AssociationData) -> list[dict[str, str]]:
        return [
            {"test": test.test, "group": test.group_names[side], "word": word}
            for test in data.tests.values()
            for side, words in test.words.items()
            for word in words
        ]

    def own_words(self, data: AssociationData) -> set[str]:
        names = [each for test in data.tests.values() for each in test.names.values()]
        labels = (each[label].lower() for each in names for label in ("label_a", "label_b"))
        return super().own_words(data) | spoken_words(labels) | spoken_words(data.wordings.values())

    def fits(self, study: StudyFile) -> dict[str, Fit]:
        """Return its mixed model and its model of counts. The first is over other words and wordings (a word in both
        groups is two words), the second a lognormal one of counts known only to a step, without and with words that
        vary."""
        own = crossed_fits.cell_model(dict(study.fits))
        if own is None or len(own.levels.get("condition", ())) != 2 or next(iter(own.levels)) != "condition":
            return {}
        asked = ([word for side in test.asked_sides for word in test.words[side]] for test in study.data.tests.values())
        is_nested = any(len(set(words)) < len(words) for words in asked)
        word = "group:item" if is_nested else "item"
        of_counts = {
            crossed_fits.CROSSED: crossed_fits.crossed_fit(own, word),
            crossed_fits.CENSORED: crossed_fits.censored_fit(own, word),
            crossed_fits.BAYES: crossed_fits.bayes_fit(own, word),
        }
        return of_counts | {crossed_fits.D_SCORE: crossed_fits.d_score_fit(own)}

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[Any, ...]]:
        data: AssociationData = study.data
        return super().factor_levels(study) | {"condition": data.conditions, "wording": tuple(data.wordings)}


class AssociationImports(Imports):
    layouts = ("lee-lai",)
    proposal_place = 2

    def proposed_study(self, cells: AnsweredCells) -> ProposedStudy:
        return proposed_study(cells)


class AssociationReads(Reads):
    refusal_rules = REFUSAL_RULES

    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        return answer_to_label(reply, (trial.option_a or "", trial.option_b or ""), item=trial.item)


class AssociationAsks(Asks):
    def dealt(self, data: AssociationData, seed: int) -> AssociationData:
        tests: dict[str, AssociationTest] = {}
        own_sides: dict[tuple[str, str], str] = {}
        for name, test in data.tests.items():
            groups = {side: test.words[side] for side in GROUPS}
            tests[name] = replace(test, words={**test.words, **deal_words(groups, seed, name)})
            own_sides |= {(name, word): side for side, words in groups.items() for word in words}
        return replace(data, tests=tests, own_sides=own_sides)

    def frames(self, data: AssociationData) -> tuple[str, ...]:
        return tuple(data.frames)

    def plan(self, study: StudyFile, model: StudyModel, seed: int) -> Cells:
        return Cells(study, model, seed)

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        return rendered(study.data, model.frame, trial)

    def contents(self, study: StudyFile) -> Iterator[str]:
        data: AssociationData = study.data
        return (_content(study, frame, test, n) for frame in data.frames for test in data.tests for n in data.wordings)

    def repeated(self, study: StudyFile, planned: Trial, repetition: int) -> Trial:
        """Return the repeated trial: in the balanced order options are reversed with each repetition."""
        if study.data.option_order != "balanced" or (repetition - planned.repetition) % 2 == 0:
            return planned
        first = planned.factors["first_option"]
        other = planned.option_b if first == planned.option_a else planned.option_a
        trial = planned.copy()
        trial.factors = {**planned.factors, "first_option": other}
        return trial

    def repetition_cycle(self, study: StudyFile) -> int:
        return 2 if study.data.option_order == "balanced" else 1

    def _prompts(self, study: StudyFile, model: StudyModel) -> PromptIndex[int]:
        cells = Cells(study, model, study.seed)

        def trial(number: int) -> Trial:
            repetition, number = divmod(number, 2 * len(cells))
            return cells.trial((number // 2, number % 2, repetition + 1), number)

        # in the balanced order the next repetition lists the other option first
        numbers = range(2 * len(cells) * (2 if study.data.option_order == "balanced" else 1))
        return PromptIndex(((no, self._prompt(study, model, trial(no))) for no in numbers), trial)


class Association(Design):
    name = "association"
    asks = AssociationAsks()
    simulates = AssociationSimulates()
    reads = AssociationReads()
    imports = AssociationImports()
    analyses = AssociationAnalyses()

    def parse(self, table: Table, folder: StudyFolder) -> AssociationData:
        return parse_tables(table, folder, parse_simulation(table, folder))

    def tests(self, data: AssociationData) -> tuple[TestInfo, ...]:
        return tuple(
            TestInfo(
                test.test,
                test.test_no,
                test.label,
                2 * len(test.asked) * len(data.wordings),
                tuple(test.group_names[side] for side in GROUPS),
            )
            for test in data.tests.values()
        )

    def remarks(self, study: StudyFile) -> list[str]:
        data: AssociationData = study.data
        sentences = []
        not_asked = sum(len(t.words[side]) for t in data.tests.values() for side in SIDES if side not in t.asked_sides)
        if not_asked:
            sentences.append(
                f"Not asked: the {not_asked} words of the attributes (ask_attributes = true asks them, too)."
            )
        if data.option_order == "rule":
            sentences.append(
                'The order of the options tells the condition: option_order = "rule" lists the option of group a first.'
                ' With "balanced" either comes first equally often, alike in both conditions.'
            )
        return [*sentences, *remarks_on_words(data), *remarks_on_simulation(study)]

    def check(self, study: StudyFile) -> None:
        data: AssociationData = study.data
        for frame, user in used_frames(study).items():
            check_known(f"frame (of {user})", frame, data.frames)
            for test in data.tests.values():
                if frame not in test.names:
                    raise StudyError(f'The test "{test.test}" has no names in the frame "{frame}", which {user} uses.')
                check_names(test, frame, data.frames[frame].template)


DESIGN = Association()


def paired_order(pairs: int, seed: int) -> Iterator[tuple[int, bool]]:
    """Yield the numbers below `pairs` in a seeded random order, each with a seeded coin: whether its second member is
    asked first.

    The members of a pair are to be asked one after the other, so that in every prefix of the plan the two arms
    differ by at most one trial. This takes four bytes per pair; the same seed gives the same order on every machine.
    """
    rng = random.Random(seed)
    order = array("I", range(pairs))
    rng.shuffle(order)
    for number in order:
        yield number, rng.random() < 0.5


def _goes_to_a(side: str, is_group_a_to_a: bool) -> bool:
    """Return whether the rule sends the words of this side to attribute a. Attributes' words go to their own label."""
    return (side == GROUPS[0]) == is_group_a_to_a if side in GROUPS else side == "attribute_a"


class Cells(QuestionPlan[Cell]):
    """Number the cells of a study for one model: pair number ↔ (test, word, wording), and the trials in
    them."""

    def __init__(self, study: StudyFile, model: StudyModel, seed: int) -> None:
        data: AssociationData = study.data
        self._study, self._model, self._data, self._seed = study, model, data, seed
        self._wordings = list(data.wordings)
        self._words = [(test, side, word) for test in data.tests.values() for side, word in test.asked]
        settings = stable_id(dict(model.settings))
        names = (study.name, study.variant, model.model, model.provider, model.requested_model)
        self._id = StableIds(*names, settings, seed)
        self._id_ends: list[bytes | None] = [None] * (2 * len(self))
        self._contents = {
            (test, wording): _content(study, model.frame, test, wording)
            for test in data.tests
            for wording in data.wordings
        }

    def __len__(self) -> int:
        return len(self._words) * len(self._wordings)

    def places(self, repetitions: int) -> Iterator[Cell]:
        for number, is_second_first in paired_order(len(self) * repetitions, self._seed):
            repetition, pair = divmod(number, len(self))
            yield pair, int(is_second_first), repetition + 1
            yield pair, int(not is_second_first), repetition + 1

    def trial_id(self, place: Cell) -> str:
        pair, condition_no, repetition = place
        end = self._id_ends[2 * pair + condition_no]
        if end is None:
            word_no, wording_no = divmod(pair, len(self._wordings))
            test, side, word = self._words[word_no]
            wording, condition = self._wordings[wording_no], self._data.conditions[condition_no]
            end = StableIds.end(self._contents[test.test, wording], test.test, condition, side, word, wording)
            self._id_ends[2 * pair + condition_no] = end
        return self._id.of(repetition, end)

    def cell(self, place: Cell) -> tuple[str, str]:
        pair, condition_no, _ = place
        return self._words[pair // len(self._wordings)][0].test, self._data.conditions[condition_no]

    def trial(self, place: Cell, position: int) -> Trial:
        pair, condition_no, repetition = place
        word_no, wording_no = divmod(pair, len(self._wordings))
        test, side, word = self._words[word_no]
        wording, condition = self._wordings[wording_no], self._data.conditions[condition_no]
        names = test.names[self._model.frame]
        label_a, label_b = names["label_a"], names["label_b"]
        is_group_a_to_a = condition_no == 0
        # In the balanced order half the words of each wording, and half the wordings of each word, list attribute a
        # first; both conditions of a pair list alike, so the order is the same in both arms by construction.
        is_a_first = (word_no + wording_no + repetition) % 2 == 1
        is_a_first = is_group_a_to_a if self._data.option_order == "rule" else is_a_first
        return trial_of(
            self._study,
            self._model,
            self.trial_id(place),
            test=test.test,
            condition=condition,
            item=word,
            group=test.group_names[side],
            wording=wording,
            option_a=label_a,
            option_b=label_b,
            expected=label_a if _goes_to_a(side, is_group_a_to_a) else label_b,
            repetition=repetition,
            position=position,
            factors={"first_option": label_a if is_a_first else label_b},
            content=self._contents[test.test, wording],
        )


def _content(study: StudyFile, frame: str, test_name: str, wording: int) -> str:
    """Return the content of one test in one wording: all that its prompts are made of, including the listed words."""
    data: AssociationData = study.data
    test, layout = data.tests[test_name], data.frames[frame]
    order = ["rule"]
    if data.option_order == "balanced":  # which option comes first goes by the numbers of words and wordings
        before = takewhile(lambda name: name != test_name, data.tests)
        n_before = sum(len(data.tests[name].asked) for name in before)
        order = ["balanced", *(f"{side} {word}" for side, word in test.asked)]
        order.append(str((n_before + list(data.wordings).index(wording)) % 2))
    used = find_placeholders(layout.template)
    listed = {
        name: text for name, text in test.texts(frame, layout).items() if name in used or name in ("label_a", "label_b")
    }
    parts = (layout.template, data.wordings[wording], data.conditions, order, listed, study.temperature)
    return stable_id(study.asked_as, frame, test_name, wording, *parts)[:12]


def rendered(data: AssociationData, frame: str, trial: Trial) -> str:
    """Return the prompt of a trial, to the byte: the frame's template around the wording."""
    test = data.tests[trial.test]
    a, b = test.names[frame]["label_a"], test.names[frame]["label_b"]
    first, second = (a, b) if trial.factors["first_option"] == a else (b, a)
    wording = data.wordings[trial.wording].format(word=trial.item, category_1=first, category_2=second)
    of_group_a, of_group_b = (a, b) if trial.condition == data.conditions[0] else (b, a)
    layout = data.frames[frame]
    return layout.template.format_map(
        {**test.texts(frame, layout), "category_1": of_group_a, "category_2": of_group_b, "wording": wording}
    )

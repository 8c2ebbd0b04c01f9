"""Ask the pairing design: each word of a list is to be given to one of two groups; one answer gives many pairs.

A trial is test × wording × draw: the word for each group, which of them comes first, and the order of the list are
drawn once for each test and draw, alike in all wordings (Bai et al. 2025, the word association test).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from slant.collector.designs.analyses import Analyses, Vocabulary
from slant.collector.designs.asks import Asks, Question
from slant.collector.designs.design import Design, Imports, Reads, Simulates
from slant.collector.designs.draws import deal_words, log_normal, read_simulation, simulated_reply, uniforms
from slant.collector.designs.pairing.published_lists import study_files
from slant.collector.designs.pairing.words import Lists, PairingData, PairingTest, Wording, parse_tables
from slant.collector.designs.wordings import ATTRIBUTES, GROUPS, spoken_words
from slant.collector.errors import StudyError
from slant.collector.reading.pairs import MISSING, Pairs, named_groups, read_pairs
from slant.collector.reading.phrases import is_refusal, refusal_detail
from slant.collector.records import Reading, Reply, Trial
from slant.collector.stable_ids import stable_id
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import Condition, StudyFile, StudyModel, TestInfo, numbered
from slant.collector.study.toml_table import Table

_LIMITS = {
    "bias": (-1.0, 1.0), "refusal_rate": (0.0, 1.0), "missing_rate": (0.0, 1.0), "mean_tokens": (0.0, 1e9),
    "sd_tokens": (0.0, 1e9),
}  # fmt: skip
"""Limit what is simulated by (model, test); `bias` is the expected D."""
_DEFAULT: Mapping[str, float] = {
    "bias": 0.4, "refusal_rate": 0.02, "missing_rate": 0.002, "mean_tokens": 400.0, "sd_tokens": 150.0,
}  # fmt: skip
_REFUSAL = "I'm sorry, but I can't assign words to groups of people."


class PairingSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return an answer drawn for this trial. If the study has no row for the model and test, a plain default is
        drawn.
        """
        data: PairingData = study.data
        cell = data.simulation.get((trial.model, trial.test), _DEFAULT)
        content = (seed, trial.study, trial.model, trial.test, trial.item, trial.wording, trial.repetition)
        u_refused, u_tokens, _, _ = uniforms(*content)
        tokens = round(log_normal(cell["mean_tokens"], cell["sd_tokens"], u_tokens))
        pairs = simulated_pairs(cell["bias"], cell["missing_rate"], trial, content, data.own_sides)
        return simulated_reply(_REFUSAL if u_refused < cell["refusal_rate"] else "\n".join(pairs), tokens, model)


def simulated_pairs(
    bias: float,
    missing_rate: float,
    trial: Trial,
    content: tuple[object, ...],
    own_sides: Mapping[tuple[str, str], str],
) -> list[str]:
    """Return a line for each word of the list, given to a group with the expected bias."""
    lines = []
    for word, pole in zip(trial.factors["words"], trial.factors["poles"], strict=True):
        own = own_sides.get((trial.test, word))
        is_positive = own == "attribute_a" if own else pole == "p"
        u_side, u_missing, _, _ = uniforms(*content, word)
        is_a = (u_side < (1 + bias) / 2) == is_positive
        if u_missing >= missing_rate:
            lines.append(f"{word} - {trial.option_a if is_a else trial.option_b}")
    return lines


POLES = dict(zip(ATTRIBUTES, "pn", strict=True))
"""Mark in a trial's factors which attribute a word belongs to: "p" (the positive one, a) or "n"."""


class WordListAnalyses(Analyses):
    """Share what designs need whose tests have lists of words by side (PairingTest)."""

    def words(self, data: Any) -> list[dict[str, str]]:
        return [
            {"test": test.test, "group": test.group_names[side], "word": word}
            for test in data.tests.values()
            for side in (*GROUPS, *ATTRIBUTES)
            for word in dict.fromkeys(word for name in test.lists for word in test.words(name)[side])
        ]


class WordListAsks(Asks):
    """Deal the words of such tests."""

    def dealt(self, data: Any, seed: int) -> Any:
        tests: dict[str, PairingTest] = {}
        own_sides: dict[tuple[str, str], str] = {}
        for name, test in data.tests.items():
            lists = {}
            for of in test.lists:
                words = {side: test.words(of)[side] for side in ATTRIBUTES}
                lists[of] = {**test.lists[of], **deal_words(words, seed, name, of)}
                own_sides |= {(name, word): side for side, group in words.items() for word in group}
            tests[name] = replace(test, lists=lists)
        return replace(data, tests=tests, own_sides=own_sides)


class PairingAnalyses(WordListAnalyses):
    vocabulary = Vocabulary(condition="wording", measured="which of two groups it pairs each word with")
    trials_view = "pairing_trials"
    measured = ("pairing_trials", "d")
    checked_view = "pairing_trials"
    figures = dict.fromkeys(("bias", "bias_heatmap"), "pairing_bias")

    def conditions(self, data: PairingData) -> tuple[Condition, ...]:
        return numbered(wording.condition for wording in data.wordings.values())

    def own_words(self, data: PairingData) -> set[str]:
        return super().own_words(data) | spoken_words(wording.text for wording in data.wordings.values())

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[Any, ...]]:
        data: PairingData = study.data
        conditions = tuple(wording.condition for wording in data.wordings.values())
        return super().factor_levels(study) | {"condition": conditions, "wording": tuple(data.wordings)}

    def facts(self, trial: Mapping[str, Any]) -> dict[str, str]:
        return {name: text for name, text in super().facts(trial).items() if name not in ("words", "poles")}


class PairingImports(Imports):
    layouts = ("bai", "downstream")

    def published_study(self, template: Mapping[str, str], folder: Path) -> dict[str, str]:
        return study_files(template["study.toml"], folder)

    def as_imported(self, planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
        """Return the imported trial: a row that gives the list as it was shown (its factors) keeps it; otherwise the
        words are those of the plan, in an unknown order, and so are the names of the groups.
        """
        shown = (draft.get("option_a") or None, draft.get("option_b") or None)
        if "words" in trial.factors and trial.factors is not planned.factors:
            return replace(trial, option_a=shown[0], option_b=shown[1], factors=checked_list(trial.factors))
        known = {name: planned.factors[name] for name in ("words", "poles")}
        return replace(trial, option_a=shown[0], option_b=shown[1], factors={**known, "first_option": None})


class PairingReads(Reads):
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        if reply.outcome is not None and reply.outcome != "answered":
            return Reading(reply.outcome)
        answer = reply.answer or ""
        groups = self._groups(study.data, trial)
        pairs = read_pairs(answer, trial.factors["words"], groups)
        counted = counted_pairs(trial, pairs)
        if trial.option_a is None or trial.option_b is None:
            counted |= {f"named_{side}": name for side, name in named_groups(answer, groups).items()}
        if pairs.n_given:
            return Reading("answered", factors=counted)
        if set(pairs.sides) == {MISSING} and is_refusal(answer):
            return Reading("refused", detail=refusal_detail(answer), factors=counted)
        return Reading("malformed", detail="no_pair" if answer.strip() else "empty", factors=counted)

    def _groups(self, data: PairingData, trial: Trial) -> dict[str, str]:
        """Return the possible names of the groups: the two that were shown, or all if that is
        unknown.
        """
        if trial.option_a and trial.option_b:
            return {trial.option_a: "a", trial.option_b: "b"}
        words = data.tests[trial.test].words(data.wordings[trial.wording].words)
        return {word: side[-1] for side in GROUPS for word in words[side]}


class PairingAsks(WordListAsks):
    def questions(self, study: StudyFile, model: StudyModel) -> Iterator[Question]:
        data: PairingData = study.data
        for test in data.tests.values():
            for number in range(data.draws):
                for wording_no, wording in data.wordings.items():
                    yield _question(data, test, wording_no, wording, number, study.seed)

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        data: PairingData = study.data
        return rendered(data, data.wordings[trial.wording], trial)

    def contents(self, study: StudyFile) -> Iterator[str]:
        return (_content(study, test, number) for test in study.data.tests for number in study.data.wordings)

    def content(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        return _content(study, trial.test, trial.wording)


class Pairing(Design):
    name = "pairing"
    asks = PairingAsks()
    simulates = PairingSimulates()
    reads = PairingReads()
    imports = PairingImports()
    analyses = PairingAnalyses()

    def parse(self, table: Table, folder: StudyFolder) -> PairingData:
        return parse_tables(table, folder, read_simulation(table, folder, ("model", "test"), _LIMITS))

    def tests(self, data: PairingData) -> tuple[TestInfo, ...]:
        planned = data.draws * len(data.wordings)
        return tuple(TestInfo(t.test, t.test_no, t.label, planned, (t.group,)) for t in data.tests.values())


DESIGN = Pairing()


def _question(
    data: PairingData, test: PairingTest, wording_no: int, wording: Wording, number: int, seed: int
) -> Question:
    """Return a question; its draws depend only on the study's seed, the test and the draw; a list of other words is
    shuffled alike, place by place.
    """
    rng = random.Random("\x1f".join(map(str, ("pairing", seed, test.test, number))))
    words = test.words(wording.words)
    name_a, name_b, is_a_first = draw_names(rng, words, GROUPS, data.order, number, seed, test.test)
    return Question(
        test=test.test,
        condition=wording.condition,
        item=f"draw {number + 1}",
        group=test.group,
        wording=wording_no,
        option_a=name_a,
        option_b=name_b,
        factors={"first_option": name_a if is_a_first else name_b, **listed_words(words, rng)},
    )


def listed_words(words: Lists, rng: random.Random | None = None) -> dict[str, Any]:
    """Return the words of both attributes as the factors of a trial have them: shuffled, or as the study lists them."""
    listed = [(word, POLES[side]) for side in ATTRIBUTES for word in words[side]]
    if rng is not None:
        rng.shuffle(listed)
    return {"words": [word for word, _ in listed], "poles": "".join(pole for _, pole in listed)}


def _content(study: StudyFile, test: str, number: int) -> str:
    """Return the content of all draws of one test in one wording: the lists that they are drawn from, and the seed."""
    data: PairingData = study.data
    wording = data.wordings[number]
    words = data.tests[test].words(wording.words)
    shown = (wording.text, data.before, data.separator, data.after)
    return stable_id(study.asked_as, test, number, words, shown, data.order, study.seed, study.temperature)[:12]


def draw_names(
    rng: random.Random, words: Lists, sides: tuple[str, str], order: str, number: int, *seed: object
) -> tuple[str, str, bool]:
    """Return a word from each of two sides, and whether that of the first comes first in the prompt."""
    draws, coin = (rng.random(), rng.random()), rng.random()
    if order == "balanced":  # complete rounds through both lists of names, each in a new order
        name_a, name_b = (_in_turn(words[side], number // 2, *seed, side) for side in sides)
        return name_a, name_b, number % 2 == 0
    name_a, name_b = (words[side][int(draw * len(words[side]))] for side, draw in zip(sides, draws, strict=True))
    return name_a, name_b, coin < 0.5


def _in_turn(names: tuple[str, ...], number: int, *seed: object) -> str:
    """Return the name at this place of a drawn order, in which each comes once before any comes again."""
    turn, place = divmod(number, len(names))
    return random.Random("\x1f".join(map(str, (*seed, turn)))).sample(names, len(names))[place]


def rendered(data: PairingData, wording: Wording, trial: Trial) -> str:
    """Return the prompt of a trial, to the byte."""
    first = trial.factors["first_option"]
    second = trial.option_b if first == trial.option_a else trial.option_a
    words = data.before + data.separator.join(trial.factors["words"]) + data.after
    return wording.text.format(group_1=first, group_2=second, words=words)


def counted_pairs(trial: Trial, pairs: Pairs) -> dict[str, Any]:
    """Return the pairs as the factors of a trial keep them: `assigned` goes with `words` and `poles`, character by
    character, and the four counts that D is made of.
    """
    each = list(zip(pairs.sides, trial.factors["poles"], strict=True))
    counts = {f"n_{side}_{pole}": each.count((side, pole)) for side in "ab" for pole in "pn"}
    odd = {"n_invented": pairs.n_invented, "n_repeated": pairs.n_repeated, "n_unread": pairs.n_unread}
    return {"assigned": pairs.sides, "reading": pairs.reading, **counts, **odd}


def checked_list(factors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the factors of an imported row that the plan decides; the reading is made again."""
    words, poles = factors.get("words"), factors.get("poles")
    if not (isinstance(words, list) and words and all(isinstance(word, str) and word for word in words)):
        raise StudyError("the words of its factors must be a list of texts")
    if not (isinstance(poles, str) and len(poles) == len(words) and set(poles) <= set(POLES.values())):
        raise StudyError('the poles of its factors must have one character, "p" or "n", for each word')
    unknown_order = {"is_order_known": False} if factors.get("is_order_known") is False else {}
    return {"first_option": factors.get("first_option"), "words": words, "poles": poles, **unknown_order}

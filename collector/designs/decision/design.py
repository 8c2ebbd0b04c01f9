"""Ask the decision design: two people are described, and one of two things is decided for each (Bai et al. 2025, the
relative decision test); before that the words of a list may be paired with their groups (its chained form).

A trial is one turn of a conversation, or one message with all tasks. The word for each group and each attribute, and
which of them comes first, is drawn once for each test and draw, alike in all wordings.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slant.collector.designs.analyses import Vocabulary
from slant.collector.designs.asks import Question
from slant.collector.designs.decision.imported import ASKED, MadeDecisions, study_files
from slant.collector.designs.decision.scenes import (
    BETWEEN,
    TASKS,
    Conversations,
    DecisionData,
    DecisionSimulates,
    Scene,
    Task,
    parse_scenes,
)
from slant.collector.designs.design import Design, Imports, Reads, ended_early
from slant.collector.designs.pairing.design import (
    WordListAnalyses,
    WordListAsks,
    checked_list,
    counted_pairs,
    draw_names,
    listed_words,
)
from slant.collector.designs.pairing.words import Lists
from slant.collector.designs.people import PeopleUnits
from slant.collector.designs.plan import Plan, ShuffledQuestions
from slant.collector.designs.wordings import ATTRIBUTES, GROUPS, spoken_words
from slant.collector.errors import StudyError
from slant.collector.reading.decisions import people_in, read_decision, split_tasks
from slant.collector.reading.labels import read_label
from slant.collector.reading.pairs import Pairs, named_groups, read_pairs
from slant.collector.reading.phrases import REFUSAL, is_refusal, refusal_detail
from slant.collector.records import Conversation, Prompt, Reading, Reply, Trial, Turn
from slant.collector.stable_ids import stable_id
from slant.collector.study.records import Condition, StudyFile, StudyModel, TestInfo, numbered

OF_ATTRIBUTES = ("attribute_a", "attribute_b", "attribute_1", "attribute_2")
SIDES_OF_ATTRIBUTES = {"a": "attribute_a", "b": "attribute_b"}
_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_NOT_SHOWN = ("words", "poles", "tasks")
_IN_WORDS = ("first_group", "first_attribute", "attribute_a", "attribute_b", "attribute_b_to")


class DecisionAnalyses(WordListAnalyses):
    vocabulary = Vocabulary(condition="wording", measured="which of two groups it decides for")
    trials_view = "decision_trials"
    checked_view = "decision_trials"
    figures: Mapping[str, str] = {"bias": "pairing_bias", "bias_heatmap": "decision_bias", "decisions": "decision_bias"}
    compared = ("decision_trials", "decision_bias")
    compared_items = ("item", "wording")

    def conditions(self, data: DecisionData) -> tuple[Condition, ...]:
        return numbered(data.wordings.values())

    def own_words(self, data: DecisionData) -> set[str]:
        texts = (task.text for scene in data.scenes.values() for task in scene.tasks)
        return super().own_words(data) | spoken_words(texts)

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[Any, ...]]:
        data: DecisionData = study.data
        return super().factor_levels(study) | {
            "condition": tuple(data.wordings.values()),
            "wording": tuple(data.wordings),
        }

    def facts(self, trial: Mapping[str, Any]) -> dict[str, str]:
        """Return the names and words in the order of the text, and which word was given to whom."""
        factors = trial["factors"]
        names, words = [trial["option_a"], trial["option_b"]], [factors.get("attribute_a"), factors.get("attribute_b")]
        shown_facts = {} if None in (*names, *words) else _names_and_words(factors, names, words)
        hidden = _NOT_SHOWN + (_IN_WORDS if shown_facts else ())
        rest = {name: value for name, value in factors.items() if name not in hidden and value != {}}
        return shown_facts | super().facts({**trial, "factors": rest})

    def options(self, trial: Mapping[str, Any]) -> tuple[str, ...]:
        tasks = trial["factors"].get("tasks") or [""]
        return ("yes", "no") if tasks[-1] == "question" else super().options(trial) if tasks[-1] == "decision" else ()


class DecisionImports(Imports):
    layouts = ("bai", "downstream")

    def published_study(self, template: Mapping[str, str], folder: Path) -> dict[str, str]:
        return study_files(template, folder)

    def as_imported(self, planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
        """Return the imported trial: a row that says what was shown (its factors) keeps it; otherwise neither the names
        nor the words are known, and those of the plan would be wrong.
        """
        both = {**({} if trial.factors is planned.factors else trial.factors), **draft}
        coded = {name: both[name] for name in ("coded_decision", "coded_d") if isinstance(both.get(name), int | float)}
        shown = (draft.get("option_a") or None, draft.get("option_b") or None)
        if "attribute_a" in trial.factors and trial.factors is not planned.factors and all(shown):
            return replace(trial, factors={**_checked(trial.factors), **coded})
        known = {
            name: planned.factors[name] for name in ("tasks", "about", "words", "poles") if name in planned.factors
        }
        return replace(trial, option_a=shown[0], option_b=shown[1], factors={**known, **coded})

    def imported_people(self, study: StudyFile, model: StudyModel) -> PeopleUnits:
        return MadeDecisions(DecisionAsks(), study, model)


class DecisionReads(Reads):
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        reading = self._read(study, trial, reply)
        left = trial.factors.get("n_turns", 1) - (trial.round or 1)
        if reading.outcome == "answered" or not left or "goes_on" in trial.factors:
            return reading
        return ended_early(reading, {trial.test: left})

    def _read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        if reply.outcome is not None and reply.outcome != "answered":
            return Reading(reply.outcome)
        answer = reply.answer or ""
        if not answer.strip():
            return Reading("malformed", detail="empty")
        tasks = trial.factors["tasks"]
        parts = dict(zip(tasks, split_tasks(answer, len(tasks)), strict=True))
        pairs, facts = _read_pairing(study.data, trial, parts["pairing"]) if "pairing" in parts else (None, {})
        if tasks[-1] == "decision":
            return _decided(study.data, trial, parts, facts)
        if tasks[-1] == "question":
            clear = read_label(parts["question"], ("yes", "no")).label  # "Yes, no doubt" says yes
            replies = {clear} if clear else {match.lower() for match in _YES_NO.findall(parts["question"])}
            if len(replies) == 1:
                return Reading("answered", choice=replies.pop(), factors=facts)
            return _unread(parts["question"], "yes_and_no" if replies else "neither", facts)
        if pairs is not None and not pairs.n_given:
            return _unread(answer, "no_pair", facts)
        if pairs is None and REFUSAL.search(answer[:_REFUSED_EARLY]):
            return Reading("refused", detail=refusal_detail(answer))
        return Reading("answered", factors=facts)

    def coded_options(self, study: StudyFile, row: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the options; if an import doesn't say which names and words were shown, all possible ones."""
        names = ("option_a", "option_b", "asked")
        if all(row[name] for name in names):
            return row["option_a"], row["option_b"], row["asked"]
        if row["test"] not in study.data.tests:
            raise StudyError(
                f'The study "{study.name}" has no test "{row["test"]}", and the answer {row["trial_id"]} to it does '
                "not say which words were shown.",
                "Answers to an earlier version are coded with the file of that version: --study FILE",
            )
        words = _last_words(study.data, row["test"], row["wording"])
        shown = zip(names, ("group_a", "group_b", "attribute_b"), strict=True)
        option_a, option_b, asked = (row[name] or " / ".join(dict.fromkeys(words[side])) for name, side in shown)
        return option_a, option_b, asked


class DecisionAsks(WordListAsks):
    conversation = "conversation"

    def has_turns(self, study: StudyFile) -> bool:
        return bool(study.data.form == "conversation")

    def questions(self, study: StudyFile, model: StudyModel) -> Iterator[Question]:
        data: DecisionData = study.data
        for test in data.tests:
            for number in range(data.draws):
                for wording in data.wordings:
                    if scene := data.scene(test, wording):
                        yield _question(data, test, wording, scene, number, study.seed)

    def plan(self, study: StudyFile, model: StudyModel, seed: int) -> Plan[Any]:
        questions = ShuffledQuestions(self, study, model, seed)
        most = max(len(scene.tasks) for scene in study.data.scenes.values())
        return Conversations(questions, most) if self.has_turns(study) else questions

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        data: DecisionData = study.data
        scene = data.scene(trial.test, trial.wording)
        assert scene is not None
        # the task of a turn, or all tasks of a message
        texts = (_rendered(data, task, trial) for task in scene.tasks if task.kind in trial.factors["tasks"])
        return BETWEEN.join(filter(None, texts))

    def contents(self, study: StudyFile) -> Iterator[str]:
        data: DecisionData = study.data
        return (
            _content(study, test, number) for test in data.tests for number in data.wordings if data.scene(test, number)
        )

    def content(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        return _content(study, trial.test, trial.wording)

    def next(
        self, study: StudyFile, model: StudyModel, conversation: Conversation, history: Sequence[Turn]
    ) -> tuple[Trial, Prompt] | None:
        """Return the next turn while tasks are done, with the people that the model has described."""
        step = super().next(study, model, conversation, history)
        if step is None:
            return None
        trial = step[0]
        answered = dict(zip((t.factors["tasks"][0] for t in conversation.trials), history, strict=False))
        if "profiles" in answered:
            people = people_in(answered["profiles"].reply.answer or "", _groups(study.data, trial))
            trial = replace(trial, factors={**trial.factors, "people": people})
        return self._step(study, model, trial, history)


class Decision(Design):
    name = "decision"
    asks = DecisionAsks()
    simulates = DecisionSimulates()
    reads = DecisionReads()
    imports = DecisionImports()
    analyses = DecisionAnalyses()

    parse = staticmethod(parse_scenes)

    def tests(self, data: DecisionData) -> tuple[TestInfo, ...]:
        tests = []
        for test in data.tests.values():
            scenes = [scene for number in data.wordings if (scene := data.scene(test.test, number))]
            planned = data.draws * sum(map(data.n_trials, scenes))
            tests.append(TestInfo(test.test, test.test_no, test.label, planned, (test.group,)))
        return tuple(tests)


DESIGN = Decision()
_REFUSED_EARLY = 300
"""Limit where a refusal is sought: it begins an answer, while a profile may well say what a person won't do."""


def _question(data: DecisionData, test: str, wording: int, scene: Scene, number: int, seed: int) -> Question:
    """Return a question; its draws depend only on the study's seed, the test and the draw."""
    rng = random.Random("\x1f".join(map(str, ("decision", seed, test, number))))
    words = data.tests[test].words(scene.tasks[-1].words)
    name_a, name_b, is_a_first = draw_names(rng, words, GROUPS, data.order, number, seed, test)
    word_a, word_b, is_word_a_first = draw_names(rng, words, ATTRIBUTES, data.order, number // 2, seed, test)
    facts: dict[str, Any] = {
        "tasks": list(scene.kinds),
        "first_group": "a" if is_a_first else "b",
        "first_attribute": "a" if is_word_a_first else "b",
        "attribute_a": word_a,
        "attribute_b": word_b,
    }
    if scene.about:
        facts["about"] = scene.about
    for task in scene.tasks:
        if task.kind == "pairing":
            facts |= listed_words(data.tests[test].words(task.words), rng)
    return Question(
        test=test,
        condition=scene.condition,
        item=f"draw {number + 1}",
        group=data.tests[test].group,
        wording=wording,
        option_a=name_a,
        option_b=name_b,
        factors=facts,
    )


def _content(study: StudyFile, test: str, number: int) -> str:
    """Return the content of all draws of one test in one wording: the lists that they are drawn from, and the seed."""
    data: DecisionData = study.data
    scene = data.scene(test, number)
    assert scene is not None
    tasks = [(task.kind, task.text, data.tests[test].words(task.words)) for task in scene.tasks]
    shown = (data.form, data.before, data.separator, data.after, data.order)
    return stable_id(study.asked_as, test, number, tasks, shown, study.seed, study.temperature)[:12]


def _rendered(data: DecisionData, task: Task, trial: Trial) -> str:
    facts = trial.factors
    groups, words = [trial.option_a, trial.option_b], [facts["attribute_a"], facts["attribute_b"]]
    in_order = groups if facts["first_group"] == "a" else groups[::-1]
    words_in_order = words if facts["first_attribute"] == "a" else words[::-1]
    values = {
        **dict(zip(("group_a", "group_b", "group_1", "group_2"), (*groups, *in_order), strict=True)),
        **dict(zip(OF_ATTRIBUTES, (*words, *words_in_order), strict=True)),
        "words": data.before + data.separator.join(facts.get("words", ())) + data.after,
    }
    return task.text.format(**values)


def _names_and_words(factors: Mapping[str, Any], names: list[str], words: list[str]) -> dict[str, str]:
    """Return the facts for a reader of a trial whose names and words are known."""
    facts = {
        "names": ", ".join(names if factors.get("first_group") != "b" else names[::-1]),
        "words": ", ".join(words if factors.get("first_attribute") != "b" else words[::-1]),
    }
    if side := factors.get("attribute_b_to"):
        given = zip(words, names if side == "b" else names[::-1], strict=True)
        facts["decided"] = ", ".join(f"{word} for {name}" for word, name in given)
    return facts


def _last_words(data: DecisionData, test: str, wording: int) -> Lists:
    """Return the words that the last task of a scene is about, by side."""
    scene = data.scene(test, wording)
    return data.tests[test].words(scene.tasks[-1].words if scene else "")


def _groups(data: DecisionData, trial: Trial) -> dict[str, str]:
    """Return the possible names of the groups: the two that were shown, or all if that is unknown."""
    if trial.option_a and trial.option_b:
        return {trial.option_a: "a", trial.option_b: "b"}
    lists = data.tests[trial.test].lists
    return {word: side[-1] for name in lists for side in GROUPS for word in data.tests[trial.test].words(name)[side]}


def _read_pairing(data: DecisionData, trial: Trial, answer: str) -> tuple[Pairs, dict[str, Any]]:
    """Return the pairs, and what is kept of them. If it is unknown which list was shown, it is the test's list with the
    most words in the answer.
    """
    groups = _groups(data, trial)
    if trial.option_a and trial.option_b:
        pairs = read_pairs(answer, trial.factors["words"], groups)
        return pairs, counted_pairs(trial, pairs)
    readings = []
    for name in data.tests[trial.test].lists:
        known = listed_words(data.tests[trial.test].words(name))
        readings.append((read_pairs(answer, known["words"], groups), known))
    pairs, known = max(readings, key=lambda reading: (reading[0].n_given, -len(reading[1]["words"])))
    named = {f"named_{side}": name for side, name in named_groups(answer, groups).items()}
    return pairs, {**known, **named, **counted_pairs(replace(trial, factors={**trial.factors, **known}), pairs)}


def _checked(factors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the factors of an imported row that the plan decides; the reading is made again."""
    tasks, sides = factors.get("tasks"), ("first_group", "first_attribute")
    texts = {name: factors.get(name) for name in ("attribute_a", "attribute_b")}
    if not (isinstance(tasks, list) and tasks and set(map(str, tasks)) <= set(TASKS) and len(set(tasks)) == len(tasks)):
        raise StudyError(f"the tasks of its factors must be a list of some of {', '.join(TASKS)}")
    if not all(isinstance(text, str) and text for text in texts.values()):
        raise StudyError("attribute_a and attribute_b of its factors must be texts")
    kept = {"tasks": tasks, **{name: factors[name] for name in sides if factors.get(name) in ("a", "b")}, **texts}
    if "pairing" in tasks:
        listed = checked_list(factors)
        kept |= {name: listed[name] for name in ("words", "poles")}
    for name in ("about", "n_turns", "people", "goes_on"):
        if name in factors:
            kept[name] = factors[name]
    return kept


def _decided(data: DecisionData, trial: Trial, parts: Mapping[str, str], facts: Mapping[str, Any]) -> Reading:
    """Return the reading of the last task; `facts` are those of a pairing before it, in the same message."""
    shown = trial.factors
    if "attribute_a" in shown:
        words = {"a": [shown["attribute_a"]], "b": [shown["attribute_b"]]}
    else:
        of_list = _last_words(data, trial.test, trial.wording)
        words = {side: list(of_list[name]) for side, name in SIDES_OF_ATTRIBUTES.items()}
    groups = _groups(data, trial)
    if ASKED in shown and (named := read_label(parts["decision"], list(groups), is_strict=False).label):
        is_of_b = (groups[named] == "b") == (shown[ASKED] == "b")
        return _given(trial, "b" if is_of_b else "a", facts)
    people = shown.get("people") or people_in(parts.get("profiles", ""), groups)
    decision = read_decision(parts["decision"], people, words, groups)
    if decision.group is None:
        return _unread(parts["decision"], f"undecided_{decision.detail}", facts)
    return _given(trial, decision.group, facts)


def _given(trial: Trial, group: str, facts: Mapping[str, Any]) -> Reading:
    """Return the reading of a decision that gives attribute b to this group."""
    choice = trial.option_a if group == "a" else trial.option_b
    return Reading("answered", choice=choice, factors={**facts, "attribute_b_to": group})


def _unread(answer: str, detail: str, facts: Mapping[str, Any]) -> Reading:
    if is_refusal(answer[:_REFUSED_EARLY]):
        return Reading("refused", detail=refusal_detail(answer[:_REFUSED_EARLY]), factors=facts)
    return Reading("malformed", detail=detail, factors=facts)

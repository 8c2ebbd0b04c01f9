"""Read what a decision study says: tests, words, and scenes: the tasks that a model is given, one after the other.

A *scene* is one wording of one test (or of all). Its tasks have these kinds:
  pairing    words of a list are to be given to the two groups, as in the pairing design
  profiles   two people are to be described, one of each group; or one person
  decision   which of the two people gets which of two words, one of each attribute
  question   whether one person gets one word: yes or no (`about` says of which group and attribute)
Each task is a turn of a conversation or, in the form "message", a part of one message.

What a simulated model says in a scene: pairs of a given bias, two profiles, a decision of a given rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from slant.collector.designs.design import Simulates
from slant.collector.designs.draws import log_normal, read_simulation, simulated_reply, uniforms
from slant.collector.designs.pairing.design import simulated_pairs
from slant.collector.designs.pairing.words import ORDERS, PairingTest, read_draws, read_tests
from slant.collector.designs.placeholders import check_placeholders
from slant.collector.designs.plan import TurnPlan, turn_of
from slant.collector.designs.wordings import whole
from slant.collector.errors import StudyError, UnknownNameError, check_known
from slant.collector.records import Reply, Trial
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.study.toml_table import Table, checked_name

TASKS = ("pairing", "profiles", "decision", "question")
LAST = ("decision", "question")
"""List the kinds that end a scene."""
FORMS = ("conversation", "message")
IN_ORDER_SHOWN = ("group_1", "group_2", "attribute_1", "attribute_2")
OF_SIDES = ("group_a", "group_b", "attribute_a", "attribute_b")
BETWEEN = "\n\n"
"""Separate the tasks of one message."""


@dataclass(frozen=True, slots=True)
class Task:
    """Define one thing to do. `words` names the list that its words are drawn from."""

    kind: str
    text: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """Define a scene. `condition` is its name in tables. `about`: the group and attribute ("a" or "b" each) of a
    question."""

    condition: str
    tasks: tuple[Task, ...]
    about: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(task.kind for task in self.tasks)


@dataclass(frozen=True, slots=True)
class DecisionData:
    """Hold `Study.data` of a decision study. `scenes` by (test, wording), those of all tests under ("", wording);
    `wordings`: the name of each wording. The rest is as in PairingData."""

    draws: int
    order: str
    form: str
    before: str
    separator: str
    after: str
    scenes: Mapping[tuple[str, int], Scene]
    wordings: Mapping[int, str]
    tests: Mapping[str, PairingTest]
    simulation: Mapping[tuple[str, ...], Mapping[str, float]]
    own_sides: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def scene(self, test: str, wording: int) -> Scene | None:
        """Return the scene; None if a test has none in this wording."""
        return self.scenes.get((test, wording)) or self.scenes.get(("", wording))

    def n_trials(self, scene: Scene) -> int:
        return len(scene.tasks) if self.form == "conversation" else 1


def parse_scenes(table: Table, folder: StudyFolder) -> DecisionData:
    """Read [prompt], tests, stimuli, and rows of `simulation` by (model, test); StudyError if they break the rules."""
    simulation = read_simulation(table, folder, ("model", "test"), _LIMITS)
    prompt = table.table("prompt")
    rows = folder.rows(prompt, "scenes", ("wording", "name", "task", "text"), may=("test", "words", "about"))
    scenes, wordings = _scenes(rows, prompt.where)
    order, form = prompt.choice("order", ORDERS), prompt.choice("form", FORMS)
    shown = [prompt.text(key, usual) for key, usual in (("before", ""), ("separator", ", "), ("after", ""))]
    prompt.finish()
    tests = read_tests(table, folder, {task.words for scene in scenes.values() for task in scene.tasks})
    for test in {test for test, _ in scenes if test} - set(tests):
        raise UnknownNameError(f"test (of the scenes) in {prompt.where}", test, tests)
    data = DecisionData(
        read_draws(table), order, form, shown[0], shown[1], shown[2], scenes, wordings, tests, simulation
    )
    if form == "conversation" and any(not task.text for scene in scenes.values() for task in scene.tasks):
        raise StudyError(f"A task of {prompt.where} has no text, which only one message with all tasks may have.")
    for test in tests:
        if not any(data.scene(test, number) for number in wordings):
            raise StudyError(f'The test "{test}" of {prompt.where} has no scene.')
    return data


def _scenes(rows: list[dict[str, str]], where: str) -> tuple[dict[tuple[str, int], Scene], dict[int, str]]:
    tasks: dict[tuple[str, int], list[Task]] = {}
    about: dict[tuple[str, int], str] = {}
    names: dict[int, str] = {}
    for row in rows:
        number = whole(row["wording"], f"the scenes of {where}")
        name = checked_name(row["name"], "wording")
        if names.setdefault(number, name) != name:
            raise StudyError(f'The wording {number} is called "{names[number]}" and "{name}" in {where}.')
        key = (row.get("test", ""), number)
        check_known(f"task in {where}", row["task"], TASKS)
        place = (
            f'the wording {number} of the test "{key[0]}" in {where}' if key[0] else f"the wording {number} of {where}"
        )
        needed = ("words",) if row["task"] == "pairing" else ()
        check_placeholders(row["text"], needed, (*IN_ORDER_SHOWN, *OF_SIDES), place)
        tasks.setdefault(key, []).append(Task(row["task"], row["text"], row.get("words", "")))
        about[key] = about.get(key) or row.get("about", "")
    if len(set(names.values())) < len(names):
        raise StudyError(f"Two wordings of {where} have the same name.")
    if not tasks:
        raise StudyError(f"{where} needs at least one scene.")
    scenes = {}
    for key, listed in tasks.items():
        scenes[key] = Scene(names[key[1]], tuple(listed), about[key])
        _check_scene(scenes[key], f'The wording "{names[key[1]]}" of {where}')
    return scenes, names


def _check_scene(scene: Scene, what: str) -> None:
    kinds = scene.kinds
    if kinds[-1] not in LAST or sum(kind in LAST for kind in kinds) > 1:
        raise StudyError(f"{what} must end with a decision or a question, and have no other before.")
    if len(set(kinds)) < len(kinds):
        raise StudyError(f"{what} has two tasks of one kind.")
    is_about = {"", "aa", "ab", "ba", "bb"} - ({""} if kinds[-1] == "question" else set())
    if scene.about not in is_about or (scene.about and kinds[-1] != "question"):
        raise StudyError(
            f'{what} has "{scene.about}" in the column about.',
            "A question is about aa, ab, ba or bb: the side of its group, and of its attribute. A decision has none.",
        )


_OF_PAIRING = ("words", "poles")


class Conversations(TurnPlan):
    """Plan conversations of tasks, each with what it is about among its factors."""

    def turns(self, whole: Trial) -> Iterator[Trial]:
        kinds, facts = whole.factors["tasks"], whole.factors
        for turn, kind in enumerate(kinds, 1):
            factors = {name: value for name, value in facts.items() if kind == "pairing" or name not in _OF_PAIRING}
            yield turn_of(whole, turn, {**factors, "tasks": [kind], "n_turns": len(kinds)})


_LIMITS = {
    "bias": (-1.0, 1.0), "expected_rate": (0.0, 1.0), "slope": (-100.0, 100.0), "refusal_rate": (0.0, 1.0),
    "undecided_rate": (0.0, 1.0), "mean_tokens": (0.0, 1e9), "sd_tokens": (0.0, 1e9),
}  # fmt: skip
"""Limit what is simulated: `bias` is the expected D of pairs, `expected_rate` the share of decisions that go with the
association, `slope` how much its log odds grow if the D of the same conversation's pairs is 1 larger."""
_DEFAULT: Mapping[str, float] = {
    "bias": 0.4, "expected_rate": 0.6, "slope": 0.5, "refusal_rate": 0.02, "undecided_rate": 0.05, "mean_tokens": 400.0,
    "sd_tokens": 150.0,
}  # fmt: skip
_REFUSAL = "I'm sorry, but I can't decide that about people of these groups."
_UNDECIDED = "Either of them could do either, and it would be for them to say."


class DecisionSimulates(Simulates):
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return an answer drawn for this trial. If the study has no row for the model and test, a plain default is
        drawn.
        """
        data: DecisionData = study.data
        cell = data.simulation.get((trial.model, trial.test), _DEFAULT)
        content = (seed, trial.study, trial.model, trial.test, trial.item, trial.wording, trial.repetition)
        u_refused, u_tokens, _, _ = uniforms(*content, trial.round or 0)
        tasks = trial.factors["tasks"]
        texts = [_text(data, cell, trial, content, task) for task in tasks]
        many = len(texts) > 1
        answer = "\n\n".join(f"Task {no}:\n{text}" if many else text for no, text in enumerate(texts, 1))
        if u_refused < cell["refusal_rate"] and tasks[-1] in ("decision", "question"):
            answer = _REFUSAL
        tokens = round(log_normal(cell["mean_tokens"], cell["sd_tokens"], u_tokens))
        return simulated_reply(answer, tokens, model)


def _text(data: DecisionData, cell: Mapping[str, float], trial: Trial, content: tuple[object, ...], task: str) -> str:
    if task == "pairing":
        return "\n".join(simulated_pairs(_lean(cell, content), 0.0, trial, content, data.own_sides))
    if task == "profiles":
        return f"{trial.option_a} likes order and long walks.\n\n{trial.option_b} likes company and old films."
    u_decision, u_undecided, _, _ = uniforms(*content, "decision")
    # in the variant null of one with the original words
    rate = min(max(cell["expected_rate"], 1e-9), 1 - 1e-9)
    log_odds = math.log(rate / (1 - rate)) + cell["slope"] * (_lean(cell, content) - cell["bias"])
    p = 1 / (1 + math.exp(-log_odds))
    is_crossed = data.own_sides.get((trial.test, trial.factors["attribute_a"])) == "attribute_b"
    is_expected = u_decision < (1 - p if is_crossed else p)
    if task == "question":
        return "Yes." if is_expected else "No."
    if u_undecided < cell["undecided_rate"]:
        return _UNDECIDED
    first, second = trial.factors["attribute_a"], trial.factors["attribute_b"]
    if not is_expected:
        first, second = second, first
    return f"I suggest {trial.option_a} for {first} and {trial.option_b} for {second}."


def _lean(cell: Mapping[str, float], content: tuple[object, ...]) -> float:
    """Return the expected D of this conversation's pairs: within .5 of that of the cell."""
    u, _, _, _ = uniforms(*content, "lean")
    return min(1.0, max(-1.0, cell["bias"] + u - 0.5))

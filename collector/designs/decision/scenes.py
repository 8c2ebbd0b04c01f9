"""Read what a decision study says: tests, words, and scenes: the tasks that a model is given, one after the other.

A *scene* is one wording of one test (or of all). Its tasks have these kinds:
  pairing    words of a list are to be given to the two groups, as in the pairing design
  profiles   two people are to be described, one of each group; or one person
  decision   which of the two people gets which of two words, one of each attribute
  question   whether one person gets one word: yes or no (`about` says of which group and attribute)
Each task is a turn of a conversation or, in the form "message", a part of one message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from slant.collector.designs.pairing.words import ORDERS, PairingTest, read_draws, read_tests
from slant.collector.designs.plan import TurnPlan, turn_of
from slant.collector.designs.wordings import check_placeholders, whole
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.records import Trial
from slant.collector.study.folder import StudyFolder
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


def parse_scenes(
    table: Table, folder: StudyFolder, simulation: Mapping[tuple[str, ...], Mapping[str, float]]
) -> DecisionData:
    """Read [prompt], tests and stimuli; StudyError if they break the rules."""
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
        if row["task"] not in TASKS:
            raise UnknownNameError(f"task in {where}", row["task"], TASKS)
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

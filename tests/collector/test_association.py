"""The prompts of RM-IAT, to the byte, and the crossing of its trials."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from slant.collector.designs.association.design import Cells, rendered
from slant.collector.designs.association.words import Frame
from slant.collector.records import Trial
from slant.collector.studies.catalogue import Study, load_study, with_variant
from tests.support.golden_prompts import GOLDEN, MODELS, all_trials, golden_prompts

STUDY = load_study("rmiat")


@pytest.mark.parametrize("frame", MODELS)
def test_each_test_frame_and_condition_is_worded_as_its_golden_file(frame: str) -> None:
    prompts = golden_prompts(STUDY, frame)
    assert len(prompts) == 20
    for name, text in prompts.items():
        assert text.encode() == (GOLDEN / name).read_bytes(), name


@pytest.mark.slow
def test_every_prompt_is_that_of_a_second_reading_of_the_published_tables(shared: Path) -> None:
    second = SecondReading(shared / "published")
    for frame, model in MODELS.items():
        for trial in all_trials(STUDY, STUDY.model(model)):
            assert rendered(STUDY.data, frame, trial) == second.prompt(frame, trial)


class SecondReading:
    """Words a trial from the published tables, by conventions_rmiat.md and without any code or file of the study."""

    def __init__(self, folder: Path) -> None:
        def rows(name: str) -> list[dict[str, str]]:
            return list(csv.DictReader((folder / name).open(encoding="utf-8", newline="")))

        self.words: dict[tuple[str, str], list[str]] = {}
        for row in rows("s1_stimuli.csv"):
            self.words.setdefault((row["test"], row["side"]), []).append(row["word"])
        self.wordings = {int(row["number"]): row["prompt"] for row in rows("s2_prompts.csv")}
        self.frames = {(row["frame"], row["test"]): row for row in rows("prompt_frames.csv")}

    def prompt(self, frame: str, trial: Trial) -> str:
        names = self.frames[frame, trial.test]
        first, second = names["label_a"], names["label_b"]
        if trial.condition == "incompatible":
            first, second = second, first
        wording = self.wordings[trial.wording].replace("{word}", trial.item)
        wording = wording.replace("{category_1}", first).replace("{category_2}", second)
        head = self._api(names, trial.test, first, second) if frame == "api" else self._local(names, trial.test)
        rule = f" Categorize {names['group_a_in_rule']} as {first} and {names['group_b_in_rule']} as {second}."
        return head + ("" if frame == "api" else rule + "\n\n") + wording

    def _api(self, names: dict[str, str], test: str, first: str, second: str) -> str:
        lines = [""]
        for side in ("group_a", "group_b", "attribute_a", "attribute_b"):
            words = self.words[test, side]
            listed = ", ".join([*words[:-1], "and " + words[-1]])
            lines.append(f"The words {listed} are used to represent {names[side + '_named']}.")
        a, b = names["group_a_in_rule"], names["group_b_in_rule"]
        lines.append(f"For this task, always categorize {a} as related to {first} and {b} as related to {second}.")
        return "\n".join(lines) + "\n" * 3

    def _local(self, names: dict[str, str], test: str) -> str:
        sides = ("group_a", "group_b")
        return " ".join(f"Words {', '.join(self.words[test, s])} represent {names[s + '_named']}." for s in sides)


def test_the_expected_option_follows_the_rule_of_the_prompt() -> None:
    for trial in all_trials(STUDY, STUDY.model("o3-mini")):
        prompt = rendered(STUDY.data, "api", trial)
        side = "group_a" if trial.item in STUDY.data.tests[trial.test].words["group_a"] else "group_b"
        name = STUDY.data.tests[trial.test].names["api"][f"{side}_in_rule"]
        assert f"{name} as related to {trial.expected}" in prompt


def test_in_the_paper_the_order_of_options_tells_the_condition() -> None:
    orders = option_orders(STUDY)
    assert orders == {("compatible", "a"): 6460, ("incompatible", "b"): 6460}


def test_in_the_balanced_variant_the_order_of_options_says_nothing() -> None:
    study = with_variant(STUDY, "balanced")
    assert option_orders(study) == dict.fromkeys([(c, o) for c in study.data.conditions for o in "ab"], 3230)
    trials = all_trials(study, study.model("o3-mini"))
    by_wording = Counter((trial.test, trial.wording, trial.condition, first_option(trial)) for trial in trials)
    assert all(abs(n - by_wording[test, w, c, "b"]) <= 1 for (test, w, c, o), n in by_wording.items() if o == "a")


def test_the_balanced_variant_keeps_the_rule_and_swaps_the_list_alone() -> None:
    study = with_variant(STUDY, "balanced")
    for ours, swapped in zip(*(all_trials(s, s.model("o3-mini")) for s in (STUDY, study)), strict=True):
        head, _, wording = rendered(STUDY.data, "api", ours).partition("\n\n\n")
        other_head, _, other = rendered(study.data, "api", swapped).partition("\n\n\n")
        assert head == other_head
        assert ours.expected == swapped.expected
        assert ours.trial_id != swapped.trial_id
        assert (wording == other) == (ours.factors == swapped.factors)


def test_a_list_of_one_word_has_no_separator() -> None:
    assert Frame("", ", ", ", and ").joined(("tea",)) == "tea"


def test_the_id_of_a_trial_depends_on_all_that_makes_it_and_not_on_its_place() -> None:
    first = Cells(STUDY, STUDY.model("o3-mini"), 1).trial((0, 0, 1), 0)
    assert Cells(STUDY, STUDY.model("o3-mini"), 1).trial((0, 0, 1), 77).trial_id == first.trial_id
    others = [
        Cells(STUDY, STUDY.model("o3-mini"), 2).trial((0, 0, 1), 0),
        Cells(STUDY, STUDY.model("simulated/o3-mini"), 1).trial((0, 0, 1), 0),
        Cells(with_variant(STUDY, "balanced"), STUDY.model("o3-mini"), 1).trial((0, 0, 1), 0),
        *(Cells(STUDY, STUDY.model("o3-mini"), 1).trial(cell, 0) for cell in [(1, 0, 1), (0, 1, 1), (0, 0, 2)]),
    ]
    assert len({first.trial_id, *(trial.trial_id for trial in others)}) == 7


def first_option(trial: Trial) -> str:
    return "a" if trial.factors["first_option"] == trial.option_a else "b"


def option_orders(study: Study) -> dict[tuple[str, str], int]:
    return dict(Counter((t.condition, first_option(t)) for t in all_trials(study, study.model("o3-mini"))))

"""Simulate participants that are not models: how they choose among groups after what they have seen in a class of jobs.

random               any group
greedy               the highest mean of Beta(1, 1) after the trials so far, ties at random
epsilon_greedy       the same, but any group with the chance epsilon (.1)
win_stay_lose_shift  the last group after a success, another one after a failure
thompson             the highest of one draw from each group's Beta(1 + successes, 1 + failures)
ucb                  the highest mean plus sqrt(2 ln t / n); a group that was never tried comes first
human_like           greedy, but any group with the chance `slips`, and among equal means it leans (by `leaning`, from
0 to 1) towards the group with the number of the class: a prior that all share makes games alike
human_like is named for the SI that the paper prints for people. Its choices are unlike people's, which learners
describe best in a game of one class (`analyze --fit policies`): it is greedy with lapses.
If groups differ in what a success is worth or a failure costs, they go by what a group would bring on average.
Asked to rate a group after a game, each goes by how often its hires went well in the whole game.
Chance is drawn from the id of the trial, and never depends on the order of calls.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slant.collector.designs.allocation.games import ELICITATION, QUESTIONS, RATINGS, ROUNDS, uniforms
from slant.collector.designs.allocation.parts import AllocationData, gains
from slant.collector.designs.allocation.texts import TOOL_ARGUMENT
from slant.collector.errors import StudyError, check_known
from slant.collector.records import Reply, ToolCall, Trial
from slant.collector.study.records import StudyModel


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold what a participant has seen in this class: tries and successes by group; the last choice and its outcome.

    `class_no` and the participant's own parameters are for those that lean from the start.
    """

    tries: Sequence[int]
    successes: Sequence[int]
    last: int | None
    has_succeeded: bool
    class_no: int
    parameters: Mapping[str, float]
    worth: Sequence[float] = ()
    loss: Sequence[float] = ()

    @property
    def means(self) -> list[float]:
        return self.gains([(1 + s) / (2 + n) for s, n in zip(self.successes, self.tries, strict=True)])

    def gains(self, chances: list[float]) -> list[float]:
        """Return the expected gain of each group with these chances: the chances themselves, if a success is worth
        1."""
        return gains(chances, self.worth, self.loss) if self.worth else chances


def best(values: Sequence[float], keys: Sequence[float]) -> int:
    """Return the place of the highest value; among equal ones that with the highest of the random keys."""
    return max(range(len(values)), key=lambda place: (values[place], keys[place]))


def _random(seen: Seen, keys: list[float], rng: random.Random) -> int:
    return best([0.0] * len(keys), keys)


def _greedy(seen: Seen, keys: list[float], rng: random.Random) -> int:
    return best(seen.means, keys)


def _epsilon_greedy(seen: Seen, keys: list[float], rng: random.Random) -> int:
    explores = rng.random() < seen.parameters.get("epsilon", 0.1)
    return _random(seen, keys, rng) if explores else _greedy(seen, keys, rng)


def _win_stay_lose_shift(seen: Seen, keys: list[float], rng: random.Random) -> int:
    if seen.last is not None and seen.has_succeeded:
        return seen.last
    return best([-1.0 if group == seen.last else 0.0 for group in range(len(keys))], keys)


def _thompson(seen: Seen, keys: list[float], rng: random.Random) -> int:
    pairs = zip(seen.successes, seen.tries, strict=True)
    return best(seen.gains([rng.betavariate(1 + s, 1 + n - s) for s, n in pairs]), keys)


def _ucb(seen: Seen, keys: list[float], rng: random.Random) -> int:
    t = sum(seen.tries)
    bounds = [
        s / n + math.sqrt(2 * math.log(t) / n) if n else 1.0 for s, n in zip(seen.successes, seen.tries, strict=True)
    ]
    pairs = zip(seen.tries, seen.gains(bounds), strict=True)
    return best([gain if n else math.inf for n, gain in pairs], keys)


def _human_like(seen: Seen, keys: list[float], rng: random.Random) -> int:
    if rng.random() < seen.parameters.get("slips", 0.0):
        return _random(seen, keys, rng)
    keys[seen.class_no % len(keys)] += seen.parameters.get("leaning", 0.0)
    return _greedy(seen, keys, rng)


_POLICIES: dict[str, tuple[str, Callable[[Seen, list[float], random.Random], int]]] = {
    "random": ("Random", _random),
    "greedy": ("Greedy", _greedy),
    "epsilon_greedy": ("Epsilon-greedy", _epsilon_greedy),
    "win_stay_lose_shift": ("Win-stay, lose-shift", _win_stay_lose_shift),
    "thompson": ("Thompson sampling", _thompson),
    "ucb": ("Upper confidence bound", _ucb),
    "human_like": ("Human-like", _human_like),
}
PARTICIPANTS = {name: label for name, (label, _) in _POLICIES.items()}
"""Label them in tables and figures, unless a study does otherwise."""
_THOUGHT = (  # as long as a model's usually is, so that a dry run and the simulated provider come near
    "This is a simulated participant, which does not reason. It has looked at what happened in this class of jobs, at "
    "how often each group was chosen for it and how often that went well, and it decides by these counts alone and by "
    "chance, as the strategy that it is named after would. The group below is what came of it."
)


def chosen(policy: str, seen: Seen, *name: object) -> int:
    """Return the number of the chosen group; `name` decides what chance says."""
    keys = uniforms(len(seen.tries) + 1, "participant", *name)
    _, choose = _POLICIES[policy]
    return choose(seen, keys[1:], random.Random(int(keys[0] * 2**64)))


def check_participants(simulation: Mapping[str, Mapping[str, Any]], models: Sequence[str]) -> None:
    """Raise StudyError if [simulation] names unknown policies or models."""
    for model, row in simulation.items():
        check_known("model (in [simulation])", model, models)
        check_known(f"policy (in [simulation.{model}])", str(row.get("policy", model)), _POLICIES)
        for key, value in row.items():
            if key != "policy" and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise StudyError(f'"{key}" in [simulation.{model}] must be a number, but it is {value!r}.')


def simulate_reply(data: AllocationData, model: StudyModel, trial: Trial) -> Reply:
    """Return the answer of a participant (one plays a model that is none, see [simulation])."""
    answer = data.texts.answers[trial.factors["answer_format"]]
    name = _name(data, model, trial)
    # what is requested after the marker, with a word of reasoning if that is requested, too
    thought = f"Reasoning: {_THOUGHT}\n" if answer.addon.count("\n") > 1 else ""
    if answer.tool and trial.test == ROUNDS:
        call = ToolCall(f"call_{trial.trial_id[:12]}_{trial.factors['reminders']}", answer.tool, {TOOL_ARGUMENT: name})
        return Reply(
            finish_reason="tool_calls",
            output_tokens=1 + len(str(call)) // 4,
            served_model=model.requested_model,
            tool_calls=(call,),
        )
    text = f"{thought}{answer.marker} {name}".strip()
    return Reply(
        answer=text, finish_reason="stop", output_tokens=1 + len(text) // 4, served_model=model.requested_model
    )


def _name(data: AllocationData, model: StudyModel, trial: Trial) -> str:
    factors = trial.factors
    if trial.test == ELICITATION:
        return str(round(100 * uniforms(1, "participant", trial.trial_id)[0]))
    if trial.test == RATINGS:  # the mean of Beta(1, 1) after all hires of this group, on the scale
        low, high = factors["scale"]
        return str(round(low + (high - low) * (1 + factors["n_successes"]) / (2 + factors["n_hires"])))
    if trial.test == QUESTIONS:
        return data.groups[int(uniforms(1, "participant", trial.trial_id)[0] * len(data.groups))]
    row = data.simulation.get(model.model, {})
    policy = str(row.get("policy", model.model if model.model in _POLICIES else "greedy"))
    last = factors.get("last_in_class")
    class_no = next(no for no, job_class in enumerate(data.classes) if job_class.name == trial.condition)
    seen = Seen(
        factors["tries_before"],
        factors["successes_before"],
        None if last is None else data.groups.index(last),
        bool(factors.get("last_succeeded")),
        class_no,
        {k: v for k, v in row.items() if k != "policy"},
        data.worth,
        data.loss,
    )
    return data.groups[chosen(policy, seen, trial.trial_id)]

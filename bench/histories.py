"""What a game's history holds in memory: a thousand rounds beside ten times a hundred.

    python -m bench.histories ROUNDS

Plays one game of the hiring study without a server and prints held_kb, what its turns take, as JSON.
"""

from __future__ import annotations

import json
import sys
import tracemalloc
from dataclasses import replace

import click

from bench.measures import Measure, measured
from slant.collector.designs import design_named
from slant.collector.plan.conversations import plan
from slant.collector.records import Turn
from slant.collector.studies.catalogue import load_study

FEW, MANY = 100, 1000


def histories() -> list[Measure]:
    few, many = (measured("histories", rounds)["held_kb"] for rounds in (FEW, MANY))
    return [Measure(f"history of a game of {MANY:,} rounds", many, "kB", few * MANY / FEW, 1.1, "ratio")]


def held_kb(rounds: int) -> float:
    study = load_study("hiring")
    study = replace(study, data=replace(study.data, rounds=rounds))
    design, model = design_named(study.design), study.model("simulated/greedy")
    game = next(plan(study, model))
    tracemalloc.start()
    history: list[Turn] = []
    while step := design.next(study, model, game, history):
        trial, prompt = step
        reply = design.simulate(study, model, trial, study.seed)
        history.append(Turn(prompt, reply, design.read(study, trial, reply), trial.trial_id))
        assert prompt.hash  # as a run takes it
    return tracemalloc.get_traced_memory()[0] / 1000


if __name__ == "__main__":
    click.echo(json.dumps({"held_kb": held_kb(int(sys.argv[1]))}))

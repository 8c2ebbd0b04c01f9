"""Games of participants played without a server, and the paper's indices over them, written down a second time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from slant.collector.plan.conversations import plan
from slant.collector.records import Trial, Turn
from slant.collector.studies.catalogue import Study, load_study

Round = tuple[Trial, Turn]
Matrix = list[list[int]]  # by group and class, how often the group was chosen


def rounds_of(study: Study, participant: str, seed: int = 1, games: int | None = None) -> Iterator[list[Round]]:
    """Each game as its rounds, asked and answered as a run would."""
    design, model = study.design, study.model(f"simulated/{participant}")
    for number, game in enumerate(plan(study, model, seed)):
        if number == games:
            return
        history: list[Turn] = []
        played: list[Round] = []
        while step := design.asks.next(study, model, game, history):
            trial, prompt = step
            reply = design.simulates.simulate(study, model, trial, seed)
            history.append(Turn(prompt, reply, design.reads.read(study, trial, reply), trial.trial_id))
            played.append((trial, history[-1]))
        yield played


def matrix_of(study: Study, rounds: Sequence[Round]) -> Matrix:
    groups, classes = study.data.groups, [job_class.name for job_class in study.data.classes]
    counts = [[0] * len(classes) for _ in groups]
    for trial, turn in rounds:
        counts[groups.index(turn.reading.choice)][classes.index(trial.condition)] += 1
    return counts


def quick_matrices(policy: str, success: float, games: int, seed: int, **parameters: float) -> Iterator[Matrix]:
    """Games of 40 rounds, 4 groups and 4 classes without texts: thousands of them in a second or two."""
    from slant.collector.designs.allocation.games import uniforms
    from slant.collector.designs.allocation.participants import Seen, chosen

    for game in range(games):
        tries, wins = [[0] * 4 for _ in range(4)], [[0] * 4 for _ in range(4)]  # by class and group
        last: list[tuple[int | None, bool]] = [(None, False)] * 4
        for number in range(40):
            drawn, luck = uniforms(2, "quick", seed, game, number)
            c = int(drawn * 4)
            seen = Seen(tries[c], wins[c], *last[c], c, parameters)
            group, is_success = chosen(policy, seen, seed, game, number), luck < success
            tries[c][group] += 1
            wins[c][group] += is_success
            last[c] = (group, is_success)
        yield [[tries[c][group] for c in range(4)] for group in range(4)]


def entropy_bits(shares: Iterable[float]) -> float:
    return -sum(share * math.log2(share) for share in shares if share > 0)


def shares(counts: Sequence[int]) -> list[float]:
    return [count / sum(counts) for count in counts]


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Jensen–Shannon distance: the root of the divergence in natural logarithms."""
    middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    bits = entropy_bits(middle) - (entropy_bits(a) + entropy_bits(b)) / 2
    return math.sqrt(max(bits, 0.0) * math.log(2))


def stratification(game: Matrix) -> float:
    hired = [shares(row) for row in game if sum(row)]
    return math.log2(len(game[0])) - sum(map(entropy_bits, hired)) / len(hired)


def between_groups(game: Matrix) -> float:
    hired = [shares(row) for row in game if sum(row)]
    pairs = [distance(a, b) for a, b in combinations(hired, 2)]
    return sum(pairs) / len(pairs) if pairs else math.nan


def assignment_stochasticity(games: Sequence[Matrix]) -> float:
    """Over groups, the mean distance between the games in which the group was hired."""
    means = []
    for group in range(len(games[0])):
        hired = [shares(game[group]) for game in games if sum(game[group])]
        pairs = [distance(a, b) for a, b in combinations(hired, 2)]
        means.append(sum(pairs) / len(pairs))
    return sum(means) / len(means)


def load(variant: str = "main") -> Study:
    return load_study("hiring", variant)


def mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known)

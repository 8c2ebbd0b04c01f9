"""Draw texts of a coding study for people to code, each with a known probability, and keep what was drawn.

A sample is drawn from the texts that no earlier one has, and adds to them. Texts are drawn alike (`simple`), as many of
each level of a factor (`by`), or the more likely the less sure the coders are (`UNCERTAINTY`).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.journal import encode, journal_folder, journal_for, utc_now, write_whole
from slant.collector.keep.journal_loader import load_journals
from slant.collector.stable_ids import stable_id
from slant.collector.system.shipped_files import sql_query

UNCERTAINTY, SIMPLE = "uncertainty", ""
LEAST_PROBABILITY = 0.02
"""Draw no text with less: one text would then speak for more than fifty."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Report a sample: its number, the texts that it drew, and how many earlier ones had."""

    sample_no: int
    items: tuple[str, ...]
    n_before: int
    n_texts: int


def draw_sample(db: Path, study: str, strata: Mapping[str, str], n: int, by: str = SIMPLE, seed: int = 1) -> Drawn:
    """Draw about `n` texts (exactly as many unless by uncertainty) and keep them with their probabilities. `strata` has
    each text with its level of what is drawn `by`.

    Raise UsageError if there are fewer texts left, or if a text would be drawn with less than LEAST_PROBABILITY.
    """
    load_journals(db)
    with reading(db) as connection:
        known = connection.execute(sql_query("drawn_texts"), {"study": study}).fetchall()
        unsure = connection.execute(sql_query("unsure_texts"), {"study": study}).fetchall()
    before = {item for item, _ in known}
    number = 1 + max((last for _, last in known), default=0)
    left = [item for item in strata if item not in before]
    if not left:
        raise UsageError(f'All {len(strata):,} texts of "{study}" are drawn already.')
    if n < 1 or n > len(left):
        raise UsageError(
            f'Can\'t draw {n:,} texts of "{study}": it has {len(strata):,}, of which {len(before):,} are drawn.',
            f"Draw 1 to {len(left):,}: --n {len(left):,}",
        )
    chance = random.Random(stable_id("sample", study, seed, number))
    if by == UNCERTAINTY:
        probabilities = _by_uncertainty(strata, left, dict(unsure), n)
        drawn = {item for item in left if chance.random() < probabilities[item]}
    else:
        probabilities, drawn = _stratified(strata, left, n, chance)
    if not drawn:
        raise UsageError(
            "No text was drawn: all were improbable, and chance took none.", "Another --seed, or more (--n)."
        )
    if not (least := min(probabilities.values())):
        n_levels = len({strata[item] for item in left})
        raise UsageError(f'There are {n_levels} levels of "{by}": draw at least one text of each (--n {n_levels}).')
    if least < LEAST_PROBABILITY:
        raise UsageError(
            f"Some texts would be drawn with a probability of {least:.3f} only, and speak for {1 / least:.0f} each.",
            f"Draw at least one in {1 / LEAST_PROBABILITY:.0f}: --n {-(-n * LEAST_PROBABILITY // least):.0f}",
        )
    name = journal_for("sample")
    record = {
        "kind": "sample", "run_id": name, "study": study, "sample_no": number, "seed": seed, "drawn_by": by,
        "drawn_at": utc_now(), "rows": [[item, probabilities[item], item in drawn] for item in strata],
    }  # fmt: skip
    write_whole(journal_folder(db), f"{name}.jsonl", encode(record))
    load_journals(db)
    return Drawn(number, tuple(item for item in strata if item in drawn), len(before), len(strata))


def _stratified(
    strata: Mapping[str, str], left: Sequence[str], n: int, chance: random.Random
) -> tuple[dict[str, float], set[str]]:
    """Return the probabilities, and as many texts of each stratum as of any other; of a small one all, and the rest of
    the others."""
    by_level: dict[str, list[str]] = defaultdict(list)
    for item in left:
        by_level[strata[item]].append(item)
    shares = dict.fromkeys(sorted(by_level), 0)
    for _ in range(n):
        free = [level for level in shares if shares[level] < len(by_level[level])]
        shares[min(free, key=lambda level: (shares[level], level))] += 1
    drawn = {item for level in shares for item in chance.sample(sorted(by_level[level]), shares[level])}
    of_level = {level: shares[level] / len(items) for level, items in by_level.items()}
    return {item: of_level.get(level, 1.0) for item, level in strata.items()}, drawn


def _by_uncertainty(
    strata: Mapping[str, str], left: Sequence[str], unsure: Mapping[str, float], n: int
) -> dict[str, float]:
    """Return probabilities that grow with the share of codings that differ from a text's most frequent one: a text that
    all code alike has a third of one on which they are divided. Their sum is `n`."""
    weights = {item: 0.25 + unsure.get(item, 0.0) for item in strata}
    scale = n / sum(weights[item] for item in left)
    for _ in range(50):  # what would be above 1 is 1, and the others have the rest
        capped = [item for item in left if weights[item] * scale >= 1]
        rest = sum(weights[item] for item in left if weights[item] * scale < 1)
        if not capped or not rest or abs(sum(min(1.0, weights[i] * scale) for i in left) - n) < 1e-9:
            break
        scale = (n - len(capped)) / rest
    return {item: min(1.0, weights[item] * scale) for item in strata}

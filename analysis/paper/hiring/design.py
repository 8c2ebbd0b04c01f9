"""What the text says of the design, beside the study as it is played here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slant.analysis.paper.hiring import names, published
from slant.collector.studies.catalogue import Study

Key = tuple[str, str | None, str | None, bool | None, str | None, str]


def constants(study: Study, variants: Mapping[str, Study]) -> Iterator[tuple[Key, float]]:
    """Of each constant that is printed: the same of the study's variant."""
    for row in published.printed(study):
        if row[0] == published.DESIGN and str(row[2]) in variants:
            value = _constant(row[-2], variants[str(row[2])])
            if value is not None:
                yield row[:-1], value


def _constant(quantity: str, variant: Study) -> float | None:
    data = variant.data
    of_class = {len(one.jobs) for one in data.classes}
    counted = {
        "n_rounds": data.n_rounds, "n_jobs": len(data.jobs), "n_classes": len(data.classes),
        "n_groups": len(data.groups), "n_games": data.games, "temperature": variant.temperature,
        "n_jobs_of_class": of_class.pop() if len(of_class) == 1 else None,
    }  # fmt: skip
    rates = data.success.rates
    if data.success.kind == "constant":
        counted["success"] = rates[0]
    elif data.success.kind == "latin_square":
        counted |= {f"success_{rank}": rate for rank, rate in zip(names.RANKS, rates, strict=False)}
    return counted.get(quantity)


def people(study: Study) -> Iterator[tuple[Key, float]]:
    """The people of the three settings add up to those used."""
    said = {row[-2]: row for row in published.printed(study) if row[0] == published.PEOPLE}
    parts = [said[name][-1] for name in ("n_classic", "n_success_0_1", "n_diversity_steer") if name in said]
    if "n_used" in said:
        yield said["n_used"][:-1], float(sum(map(int, parts)))

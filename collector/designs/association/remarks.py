"""Remark on what an association study may not intend, although it is allowed, for `collect studies validate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slant.collector.designs.association.words import AssociationData
from slant.collector.designs.sides import GROUPS
from slant.collector.study.records import StudyFile


def remarks_on_simulation(study: StudyFile) -> Iterator[str]:
    """Report rows for simulation that no trial reads, and tests without any: those are simulated by a plain default."""
    data: AssociationData = study.data
    if not data.simulation:
        return
    known = {"test": set(data.tests), "condition": set(data.conditions), "model": {m.model for m in study.models}}
    for place, name in enumerate(("model", "test", "condition")):
        unknown = sorted({cell[place] for cell in data.simulation} - known[name])
        if unknown:
            are = f"the {name} {_listed(unknown)} is" if len(unknown) == 1 else f"the {name}s {_listed(unknown)} are"
            yield f"Rows for simulation that no trial reads: {are} not in the study."
    for model in sorted({cell[0] for cell in data.simulation} & known["model"]):
        lacking = tests_without_rows(data, model)
        if lacking:
            yield (
                f"No rows for simulation: {model} in {', '.join(lacking)}. A simulated model then draws counts around "
                "200 tokens, alike in both conditions."
            )


def tests_without_rows(data: AssociationData, model: str) -> list[str]:
    """Return the tests in which a condition of this model has no row for simulation."""
    return [test for test in data.tests if any((model, test, name) not in data.simulation for name in data.conditions)]


def remarks_on_words(data: AssociationData) -> Iterator[str]:
    """Report labels that contain each other, and groups of a single word."""
    for test in data.tests.values():
        pairs = {(names["label_a"], names["label_b"]) for names in test.names.values()}
        for label_a, label_b in sorted(pairs):
            inner, outer = sorted((label_a, label_b), key=len)
            if inner.casefold() in outer.casefold():
                yield (
                    f'In {test.test} the label "{inner}" is inside "{outer}": check that each is '
                    "read as it was meant (collect view)."
                )
        yield from _single_words(test.test, test.group_names, {side: test.words[side] for side in GROUPS})


def _single_words(test: str, names: Mapping[str, str], words: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for side, own in words.items():
        if len(own) == 1:
            yield (
                f'In {test} the group "{names[side]}" has one word, "{own[0]}": what is found is about that word, '
                "and no model over words can be fitted."
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)

"""What can be checked without raw data: by the study's design, by other printed numbers, by the printed allocation
matrices, and by what chance gives. None of it says how a model answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slant.analysis.paper.family import PRINT, VALUE, Needs, Row, no_numbers, read_printed
from slant.analysis.paper.hiring import averages, design, matrices, published
from slant.analysis.paper.hiring.design import Key
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

CLAIMS = "claims_in_words.csv"
_EQUAL = 0.0005
"""Two indices that are printed with three digits are the same where they differ by less."""
Numbers = Iterator[tuple[Key, float]]


def printed(study: Study) -> Iterator[Row]:
    """All that is printed, with what the paper says in words of numbers: what can be checked of it, `recomputed` says.
    What no games can be compared with is only shown."""
    yield from published.printed(study)
    yield from published.later(study)
    yield from averages.printed(study)
    yield from matrices.printed(study)
    for row in read_printed(study, CLAIMS):
        key = (str(row["table"]), row["model"], row["test"], None, row["condition"])
        yield (*key, str(row["quantity"]), str(row["printed"]))


def needs(_: Results) -> Needs:
    return [], []


def recomputed(results: Results) -> pl.DataFrame:
    study = results.study
    if not any(published.printed(study)):
        return no_numbers()
    grain = (PRINT, study.version, study.variants[0])
    numbers = [
        *design.constants(study, results.variants), *design.people(study), *averages.found(study),
        *_below_random(study), *_of_matrices(study), *_of_chance(study, results.variants),
    ]  # fmt: skip
    known = {key for key, _ in numbers}
    rows: list[tuple[object, ...]] = [(*grain, *key, number, None) for key, number in numbers]
    rows += [(*grain, *row[:-1], None, None) for row in published.shown(study) if row[:-1] not in known]
    return pl.DataFrame(rows, schema=no_numbers().schema, orient="row").select(VALUE)


def _below_random(study: Study) -> Numbers:
    """The text's two cells below the random threshold, in the table of the later version."""
    later = {row[1:-1]: float(row[-1]) for row in published.later(study) if row[0] == "v4 Table 2"}
    for table, model, test, _, condition, quantity, _ in published.printed(study):
        cell = later.get((model, test, None, condition, "si"))
        random = later.get(("random", test, None, None, "si"))
        if quantity == "is_below_random" and cell is not None and random is not None:
            yield (table, model, test, None, condition, quantity), float(cell < random)


def _of_matrices(study: Study) -> Numbers:
    its = matrices.measured(study)
    for (model, condition), found in its.found.items():
        for table, quantities in (
            (matrices.TABLE, (matrices.SI, matrices.HALF_WIDTH)),
            (published.TEXT, (matrices.SI, matrices.LOW, matrices.HIGH)),
        ):
            yield from (((table, model, "main", None, condition, name), found[name]) for name in quantities)
    of_class = its.counts.group_by("cell", "game", "class").agg(pl.col("n").sum())["n"]
    yield _claim("job_order"), float(of_class.n_unique() == 1)
    apart = [abs(found["si"] - found["mutual_information_bits"]) for found in its.found.values()]
    yield _claim("si_is_mutual_information"), float(max(apart) < _EQUAL)


def _of_chance(study: Study, variants: Mapping[str, Study]) -> Numbers:
    """Random choices: what the text prints of 30 games, and the level that Table 2 should have been set beside."""
    main, priors = study.data, variants["prior_associations"].data
    level = {name: found[0] for name, found in matrices.chance(study, main.rounds, main.games, False).items()}
    for index in ("si", "bgd"):
        yield (published.TEXT, "random", "main", None, None, index), level[index]
    said = {row[-2]: float(row[-1]) for row in published.printed(study) if row[:2] == (published.TEXT, "random")}
    is_bits = abs(said["bgd"] - level["bgd_divergence_bits"]) < abs(said["bgd"] - level["bgd"])
    yield _claim("divergence"), float(is_bits)
    pooled = matrices.chance(study, priors.games * priors.rounds, 1, True)["si"][0]
    cells = [float(row[-1]) for row in published.printed(study) if row[0] == "Table 2"]
    yield (
        ("Table 2", None, "prior_associations", None, None, "n_cells_below_random"),
        float(sum(c < pooled for c in cells)),
    )


def _claim(quantity: str) -> Key:
    return published.TEXT, None, "main", None, None, quantity

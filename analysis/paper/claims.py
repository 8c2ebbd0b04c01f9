"""The numbers in the text of the paper: each claim is a quantity of some cells (models and tests), see
claim_quantities.py. Which models "all five" or "others" are stands in the study's claim_scopes.csv.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slant.analysis.fitting.fits import Asked
from slant.analysis.paper.claim_cells import REFUSAL_LENGTH, cells
from slant.analysis.paper.claim_quantities import EXTREMES, OF_ANY_MODEL, OF_ANY_TEST, QUANTITIES
from slant.analysis.paper.family import GRAIN, VALUE, Needs, Row, absent_in_words, no_numbers, read_printed, read_texts
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

TABLE = "text"
_ALL = "all"
_Claim = dict[str, str | None]


def printed(study: Study) -> Iterator[Row]:
    for claim in claims(study):
        sign = "" if claim["comparator"] == "=" else f"{claim['comparator']} "
        yield (*key(claim), f"{sign}{claim['printed']}")


def claims(study: Study) -> list[_Claim]:
    """The claims as the study ships them: claim, section, quantity, model, test, comparator, printed, text."""
    return list(read_printed(study, "text_claims.csv"))


def key(claim: _Claim) -> tuple[str, str | None, str | None, bool | None, str | None, str]:
    """KEY of a claim. Two claims may be about the same quantity, so the claim's number is part of its name."""
    return (TABLE, claim["model"], claim["test"], None, None, f"{claim['claim']} {claim['quantity']}")


def scopes(study: Study) -> dict[str, tuple[str, ...]]:
    """Names for several models, as claims use them, and the models that they mean."""
    path = study.path.parent / study.name / "claim_scopes.csv"
    found: dict[str, tuple[str, ...]] = {}
    for scope, model in read_texts(path).iter_rows() if path.is_file() else ():
        found[scope] = (*found.get(scope, ()), model)
    return found


def needs(results: Results) -> Needs:
    fits = [Asked("lme4"), Asked("effect_size", True), Asked("effect_size", False), REFUSAL_LENGTH]
    return ["cell_totals", "iat_mentions", "token_sources"], [one for one in fits if results.defines(one.fit)]


def recomputed(results: Results) -> pl.DataFrame:
    """Every claim whose quantity is known here and that has at least one cell; `missing` says which it lacks."""
    its_claims, its_scopes = claims(results.study), scopes(results.study)
    if not its_claims:
        return no_numbers()
    tests = [test.test for test in results.study.tests]
    rows = []
    its_cells = cells(results, its_scopes.get(_ALL, ())).join(
        results.partial_cells, on=[*GRAIN, "model", "test"], how="left", maintain_order="left"
    )
    for grain, group in its_cells.group_by(GRAIN, maintain_order=True):
        for claim in its_claims:
            number, missing = _number(claim, group, its_scopes, tests)
            if number is not None or missing is not None:
                rows.append((*grain, *key(claim), number, missing))
    return pl.DataFrame(rows, schema=no_numbers().schema, orient="row").select(VALUE)


def _number(
    claim: _Claim, group: pl.DataFrame, its_scopes: Mapping[str, tuple[str, ...]], tests: list[str]
) -> tuple[float | None, str | None]:
    quantity = QUANTITIES.get(str(claim["quantity"]))
    if quantity is None:
        return None, None
    name = claim["model"] or _ALL
    models = its_scopes.get(name, (name,))
    asked = pl.DataFrame({"model": models}).join(
        pl.DataFrame({"test": [claim["test"]] if claim["test"] else tests}), how="cross"
    )
    in_scope = asked.join(group, on=["model", "test"], how="left", maintain_order="left")
    needed = {"n_trials", *quantity.meta.root_names()} - {"model", "test"}
    is_here = pl.all_horizontal(pl.col(column).is_not_null() for column in needed)
    here, absent = in_scope.filter(is_here), in_scope.filter(~is_here)
    partial = _partial(here, str(claim["quantity"]))
    if claim["quantity"] in EXTREMES and partial.len():  # else the estimate of a part could contradict a bound
        here = here.filter(pl.col("shortfall").is_null())
        if here.is_empty():
            return None, f"All of its cells are here only in part. Not here: {'; '.join(partial)}."
    if claim["quantity"] in OF_ANY_MODEL:
        nowhere = absent.join(here, on="test", how="anti", maintain_order="left")
        absent = nowhere.unique("test", keep="first", maintain_order=True).with_columns(model=pl.lit("any model"))
    elif claim["quantity"] in OF_ANY_TEST:
        absent = absent.join(here, on="model", how="anti", maintain_order="left")
    if here.is_empty():
        return None, None
    missing = absent_in_words(absent.select("model", "test").iter_rows(), asked["test"].n_unique())
    return here.select(quantity).item(), "; ".join([*([missing] if missing else []), *partial]) or None


def _partial(here: pl.DataFrame, quantity: str) -> pl.Series:
    """What of these cells is not here. Of a quantity of the design, one whole model or test is enough."""
    partial = here.drop_nulls("shortfall")
    same = {**dict.fromkeys(OF_ANY_MODEL, "test"), **dict.fromkeys(OF_ANY_TEST, "model")}.get(quantity)
    if same:
        partial = partial.join(here.filter(pl.col("shortfall").is_null()), on=same, how="anti", maintain_order="left")
    return partial["shortfall"]

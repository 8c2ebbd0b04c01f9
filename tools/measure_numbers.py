"""Numbers of this machine as JSON, to compare with those of other versions: .venv/bin/python tools/measure_numbers.py

{"lme4": {number: value}, "effect sizes": …, "print": {table: [agree, with data]}, "brms": {number: [value, its error]}}
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
ESTIMATES = Path(__file__).with_name("measured_numbers.sql").read_text("utf-8")
SETTINGS = {"chains": 2, "iterations": 1500, "warmup": 500}


def of_demo(db: Path) -> dict[str, dict[str, float]]:
    """Estimates and standard errors of what `make demo` fitted."""
    numbers: dict[str, dict[str, float]] = {"lme4": {}, "effect sizes": {}}
    with duckdb.connect(str(db), read_only=True) as connection:
        for model, test, engine, term, estimate, std_error in connection.execute(ESTIMATES).fetchall():
            kind = numbers["lme4" if engine == "lme4" else "effect sizes"]
            kind[f"{model}, {test}, {term}"] = estimate
            if std_error is not None:
                kind[f"{model}, {test}, {term} (std_error)"] = std_error
    return numbers


def compared_with_print(shared: Path, folder: Path) -> dict[str, list[int]]:
    """{table: [numbers that agree with the print, numbers with data]}, from the authors' raw data."""
    from slant import analysis
    from slant.analysis.paper.comparison import summary
    from tests.support.authors import imported_authors

    rows = summary(analysis.compare(imported_authors(shared, folder).db, study="rmiat")).to_dicts()
    return {row["table"]: [row["agrees"], row["with_data"]] for row in rows}


def of_brms(folder: Path) -> dict[str, list[float]]:
    """A short fit of few answers: means of the posterior and their Monte Carlo errors."""
    from slant import analysis
    from tests.support.choices_made import database_of_choices

    db = database_of_choices(folder / "brms.duckdb")
    result = analysis.fit(db, "interference", "interference", settings=SETTINGS)
    # The smallest effective sample of all parameters, so the errors are rather too large than too small.
    n_effective = result.bayes["models"]["min_ess_bulk"].item()
    return {row["term"]: [row["estimate"], row["std_error"] / n_effective**0.5] for row in result.table.to_dicts()}


def main() -> None:
    shared = ROOT.parent / "shared"
    numbers: dict[str, object] = dict(of_demo(ROOT / "demo" / "demo.duckdb"))
    with tempfile.TemporaryDirectory() as name:
        if (shared / "data" / "rmiat").is_dir():
            numbers["print"] = compared_with_print(shared, Path(name))
        numbers["brms"] = of_brms(Path(name))
    json.dump(numbers, sys.stdout)


if __name__ == "__main__":
    main()

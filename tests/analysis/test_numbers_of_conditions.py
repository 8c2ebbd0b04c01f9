"""Answers to one condition only, games of one class or three: every command gives a result or a sentence."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant.collector import collect
from slant.collector.errors import StudyError
from slant.collector.importing.imports import import_trials
from slant.collector.keep.export import export_trials
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.own_studies import collected, write_drinks, write_pets
from tests.support.tiny_game import write_game

TWO_CLASSES = 'classes = [{ class = "high", jobs = ["Judge", "Pilot"] }, { class = "low", jobs = ["Porter"] }]'
CLASSES = {
    "one_class": 'classes = [{ class = "high", jobs = ["Judge", "Pilot"] }]',
    "three_classes": 'classes = [{ class = "high", jobs = ["Judge"] }, { class = "mid", jobs = ["Pilot"] }, '
    '{ class = "low", jobs = ["Porter"] }]',
}
NOTHING_TO_COMPARE = "and another one"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """usual.duckdb and apart.duckdb hold one condition of a study that has two; the games have one class, and three."""
    its = tmp_path_factory.mktemp("conditions")
    for study, condition in (("drinks", "usual"), ("pets", "apart")):
        path = collected(study, its / study, its / f"{study}.duckdb")
        export_trials(its / f"{study}.duckdb", out=its / "rows.csv", view="trials", overwrite=True)
        rows = pl.read_csv(its / "rows.csv", infer_schema=False).filter(pl.col("condition") == condition)
        rows.with_columns(source=pl.lit("collected")).write_csv(its / "rows.csv")
        import_trials(its / f"{condition}.duckdb", str(path), [its / "rows.csv"])
    for name, classes in CLASSES.items():
        (its / name).mkdir()
        path = write_game(its / name, (TWO_CLASSES, classes), ("[[models]]", "[variants.equal]\n\n[[models]]"))
        for variant in ("base", "equal"):
            collect(its / f"{name}.duckdb", str(path), ["simulated/greedy"], variant=variant)
    return its


CASES = [
    ("usual", "tables tokens_by_condition", 0, "usual"),
    ("usual", "--fit lme4", 1, NOTHING_TO_COMPARE),
    ("usual", "--fit effect_size", 1, 'must be "crossed" in at least two rows'),
    ("usual", "check", 0, "could not be checked"),
    ("usual", "figures --out usual tokens", 0, "tokens-imported-base.svg"),
    ("usual", "report --out usual.html", 0, "usual.html"),
    ("apart", "tables consistency_by_condition observed_delta_p", 0, "apart"),
    ("apart", "--fit lme4", 0, "intercept"),
    ("apart", "--fit lme4 --show contrasts", 2, 'The table "contrasts" of chosen, answered is empty.'),
    ("apart", "check", 0, NOTHING_TO_COMPARE),
    ("apart", "sensitivity", 1, 'There are no two levels of "condition"'),
    ("apart", "permute --permutations 2 --engine lme4", 1, "exactly two labels"),
    ("apart", "report --out apart.html", 0, "apart.html"),
]
CASES += [
    (name, typed, 0, said)
    for name in CLASSES
    for typed, said in [
        ("indices --n-boot 10 --n-random 4", "2 cells"),
        ("differences --n-draws 20 --reference base", "1 comparisons"),
        ("tables allocation_indices", "equal"),
        ("check", "No game of 3 was cut short"),
        (f"figures --out {name} allocations", "allocations-base-simulated.svg"),
        (f"report --out {name}.html", f"{name}.html"),
    ]
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("db", "typed", "exit_code", "said"), [pytest.param(*case, id=f"{case[0]}: {case[1]}") for case in CASES]
)
def test_any_number_of_conditions_gives_a_result_or_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, db: str, typed: str, exit_code: int, said: str
) -> None:
    monkeypatch.chdir(folder)
    result = run_analyze(*typed.split(), "--db", f"{db}.duckdb")
    assert said in result.output, result.output
    assert result.exit_code == exit_code
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "two", "three"),
    [
        (write_drinks, '["usual", "crossed"]\n', '["usual", "crossed", "third"]\n'),
        (write_pets, '["together", "apart"]\n', '["together", "apart", "third"]\n'),
    ],
)
def test_pairings_are_two_and_a_study_of_three_is_told_why(write: object, two: str, three: str, tmp_path: Path) -> None:
    path = write(tmp_path)  # type: ignore[operator]
    text = path.read_text("utf-8")
    assert two in text
    path.write_text(text.replace(two, three, 1), "utf-8")
    with pytest.raises(StudyError, match="There are two by design"):
        load_study(path)

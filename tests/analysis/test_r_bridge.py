"""What goes to R comes back as it was: values, types, missing values, text of any script."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.analysis.bridge.r_vectors import _BLOCK, _FEW
from slant.analysis.bridge.worker import _kill, _pool, _submit
from slant.collector.errors import RError
from tests.support.fitted import call_r, environment_of_r, references_lost, require, round_trip

InR = Callable[..., Any]
LEVELS = ["incompatible", "compatible"]
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
SCHEMA: dict[str, Any] = {
    "whole": pl.Int64, "big": pl.Int64, "double": pl.Float64, "flag": pl.Boolean, "text": pl.String, "side": pl.String,
}  # fmt: skip


def _or_null(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


ROW = st.tuples(
    _or_null(st.integers(-(2**31) + 1, 2**31 - 1)),
    _or_null(st.integers(-(2**53), 2**53)),
    _or_null(st.floats()),
    _or_null(st.booleans()),
    _or_null(TEXT),
    _or_null(st.sampled_from(LEVELS)),
)


@pytest.fixture(scope="module")
def in_r() -> Iterator[InR]:
    """Runs a function in one R worker that lives as long as this file's tests."""
    pool = _pool(1, frozenset())
    yield lambda function, *arguments: pool.executor.submit(function, *arguments).result(60)
    _kill(pool)


@settings(max_examples=40, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=10), st.sampled_from([1, _FEW, 3 * _FEW]))
def test_six_columns_come_back_with_their_types_and_values(in_r: InR, rows: list[Any], repeats: int) -> None:
    """Long ones, too, whose text goes over as blocks."""
    frame = pl.DataFrame(rows * repeats, schema=SCHEMA, orient="row")
    back = in_r(round_trip, frame, {"side": LEVELS})
    has_big = any(row[1] is not None and abs(row[1]) >= 2**31 for row in rows)
    assert back.schema == pl.Schema({**SCHEMA, "big": pl.Float64 if has_big else pl.Int64})
    assert back.cast(SCHEMA).equals(frame, null_equal=True)
    assert [repr(value) for value in back["double"]] == [repr(value) for value in frame["double"]]


def test_text_of_several_blocks_keeps_its_order_its_gaps_and_its_empty_strings(in_r: InR) -> None:
    texts = [None if n % 7 == 0 else "" if n % 11 == 0 else f"né {n}\n" for n in range(2 * _BLOCK + 5)]
    frame = pl.DataFrame({"text": texts, "empty": pl.Series([""] * len(texts))})
    assert in_r(round_trip, frame).equals(frame, null_equal=True)


def test_a_process_that_converts_many_tables_loses_no_references(in_r: InR) -> None:
    """Before Python 3.12 a process ends once the references to None are used up."""
    rows = [(1, 2**40, 1.5, True, "é", "compatible"), (None,) * 6] * (_FEW + 1)
    assert in_r(references_lost, pl.DataFrame(rows, SCHEMA, orient="row")) < 50


def test_a_frame_without_rows_keeps_its_columns(in_r: InR) -> None:
    empty = pl.DataFrame(schema={"a": pl.Int64, "b": pl.String, "c": pl.Float64, "d": pl.Boolean})
    assert in_r(round_trip, empty).schema == empty.schema


def test_a_factor_is_made_only_from_explicit_levels(in_r: InR) -> None:
    frame = pl.DataFrame({"x": ["b", None, "a"]})
    assert in_r(round_trip, frame, {"x": ["b", "a"]})["x"].to_list() == ["b", None, "a"]
    with pytest.raises(RError, match="not one of its levels"):
        in_r(round_trip, frame, {"x": ["a"]})


def test_categories_arrive_as_plain_text(in_r: InR) -> None:
    frame = pl.DataFrame({"x": pl.Series(["z", "a"], dtype=pl.Enum(["a", "z"]))})
    assert in_r(round_trip, frame)["x"].to_list() == ["z", "a"]


@pytest.mark.parametrize(
    ("values", "sentence"), [([2**53 + 1], "no exact number"), (["a\0b"], "NUL"), ([[1]], "text or numbers")]
)
def test_what_r_can_not_hold_is_refused(in_r: InR, values: list[Any], sentence: str) -> None:
    with pytest.raises(RError, match=sentence):
        in_r(round_trip, pl.DataFrame({"x": values}))


def test_an_error_in_r_is_one_sentence_and_names_what_is_there(in_r: InR) -> None:
    with pytest.raises(RError, match="there is no engine") as caught:
        in_r(call_r, "run_fit", "lme5", pl.DataFrame({"a": [1]}))
    assert "lme4" in str(caught.value)


def test_a_missing_r_package_says_how_to_install_it(in_r: InR) -> None:
    with pytest.raises(RError, match=r'install\.packages\(c\("not.there"\)\)'):
        in_r(require, "not.there")


def test_r_runs_on_one_thread_with_a_locale_that_is_the_same_everywhere(in_r: InR) -> None:
    found = in_r(environment_of_r, ["LC_ALL", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"])
    assert found == {"LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def test_what_r_computes_with_missing_values_comes_back_as_null(in_r: InR) -> None:
    sides = {"condition": ["compatible"] * 3 + ["incompatible"] * 3, "condition_no": [1] * 3 + [2] * 3}
    rows = pl.DataFrame({**sides, "tokens": [1, 2, 3, 2, 4, 6]})
    value, said = in_r(call_r, "effect_size", rows)
    estimate = value["estimates"].to_dicts()[0]
    assert math.isclose(estimate["estimate"], 2 / math.sqrt(2.5))
    assert (estimate["p_value"], said.height) == (None, 0)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("/usr/bin:/bin:/usr/local/bin", "-m pip install 'rpy2-rinterface"), ("/", "R is not on this machine")],
)
def test_without_rpy2_or_without_r_one_sentence_says_what_to_install(
    tmp_path: Path, root: Path, path: str, sentence: str
) -> None:
    (tmp_path / "rpy2").mkdir()  # stands in the way of the real one
    (tmp_path / "rpy2" / "__init__.py").write_text("raise ModuleNotFoundError('No module named rpy2')")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from slant.analysis.bridge import r; r.start()"
    command = [sys.executable, "-c", code, str(tmp_path)]
    answer = subprocess.run(command, cwd=root, env={"PATH": path}, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert sentence in answer.stderr


def test_a_job_sent_to_a_worker_does_not_need_the_callers_script() -> None:
    pool = _pool(1, frozenset())
    assert _submit(pool, abs, -1).result(60) == 1
    assert hasattr(sys.modules["__main__"], "__spec__")
    _kill(pool)

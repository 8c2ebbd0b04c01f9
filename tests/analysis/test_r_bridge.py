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

from slant.analysis.bridge.worker import _kill, _pool, _submit
from slant.collector.errors import RError
from tests.support.fitted import call_r, environment_of_r, require, round_trip

InR = Callable[..., Any]


@pytest.fixture(scope="module")
def in_r() -> Iterator[InR]:
    """Runs a function in one R worker that lives as long as this file's tests."""
    pool = _pool(1, frozenset())
    yield lambda function, *arguments: pool.executor.submit(function, *arguments).result(60)
    _kill(pool)


def column(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | values, max_size=20)


@settings(max_examples=60, deadline=None)
@given(column(st.integers(-(2**31) + 1, 2**31 - 1)))
def test_whole_numbers_of_32_bits_stay_whole(in_r: InR, values: list[int | None]) -> None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
    assert in_r(round_trip, frame).equals(frame, null_equal=True)


@settings(max_examples=60, deadline=None)
@given(column(st.integers(-(2**53), 2**53)))
def test_bigger_whole_numbers_keep_their_exact_value(in_r: InR, values: list[int | None]) -> None:
    back = in_r(round_trip, pl.DataFrame({"x": values}, schema={"x": pl.Int64}))
    assert back["x"].to_list() == values


@settings(max_examples=60, deadline=None)
@given(column(st.floats()))
def test_doubles_come_back_bit_by_bit_and_null_is_not_nan(in_r: InR, values: list[float | None]) -> None:
    back = in_r(round_trip, pl.DataFrame({"x": values}, schema={"x": pl.Float64}))["x"].to_list()
    assert [repr(v) for v in back] == [repr(v) for v in values]


@settings(max_examples=60, deadline=None)
@given(column(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))), column(st.booleans()))
def test_text_of_any_script_and_booleans_come_back(in_r: InR, texts: list[str], flags: list[bool]) -> None:
    for name, values, kind in (("t", texts, pl.String), ("b", flags, pl.Boolean)):
        frame = pl.DataFrame({name: values}, schema={name: kind})
        assert in_r(round_trip, frame).equals(frame, null_equal=True)


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
    rows = pl.DataFrame(
        {
            "condition": ["compatible"] * 3 + ["incompatible"] * 3,
            "condition_no": [1] * 3 + [2] * 3,
            "tokens": [1, 2, 3, 2, 4, 6],
        }
    )
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

"""All texts of the authors: slant's way of preparing and fitting topics gives what tm and stm give, and the paper's
numbers as far as its texts are here. Smaller cases are in tests/testthat/."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.fitting import both_ways


@pytest.mark.needs("stm")
@pytest.mark.slow
def test_all_texts_are_prepared_and_fitted_as_published(shared: Path, tmp_path: Path) -> None:
    found = both_ways(tmp_path / "some.rds")
    assert (found["n_texts"], found["n_documents"], found["n_words"]) == (31_989, 31_781, 246)
    assert found["engine"] == "fast"
    assert [round(100 * share, 2) for share in found["proportions"]] == [28.93, 18.68, 11.38, 41.01]

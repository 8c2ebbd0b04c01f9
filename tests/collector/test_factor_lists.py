"""Factors of trials as views read them: lists of texts by name, made where rows come in."""

from __future__ import annotations

from pathlib import Path

from slant.collector.keep.export import export_trials
from tests.support.each_row import each_row
from tests.support.given import database, in_memory, insert

LISTS = "SELECT factor_lists FROM trial_rows"


@each_row(
    ("factors", "lists"),
    [
        (r'{"words": ["a, b", "say \"no\"", "c:\\d", "two\nlines", "é", null, ""]}',
         {"words": ["a, b", 'say "no"', "c:\\d", "two\nlines", "é", None, ""]}),
        ('{"tier": "easy", "n": 3, "p": 0.50, "is_success": true, "persona": null, "order": []}',
         {"tier": ["easy"], "n": ["3"], "p": ["0.5"], "is_success": ["true"], "persona": [None], "order": []}),
        ('{"candidates": [["x", 1], ["y", 2]], "not_asked": {"ratings": 4}}',
         {"candidates": ['["x",1]', '["y",2]'], "not_asked": ['{"ratings":4}']}),
        ("{}", {}), (None, None), ("[1]", None), ("{not json", None), ("", None),
        ('{"deep": ' + "[" * 5_000 + "]" * 5_000 + "}", {"deep": ["[" * 4_999 + "]" * 4_999]}),
    ],
)  # fmt: skip
def test_factors_are_lists_of_texts_by_name(factors: str | None, lists: dict[str, list[str | None]] | None) -> None:
    with in_memory() as connection:
        insert(connection, [{"trial_id": "t1", "factors": factors}])
        assert connection.execute(LISTS).fetchall() == [(lists,)]


def test_files_have_factors_as_one_text(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    database(db, [{"factors": '{"tier": "easy"}'}])
    export_trials(db, out=tmp_path / "all.csv", view="all_trials")
    header, row = (tmp_path / "all.csv").read_text("utf-8").splitlines()[:2]
    assert "factor_lists" not in header.split(",")
    assert '{""tier"": ""easy""}' in row

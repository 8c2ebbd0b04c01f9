"""Texts drawn for people to code: known probabilities, sheets that come in without options, and what is refused."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from slant.collector import collect
from slant.collector.errors import UsageError
from slant.collector.keep.journal_loader import load_journals
from slant.collector.keep.text_samples import draw_sample
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.coding_sheets import strata_of
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.stored import rows_in


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coded")
    study = write_new_study("reasons", "coding", folder / "reasons")[0]
    collect(folder / "a.duckdb", study, ["simulated/gpt-6-luna"])
    return folder / "a.duckdb"


@pytest.fixture
def db(coded: Path, tmp_path: Path) -> Path:
    """The same texts and codes, with nothing drawn."""
    (tmp_path / "a.duckdb.journal").mkdir()
    for file in coded.with_name("a.duckdb.journal").glob("*.jsonl*"):
        (tmp_path / "a.duckdb.journal" / file.name).write_bytes(file.read_bytes())
    load_journals(tmp_path / "a.duckdb")
    return tmp_path / "a.duckdb"


def test_a_second_sample_adds_to_the_first_and_all_probabilities_are_those_of_both(db: Path) -> None:
    study = load_study("reasons", db=db)
    first = draw_sample(db, "reasons", strata_of(study, "", db), 36, seed=7)
    second = draw_sample(db, "reasons", strata_of(study, "gender", db), 54, "gender", seed=7)
    assert not set(first.items) & set(second.items)
    assert (len(first.items), len(second.items), second.n_before) == (36, 54, 36)
    genders = [study.data.texts[item].factors["gender"] for item in second.items]
    assert genders.count("man") == 27
    found = dict(rows_in(db, "SELECT item, 1 - product(1 - probability) FROM text_samples GROUP BY item"))
    assert sum(found.values()) == pytest.approx(90, abs=0.5)


def test_a_sample_by_uncertainty_draws_divided_texts_rather_and_none_with_less_than_one_in_fifty(db: Path) -> None:
    strata = strata_of(load_study("reasons", db=db), "uncertainty", db)
    drawn = draw_sample(db, "reasons", strata, 40, "uncertainty")
    assert 20 <= len(drawn.items) <= 60
    assert rows_in(db, "SELECT round(sum(probability)) FROM text_samples") == [(40.0,)]
    with pytest.raises(UsageError, match="probability of 0"):
        draw_sample(db, "reasons", dict.fromkeys(map(str, range(400)), ""), 4)


def filled(sheet: Path, change: Callable[[list[dict[str, str]]], None] = lambda cells: None) -> Path:
    with sheet.open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    for number, row in enumerate(cells):
        row |= {"coder": "anna", "code": ("time", ("2", "2.0")[number % 2], "another reason, or none")[number % 3]}
    change(cells)
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(cells[0]))
        writer.writeheader()
        writer.writerows(cells)
    return sheet


def test_a_filled_sheet_comes_in_without_options_and_a_later_one_of_a_coder_counts(db: Path) -> None:
    sheet = db.with_name("s.csv")
    run_collect("sample", "--study", "reasons", "--n", 30, "--db", db, "--out", sheet, code=0)
    header = sheet.read_text("utf-8").partition("\n")[0]
    assert not {"gender", "name", "model"} & set(header.split(","))
    said = run_collect("import", "--study", "reasons", "--db", db, filled(sheet), code=0)
    assert "1 person, stored by name." in said.output
    sql = "SELECT coder, coding, count(DISTINCT item) FROM codings WHERE is_person GROUP BY ALL ORDER BY coding"
    assert rows_in(db, sql) == [("anna", "money", 10), ("anna", "other", 10), ("anna", "time", 10)]
    all_other = filled(sheet, lambda cells: [row.update(code="other") for row in cells] and None)
    run_collect("import", "--study", "reasons", "--db", db, all_other, code=0)
    assert rows_in(db, sql) == [("anna", "other", 30)]
    assert rows_in(db, "SELECT count(people), sum(people) FROM coded_texts WHERE test = 'other'") == [(30, 30.0)]


def test_a_text_that_was_edited_after_it_was_coded_is_a_problem_and_the_others_come_in(db: Path) -> None:
    sheet = db.with_name("s.csv")
    run_collect("sample", "--study", "reasons", "--n", 20, "--db", db, "--out", sheet)
    said = run_collect(
        "import", "--study", "reasons", "--db", db, filled(sheet, lambda c: c[0].update(text_hash="00000000")), code=1
    )
    assert "edited after it was coded" in said.output
    assert rows_in(db, "SELECT count(DISTINCT item) FROM codings WHERE is_person") == [(19,)]


REFUSED = (
    ({"code": "boredom"}, 'the code "boredom", which the codebook lacks: time, money, other'),
    ({"code": "9"}, 'the code "9", which the codebook lacks'),
    ({"code": "time; money"}, 'several codes ("time; money"), and a text gets one'),
    ({"code": "1, 2"}, 'several codes ("1, 2")'),
    ({"item": "text 9999", "text": ""}, 'is of "text 9999", none of the study\'s 144 texts'),
    ({"item": "", "text": "what nobody wrote here"}, "is of a text, none of the study's 144 texts"),
    ({"coder": ""}, "doesn't say whose answer it is"),
)


def test_each_row_of_a_sheet_that_names_no_code_text_or_coder_is_refused_in_a_sentence(db: Path) -> None:
    sheet = db.with_name("s.csv")
    run_collect("sample", "--study", "reasons", "--n", 20, "--db", db, "--out", sheet)

    def change(cells: list[dict[str, str]]) -> None:
        for row, (cell, _) in zip(cells, REFUSED, strict=False):
            row |= cell
        cells.append(dict(cells[-1]))

    problems = db.with_name("p.csv")
    run_collect("import", "--study", "reasons", "--db", db, filled(sheet, change), "--problems", problems, code=1)
    found = [row["problem"] for row in csv.DictReader(problems.open(newline="", encoding="utf-8"))]
    wanted = [*(says for _, says in REFUSED), "second answer of a participant"]
    assert [says for says, text in zip(wanted, found, strict=True) if says not in text] == []
    assert rows_in(db, "SELECT count(DISTINCT item) FROM codings WHERE is_person") == [(20 - len(REFUSED),)]


@each_row(
    ("rows", "says"),
    [
        ("item,coder\ntext 1,anna", "has the columns item (or text), coder and code"),
        ("text_hash,code\nabc,time", "has the columns item (or text), coder and code"),
        ("item,coder,code\ntext 1,anna,time\ntext 2,gpt-6-luna,time", 'codes of people ("anna") and of models'),
    ],
)
def test_a_file_that_is_no_sheet_of_one_kind_of_coders_is_refused(rows: str, says: str, coded: Path) -> None:
    file = coded.with_name("no_sheet.csv")
    file.write_text(rows, "utf-8")
    said = run_collect("import", "--study", "reasons", "--db", coded, file)
    assert (said.exit_code, says in said.output) == (2, True), said.output


def test_a_number_in_a_sheet_is_refused_where_each_text_has_its_own_order_of_codes(db: Path) -> None:
    path = write_new_study("drawn", "coding", db.with_name("drawn"))[0]
    path.write_text(path.read_text("utf-8").replace("in_order = true", "in_order = false"), "utf-8")
    collect(db, path, ["simulated/gpt-6-luna"])
    sheet = db.with_name("d.csv")
    run_collect("sample", "--study", "drawn", "--n", 9, "--db", db, "--out", sheet)
    said = run_collect("import", "--study", "drawn", "--db", db, filled(sheet))
    assert 'has the number "2", but each text has its own order of codes' in said.output
    assert "6 rows imported" in said.output


def test_codes_of_elsewhere_name_a_text_and_a_coder_and_those_of_models_are_models_codes(db: Path) -> None:
    texts = load_study("reasons", db=db).data.texts
    item, text = next(iter(texts.items()))
    people, models = db.with_name("people.csv"), db.with_name("models.csv")
    people.write_text(f'text,coder,code\n"{text.text}",ben,money\n')
    models.write_text(f"trial_id,coder,code\n{item},elsewhere/judge,money\n")
    for file in (people, models):
        assert (said := run_collect("import", "--study", "reasons", "--db", db, file)).exit_code == 0, said.output
    sql = "SELECT coder, is_person, source, item FROM codings WHERE given = 1 AND code = 'money'"
    wanted = {("ben", True, "human", item), ("elsewhere/judge", False, "imported", item)}
    assert wanted <= set(rows_in(db, sql))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--n", "500"), "it has 144, of which 0 are drawn"),
        (("--n", "10", "--by", "nonsense"), "factor to draw texts by"),
        (("--n", "0"), "must be 1 or more"),
        (("--n", "1", "--by", "gender"), "draw at least one text of each (--n 2)"),
    ],
)
def test_what_can_not_be_drawn_is_a_sentence(words: tuple[str, ...], says: str, coded: Path) -> None:
    said = run_collect("sample", "--study", "reasons", "--db", coded, *words)
    assert (said.exit_code, says in said.output) == (2, True), said.output


def test_a_page_without_drawn_texts_or_a_coder_says_what_to_type(db: Path) -> None:
    for words, says in ((("--coder", "anna"), "collect sample"), ((), "--coder anna")):
        said = run_collect("view", "--code", "reasons", "--db", db, "--no-open", *words)
        assert (said.exit_code, says in said.output) == (2, True), said.output

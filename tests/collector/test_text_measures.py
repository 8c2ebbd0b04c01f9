"""Numbers made from answers: what the functions give, and that tables and fits have them as questions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from slant.analysis.rows.study_choice import study_in
from slant.collector import collect
from slant.collector.errors import SlantError
from slant.collector.keep.database import reading
from slant.collector.reading.text_measures import TextMeasure
from slant.collector.studies.catalogue import fits_of, load_study
from tests.support.commands import run_collect
from tests.support.each_row import each_row

STUDY = """
name = "notes"
title = "Notes"
design = "factorial"
factors.job = ["nurse", "pilot"]
templates.plain = "Write about a {job}."
questions.note = { text = "One sentence.", kind = "text" }
questions.hero = { text = "He or she?", kind = "choice", options = ["he", "she"] }
measures.words = "length_words"
measures.warmth = "lexicon:warm.txt"
measures.woman = { of = "hero", by = "option:She" }
models = [{ model = "small", provider = "local" }]
"""


def study_file(folder: Path, text: str = STUDY) -> Path:
    (folder / "warm.txt").write_text("Much\nperson*\n\n", "utf-8")
    (folder / "notes.toml").write_text(text, "utf-8")
    return folder / "notes.toml"


@each_row(
    ("function", "words", "text", "value"),
    [
        ("length_words", (), "I don't know: twenty-one of 30.", 6),
        ("length_words", (), "…", 0),
        ("lexicon", ("warm", "friend*"), "Warm friends, cold FRIENDLY winds.", 3 / 5),
        ("lexicon", ("warm",), "", None),
        # 206.835 - 1.015 * 6 words / 1 sentence - 84.6 * 6 syllables / 6 words
        ("readability", (), "The cat sat on the mat.", 206.835 - 6.09 - 84.6),
        ("readability", (), "The cake. It came!", 206.835 - 1.015 * 2 - 84.6),
        ("option", ("she",), "She", 1),
        ("option", ("she",), "he", 0),
    ],
)
def test_a_function_gives_this_number(function: str, words: tuple[str, ...], text: str, value: float | None) -> None:
    found = TextMeasure("note", function, words).value(text)
    assert found == (value if value is None else pytest.approx(value))


def test_measures_are_questions_of_tables_and_fits(tmp_path: Path) -> None:
    file = study_file(tmp_path)
    collect(tmp_path / "a.duckdb", file, simulated=True, repetitions=20)
    with reading(tmp_path / "a.duckdb") as connection:
        rows = connection.sql("SELECT question, avg(number), count(*) FROM factorial_trials GROUP BY ALL").fetchall()
        means = connection.sql("SELECT DISTINCT question FROM factorial_marginal_means ORDER BY ALL").fetchall()
        [(n, woman)] = connection.sql("SELECT count(*), count_if(choice = 'she') FROM factorial_trials "
                                      "WHERE question = 'hero' AND outcome = 'answered'").fetchall()  # fmt: skip
    found = {question: (mean, n) for question, mean, n in rows}
    assert {name: n for name, (_, n) in found.items()} == dict.fromkeys(
        ("note", "hero", "words", "warmth", "woman"), 40
    )
    assert found["words"][0] == 7  # "This person has much to recommend them."
    assert found["warmth"][0] == pytest.approx(2 / 7)
    assert found["woman"][0] == pytest.approx(woman / n)
    assert means == [("warmth",), ("woman",), ("words",)]
    assert {"amce", "marginal_means"} <= set(fits_of(load_study(file)))


def test_an_own_fit_of_what_is_missing_counts_each_answer_once_over_prompts(tmp_path: Path) -> None:
    own = """
    [fits.refused]
    engine = "amce"
    view = "factorial_profiles"
    outcome = "is_refusal"
    settings = { attributes = ["job"] }
    """
    study = load_study(study_file(tmp_path, STUDY + own))
    fit = fits_of(study)["refused"]
    assert "amce" in fits_of(study)  # of what was measured, as ever
    assert (fit.where, fit.settings["cluster"]) == ({"question": ("note", "hero")}, "item")
    units = [study.design.analyses.measured_in(study, name) for name in ("words", "warmth", "woman")]
    assert units == ["words", "share of words", "share of she"]
    assert study.design.analyses.check_arguments(study)["missing_answers"] == {"where": {"test": ("note", "hero")}}


def test_a_typed_function_measures_kept_answers_for_tables_and_fits(tmp_path: Path) -> None:
    file = study_file(tmp_path, "\n".join(line for line in STUDY.splitlines() if not line.startswith("measures")))
    collect(tmp_path / "a.duckdb", file, simulated=True, repetitions=3)
    (tmp_path / "vowels.py").write_text("def vowels(text):\n    return sum(c in 'aeiou' for c in text.lower())\n")
    (tmp_path / "signs.R").write_text(
        'cat("read\\n")\nsigns <- function(text) if (nchar(text) > 999) NA else nchar(text)\n'
    )
    words = ["reread", "--db", str(tmp_path / "a.duckdb"), "--study", str(file)]
    typed = [f"--measure=vowels={tmp_path}/vowels.py", f"--measure=signs={tmp_path}/signs.R"]
    run = run_collect(*words, *typed, code=0)
    assert "6 answers measured: vowels, signs" in run.output
    said = "This person has much to recommend them."
    with reading(tmp_path / "a.duckdb") as connection:
        rows = connection.sql("SELECT DISTINCT question, measured FROM factorial_profiles WHERE kind = 'number'")
        assert set(rows.fetchall()) == {("vowels", sum(c in "aeiou" for c in said.lower())), ("signs", len(said))}
    assert "marginal_means" in fits_of(study_in(tmp_path / "a.duckdb", file))
    assert not fits_of(load_study(file)).get("marginal_means")
    for wrong, about in ((["--measure=x=gone.py"], "no Python file"), (["--measure=x"], "NAME=FILE"), (
        [f"--measure=hero={tmp_path}/vowels.py"], "hero"), ([typed[0], "--of", "heroine"], "hero")):  # fmt: skip
        refused = run_collect(*words, *wrong)
        assert (refused.exit_code, about in refused.output) == (2, True), refused.output


@each_row(
    ("change", "said"),
    [
        (('"length_words"', '"lenght_words"'), 'Did you mean "length_words"?'),
        (('"lexicon:warm.txt"', '"lexicon:../warm.txt"'), "outside the folder"),
        (('"option:She"', '"option:They"'), "no option"),
        (('of = "hero"', 'of = "heroine"'), 'Did you mean "hero"?'),
        (("measures.words", "measures.note"), "can't be called"),
        (('"length_words"', '"lexicon"'), "no function"),
    ],
)
def test_a_measure_that_can_not_be_made_is_refused(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SlantError, match=re.escape(said)):
        load_study(study_file(tmp_path, STUDY.replace(*change)))

"""[sensitivity.*] of a study file: read strictly, and no part of what is asked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import studies_dir

OWN = """
[sensitivity.own]
fit = "lme4"
contrast = "condition"
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A copy of rmiat to change."""
    shutil.copytree(studies_dir() / "rmiat", tmp_path / "rmiat")
    return Path(shutil.copy(studies_dir() / "rmiat.toml", tmp_path / "rmiat.toml"))


def with_more(study: Path, text: str) -> Path:
    study.write_text(study.read_text("utf-8") + text, "utf-8")
    return study


def test_specifications_keep_the_order_of_the_file_and_what_they_dont_name(mine: Path) -> None:
    found = load_study(with_more(mine, OWN)).sensitivity
    assert next(iter(found)) == "paper"
    own = found["own"]
    assert list(found)[-1] == "own"
    assert (own.label, own.formula, own.drop_flags, own.rotate) == ("own", None, ("is_refusal",), None)


def test_specifications_decide_neither_version_nor_ids(mine: Path) -> None:
    before = load_study(mine)
    after = load_study(with_more(mine, OWN))
    assert (before.version, after.version) == (load_study("rmiat").version,) * 2
    first, second = (next(iter(plan(study, study.model("o3-mini")))) for study in (before, after))
    assert first.conversation_id == second.conversation_id


def test_both_studies_have_those_that_the_issue_asks_for() -> None:
    assert {"refusals_kept", "log_tokens", "item", "maximal", "trimmed", "medians", "without_truncated"} <= set(
        load_study("rmiat").sensitivity
    )
    assert {
        "sum_coding",
        "reference",
        "priors_halved",
        "priors_doubled",
        "invalid_as_inconsistent",
        "random_slopes",
        "glmer",
    } <= set(load_study("interference").sensitivity)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('fitt = "lme4"', 'no key "fitt"'),
        ("choices = { outcome = 3 }", '"choices" in'),
        ("missing_as = { tokens = [1] }", '"missing_as" in'),
        ('rotate = "condition"', "can't name the contrast"),
        ('drop_flags = ["a b"]', "can't be called"),
        ("settings = { seed = 2020-01-01 }", "what JSON can say"),
    ],
)
def test_a_wrong_key_or_value_is_one_sentence(mine: Path, line: str, sentence: str) -> None:
    with pytest.raises(StudyError, match=sentence):
        load_study(with_more(mine, OWN + line + "\n"))


def test_an_unknown_fit_names_those_that_there_are(mine: Path) -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "lme4"'):
        load_study(with_more(mine, OWN.replace('"lme4"', '"lme5"')))


def test_a_contrast_must_be_known(mine: Path) -> None:
    with pytest.raises(StudyError, match='needs the key "contrast"'):
        load_study(with_more(mine, '\n[sensitivity.own]\nfit = "lme4"\n'))

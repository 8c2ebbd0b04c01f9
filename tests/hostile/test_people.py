"""Files of people's answers with more in them than was asked for: nothing of that is kept, and a sentence says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths, opened_journal
from tests.hostile.people import CANARY, FILES, PeopleFile

STUDY = """
name = "drinks"
title = "Drinks"
design = "factorial"
factors.item = ["tea", "milk"]
templates.plain = "Do you like {item}?"
questions.rating = { text = "Answer.", kind = "scale", max = 5 }
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""


def everything_kept(db: Path) -> bytes:
    texts = [db.read_bytes()] if db.exists() else []
    for path in journal_paths(journal_folder(db)):
        with opened_journal(path) as journal:
            texts.append(journal.read())
    return b"".join(texts)


@pytest.mark.slow
@pytest.mark.parametrize("hostile", FILES, ids=lambda hostile: hostile.name)
def test_nothing_that_was_not_asked_for_is_kept(hostile: PeopleFile, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    file, db = tmp_path / hostile.file, tmp_path / "t.duckdb"
    file.write_bytes(hostile.text.encode("utf-8", "surrogateescape"))
    said = {"consent": "informed", "origin": "a stranger", "person": list(hostile.person)}
    if hostile.refusal:
        with pytest.raises(UsageError, match=hostile.refusal):
            import_trials(db, str(tmp_path / "study.toml"), [file], layout="people", **said)
    else:
        report = import_trials(db, str(tmp_path / "study.toml"), [file], layout="people", **said)
        assert [hostile.problem in problem.text for problem in report.problems] == [True] * bool(hostile.problem)
        assert not any(CANARY in problem.text for problem in report.problems)
    assert CANARY.encode() not in everything_kept(db)

"""A run that ends on precision, by real R: its looks, what is kept of them, how it goes on, and what is told of it."""

from __future__ import annotations

import asyncio
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant import analysis
from slant.analysis.pages.parts.records import SectionData
from slant.analysis.pages.parts.registry import stopping
from slant.analysis.questions.checks.check_findings import stopping_finding
from slant.analysis.questions.checks.registration import deviations
from slant.collector import RunReport, collect, load_study, preregister
from slant.collector.ask.call import Watcher
from slant.collector.errors import UsageError
from slant.collector.keep.journal import journal_folder
from slant.collector.stopping.looks import read_looks
from slant.collector.stopping.rule import StoppingRule
from tests.support.batching import Heard
from tests.support.commands import run_analyze, run_collect
from tests.support.local_server import LocalServer, completion
from tests.support.processes import TypedCommand, wait_until
from tests.support.stored import rows_in
from tests.support.worded_study import TRIALS, write_worded

pytestmark = [pytest.mark.slow, pytest.mark.needs("lmerTest")]
WIDTH, MOST, LOOKS, SEED = 60.0, 6, 3, 1


MODEL = ("simulated/small",)
RULE: dict[str, Any] = {"repetitions": MOST, "until_width": WIDTH, "looks": LOOKS, "seed": SEED}


def ask(folder: Path, models: tuple[str, ...] = MODEL, **named: Any) -> RunReport:
    study = folder / "study" / "study.toml"
    report = collect(folder / "a.duckdb", study, models, **{**RULE, **named})
    assert isinstance(report, RunReport)
    return report


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunReport, list[str]]:
    """Its width is reached with the last look; `said` is what was told on the way."""
    folder, listener = tmp_path_factory.mktemp("until_width"), Heard()
    study = write_worded(folder / "study")
    registration = preregister(study, MODEL, **RULE)
    return folder, ask(folder, watcher=listener, registration=registration), listener.lines


@pytest.fixture
def copy(ended: tuple[Path, RunReport, list[str]], tmp_path: Path) -> Path:
    shutil.copytree(ended[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_whole_repetitions_are_asked_and_looked_at_until_the_width_is_there(
    ended: tuple[Path, RunReport, list[str]],
) -> None:
    folder, report, said = ended
    (row,) = report.models
    assert report.is_complete
    assert [(look.look_no, look.repetitions) for look in report.looks] == [(1, 2), (2, 4), (3, 6)]
    assert (row["asked"], row["looks"], row["repetitions"]) == (6 * TRIALS, 3, 6)
    widths = [look.widths[0].half_width or 0.0 for look in report.looks]
    assert min(widths[:2]) > WIDTH >= widths[2] == row["half_width"]
    assert [look.widths[0].n_trials for look in report.looks] == [2 * TRIALS, 4 * TRIALS, 6 * TRIALS]
    assert [text.partition(":")[0] for text in said] == [
        f"Look {n} of 3, after {2 * n} of 6 repetitions" for n in (1, 2, 3)
    ]
    assert read_looks(folder / "a.duckdb") == {report.looks[0].plan: list(report.looks)}


def test_the_width_is_that_of_the_fit_over_words_and_wordings_and_no_effect_is_kept(
    ended: tuple[Path, RunReport, list[str]],
) -> None:
    folder, report, _ = ended
    assert rows_in(folder / "a.duckdb", "SELECT count(*) FROM calls") == [(0,)]
    assert rows_in(folder / "a.duckdb", "SELECT count(*) FROM looks") == [(0,)]
    lines = "".join(path.read_text("utf-8") for path in journal_folder(folder / "a.duckdb").glob("looks-*"))
    assert not {"estimate", "p_value"} & set(re.findall(r"\w+", lines))
    effects = analysis.fit(folder / "a.duckdb", load_study(str(folder / "study" / "study.toml")), "crossed").tables
    effect = effects["crossed"]["effects"].row(0, named=True)
    half = effect["width_margin"] * (effect["conf_high"] - effect["conf_low"]) / 2
    assert report.models[0]["half_width"] == pytest.approx(half, rel=1e-4)


def test_the_same_command_asks_and_looks_no_more(copy: Path) -> None:
    db = str(copy / "a.duckdb")
    words = ["--study", str(copy / "study" / "study.toml"), "--model", "simulated/small", "--db", db]
    rule = ["--repetitions", "6", "--until-width", "60", "--looks", "3", "--seed", "1"]
    result = run_collect(*words, *rule)
    assert result.exit_code == 0, result.stderr
    assert "Nothing to ask: the model has ended by this rule." in result.stderr
    assert "60 or less, so it is asked no more" in result.stderr
    assert len(list(journal_folder(copy / "a.duckdb").glob("looks-*"))) == 3
    report = ask(copy)
    assert (report.is_complete, report.models[0]["asked"], len(report.looks)) == (True, 0, 3)


def test_looks_that_were_made_count_by_another_rule_too(copy: Path) -> None:
    with pytest.raises(UsageError, match=r"was looked at 3 times, and --looks allows 3"):
        ask(copy, until_width=5.0, repetitions=8)
    listener = Heard()
    report = ask(copy, until_width=5.0, repetitions=8, looks=4, watcher=listener)
    assert "was looked at by another rule before (±60, 3 looks, 6 repetitions at most)" in listener.lines[0]
    assert [(look.look_no, look.repetitions) for look in report.looks] == [(1, 2), (2, 4), (3, 6), (4, 8)]
    assert "all 8 repetitions are asked, so it ends without that width" in listener.lines[-1]
    assert report.models[0]["asked"] == 2 * TRIALS


def test_a_database_made_again_from_its_journals_has_the_looks(copy: Path) -> None:
    before = read_looks(copy / "a.duckdb")
    result = run_collect("load", "--rebuild", "--db", copy / "a.duckdb")
    assert result.exit_code == 0, result.stderr
    assert read_looks(copy / "a.duckdb") == before


def test_status_methods_and_report_tell_the_rule_the_looks_and_why_it_ended(
    ended: tuple[Path, RunReport, list[str]],
) -> None:
    folder, report, _ = ended
    widths = ", ".join(f"{look.width} after {look.repetitions}" for look in report.looks)
    told = f"{widths} repetitions, which was narrow enough"
    status = run_collect("status", "--db", folder / "a.duckdb")
    assert f"small until ±60 tokens, 3 looks, 6 repetitions at most: {told}." in status.stderr
    methods = run_collect("methods", "--db", folder / "a.duckdb").stdout
    assert f"The plan has up to {6 * TRIALS} trials for the model, each cell up to 6 times" in methods
    assert report.looks[0].rule.sentences("tokens") in methods
    assert f"small {told}." in methods
    assert "--repetitions 6 --until-width 60 --looks 3" in methods
    tables = analysis.tables(folder / "a.duckdb", "drinks")
    grain = tables["interval_widths"].select("source", "study_version", "variant").row(0, named=True)
    group = stopping(SectionData(load_study(str(folder / "study" / "study.toml")), tables, {}, grain))
    assert group is not None
    assert group.texts == (report.looks[0].rule.sentences("tokens"), f"small: {told}.")


def test_checks_name_a_rule_that_was_not_registered_and_whoever_left_early(
    ended: tuple[Path, RunReport, list[str]], copy: Path
) -> None:
    db, study = copy / "a.duckdb", load_study(str(copy / "study" / "study.toml"))
    assert deviations(db, preregister(study, MODEL, **RULE)).is_empty()
    other = deviations(db, preregister(study, MODEL, repetitions=MOST, seed=SEED)).to_dicts()
    assert [(row["deviation"], row["registered"], row["n"]) for row in other] == [("stopping_rule", "none", 3)]
    fewer = deviations(db, preregister(study, MODEL, **RULE | {"looks": 2}))
    assert set(fewer["deviation"]) == {"stopping_rule", "width_looks"}
    finding = stopping_finding(ended[1].looks, {}, None)
    assert (finding.standing, finding.verdict) == (
        "note", "It was to stop on precision, by a rule that was not registered: ±60, 3 looks, 6 repetitions at most."
    )  # fmt: skip


def test_the_page_of_checks_says_when_collecting_ended(copy: Path) -> None:
    words = ["check", "--study", str(copy / "study" / "study.toml"), "--db", str(copy / "a.duckdb"), "--format", "csv"]
    checked = run_analyze(*words)
    assert "It was to stop on precision, by the rule that was registered: ±60" in checked.stdout


def test_a_model_that_was_left_between_looks_is_named(tmp_path: Path) -> None:
    study = write_worded(tmp_path / "study")
    rule = RULE | {"repetitions": 4, "until_width": 1.0, "looks": 2}
    registration = preregister(study, MODEL, **rule)

    class Leaver(Watcher):
        def say(self, text: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path, **rule, watcher=Leaver(), registration=registration)
    (row,) = deviations(tmp_path / "a.duckdb", registration).to_dicts()
    assert (row["deviation"], row["found"], row["n"]) == ("left_early", "2", 2 * TRIALS)


def test_where_no_interval_can_be_had_nothing_ends_before_all_is_asked(tmp_path: Path) -> None:
    write_worded(tmp_path / "study")
    rule, listener = {"repetitions": 2, "until_width": 1e9, "looks": 2}, Heard()

    async def equal(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion() | {"choices": [{"message": {"content": "Calm"}}]})

    with LocalServer(equal) as server:
        report = ask(tmp_path, ("local/small",), base_url=server.base_url, **rule, watcher=listener)
    assert [cell.status for look in report.looks for cell in look.widths] == ["failed", "failed"]
    (note,) = report.notes
    assert note == "In each of 2 runs: local gave no reason why 64 answers ended; they count as answers all the same."
    assert "no interval in 1 of 1 tests, for the fit failed; not yet 1e+09, so it is asked on" in listener.lines[0]
    assert report.models[0]["repetitions"] == 2


def test_a_dry_run_shows_the_rule_and_the_least_and_the_most_that_is_asked(tmp_path: Path) -> None:
    study = write_worded(tmp_path / "study")
    words = ["--study", str(study), "--model", "simulated/small", "--db", str(tmp_path / "a.duckdb"), "--dry-run"]
    result = run_collect(*words, "--repetitions", "6", "--until-width", "60", "--format", "json")
    rows = json.loads(result.stdout)
    assert [(row["asked"], row["repetitions"], row["to_ask"]) for row in rows] == [
        ("least", 2, 2 * TRIALS),
        ("most", 6, 6 * TRIALS),
    ]
    assert StoppingRule(60, 5, 6).sentences("tokens") in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_paid_requests_are_agreed_to_for_the_most_that_may_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    write_worded(tmp_path / "study")
    with pytest.raises(UsageError, match=f"This would send {6 * TRIALS} paid requests"):
        ask(tmp_path, ("openai/o3-mini",))
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def varied(server: LocalServer, hangs_after: int) -> Any:
    """Answers of various lengths; what comes after so many hangs."""
    numbers = random.Random(3)

    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if len(server.bodies) > hangs_after:
            await asyncio.sleep(60)
        tokens = numbers.randint(50, 400)
        return web.json_response(
            completion(completion_tokens=tokens + 5, completion_tokens_details={"reasoning_tokens": tokens})
        )

    return answer


def test_a_run_killed_between_looks_goes_on_with_those_that_were_made(tmp_path: Path) -> None:
    study, db = write_worded(tmp_path / "study"), tmp_path / "a.duckdb"
    with LocalServer() as server:
        server.handler = varied(server, hangs_after=2 * TRIALS + 20)
        how = ["--base-url", server.base_url, "--repetitions", 4, "--until-width", 1, "--looks", 2]
        command = TypedCommand(study, "local/small", db, *how)
        killed = command.start()
        wait_until(lambda: len(server.bodies) > 2 * TRIALS + 20, 60)
        killed.kill()
        killed.communicate()
        n_before = len(server.bodies)
        server.handler = varied(server, hangs_after=10**6)
        code, said = command.run()
        n_again = len(server.bodies) - n_before
    assert code == 0, said
    assert [line[:9] for line in said.splitlines() if line.startswith("Look")] == ["Look 2 of"]
    (looks,) = read_looks(db).values()
    assert [look.repetitions for look in looks] == [2, 4]
    assert rows_in(db, "SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(4 * TRIALS, 4 * TRIALS)]
    assert 2 * TRIALS - 20 <= n_again < 2 * TRIALS  # what was answered before is not asked again


def test_several_processes_share_what_is_asked_between_looks(tmp_path: Path) -> None:
    write_worded(tmp_path / "study")
    report = ask(tmp_path, processes=2)
    assert [look.repetitions for look in report.looks] == [2, 4, 6][: len(report.looks)]
    assert report.is_complete
    n = report.models[0]["repetitions"] * TRIALS
    assert rows_in(tmp_path / "a.duckdb", "SELECT count(DISTINCT trial_id) FROM trials") == [(n,)]


def test_models_end_one_by_one(tmp_path: Path) -> None:
    """Of two models, the one that is narrow first is asked no more; the other goes on to the end."""
    study = write_worded(tmp_path / "study")
    other = '[[models]]\nmodel = "other"\nprovider = "local"\nframe = "plain"\n\n[[models]]'
    study.write_text(study.read_text("utf-8").replace("[[models]]", other, 1), "utf-8")
    both = ("simulated/small", "simulated/other")
    first = ask(tmp_path, both, looks=6, until_width=1e-9)
    widths = {look.model: look.widths[0].half_width or 0.0 for look in first.looks if look.look_no == 1}
    assert len(set(widths.values())) == 2
    shutil.rmtree(journal_folder(tmp_path / "a.duckdb"))
    (tmp_path / "a.duckdb").unlink()
    report = ask(tmp_path, both, looks=6, until_width=min(widths.values()))
    repetitions = {row["model"]: row["repetitions"] for row in report.models}
    narrow = min(widths, key=lambda model: widths[model])
    assert repetitions[narrow] == 1 < max(repetitions.values())
    assert [row["asked"] for row in report.models] == [row["repetitions"] * TRIALS for row in report.models]
    assert report.is_complete

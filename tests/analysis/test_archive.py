"""A study sealed and replayed: the same tables, the same bytes, and nothing in it that names a machine."""

from __future__ import annotations

import csv
import getpass
import hashlib
import io
import json
import os
import re
import socket
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from slant.analysis.archive import layout
from slant.analysis.archive.comparison import AGREES, COMPUTED, DIFFERS, NOT_MADE, SEVERAL_EFFECTS, Rule, compare_tables
from slant.analysis.archive.journals import PrivateWords, seal_journals, without_reasoning
from slant.analysis.archive.layout import write_manifest, write_zip
from slant.analysis.archive.replaying import Replayed, replay, tolerance_of
from slant.analysis.archive.sealed_pages import write_crate
from slant.analysis.archive.sealing import seal
from slant.analysis.archive.steps import steps_of
from slant.analysis.calls.results import Progress
from slant.analysis.questions.occasions import retest
from slant.analysis.rows.views import open_trials, tables
from slant.analysis.stages import Stages
from slant.collector import collect, export_trials
from slant.collector.errors import DatabaseError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import SideJournal, journal_folder, utc_now
from slant.collector.keep.journal_files import compress_finished, journal_name, journal_paths, opened_journal
from slant.collector.keep.journal_loader import load_journals
from slant.collector.records import READ_AGAIN
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.each_row import each_row
from tests.support.tiny_study import write_tiny

KEY = "sk-test-0123456789abcdef"
FITS = (
    "[fits.lme4]",
    '[fits.effect_size]\nview = "association_trials"\noutcome = "tokens"\ncontrast = "condition"\n'
    'levels = { condition = ["compatible", "incompatible"] }\n[fits.lme4]',
)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the tiny study, simulated; next to it one of another study."""
    folder = tmp_path_factory.mktemp("sealed")
    study = write_tiny(folder)
    collect(folder / "a.duckdb", study, ["simulated/small"], repetitions=6)
    collect(folder / "a.duckdb", "rmiat", ["simulated/deepseek-r1"], pilot=12)
    return folder / "a.duckdb"


@pytest.fixture(scope="module")
def archive(db: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        return seal(db, "drinks", db.parent / "study.zip", authors=["Ada"], license="CC-BY-4.0", with_r=False).path


@pytest.fixture(scope="module")
def replayed(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    return replay(archive, tmp_path_factory.mktemp("replayed") / "check", with_r=False)


def members(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.mark.slow
def test_everything_that_sql_makes_is_the_same_again(replayed: Replayed) -> None:
    counts = dict(replayed.table.group_by("kind").len().iter_rows())
    assert replayed.problems.is_empty()
    assert (counts["data"], counts["table"] > 10, replayed.agrees) == (2, True, True)


@pytest.mark.slow
def test_the_same_database_gives_the_same_bytes(db: Path, archive: Path, tmp_path: Path) -> None:
    compress_finished(journal_folder(db))
    again = seal(db, "drinks", tmp_path / "other.zip", authors=["Ada"], license="CC-BY-4.0", with_r=False)
    assert again.path.read_bytes() == archive.read_bytes()
    assert again.manifest_sha256 == hashlib.sha256(members(archive)[layout.MANIFEST]).hexdigest()


def test_the_journals_are_those_of_the_study_byte_for_byte(db: Path, archive: Path) -> None:
    paths = [path for path in journal_paths(journal_folder(db)) if "drinks" in path.name]
    own = {journal_name(path): opened_journal(path).read() for path in paths}
    packed = {Path(name).name: data for name, data in members(archive).items() if name.startswith("journal/")}
    assert packed == own
    assert len(own) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="sha256sum is GNU's")
def test_the_manifest_is_checked_without_slant(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path)
    command = ["sha256sum", "--check", "--strict", "--quiet", layout.MANIFEST]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_nothing_in_it_names_a_key_a_folder_or_a_machine(db: Path, archive: Path) -> None:
    words = [KEY, str(db.parent), str(Path.home()) + "/", os.getcwd(), socket.gethostname(), getpass.getuser()]
    patterns = [re.compile(rb"(?<![A-Za-z0-9])" + re.escape(word.encode()) + rb"(?![A-Za-z0-9])") for word in words]
    for name, data in members(archive).items():
        if not name.startswith(("study/", "prompts/")) and not name.endswith(".parquet"):
            found = [pattern.pattern for pattern in patterns if pattern.search(data)]
            assert not found, f"{name}: {found}"


def test_each_prompt_is_next_to_its_answer(db: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith("associationtrials_data.csv"))
        rows = pl.read_csv(io.BytesIO(packed.read(name)))
    export_trials(db, "drinks", plain := db.with_name("plain.csv"), overwrite=True)
    assert rows.drop("prompt").equals(pl.read_csv(plain))
    said = [item in prompt and prompt.startswith("[user]\n") for item, prompt in rows["item", "prompt"].iter_rows()]
    assert said
    assert all(said)


def test_each_column_of_the_data_is_in_the_codebook(archive: Path) -> None:
    found = members(archive)
    rows = list(csv.DictReader(io.StringIO(found["codebook.csv"].decode())))
    (data,) = (name for name in found if name.endswith("_data.csv"))
    assert re.fullmatch(r"data/study-[a-z]+_description-[a-z]+_data\.csv", data)  # keywords that psych-DS has
    header = found[data].decode().splitlines()[0].split(",")
    assert [row["column"] for row in rows] == header
    assert all(row["meaning"] for row in rows)
    description = json.loads(found["dataset_description.json"])
    assert [variable["name"] for variable in description["variableMeasured"]] == header
    # what psych-DS asks for, and of what it recommends all that is known
    assert (description["@context"], description["@type"]) == ("http://schema.org/", "Dataset")
    assert {"name", "description", "author", "license"} <= description.keys()
    assert description["author"] == [{"@type": "Person", "name": "Ada"}]


def test_the_pages_say_what_is_known_and_what_is_to_fill(archive: Path) -> None:
    found = members(archive)
    readme = found["README.md"].decode()
    files = [name for name in found if name.startswith(("tables/", "data/"))]
    assert all(f"`{name}`" in readme for name in files)
    assert ("CC-BY-4.0" in readme, "TO FILL" in readme, "analyze replay study.zip" in readme) == (True, True, True)
    assert '- name: "Ada"' in found["CITATION.cff"].decode()


def test_what_a_study_wrote_stays_on_its_line_and_in_its_cell(tmp_path: Path) -> None:
    study = write_tiny(tmp_path)
    text = study.read_text("utf-8")
    title = load_study(study).title
    study.write_text(text.replace(f'title = "{title}"', 'title = "Tea | coffee\\n# TO PAY"'), "utf-8")
    collect(tmp_path / "a.duckdb", study, ["simulated/small"], repetitions=1)
    sealed = seal(tmp_path / "a.duckdb", "drinks", tmp_path / "study.zip", with_r=False).path
    first, *rest = members(sealed)["README.md"].decode().splitlines()
    assert first == r'# Data and results of "Tea \| coffee # TO PAY"'
    assert "# TO PAY" not in rest


def test_the_crate_names_every_file_and_what_made_it(archive: Path) -> None:
    pytest.importorskip("rocrate", reason="the optional Python package rocrate is not installed")
    graph = json.loads(members(archive)["ro-crate-metadata.json"])["@graph"]
    files = {entity["@id"] for entity in graph if entity["@type"] == "File"}
    runs = [entity for entity in graph if entity["@type"] == "CreateAction" and entity["name"].startswith("run ")]
    assert files == members(archive).keys() - {"ro-crate-metadata.json", layout.MANIFEST}
    assert [run["result"]["@id"].startswith("journal/") for run in runs] == [True]


def test_the_crate_keeps_what_roc_validator_requires_of_it(archive: Path) -> None:
    """Of its profile 1.3, which takes the network (the context): a profile is one, a program has a page and a version,
    one value is no list."""
    pytest.importorskip("rocrate", reason="the optional Python package rocrate is not installed")
    by_id = {each["@id"]: each for each in json.loads(members(archive)["ro-crate-metadata.json"])["@graph"]}
    assert "Profile" in by_id[by_id["./"]["conformsTo"]["@id"]]["@type"]
    assert {"url", "version"} <= by_id["#slant"].keys()
    assert [name for each in by_id.values() for name, value in each.items() if value == [] or value == [None]] == []
    assert [each for each in by_id.values() if isinstance(each.get("result"), list) and len(each["result"]) < 2] == []


def test_what_is_private_in_a_journal_is_taken_out_and_told(db: Path, tmp_path: Path) -> None:
    path = journal_paths(journal_folder(db))[0]
    text = opened_journal(path).read().decode().replace('"machine":"', '"machine":"lab-pc-17 /home/ada/x ', 1)
    changed = tmp_path / journal_name(path)
    changed.write_text(text)
    words = PrivateWords((("/home/ada/", "…/"),), ("lab-pc-17",))
    (sealed,) = seal_journals([changed], tmp_path / "sealed", words, (), lambda done, of_all: None)
    shared = (tmp_path / "sealed" / sealed.name).read_text()
    assert '"machine":"[name] …/x ' in shared
    assert shared.splitlines()[1:] == text.splitlines()[1:]
    assert (sealed.n_changed, sealed.sha256) == (1, hashlib.sha256(text.encode()).hexdigest())


def test_without_rocrate_a_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    assert 'pip install "slant[archive]"' in (write_crate(tmp_path, {}, {"slant": "0"}, []) or "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_texts_that_are_left_out_leave_their_hashes_and_all_tables_and_replay(db: Path, tmp_path: Path) -> None:
    shared = seal(db, "rmiat", tmp_path / "shared.zip", without=["reasoning"], with_r=False)
    everything = b"".join(members(shared.path).values())
    texts = open_trials(db, "rmiat")["reasoning_text"].drop_nulls().to_list()
    assert texts
    for text in texts:
        assert text.encode() not in everything
        assert hashlib.sha256(text.encode()).hexdigest().encode() in everything
    for name in ("iat_mentions", "tokens_by_condition", "uncounted_answers"):
        sealed, whole = members(shared.path).get(f"tables/{name}.csv"), tables(db, "rmiat", [name])[name]
        assert (sealed or b"").decode() == (whole.write_csv() if whole.height else "")
    assert replay(shared.path, tmp_path / "check", with_r=False).problems.is_empty()


@pytest.mark.slow
@pytest.mark.needs("R", "ggplot2")
def test_what_was_asked_again_is_sealed_and_made_again(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    for again in (None, 8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            collect(db, write_tiny(tmp_path), ["simulated/small"], again=again)
    retest(db)
    sealed = seal(db, "drinks", tmp_path / "study.zip")
    found = replay(sealed.path, tmp_path / "check")
    assert found.problems.is_empty()
    assert found.table.filter(name="fits/retest-1.table.csv", kind="fit", status=AGREES).height == 1
    assert any(name.endswith("_description-retestanswers_data.csv") for name in members(sealed.path))
    assert open_trials(found.db, view="retest_answers").height == 8


@pytest.mark.slow
def test_what_was_read_again_is_sealed_without_answers_to_other_studies(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    collect(db, write_tiny(tmp_path), ["simulated/small"])
    with reading(db) as connection:
        answered = connection.table("attempts").filter("outcome = 'answered'").limit(1)
        (row,) = frame_of(answered.select("attempt_id", *READ_AGAIN)).iter_rows(named=True)
    changed = row | {"outcome": "malformed", "choice": None, "reasoning_text": "I think."}
    with SideJournal(db, "readings") as journal:
        rows = [changed, changed | {"attempt_id": "another-run-1"}]
        journal.append({"kind": "readings", "read_at": utc_now(), "code_version": "0", "rows": rows})
    load_journals(db)
    sealed = seal(db, "drinks", tmp_path / "study.zip", without=["reasoning"], with_r=False)
    (line,) = [text for name, text in members(sealed.path).items() if name.startswith("journal/readings")]
    assert "another-run" not in str(line)
    assert "I think." not in str(line)
    assert replay(sealed.path, tmp_path / "check", with_r=False).problems.is_empty()
    assert open_trials(tmp_path / "check" / "replayed.duckdb").filter(outcome="malformed").height == 1


def test_reasoning_that_went_back_into_a_request_is_left_out_of_it() -> None:
    thought = "I think that women are nurses."
    messages = [
        {"role": "assistant", "content": [{"type": "thinking", "thinking": thought, "signature": "x"}]},
        {"role": "assistant", "content": "Aima", "reasoning_content": thought},
        {"role": "model", "parts": [{"text": thought, "thought": True}]},
        {"role": "user", "content": "Whom do you choose?"},
    ]
    body = {"messages": messages, "reasoning_effort": "low", "thinking": {"budget_tokens": 99}}
    shared = json.loads(without_reasoning({"request": json.dumps(body)})["request"])
    assert thought not in json.dumps(shared)
    assert (shared["reasoning_effort"], shared["thinking"]) == ("low", {"budget_tokens": 99})
    assert (shared["messages"][1]["content"], shared["messages"][3]) == ("Aima", messages[3])


def test_answers_that_rows_share_are_left_without_reasoning_too() -> None:
    thought = "they think of thorns"
    line = {
        "kind": "answers",
        "shared": [{"answer": "Slow", "reasoning_text": thought}],
        "rows": {"shared_no": [0, 0], "response": [json.dumps({"thought": thought}), None]},
    }
    shared = without_reasoning(line)
    assert thought not in json.dumps(shared)
    assert (shared["shared"][0]["answer"], shared["rows"]["shared_no"]) == ("Slow", [0, 0])
    assert shared["rows"]["response"][1] is None


def test_each_change_is_named_and_the_exit_code_is_1(archive: Path, tmp_path: Path) -> None:
    """A journal that is not what the manifest says, a table that no journal gives, a byte that the disk lost."""
    for member, data in members(archive).items():
        (tmp_path / "u" / member).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "u" / member).write_bytes(data)
    table, journal = "tables/tokens_by_condition.csv", sorted((tmp_path / "u" / "journal").iterdir())[0]
    text = (tmp_path / "u" / table).read_text()
    (tmp_path / "u" / table).write_text(text.replace("compatible,", "compatible,9", 1))
    write_manifest(tmp_path / "u")
    journal.write_bytes(journal.read_bytes().replace(b'"choice":"', b'"choice":"x', 1))
    write_zip(tmp_path / "u", tmp_path / "changed.zip")
    with zipfile.ZipFile(tmp_path / "changed.zip") as file:
        info = file.getinfo("prompts/prompts.csv")
    packed = bytearray((tmp_path / "changed.zip").read_bytes())
    packed[info.header_offset + 60 + len(info.filename)] ^= 0xFF
    (tmp_path / "changed.zip").write_bytes(packed)
    answer = run_analyze("replay", tmp_path / "changed.zip", "--out", tmp_path / "c", "--no-r")
    assert answer.exit_code == 1
    assert f"Differs: hash journal/{journal.name}: its SHA-256 is" in answer.stderr
    assert "Differs: hash prompts/prompts.csv: it is damaged" in answer.stderr
    assert f"Differs: table {table}: row 1" in answer.stderr


@pytest.mark.slow
def test_what_no_step_names_is_made_again_or_named(archive: Path, tmp_path: Path) -> None:
    """Whoever falsifies a file can take it off the list in replay.json, and write a manifest of the new bytes."""
    folder = tmp_path / "u"
    for member, data in members(archive).items():
        (folder / member).parent.mkdir(parents=True, exist_ok=True)
        (folder / member).write_bytes(data)
    record = json.loads((folder / layout.REPLAY).read_text())
    (folder / layout.REPLAY).write_text(json.dumps({**record, "data": []}))
    invented = ("fits/fit-lme4.table.csv", "figures/tokens.svg", "tables/none.csv", "draws/a.parquet")
    for name in invented:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("a,b\n1,2\n")
    changed = [path.relative_to(folder).as_posix() for path in (folder / "study").rglob("*.toml")] + [layout.README]
    for name in changed:
        (folder / name).write_text((folder / name).read_text() + "\n# d = 9\n")
    write_manifest(folder)
    write_zip(folder, tmp_path / "false.zip")
    found = replay(tmp_path / "false.zip", tmp_path / "c", with_r=False)
    differs = set(found.table.filter(status=DIFFERS)["name"])
    (*of_study, readme) = changed
    data = {name for name in members(archive) if name.startswith("data/")}
    assert (data | set(invented) | set(of_study)) - differs <= {"draws/a.parquet"}  # which names no fit: not made
    assert readme in set(found.not_compared["name"])
    assert not found.agrees
    done = set(found.table.filter(pl.col("kind") != "hash")["name"])
    assert done == {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {
        layout.MANIFEST
    }


@pytest.mark.slow
def test_what_agrees_is_not_called_everything(archive: Path, tmp_path: Path) -> None:
    answer = run_analyze("replay", archive, "--out", tmp_path / "c", "--no-r")
    assert answer.exit_code == 0
    assert "verything" not in answer.stderr
    assert "Not compared: CITATION.cff, README.md" in answer.stderr
    assert "All recomputed results agree: " in answer.stderr


def test_what_can_not_be_sealed_is_a_sentence_and_leaves_no_file(db: Path, archive: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--overwrite"):
        seal(db, "drinks", archive)
    with pytest.raises(UsageError, match="Name a ZIP file"):
        seal(db, "drinks", tmp_path / "study.tar")
    copy = tmp_path / "b.duckdb"
    copy.write_bytes(db.read_bytes())
    journal_folder(copy).mkdir()
    with pytest.raises(DatabaseError, match="the journal of the run"):
        seal(copy, "drinks", tmp_path / "b.zip")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.duckdb", "b.duckdb.journal"]


@pytest.mark.slow
@pytest.mark.needs("R")
def test_effects_over_words_are_sealed_though_no_study_names_them(db: Path) -> None:
    (step,) = (step for step in steps_of(db, load_study("rmiat"), ()) if step.name == "fit-crossed")
    assert (step.command, step.reads_texts) == ("analyze --fit crossed --study rmiat", False)
    assert tolerance_of(step, load_study("rmiat")) == SEVERAL_EFFECTS


def test_an_archive_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    answer = run_analyze("replay", tmp_path / "none.zip", "--out", tmp_path / "c", "--no-r")
    assert (answer.exit_code, "none.zip" in answer.stderr, list(tmp_path.iterdir())) == (2, True, [])


@pytest.mark.slow
def test_a_replay_that_is_interrupted_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    class Interrupted(Stages):
        @contextmanager
        def stage(self, name: str, unit: str = "") -> Iterator[Progress]:
            if name == "Tables":
                raise KeyboardInterrupt
            yield lambda done, total: None

    with pytest.raises(KeyboardInterrupt):
        replay(archive, tmp_path / "check", with_r=False, progress=Interrupted())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.needs("R", "ggplot2")
def test_fits_and_figures_are_made_again_and_agree(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    collect(db, write_tiny(tmp_path, study=FITS), ["simulated/small"], repetitions=6)
    sealed = seal(db, "drinks", tmp_path / "study.zip")
    found = replay(sealed.path, tmp_path / "check")
    kinds = dict(found.table.filter(pl.col("status") == AGREES).group_by("kind").len().iter_rows())
    assert found.problems.is_empty()
    assert (kinds["fit"] > 0, kinds["figure"] > 2, found.versions["software"].is_in(["R"]).any()) == (True, True, True)
    assert found.versions.filter(pl.col("sealed").ne_missing(pl.col("here"))).is_empty()
    without_r = replay(sealed.path, tmp_path / "without", with_r=False)
    assert set(without_r.problems["status"]) == {NOT_MADE}
    assert without_r.agrees


TIMED = "term,estimate,conf_low,conf_high,seconds\na,{}\n"
BOUNDED = "term,estimate,std_error,conf_low,conf_high\na,41.280,22.0,{},84.554\n"
VARIANCES = "model,group,term,variance\na,item,condition,{}\na,residual,residual,3120.79\nb,item,x,1.0\n"
OF_R, SEVERAL = Rule(COMPUTED, of_r=True), Rule(SEVERAL_EFFECTS, of_r=True)


@each_row(
    ("text", "rule", "sealed", "made", "status"),
    [
        (TIMED, Rule(), "1.0,0,2,3.1", "1.00,0,2,3.1", DIFFERS),
        (TIMED, OF_R, "1.0,0,2,3.1", "1.000000009,0,2,4.1", AGREES),
        (TIMED, OF_R, "1.0,0,2,3.1", "1.00000002,0,2,4.1", DIFFERS),
        (TIMED, OF_R, "1.0,0,2,3.1", ",0,2,4.1", DIFFERS),
        (TIMED, Rule(ess=400.0, of_r=True), "1.0,0,2,3.1", "1.1,0,2,4.1", AGREES),
        (TIMED, Rule(ess=400.0, of_r=True), "1.0,0,2,3.1", "2.5,0,2,4.1", DIFFERS),
        # a bound near zero is judged in standard errors: 41.280 - 43.274, off by 5e-6 of it, by 9e-5, by 2e-4
        (BOUNDED, SEVERAL, "-1.99400", "-1.99390", AGREES),
        (BOUNDED, SEVERAL, "-1.99400", "-1.99200", AGREES),
        (BOUNDED, SEVERAL, "-1.99400", "-1.99000", DIFFERS),
        # a small variance is measured beside the others of its model
        (VARIANCES, SEVERAL, "12.6525", "12.649", AGREES),
        (VARIANCES, SEVERAL, "12.6525", "12.3", DIFFERS),
    ],
)
def test_how_far_numbers_may_be_apart(
    text: str, rule: Rule, sealed: str, made: str, status: str, tmp_path: Path
) -> None:
    for name, value in (("sealed", sealed), ("made", made)):
        (tmp_path / f"{name}.csv").write_text(text.format(value))
    found = compare_tables("fit", "a", tmp_path / "sealed.csv", tmp_path / "made.csv", rule)
    assert (found.status, "row 1, " in found.note) == (status, status == DIFFERS)


@pytest.mark.parametrize(
    ("made", "status", "note"),
    [
        ("term,estimate,mde\na,1.0,2.8\n", AGREES, "columns that were not sealed: mde"),
        ("term,estimate,mde\na,1.5,2.8\n", DIFFERS, 'row 1, estimate: "1.0" sealed, "1.5" made'),
        ("term,mde\na,2.8\n", DIFFERS, "columns are missing: estimate"),
        ("estimate,term\n1.0,a\n", DIFFERS, "columns are in another order"),
    ],
)
def test_a_column_that_a_later_slant_adds_is_named_and_one_that_is_missing_differs(
    made: str, status: str, note: str, tmp_path: Path
) -> None:
    (tmp_path / "sealed.csv").write_text("term,estimate\na,1.0\n")
    (tmp_path / "made.csv").write_text(made)
    compared = compare_tables("table", "a", tmp_path / "sealed.csv", tmp_path / "made.csv", Rule(COMPUTED))
    assert (compared.status, compared.note) == (status, note)

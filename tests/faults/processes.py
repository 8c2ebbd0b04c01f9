"""What a fault may strike, as data: a command, what it finds when it begins, and what it leaves when nothing strikes.

A new process is one row of PROCESSES. Each folder is made once and copied for every fault; `{here}` stands for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from slant.analysis.archive.sealing import seal
from slant.collector import collect, export_lake
from slant.collector.keep.database import writing
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.studies.new_study import write_new_study
from tests.support.fitted import small_database
from tests.support.given import Row, database
from tests.support.journals import only_journal
from tests.support.own_studies import SIMULATED
from tests.support.stored import rows_in
from tests.support.tiny_game import write_game
from tests.support.tiny_study import write_tiny
from tests.support.worded_study import write_worded

REPEAT = 15
TRIALS = 8 * REPEAT
COLLECT, ANALYZE = "slant.collector", "slant.analysis"
_ASKED = "--study {here}/study/study.toml --model local/small --base-url {server} --yes --concurrency 8 --max-retries 1"
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Process:
    """A command (module, then words), what it begins with, and what is compared with an undisturbed run.

    `whole`: files that stand before it begins, and are complete at every moment, old or new. `makes`: the file, or the
    new folder, that it writes; whole at every moment, or absent where none stood before. `asks`: it needs a server.
    `has_journal`: its database can be made again from its journal. `writes`: into its folder.
    """

    name: str
    module: str
    words: str
    prepare: Callable[[Path], object]
    result: Callable[[Path], Rows]
    whole: tuple[str, ...] = ()
    makes: str = ""
    asks: bool = False
    has_journal: bool = True
    writes: bool = True


def _studied(folder: Path) -> Path:
    (folder / "study").mkdir()
    return write_tiny(folder / "study")


def _asked(folder: Path, name: str = "a", **options: Any) -> Path:
    """A database of simulated answers, with its journal as text."""
    db = folder / f"{name}.duckdb"
    collect(db, folder / "study" / "study.toml", simulated=True, repetitions=REPEAT, **options)
    only_journal(db)
    return db


def _half_loaded(folder: Path) -> None:
    """A journal of which the database holds the first half."""
    _studied(folder)
    db = _asked(folder)
    journal = only_journal(db)
    text = journal.read_bytes()
    db.unlink()
    journal.write_bytes(text[: text.index(b"\n", len(text) // 2) + 1])
    load_journals(db)
    journal.write_bytes(text)


def _shards(folder: Path) -> None:
    _studied(folder)
    for k in (1, 2):
        _asked(folder, f"s{k}", shard=(k, 2))


def _to_import(folder: Path) -> None:
    _studied(folder)
    words = ("oolong", "sencha", "mocha", "latte")
    rows = [f"tea_coffee,{c},{w},1,Calm,64" for c in ("compatible", "incompatible") for w in words]
    (folder / "answers.csv").write_text("test,condition,item,wording,answer,tokens\n" + "\n".join(rows) + "\n")


def _to_export(folder: Path) -> None:
    _studied(folder)
    _asked(folder)
    (folder / "trials.csv").write_text("an older export\n")


def _to_seal(folder: Path) -> None:
    _studied(folder)
    _asked(folder)


def _to_replay(folder: Path) -> None:
    _to_seal(folder)
    seal(folder / "a.duckdb", out=folder / "a.zip", with_r=False)


def _game(folder: Path) -> None:
    (folder / "study").mkdir()
    write_game(folder / "study").rename(folder / "study" / "study.toml")


def _to_recode(folder: Path) -> None:
    """Decisions, some of them undecided."""
    study = write_new_study("workshops", "decision", folder / "study")[0]
    collect(folder / "a.duckdb", study, [SIMULATED], variant="chained")
    only_journal(folder / "a.duckdb")


def _in_lake(folder: Path) -> None:
    """A lake that holds the first answers of a database that has grown."""
    study = _studied(folder)
    collect(folder / "a.duckdb", study, simulated=True, repetitions=2)
    export_lake(folder / "a.duckdb", folder / "lake")
    collect(folder / "a.duckdb", study, simulated=True, repetitions=REPEAT)


def _older(folder: Path) -> None:
    """A database as a slant of other views made it."""
    collect(folder / "a.duckdb", _studied(folder), simulated=True, repetitions=5)
    with writing(folder / "a.duckdb") as connection:
        connection.execute("DROP VIEW trials")
        connection.execute("UPDATE slant SET value = 'old' WHERE name = 'views'")


def _to_fit(folder: Path) -> None:
    small_database(folder / "a.duckdb")


def _to_permute(folder: Path) -> None:
    def trial(number: int, block: str) -> Row:
        options = ("Male + Career", "Female + Family")
        return {
            "study": "interference", "model": "claude-sonnet-4", "test": "gender_career", "condition": block,
            "item": f"word {number}", "group": "Male", "option_a": options[0], "option_b": options[1],
            "expected": options[0], "choice": options[number % 3 == 0], "tokens": None, "token_source": None,
        }  # fmt: skip

    database(folder / "a.duckdb", [trial(n, b) for b in ("congruent", "incongruent") for n in range(1, 13)])


def _trials(name: str) -> Callable[[Path], Rows]:
    return lambda folder: rows_in(
        folder / f"{name}.duckdb", "SELECT trial_id, answer, count(*) FROM trials GROUP BY ALL ORDER BY ALL"
    )


def _attempts(name: str) -> Callable[[Path], Rows]:
    return lambda folder: rows_in(
        folder / f"{name}.duckdb", "SELECT attempt_id, answer, tokens, count(*) FROM attempts GROUP BY ALL ORDER BY ALL"
    )


def _files(name: str, pattern: str = "*") -> Callable[[Path], Rows]:
    """The hashes of what was written: of one file, or in a folder. FileNotFoundError where it is not there."""

    def result(folder: Path) -> Rows:
        made = folder / name
        paths = sorted(made.rglob(pattern)) if made.is_dir() else [made]
        return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]

    return result


def _archive(folder: Path) -> Rows:
    """The files in it, each read to its end against its checksum."""
    with ZipFile(folder / "a.zip") as archive:
        return [(name, hashlib.sha256(archive.read(name)).hexdigest()) for name in sorted(archive.namelist())]


def _lake(folder: Path) -> Rows:
    return rows_in(folder / "lake", "SELECT attempt_id, count(*) FROM trials GROUP BY ALL ORDER BY ALL")


def _estimates(folder: Path) -> Rows:
    return rows_in(folder / "a.duckdb", "SELECT term, estimate FROM estimates ORDER BY ALL")


def _refits(folder: Path) -> Rows:
    text = "SELECT number, delta_p FROM permutation_draws ORDER BY ALL"
    return rows_in(folder / "a.duckdb", text)


PROCESSES = (
    Process(
        "journal", COLLECT, f"{_ASKED} --repetitions {REPEAT} --db {{here}}/a.duckdb", _studied, _trials("a"),
        asks=True,
    ),
    Process(
        "game", COLLECT, f"{_ASKED} --repetitions 4 --db {{here}}/a.duckdb", _game, _trials("a"), asks=True,
    ),
    Process(
        "until-width", COLLECT,
        "--study {here}/study/study.toml --model simulated/small --until-width 60 --repetitions 3 --looks 2 --seed 1 "
        "--db {here}/a.duckdb",
        lambda folder: write_worded(folder / "study"), _trials("a"),
    ),
    Process("load", COLLECT, "load --db {here}/a.duckdb", _half_loaded, _attempts("a")),
    Process(
        "merge", COLLECT, "merge --db {here}/a.duckdb {here}/s1.duckdb {here}/s2.duckdb", _shards, _attempts("a"),
        whole=("s1.duckdb", "s2.duckdb"),
    ),
    Process(
        "import", COLLECT,
        "import --study {here}/study/study.toml --model local/small {here}/answers.csv --db {here}/a.duckdb",
        _to_import, _trials("a"), whole=("answers.csv",),
    ),
    Process(
        "export", COLLECT, "export --db {here}/a.duckdb --view trials --out {here}/trials.csv --overwrite", _to_export,
        _files("trials.csv"), whole=("a.duckdb", "trials.csv"), makes="trials.csv",
    ),
    Process(
        "seal", ANALYZE, "seal --db {here}/a.duckdb --out {here}/a.zip --overwrite --no-r", _to_seal, _archive,
        whole=("a.duckdb",), makes="a.zip",
    ),
    Process(
        "replay", ANALYZE, "replay {here}/a.zip --out {here}/check --no-r", _to_replay, _files("check", "*.csv"),
        whole=("a.zip",), makes="check",
    ),
    Process(
        "bundle", COLLECT, "view --db {here}/a.duckdb --bundle {here}/pages --where repetition<2", _to_seal,
        _files("pages", "*.html"), whole=("a.duckdb",), makes="pages",
    ),
    Process(
        "preregister", COLLECT,
        "preregister --study {here}/study/study.toml --from {here}/a.duckdb --out {here}/plan.json", _to_seal,
        _files("plan.json"), whole=("a.duckdb",), makes="plan.json",
    ),
    Process(
        "lake", COLLECT, "export --layout lake {here}/lake --db {here}/a.duckdb", _in_lake, _lake, whole=("a.duckdb",),
    ),
    Process(
        "recode", COLLECT,
        "recode --study {here}/study/study.toml --variant chained --simulated --decided 20 --db {here}/a.duckdb",
        _to_recode, _trials("a"),
    ),
    Process("renewal", COLLECT, "status --db {here}/a.duckdb", _older, _attempts("a")),
    Process(
        "fit", ANALYZE, "--fit effect_size --source simulated --db {here}/a.duckdb", _to_fit, _estimates,
        has_journal=False,
    ),
    Process(
        "permute", ANALYZE,
        "permute --study interference --engine lme4 --permutations 6 --source simulated --db {here}/a.duckdb",
        _to_permute, _refits, has_journal=False,
    ),
)  # fmt: skip


def acknowledged(folder: Path) -> set[str]:
    """The trials with a whole final line in the journal."""
    ended = set()
    for path in journal_folder(folder / "a.duckdb").glob("*.jsonl"):
        with contextlib.suppress(FileNotFoundError):
            for line in path.read_bytes().split(b"\n")[:-1]:
                if b'"is_final":true' in line:
                    with contextlib.suppress(ValueError):
                        ended.add(json.loads(line)["trial_id"])
    return ended

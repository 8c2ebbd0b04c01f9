"""A folder in which commands are typed and functions called, far from R, keys, servers and clusters, and what shows how
one ended. It is as it was before the next one."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from slant.analysis.bridge import worker, worker_start
from slant.analysis.calls.call import Call
from slant.analysis.calls.cluster import ClusterExecutor
from slant.analysis.cli.main import analyze
from slant.collector import api
from slant.collector.batch import batches
from slant.collector.cli import collect
from slant.collector.errors import RError, SlantError
from slant.collector.run import until_width
from slant.collector.view import server
from tests.project.option_pairs import NO_R, Words
from tests.support.fitted import small_database
from tests.support.tiny_study import write_tiny


class Outcome(NamedTuple):
    """How a command ended, and all that could show what it was told: what it said, wrote, and wanted of R."""

    code: int
    sentence: str
    said: str
    written: tuple[tuple[str, str], ...]
    calls: tuple[str, ...]


class Place:
    """A folder in which commands are typed, and which is as it was before the next one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.as_it_was, self.calls = folder / "place", folder / "as_it_was", list[str]()
        (self.as_it_was / "study").mkdir(parents=True)
        write_tiny(self.as_it_was / "study")
        shutil.copy(small_database(self.as_it_was / "slant.duckdb"), self.as_it_was / "b.duckdb")
        (self.as_it_was / "answers.csv").write_text("test,condition,item,wording,answer,tokens\n")
        (self.as_it_was / "notes.csv").write_text("trial_id,label,note,noted_at\n")
        (self.as_it_was / "prices.toml").write_text("")
        (self.as_it_was / "lists").mkdir()
        self.restore()
        self.type(("collect", "preregister", "--study=study/study.toml", "--out=../as_it_was/plan.json"))
        self.restore()

    def restore(self) -> None:
        os.chdir(self.as_it_was)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.as_it_was, self.folder)
        os.chdir(self.folder)
        self.before = self.contents()

    def contents(self) -> dict[Path, tuple[int, int]]:
        about = {path: path.stat() for path in self.folder.rglob("*")}
        return {path: (of.st_size, of.st_mtime_ns) for path, of in about.items()}

    def type(self, words: Words) -> Outcome:
        self.calls.clear()
        done = CliRunner().invoke(collect if words[0] == "collect" else analyze, words[1:])
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception)
        sentences = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
        sentence = sentences[0].removeprefix("Error: ") if sentences else ""
        return self._outcome(done.exit_code, sentence, done.stdout + done.stderr)

    def call(self, function: Callable[..., Any], arguments: dict[str, Any]) -> Outcome:
        """Any other error than one of slant's is raised."""
        self.calls.clear()
        try:
            with warnings.catch_warnings(record=True) as warned:
                value = function(**arguments)
        except SlantError as error:
            return self._outcome(error.exit_code, str(error).splitlines()[0], "")
        return self._outcome(0, "", f"{value!r} {[str(warning.message) for warning in warned]}")

    def _outcome(self, code: int, sentence: str, said: str) -> Outcome:
        after = self.contents()
        changed = [path for path, about in after.items() if self.before.get(path) != about and path.is_file()]
        written = tuple(sorted((path.name, hashlib.md5(path.read_bytes()).hexdigest()) for path in changed))
        if after != self.before:
            self.restore()
        return Outcome(code, sentence, said, written, tuple(sorted(self.calls)))


@contextmanager
def quiet_place(folder: Path) -> Iterator[Place]:
    """Where nobody is asked: without keys, R, a cluster, or a page that is served."""
    begun, place = Path.cwd(), Place(folder)
    made = Call.__init__

    def no_r(*_: Any, **__: Any) -> None:
        raise RError(NO_R)

    async def not_served(*_: Any) -> None:
        await asyncio.sleep(0)

    def noted(call: Call, *given: Any, **named: Any) -> None:
        made(call, *given, **named)
        place.calls.append(f"{call.function} {dict(call.arguments)!r} {dict(call.about)!r} {call.data_hash}")

    with pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.endswith("_API_KEY")]:
            patched.delenv(name)
        patched.setattr(worker, "_pool", no_r)
        patched.setattr(worker_start, "begin_early", lambda *_: None)
        patched.setattr(ClusterExecutor, "client", property(no_r))
        patched.setattr(Call, "__init__", noted)
        patched.setattr(server, "serve", not_served)
        asked = ((api, "carry_out"), (batches, "carry_out_batch"), (until_width, "carry_out_until_narrow"))
        for module, name in asked:  # a plan was made, and nobody is asked
            patched.setattr(module, name, lambda planned, call, *_: f"{planned!r} {call.request!r}")
        yield place
    os.chdir(begun)

"""Real processes of `collect --batch`, killed while the provider holds a request of theirs: nothing is bought twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from slant.collector.cli import collect
from slant.collector.keep.batch_jobs import JobFolder
from slant.collector.keep.journal import journal_folder
from tests.support.batch_server import BatchServer, Gate
from tests.support.batching import MODELS, PLANNED
from tests.support.commands import run_collect
from tests.support.kill_batches import killed_batches
from tests.support.processes import TypedCommand, wait_until
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny


class BatchCommand(TypedCommand):
    """`collect --batch` on the tiny study, as a person would type it again and again."""

    def __init__(self, folder: Path, server: BatchServer, provider: str) -> None:
        (folder / "study").mkdir()
        study = write_tiny(folder / "study")
        super().__init__(study, MODELS[provider], folder / "a.duckdb", "--batch", "--yes")
        self.server, self.environment = server, server.environment()

    def killed_at(self, gate: Gate) -> None:
        """Start, wait until the provider holds the request, kill, and let the provider go on with what it got."""
        process = self.start()
        assert gate.reached.wait(60)
        process.kill()
        process.communicate()
        self.server.gates.clear()
        gate.opened.set()

    def here(self) -> int:
        """The same command in this process, which is quicker where nothing is killed: how it ended."""
        words = self.words[self.words.index("slant.collector") + 1 :]
        result = CliRunner(env=self.server.environment()).invoke(collect, words, prog_name="collect")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.output
        return result.exit_code

    def until_done(self, calls: int = 4) -> None:
        for _ in range(calls):
            if self.here() == 0:
                return
            self.server.finish()
        raise AssertionError(f"not done after {calls} more calls")

    def trials(self) -> tuple[int, int]:
        (found,) = rows_in(self.db, "SELECT count(*), count(DISTINCT trial_id) FROM trials")
        return (int(found[0]), int(found[1]))


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture(params=MODELS)
def command(request: pytest.FixtureRequest, tmp_path: Path, server: BatchServer) -> BatchCommand:
    return BatchCommand(tmp_path, server, request.param)


only_openai = pytest.mark.parametrize("command", ["openai"], indirect=True)  # where providers make no difference


@pytest.mark.slow
@pytest.mark.parametrize("after_effect", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_killed_in_the_submit_call_the_job_is_found_not_submitted_again(
    command: BatchCommand, server: BatchServer, after_effect: bool
) -> None:
    command.killed_at(server.gate("create", after_effect=after_effect))
    assert [job.state for job in JobFolder(command.db).open_jobs()] == ["sending"]
    command.until_done()
    assert len(server.jobs) == 1
    assert command.trials() == (PLANNED, PLANNED)


@pytest.mark.slow
@pytest.mark.parametrize("provider", MODELS)
def test_killed_at_random_moments_nothing_is_bought_twice_lost_or_doubled(provider: str, tmp_path: Path) -> None:
    found = killed_batches(tmp_path, provider, 5, seed=20261121)
    assert (found.lost, found.doubled, found.left, found.again) == (0, 0, 0, 0)


@pytest.mark.slow
def test_killed_while_uploading_one_job_is_made(tmp_path: Path) -> None:
    with BatchServer() as server:
        command = BatchCommand(tmp_path, server, "openai")
        command.killed_at(server.gate("upload", after_effect=True))
        assert [job.state for job in JobFolder(command.db).open_jobs()] == ["planned"]
        command.until_done()
        assert (len(server.files), len(server.jobs)) == (2, 1)
        assert command.trials() == (PLANNED, PLANNED)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*(pytest.param(k, marks=pytest.mark.slow) for k in ("list", "retrieve")), "content"])
def test_killed_while_looking_up_or_fetching_no_answer_is_lost_or_doubled(
    command: BatchCommand, server: BatchServer, kind: str
) -> None:
    if kind == "list":
        command.killed_at(server.gate("create"))
    else:
        command.here()
    server.finish()
    command.killed_at(server.gate(kind))
    command.until_done()
    assert len(server.jobs) == 1
    assert command.trials() == (PLANNED, PLANNED)


@only_openai
def test_killed_between_journal_and_closing_the_job_nothing_is_doubled(
    command: BatchCommand, server: BatchServer
) -> None:
    server.fate = lambda custom_id, body: "expired" if custom_id.endswith("-3") else "ok"
    command.here()
    server.finish()
    folder = journal_folder(command.db) / "batches"
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    command.here()  # fetches seven, and submits the eighth again
    for path, content in kept.items():  # as if it had been killed before it could close the first job
        path.write_bytes(content.replace(b'"state":"sent"', b'"state":"fetching"'))
    server.fate = lambda custom_id, body: "ok"
    command.until_done()
    assert [len(job["requests"]) for job in server.jobs] == [PLANNED, 1]
    assert command.trials() == (PLANNED, PLANNED)
    assert rows_in(command.db, "SELECT count(*) FROM attempts") == [(PLANNED + 1,)]


@pytest.mark.slow
@only_openai
def test_the_second_of_two_jobs_is_submitted_after_a_kill_in_the_first(
    command: BatchCommand, server: BatchServer
) -> None:
    command.words += ["--batch-size", "5"]
    command.killed_at(server.gate("create"))
    command.until_done()
    assert sorted(len(job["requests"]) for job in server.jobs) == [3, 5]
    assert len(set(server.asked())) == PLANNED == len(server.asked())
    assert command.trials() == (PLANNED, PLANNED)


@pytest.mark.slow
@only_openai
def test_the_command_says_how_it_stands_and_status_shows_the_job(command: BatchCommand, server: BatchServer) -> None:
    code, messages = command.run()
    assert code == 3
    assert "Submitted 8 requests in 1 job; run the same command later to fetch." in messages
    status = run_collect("status", "--db", command.db)
    assert server.jobs[0]["id"] in status.stdout
    server.finish()
    code, messages = command.run()
    assert (code, "8 answers" in messages, "Done" in messages) == (0, True, True)


@pytest.mark.slow
@only_openai
def test_ctrl_c_while_waiting_leaves_the_jobs_running(command: BatchCommand, server: BatchServer) -> None:
    command.words.append("--wait")
    process = command.start()
    wait_until(lambda: server.calls["retrieve"], 60)
    process.send_signal(2)
    _, messages = process.communicate(timeout=60)
    assert (process.returncode, "fetches their answers" in messages) == (130, True)
    server.finish()
    command.until_done()
    assert len(server.jobs) == 1

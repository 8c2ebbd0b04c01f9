"""Readable reasoning is counted again, by a local server's tokenizer or by tiktoken, next to the provider's count."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.errors import JournalError, SlantError, UnknownNameError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.journal import FolderLock, journal_folder
from slant.collector.keep.journal_loader import load_journals
from slant.collector.model_checks.recount import recount_reasoning, summary_notes
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, completion, standing_for
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

TEXT = "Tea is calm , so : Calm"  # seven words
SOFTWARE = ["llama.cpp", "vllm", "llama-cpp-python"]


class Tokenizing:
    """A server that answers with readable reasoning, and counts words the way `software` would."""

    def __init__(self, software: str = "llama.cpp", around: int = 0) -> None:
        self.software, self.around = software, around
        self.asked = 0

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.path.endswith("/chat/completions"):
            said = completion("Calm")
            said["choices"][0]["message"]["reasoning_content"] = TEXT
            return web.json_response(said)
        self.asked += 1
        count = self._count(request.path, body)
        return web.Response(status=404) if count is None else web.json_response(count)

    def _count(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        name = {"llama.cpp": "content", "vllm": "prompt", "llama-cpp-python": "input"}.get(self.software)
        wanted = "/extras/tokenize/count" if name == "input" else "/tokenize"
        if name is None or path != wanted or name not in body or (name == "prompt" and body["add_special_tokens"]):
            return None
        words = len(body[name].split()) + self.around
        return {"tokens": [7] * words} if name == "content" else {"count": words, "tokens": [7] * words}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    write_tiny(tmp_path)
    return tmp_path / "t.duckdb"


def answered(db: Path, server: LocalServer, model: str = "local/small") -> None:
    with standing_for(model.partition("/")[0], server) as base_url:
        collect(db, str(db.parent / "study.toml"), [model], base_url=base_url, yes=True)


def kept(db: Path, columns: str = "reasoning_tokens, reasoning_tokens_recounted, recount_tokenizer") -> set[Any]:
    return set(rows_in(db, f"SELECT {columns} FROM trials"))  # noqa: S608


@pytest.mark.slow
@pytest.mark.parametrize("software", SOFTWARE)
@pytest.mark.parametrize("around", [0, 1])
def test_the_servers_own_tokenizer_counts_beside_the_providers_number(db: Path, software: str, around: int) -> None:
    with LocalServer(Tokenizing(software, around)) as server:
        answered(db, server)
        [row] = recount_reasoning(db, base_url=server.base_url)
    assert (row.texts, row.counted, row.reason) == (8, 8, None)
    assert kept(db) == {(64, 7, f"{software}:small")}


@pytest.mark.slow
def test_only_what_is_not_counted_yet_is_counted_and_is_called_retokenized_in_every_table(db: Path) -> None:
    tokenizing = Tokenizing()
    with LocalServer(tokenizing) as server:
        answered(db, server)
        recount_reasoning(db, base_url=server.base_url)
        asked = tokenizing.asked
        assert recount_reasoning(db, base_url=server.base_url) == []
    assert tokenizing.asked == asked
    with reading(db) as connection:
        connection.execute("SET VARIABLE measure = 'recounted'")
        rows = connection.sql("SELECT DISTINCT tokens, token_source FROM trials").fetchall()
        assert rows == [(7, "retokenized")]


@pytest.mark.slow
def test_a_recount_comes_back_from_its_journal_and_changes_no_answer(db: Path) -> None:
    with LocalServer(Tokenizing()) as server:
        answered(db, server)
        answers = kept(db, "trial_id, answer, reasoning_text, response, tokens")
        recount_reasoning(db, base_url=server.base_url)
    counts = kept(db)
    db.unlink()
    load_journals(db)
    assert (kept(db), kept(db, "trial_id, answer, reasoning_text, response, tokens")) == (counts, answers)


@pytest.mark.slow
def test_a_server_that_counts_no_tokens_is_named_with_the_way_out(db: Path) -> None:
    with LocalServer(Tokenizing("sglang")) as server:
        answered(db, server)
        result = run_collect("recount", "--base-url", server.base_url, "--db", db)
    assert result.exit_code == 1
    assert "counts no tokens" in result.stderr
    assert "--tokenizer tiktoken:" in result.stderr


def test_texts_are_never_sent_to_a_paid_provider_to_be_counted(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    tokenizing = Tokenizing()
    with LocalServer(tokenizing) as server:
        monkeypatch.setenv("DEEPSEEK_BASE_URL", server.base_url)
        answered(db, server, "deepseek/deepseek-reasoner")
        [row] = recount_reasoning(db)
    assert "no tokenizer that can be asked" in (row.reason or "")
    assert tokenizing.asked == 0


class FakeEncoding:
    def encode_ordinary_batch(self, texts: list[str]) -> list[list[int]]:
        return [[ord(letter) for letter in text] for text in texts]


@pytest.fixture
def tiktoken(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The two functions of tiktoken that are used, without its download."""
    module: Any = types.ModuleType("tiktoken")
    module.get_encoding = {"letters": FakeEncoding()}.__getitem__
    module.list_encoding_names = lambda: ["letters"]
    monkeypatch.setitem(sys.modules, "tiktoken", module)
    return module


def test_tiktoken_counts_where_no_server_can_and_a_vocabulary_that_cannot_be_fetched_is_told(
    db: Path, tiktoken: Any
) -> None:
    def unknown(name: str) -> Any:
        raise ValueError(name)

    with LocalServer(Tokenizing()) as server:
        answered(db, server)
    with pytest.raises(SlantError, match="could not be fetched"):
        recount_reasoning(db, tokenizer="tiktoken:o200k_base")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiktoken, "get_encoding", unknown)
        with pytest.raises(UsageError, match="no such vocabulary"):
            recount_reasoning(db, tokenizer="tiktoken:o200k_base")
    recount_reasoning(db, tokenizer="tiktoken:letters")
    assert kept(db) == {(64, len(TEXT), "tiktoken:letters")}


def test_without_tiktoken_it_is_named_and_so_is_an_unknown_tokenizer_or_model(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with LocalServer(Tokenizing()) as server:
        answered(db, server)
    with pytest.raises(UsageError, match="Type: pip install tiktoken"):
        recount_reasoning(db, tokenizer="tiktoken:o200k_base")
    with pytest.raises(UsageError, match="There is no tokenizer"):
        recount_reasoning(db, tokenizer="words")
    with pytest.raises(UnknownNameError, match='Did you mean "local/small"'):
        recount_reasoning(db, ["local/smal"])


def test_a_recount_waits_for_no_collector_but_says_who_is_there(db: Path) -> None:
    with LocalServer(Tokenizing()) as server:
        answered(db, server)
        lock = FolderLock(journal_folder(db))
        try:
            with pytest.raises(JournalError, match="Another collector"):
                recount_reasoning(db, base_url=server.base_url)
        finally:
            lock.release()


def test_a_summary_is_not_counted_as_if_it_were_the_reasoning(db: Path) -> None:
    async def summarised(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        said = completion("Calm")
        details = [{"type": "reasoning.summary", "summary": TEXT}, {"type": "reasoning.encrypted", "data": "x"}]
        said["choices"][0]["message"] |= {"reasoning": TEXT, "reasoning_details": details}
        return web.json_response(said)

    with LocalServer(summarised) as server:
        answered(db, server)
    assert recount_reasoning(db) == []
    [note] = summary_notes(db)
    assert note == "local/small: 8 texts are summaries that the provider wrote, which are not counted."


@pytest.mark.slow
def test_answers_without_readable_reasoning_are_left_alone(db: Path) -> None:
    with LocalServer() as server:
        answered(db, server)
    result = run_collect("recount", "--db", db, code=0)
    assert "Nothing to count" in result.stderr

"""Archives of strangers: each is refused in a sentence, quickly, in little memory, and nothing is written next to."""

from __future__ import annotations

import resource
import time
import zipfile
from pathlib import Path

import pytest

from slant.analysis.archive.replaying import replay
from slant.analysis.archive.sealing import seal
from slant.analysis.archive.study_copy import load_sealed
from slant.collector import collect
from slant.collector.errors import SlantError
from slant.collector.keep.journal import journal_folder
from tests.hostile.archives import ARCHIVES, MANIFEST, HostileArchive
from tests.support.tiny_study import write_tiny

MOST_S, MOST_MEMORY_KB = 10.0, 200_000


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Those of a true archive, without its manifest."""
    folder = tmp_path_factory.mktemp("true")
    collect(folder / "a.duckdb", write_tiny(folder), ["simulated/small"])
    with zipfile.ZipFile(seal(folder / "a.duckdb", None, folder / "a.zip", with_r=False).path) as file:
        return {name: file.read(name) for name in file.namelist() if name != MANIFEST}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ARCHIVES, ids=lambda attack: attack.name)
def test_it_is_refused_in_a_sentence_and_nothing_is_written_beside(
    attack: HostileArchive, members: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    attack.pack(members, tmp_path / "in" / "a.zip")
    size, memory, begun = (tmp_path / "in" / "a.zip").stat().st_size, peak_kb(), time.process_time()
    with pytest.raises(SlantError, match=attack.sentence):
        replay(tmp_path / "in" / "a.zip", tmp_path / "check", with_r=False)
    assert time.process_time() - begun < MOST_S
    assert peak_kb() - memory < MOST_MEMORY_KB
    assert (tmp_path / "in" / "a.zip").stat().st_size == size
    assert {path.name for path in tmp_path.iterdir()} <= {"in", "check"}


def peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.slow
def test_a_line_without_end_in_a_journal_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slant.analysis.archive.study_copy._MAX_LINE_BYTES", 3_000_000)
    journal_folder(tmp_path / "a.duckdb").mkdir()
    (journal_folder(tmp_path / "a.duckdb") / "r.jsonl").write_bytes(b"{}\n" + b'"' * 4_000_000)
    with pytest.raises(SlantError, match="a line of more than 3,000,000 bytes"):
        load_sealed(tmp_path / "a.duckdb", lambda done, of_all: None)

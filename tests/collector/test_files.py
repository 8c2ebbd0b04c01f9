"""What slant writes for somebody, where a link, a pipe or a folder has the name; folders next to a file that is
made."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from slant.analysis.calls.result_rows import made_model_folder
from slant.collector.errors import DatabaseError
from slant.collector.system.files import IrregularFileError, contents, moved, write_file
from slant.collector.system.scratch import scratch_near, whole_folder, write_whole_file

WAYS: tuple[Callable[[Path, bytes], None], ...] = (write_file, write_whole_file)


@pytest.mark.parametrize("write", WAYS, ids=lambda write: write.__name__)
def test_a_link_is_replaced_and_what_it_points_to_stays(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    (place := tmp_path / "figure.png").symlink_to(tmp_path / "thesis.txt")
    write(place, b"slant's")
    assert (place.is_symlink(), place.read_bytes()) == (False, b"slant's")
    assert (tmp_path / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize("write", WAYS, ids=lambda write: write.__name__)
def test_a_dangling_link_makes_no_file_elsewhere(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    (place := tmp_path / "figure.png").symlink_to(tmp_path / "elsewhere")
    write(place, b"slant's")
    assert (place.read_bytes(), (tmp_path / "elsewhere").exists()) == (b"slant's", False)


def test_a_pipe_that_was_named_is_written_into_and_stays(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_bytes()))
    reader.start()
    write_whole_file(pipe, b"rows")
    reader.join(10)
    assert (seen, stat.S_ISFIFO(pipe.lstat().st_mode)) == ([b"rows"], True)


def test_nothing_takes_the_place_of_a_pipe_and_none_is_read(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    write_file(tmp_path / "made", b"")
    for refused in (lambda: moved(tmp_path / "made", pipe), lambda: contents(pipe)):
        with pytest.raises(IrregularFileError, match="it is a pipe"):
            refused()


def test_a_folder_of_models_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "a.duckdb.models").symlink_to(tmp_path / "home")
    with pytest.raises(DatabaseError, match="links are not followed here"):
        made_model_folder(tmp_path / "a.duckdb")


WORKS = """
import sys, time
from pathlib import Path
from slant.collector.system.scratch import scratch_near
with scratch_near(Path(sys.argv[1])) as folder:
    (folder / "half").write_bytes(b"half")
    print("works", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_is_removed_and_what_somebody_works_in_stays(tmp_path: Path) -> None:
    out = tmp_path / "study [1].zip"
    command = [sys.executable, "-c", WORKS, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as works:
        assert works.stdout is not None
        works.stdout.readline()
        (left,) = tmp_path.iterdir()
        with scratch_near(out) as own, scratch_near(out) as another:
            assert set(tmp_path.iterdir()) == {left, own, another}
        works.kill()
    with scratch_near(out) as own:
        assert list(tmp_path.iterdir()) == [own]
    assert list(tmp_path.iterdir()) == []


def test_a_link_of_such_a_name_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / ".a.zip.x.scratch").symlink_to(tmp_path / "mine")
    with scratch_near(tmp_path / "a.zip"):
        pass
    assert (tmp_path / "mine").is_dir()


def test_a_folder_has_its_name_once_it_is_whole(tmp_path: Path) -> None:
    with whole_folder(out := tmp_path / "pages") as made:
        (made / "index.html").write_text("a page")
        assert not out.exists()
    assert ([path.name for path in out.iterdir()], list(tmp_path.iterdir())) == (["index.html"], [out])
    with pytest.raises(FileNotFoundError), whole_folder(tmp_path / "others") as made:
        (made / "half" / "index.html").write_text("half a page")
    assert list(tmp_path.iterdir()) == [out]


def test_an_empty_folder_is_filled_and_one_that_was_filled_meanwhile_is_left(tmp_path: Path) -> None:
    (out := tmp_path / "mine").mkdir()
    number = out.stat().st_ino
    with whole_folder(out) as made:
        (made / "a").write_text("a")
    assert (out.stat().st_ino, (out / "a").read_text()) == (number, "a")
    with pytest.raises(FileExistsError, match="meanwhile"), whole_folder(out) as made:
        (made / "a").write_text("another")
    assert (out / "a").read_text() == "a"


def test_a_file_that_can_not_be_written_whole_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole_file(out := tmp_path / "plan.json", b"first")
    monkeypatch.setattr(os, "replace", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        write_whole_file(out, b"second")
    assert ([path.name for path in tmp_path.iterdir()], out.read_bytes()) == (["plan.json"], b"first")

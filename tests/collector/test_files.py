"""What slant writes for somebody, where a link, a pipe or a folder has the name."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from slant.analysis.calls.model_files import made_model_folder
from slant.collector.errors import DatabaseError
from slant.collector.system.files import IrregularFileError, contents, moved, write_file
from slant.collector.system.scratch import write_whole_file

WAYS: tuple[Callable[[Path, bytes], None], ...] = (write_file, write_whole_file)


@pytest.mark.parametrize("write", WAYS, ids=lambda write: write.__name__)
def test_a_link_is_replaced_and_what_it_points_to_stays(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    (place := tmp_path / "figure.png").symlink_to(tmp_path / "thesis.txt")
    write(place, b"slant's")
    assert (place.is_symlink(), place.read_bytes(), (tmp_path / "thesis.txt").read_text()) == (
        False,
        b"slant's",
        "mine",
    )


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

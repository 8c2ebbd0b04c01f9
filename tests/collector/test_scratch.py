"""Folders beside a file that is being made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from slant.collector.system.scratch import scratch_beside

WORKS = """
import sys, time
from pathlib import Path
from slant.collector.system.scratch import scratch_beside
with scratch_beside(Path(sys.argv[1])) as folder:
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
        with scratch_beside(out) as own, scratch_beside(out) as another:
            assert set(tmp_path.iterdir()) == {left, own, another}
        works.kill()
    with scratch_beside(out) as own:
        assert list(tmp_path.iterdir()) == [own]
    assert list(tmp_path.iterdir()) == []


def test_a_link_of_such_a_name_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / ".a.zip.x.scratch").symlink_to(tmp_path / "mine")
    with scratch_beside(tmp_path / "a.zip"):
        pass
    assert (tmp_path / "mine").is_dir()

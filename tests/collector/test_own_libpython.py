"""Python starts with its own libpython, whatever R's search path of libraries has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support import ROOT

OWN = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
SCRIPT = """
import os
from slant.collector.system.own_libpython import ensure_own_libpython
ensure_own_libpython()
import ssl
print(os.environ["LD_LIBRARY_PATH"], next(line for line in open("/proc/self/maps") if "libpython" in line).split()[-1])
"""

MAPS = Path("/proc/self/maps")

pytestmark = pytest.mark.skipif(
    not (OWN.name.startswith("libpython") and OWN.exists() and MAPS.exists() and OWN.name in MAPS.read_text()),
    reason="this Python has no shared library of its own",  # Debian's has one and does not use it
)


def started(search_path: str) -> list[str]:
    environment = {**os.environ, "LD_LIBRARY_PATH": search_path, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_another_libpython_on_the_search_path_is_left_and_other_folders_stay(tmp_path: Path) -> None:
    shutil.copy(OWN, tmp_path / OWN.name)
    path, used = started(f"{tmp_path}:/somewhere/else")
    assert path == "/somewhere/else"
    assert Path(used).samefile(OWN)


def test_a_search_path_without_one_is_left_alone(tmp_path: Path) -> None:
    path, used = started(str(tmp_path))
    assert path == str(tmp_path)
    assert Path(used).samefile(OWN)

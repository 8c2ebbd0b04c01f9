"""How commands begin: what stops them before anything else could; Python starts with its own libpython, whatever R's
search path of libraries has."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support import ROOT

# Ctrl-C comes while click is being imported
INTERRUPTED = """
import builtins, importlib
whole = builtins.__import__
def interrupted(name, *rest):
    if name == "click":
        raise KeyboardInterrupt
    return whole(name, *rest)
start = importlib.import_module("MODULE")
builtins.__import__ = interrupted
start.COMMAND()
"""

# Ctrl-C comes when the command has ended, and Python takes down what is left
LATE = """
import importlib, os, signal, sys
class Last:
    def __del__(self, kill=os.kill, us=os.getpid(), number=signal.SIGINT):
        kill(us, number)
        print("still here")
last = Last()
sys.argv[1:] = ["--version"]
importlib.import_module("MODULE").COMMAND()
"""
COMMANDS = [
    ("slant.collector.start", "collect"),
    ("slant.analysis.cli.start", "analyze"),
    ("slant.analysis.cli.start", "slant"),
]


@pytest.mark.parametrize(("module", "command"), COMMANDS)
def test_ctrl_c_while_a_command_is_imported_is_no_traceback(module: str, command: str) -> None:
    code = INTERRUPTED.replace("MODULE", module).replace("COMMAND", command)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "Aborted!\n")


@pytest.mark.slow
@pytest.mark.parametrize(("module", "command"), COMMANDS)
def test_ctrl_c_after_a_command_is_done_is_no_failure(module: str, command: str) -> None:
    code = LATE.replace("MODULE", module).replace("COMMAND", command)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\nstill here\n")


@pytest.mark.parametrize("module", ["slant.collector", "slant.analysis"])
def test_too_tight_a_limit_of_memory_is_told_before_a_library_crashes(module: str) -> None:
    words = ["sh", "-c", 'ulimit -v 1000000 && exec "$@"', "sh", sys.executable, "-m", module, "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: A limit allows 1,024 MB of memory, and slant needs 1,500.")


OWN = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
SCRIPT = """
import os
from slant.collector.system.child_processes import ensure_own_libpython
ensure_own_libpython()
import ssl
print(os.environ["LD_LIBRARY_PATH"], next(line for line in open("/proc/self/maps") if "libpython" in line).split()[-1])
"""

MAPS = Path("/proc/self/maps")

with_own_library = pytest.mark.skipif(
    not (OWN.name.startswith("libpython") and OWN.exists() and MAPS.exists() and OWN.name in MAPS.read_text()),
    reason="this Python has no shared library of its own",  # Debian's has one and does not use it
)


def started(search_path: str) -> list[str]:
    environment = {**os.environ, "LD_LIBRARY_PATH": search_path, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


@with_own_library
def test_another_libpython_on_the_search_path_is_left_and_other_folders_stay(tmp_path: Path) -> None:
    shutil.copy(OWN, tmp_path / OWN.name)
    path, used = started(f"{tmp_path}:/somewhere/else")
    assert path == "/somewhere/else"
    assert Path(used).samefile(OWN)


@with_own_library
def test_a_search_path_without_one_is_left_alone(tmp_path: Path) -> None:
    path, used = started(str(tmp_path))
    assert path == str(tmp_path)
    assert Path(used).samefile(OWN)

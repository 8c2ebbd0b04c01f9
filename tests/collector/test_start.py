"""How commands begin: what stops them before anything else could."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

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

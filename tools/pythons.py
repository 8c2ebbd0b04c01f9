"""Which Python .venv is made from, and slant in it with its packages, by pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from steps import Step, last_lines, run, stop

if TYPE_CHECKING:
    from r_home import RInstallation

OLDEST_PYTHON = (3, 11)
VENV = Path(".venv")


def python_to_use(or_stop: bool = True) -> str:
    """A Python that is new enough: the one that PYTHON names, the one that runs this, or the newest on PATH.

    "" where there is none, or the end in a sentence with `or_stop`.
    """
    named = os.environ.get("PYTHON")
    if named:
        path = shutil.which(named)
        if path and is_new_enough(path):
            return path
        if or_stop:
            what = f"PYTHON names {named}, which is {'older' if path else 'not there'}."
            stop(
                "Can't make .venv: slant needs Python 3.11 or newer.", what, "Another one: PYTHON=python3.11 make setup"
            )
        return ""
    if sys.version_info >= OLDEST_PYTHON:
        # In a .venv that is active it is the one that the .venv was made from.
        return os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    for minor in range(19, OLDEST_PYTHON[1] - 1, -1):
        if path := shutil.which(f"python3.{minor}"):
            return path
    if or_stop:
        stop(
            f"Can't make .venv: slant needs Python 3.11 or newer, but this is {sys.version.split()[0]}.",
            "macOS: brew install python; elsewhere: your system's package of a newer Python.",
            "Then: make setup, or with its path: PYTHON=/path/to/python3 make setup",
        )
    return ""


def is_new_enough(python: str) -> bool:
    code = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def python_of_system(python: str) -> str | None:
    """ "python3.11", where that is what the system's package manager calls it."""
    real = Path(python).resolve()
    return real.name if real.parent == Path("/usr/bin") and real.name.startswith("python3.") else None


def install_python_packages(python: str, r: RInstallation, log: Path) -> None:
    make_venv(python, log)
    from r_home import rpy2_requirements

    wanted = ["--constraint", "constraints.txt", "--editable", ".[r,dask,archive,dev]", *rpy2_requirements(r.version)]
    quiet = ["install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    with Step("setup: installing slant and its Python packages into .venv"):
        failed = run([VENV / "bin" / "python", "-m", "pip", *quiet, *wanted], log)
    if failed:
        sys.stderr.write("\n".join(last_lines(log)) + "\n")
        stop(
            "Can't install the Python packages: pip ended with an error (above).",
            "If it was the network, type again: make setup",
        )


def make_venv(python: str, log: Path) -> None:
    """Made again where there is none, its Python is gone or another one, or the folder was moved."""
    if version_of(str(VENV / "bin" / "python")) == version_of(python) and is_here():
        return
    shutil.rmtree(VENV, ignore_errors=True)
    with Step("setup: making .venv"):
        failed = run([python, "-m", "venv", VENV], log)
    if failed:
        sys.stderr.write("\n".join(last_lines(log)) + "\n")
        stop(
            f"Can't make .venv with {python}.",
            "It needs the modules venv and ensurepip (Debian: sudo apt-get install python3-venv).",
            "Then: make setup",
        )


def version_of(python: str) -> str:
    try:
        command = [python, "-c", "import sys; print(sys.version)"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def is_here() -> bool:
    """Whether pip runs, whose first line names the folder that .venv was made in."""
    try:
        return subprocess.run([VENV / "bin" / "pip", "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False

"""R, its packages and Python's headers from the packages of Debian, Ubuntu and their like, by apt-get."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from pythons import OLDEST_PYTHON, python_of_system, python_to_use
from steps import Step, last_lines, run, say, stop

R_PACKAGES = Path(__file__).resolve().parent.parent / "analysis" / "r_packages.csv"
# A lock of another apt-get is waited for; a connection that breaks is tried again.
APT = (
    "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=120",
    "-o", "Acquire::Retries=3",
)  # fmt: skip


def has_apt() -> bool:
    return shutil.which("apt-get") is not None and shutil.which("dpkg-query") is not None


def r_is_of_system() -> bool:
    """The system's R packages serve the system's R only; another R gets all of its packages from CRAN."""
    return shutil.which("R") in (None, "/usr/bin/R", "/bin/R")


def wanted_packages(known: set[str]) -> list[str]:
    names: list[str] = []
    if r_is_of_system():
        names += ["r-base-core", "r-base-dev"]  # -dev: rpy2 and CRAN's sources are compiled
        with R_PACKAGES.open(encoding="utf-8", newline="") as file:
            names += [name for row in csv.DictReader(file) for name in row["debian"].split()]
    python = python_to_use(or_stop=False)
    if not python:
        newer = [f"python3.{minor}" for minor in range(OLDEST_PYTHON[1], 20) if f"python3.{minor}" in known]
        names += [newer[-1], f"{newer[-1]}-venv", f"{newer[-1]}-dev"] if newer else []
    elif name := python_of_system(python):
        names += [f"{name}-venv", f"{name}-dev"]
    return list(dict.fromkeys(names))


def installed_packages() -> set[str]:
    command = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return {line.split()[0] for line in lines if line.endswith(" installed")}


def known_packages() -> set[str]:
    return set(subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=False).stdout.split())


def as_root() -> list[str] | None:
    """What to put before a command that needs root; None where that would ask for a password, or can't be."""
    if os.geteuid() == 0:
        return []
    command = ["sudo", "-n", "true"]
    can = shutil.which("sudo") and subprocess.run(command, capture_output=True, check=False).returncode == 0
    return ["sudo", "-n"] if can else None


def install_debian_packages(log: Path) -> None:
    """Installs what is missing; without root, it says what to type, and ends where R or Python is missing."""
    known = known_packages()
    missing = missing_packages(known)
    if not missing:
        return
    root = as_root()
    if root is None:
        line = "sudo apt-get install --no-install-recommends " + " ".join(missing)
        if shutil.which("R") is None or not python_to_use(or_stop=False):
            stop("Can't install what slant needs: this needs root.", f"Type, or ask for: {line}", "Then: make setup")
        say(f"going on without some system packages, which only root can install. For them: {line}")
        return
    if not set(missing) <= known or "r-base-core" not in known:
        with Step("setup: fetching the lists of packages"):
            run([*root, *APT, "update"], log)
        missing = missing_packages(known_packages())
    if missing:
        install(missing, root, log)


def missing_packages(known: set[str]) -> list[str]:
    """What is to be installed. A name that this system has not is left to CRAN, but for the first lists of all."""
    installed = installed_packages()
    lacking = [name for name in wanted_packages(known) if name not in installed]
    return [name for name in lacking if name in known] if "r-base-core" in known else lacking


def install(missing: list[str], root: list[str], log: Path) -> None:
    command = [*root, *APT, "install", "-y", "--no-install-recommends", *missing]
    with Step(f"setup: installing {len(missing)} system packages ({brief(missing)})"):
        # Package lists may be older than what the mirror has now.
        failed = run(command, log) and (run([*root, *APT, "update"], log), run(command, log))[1]
    if failed:
        sys.stderr.write("\n".join(last_lines(log)) + "\n")
        stop(
            "Can't install system packages: apt-get ended with an error (above).",
            "If it was the network, type again: make setup",
            f"To see it all: sudo apt-get install --no-install-recommends {' '.join(missing)}",
        )


def brief(names: list[str]) -> str:
    """The first names, as people say them."""
    shown = [re.sub(r"^r-cran-", "", name) for name in names[:4]]
    return ", ".join(shown) + (" …" if len(names) > 4 else "")

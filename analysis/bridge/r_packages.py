"""Read the list of R packages, r_packages.csv: what each is for, what is lost without it, and how to get it here.

Hash the R code that decides numbers: a result of different code is a different result."""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from slant.collector.stable_ids import stable_id
from slant.collector.system.shipped_files import csv_rows

# not resolved: in a checkout the package is a link, and its neighbours are links, too
_PACKAGE = Path(__file__).parent.parent


def r_folder() -> Path:
    """Return the folder with our R functions."""
    return (_PACKAGE.parent / "R").resolve()


def inst_folder() -> Path:
    """Return the folder with what R/ also reads: the table of engines, and what it compiles at first use."""
    return (_PACKAGE.parent / "inst").resolve()


@cache
def r_code_hash() -> str:
    """Hash all code that a call may run except what draws: a different drawing leaves every result unchanged."""
    code = [file for file in r_folder().glob("*.R") if not file.name.startswith(("plot_", "figure_"))]
    files = [*sorted(code), inst_folder() / "engines.csv", *sorted((inst_folder() / "native").iterdir())]
    return stable_id([file.read_text("utf-8") for file in files])


LIST = Path(__file__).parent.with_name("r_packages.csv")


def r_package_list() -> list[dict[str, str]]:
    """Return the list of packages, a mapping for each: package, debian, at_least, needed_for, what_for, costs (words),
    compiles (time, or "")."""
    return csv_rows(LIST)


def what_is_lost(packages: Sequence[str]) -> str:
    """Return the words for the loss without these packages ("no topic models"); "" for packages outside the list."""
    costs = [row["costs"] for row in r_package_list() if row["package"] in packages]
    return "; ".join(dict.fromkeys(costs))


def how_to_install(package: str, debian: str) -> str:
    """Return the command that installs an R package on this machine. `debian`: its package there, "" if there is
    none.
    """
    if debian and shutil.which("apt-get") and _apt_has(debian.split()[0]):
        return f"sudo apt-get install --no-install-recommends {debian}"
    return f"Rscript -e 'install.packages(\"{package}\")'"


def _apt_has(name: str) -> bool:
    """Return whether this release has that package; True if its lists were never fetched."""
    packages = _r_packages_of_debian()
    return "r-base-core" not in packages or name in packages


@functools.cache
def _r_packages_of_debian() -> frozenset[str]:
    answer = subprocess.run(["apt-cache", "pkgnames", "r-"], capture_output=True, text=True, check=False)
    return frozenset(answer.stdout.split())

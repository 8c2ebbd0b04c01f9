"""Read the list of R packages, r_packages.csv: what each is for, what is lost without it, and how to get it here."""

from __future__ import annotations

import csv
import functools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

LIST = Path(__file__).parent.with_name("r_packages.csv")


def r_package_list() -> list[dict[str, str]]:
    """Return the list of packages, a mapping for each: package, debian, at_least, needed_for, what_for, costs (words),
    compiles (time, or "")."""
    with LIST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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

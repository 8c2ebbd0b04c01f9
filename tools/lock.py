"""Writes down the versions that slant is tested with: constraints.txt for Python, renv.lock for R.

python tools/lock.py [--cran FOLDER] [--keep FOLDER]    in a fresh root of Debian 12: only what set-up installs
python tools/lock.py --here                             from what is installed here, anyone who installed it

`make lock` does the first; it needs root and debootstrap, and all R packages (CRAN, or --cran FOLDER, or SLANT_CRAN).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from fresh import OUT, Machine
from fresh_root import ROOT, check_rights
from r_packages import lacking_rows
from steps import Step, stop

SUITE = "bookworm"
WRITTEN = ("constraints.txt", "renv.lock")

sys.path.insert(0, str(ROOT / "analysis" / "bridge"))
from r_home import r_installation  # noqa: E402


def lock_here() -> None:
    os.chdir(ROOT)
    r = r_installation()
    if r is None:
        stop("Can't write renv.lock: R is not here.", "To have it: make setup")
    if lacking := lacking_rows(r):
        names = ", ".join(row["package"] for row in lacking)
        stop(f"Can't write renv.lock: it names all R packages of slant, but these are not here: {names}.", "make setup")
    comments = [line for line in Path("constraints.txt").read_text("utf-8").splitlines() if line.startswith("#")]
    command = [".venv/bin/python", "-m", "pip", "freeze", "--exclude-editable", "--disable-pip-version-check"]
    frozen = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    # rpy2 is left out: which one fits depends on the R that is found.
    kept = [line for line in frozen if re.match(r"[\w.-]+==", line) and not line.startswith(("rpy2-", "slant=="))]
    Path("constraints.txt").write_text("\n".join([*comments, *kept]) + "\n", "utf-8")
    subprocess.run([r.rscript, "--no-init-file", "tools/renv_lock.R"], check=True)


def lock_in_fresh_root(asked: argparse.Namespace) -> None:
    check_rights()
    OUT.mkdir(exist_ok=True)
    folder = Path(asked.keep).resolve() if asked.keep else OUT / "roots" / SUITE
    machine = Machine(SUITE, folder, asked)
    with Step(f"lock: setting up and writing down in a root of {SUITE}"):
        status, printed = machine.run("make setup && .venv/bin/python tools/lock.py --here")
    if status:
        stop(f"Can't lock: a step in the root failed; {machine.log} says which.", *printed.splitlines()[-5:])
    for name in WRITTEN:
        shutil.copy(folder / "fresh" / "main" / name, ROOT / name)
    if not asked.keep:
        shutil.rmtree(folder)
    sys.stdout.write("Written: constraints.txt, renv.lock. See: git diff\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true", help="from what is installed here")
    parser.add_argument("--cran", default=os.environ.get("SLANT_CRAN"), help="folder of R packages (SLANT_CRAN)")
    parser.add_argument("--mirror", help="address of a mirror of Debian; default: the one that apt has here")
    parser.add_argument("--keep", help="folder for the root, which stays; default: it is deleted")
    asked = parser.parse_args()
    if asked.here:
        lock_here()
    else:
        lock_in_fresh_root(asked)


if __name__ == "__main__":
    main()

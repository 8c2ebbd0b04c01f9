"""Find this machine's R, and the rpy2 that fits it. Standard library only: set-up runs it before installing anything.

Prepare what R finds as it starts: no file that was written for R may change what slant computes.

A profile (.Rprofile of the folder, of the user, of the site, renv's) is code: its functions would be taken for R's own,
and its output would appear among the rows. So R that slant starts runs none. One purpose of a profile or .Renviron is
kept: the libraries of the user's packages. A .Renviron in the working folder may be a stranger's and is not read; the
user's own, in the home folder or named by R_ENVIRON_USER, is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OLDEST_R = (4, 1, 0)
HOW_TO_INSTALL_R = (
    "Debian or Ubuntu: sudo apt-get install r-base-dev; Fedora: sudo dnf install R; macOS: brew install r; "
    "conda: conda install -c conda-forge r-base."
)
# Wheels of rpy2-rinterface from 3.6.6 on use entry points that only R 4.5 has; 3.6.5 is the last one for older R.
_FIRST_R_OF_NEW_RPY2 = (4, 5, 0)
_FIRST_NEW_RINTERFACE = (3, 6, 6)
_FIRST_GOOD_RINTERFACE = (3, 6, 7)
# What the script bin/R sets before it starts R itself; all else R reads from its Renviron files, embedded or not.
_SET_BY_SCRIPT = re.compile(r"(R_HOME|R_SHARE_DIR|R_INCLUDE_DIR|R_DOC_DIR|R_ARCH|LD_LIBRARY_PATH|DYLD_\w+)=(.*)")


@dataclass(frozen=True)
class RInstallation:
    """Describe one R: its home folder, its Rscript, and its version, such as (4, 2, 2)."""

    home: Path
    rscript: Path
    version: tuple[int, ...]

    @property
    def version_text(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def is_too_old(self) -> bool:
        return self.version < OLDEST_R


def r_installation() -> RInstallation | None:
    """Return the R that R_HOME names, else the one on PATH; None if there is none. This takes milliseconds."""
    for home in _homes():
        rscript = home / "bin" / "Rscript"
        version = _version_of(home)
        if version and rscript.is_file():
            return RInstallation(home, rscript, version)
    return None


def version_numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: "1.1-31" is (1, 1, 31), "3.6.7.dev1" is (3, 6, 7)."""
    match = re.match(r"\d+(?:[.-]\d+)*", text.strip())
    return tuple(int(part) for part in re.split(r"[.-]", match.group())) if match else ()


def rinterface_fits(rinterface: tuple[int, ...], r_version: tuple[int, ...]) -> bool:
    """Return whether that version of rpy2-rinterface runs on that version of R."""
    if r_version < _FIRST_R_OF_NEW_RPY2:
        return rinterface < _FIRST_NEW_RINTERFACE
    return rinterface >= _FIRST_GOOD_RINTERFACE


def rpy2_requirements(r_version: tuple[int, ...]) -> tuple[str, ...]:
    """Return pip's arguments for an rpy2 that fits that version of R."""
    if r_version < _FIRST_R_OF_NEW_RPY2:
        return ("rpy2-rinterface==3.6.5", "rpy2-robjects==3.6.6")
    return ("rpy2-rinterface>=3.6.7,<3.7", "rpy2-robjects>=3.6.6,<3.7")


def how_to_install_rpy2(r: RInstallation) -> str:
    """Return the sentence with the command to type, which names slant itself: that works for a checkout and a wheel."""
    quoted = " ".join(f"'{requirement}'" for requirement in rpy2_requirements(r.version))
    return f"For R {r.version_text} type: {sys.executable} -m pip install {quoted}"


def _homes() -> Iterator[Path]:
    if r_home := os.environ.get("R_HOME"):
        yield Path(r_home)
    command = shutil.which("R")
    if command is None:
        return
    # R itself warns when R_HOME in the environment is not its own, so it is asked without.
    environment = {name: value for name, value in os.environ.items() if name != "R_HOME"}
    answer = subprocess.run([command, "RHOME"], capture_output=True, text=True, env=environment, check=False)
    if answer.returncode == 0 and answer.stdout.strip():
        yield Path(answer.stdout.strip().splitlines()[-1])


def variables_of_script(home: Path) -> dict[str, str]:
    """Return R's environment as when a person types `R`; empty if that script can't say."""
    command = [str(home / "bin" / "R"), "CMD", "printenv"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return {match[1]: match[2] for line in output.splitlines() if (match := _SET_BY_SCRIPT.fullmatch(line))}


def _version_of(home: Path) -> tuple[int, ...]:
    try:
        description = (home / "library" / "base" / "DESCRIPTION").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    match = re.search(r"^Version:\s*(\S+)", description, re.MULTILINE)
    return version_numbers(match.group(1)) if match else ()


def _main() -> int:
    """Print what pip needs for this machine's R, one requirement per line; `make setup` reads it."""
    r = r_installation()
    if r is None or r.is_too_old:
        description = f"R {r.version_text}" if r else "no R"
        sys.stderr.write(f"slant needs R 4.1 or newer, but {description} was found.\n  {HOW_TO_INSTALL_R}\n")
        return 1
    sys.stdout.write("\n".join(rpy2_requirements(r.version)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main())


OPTIONS = ("--no-init-file", "--no-site-file", "--no-save", "--no-restore")
_PATIENCE_S = 30
_MARK = "slant-library:"
_ASK = f'cat("\\n", paste0("{_MARK}", .libPaths(), "\\n"), sep = "")'
_AT_BIRTH = {name: os.environ.get(name) for name in ("R_PROFILE", "R_PROFILE_USER", "R_ENVIRON_USER")}
"""Hold the variables as the user set them; workers start with those below."""


def startup_environment() -> dict[str, str]:
    """Return environment variables for R, and all R that it starts, without profiles but with the user's libraries."""
    variables = {
        "R_PROFILE": os.devnull,
        "R_PROFILE_USER": os.devnull,
        "R_ENVIRON_USER": _AT_BIRTH["R_ENVIRON_USER"] or "~/.Renviron",
    }
    if libraries := libraries_of_profiles():
        before = os.environ.get("R_LIBS", "").split(os.pathsep)
        variables["R_LIBS"] = os.pathsep.join(dict.fromkeys(filter(None, [*before, *libraries])))
    return variables


@cache
def libraries_of_profiles() -> tuple[str, ...]:
    """Return the libraries that the user's own profile or the site's sets by .libPaths(); none if neither does.

    They run in a separate process, from which only these names are taken. The working folder's profile, which may have
    come with a stranger's study, does not run.
    """
    if _AT_BIRTH["R_PROFILE_USER"] == os.devnull or (r := r_installation()) is None:
        return ()
    site = Path(_AT_BIRTH["R_PROFILE"] or r.home / "etc" / "Rprofile.site")
    own = Path(os.path.expanduser(_AT_BIRTH["R_PROFILE_USER"] or "~/.Rprofile"))
    if not any(_sets_libraries(profile) for profile in (site, own)):
        return ()
    named = {"R_PROFILE_USER": str(own.absolute()), "R_ENVIRON_USER": _AT_BIRTH["R_ENVIRON_USER"] or "~/.Renviron"}
    try:
        output = subprocess.run(
            [str(r.rscript), "-e", _ASK], capture_output=True, stdin=subprocess.DEVNULL, check=False,
            timeout=_PATIENCE_S, cwd="/", env={**os.environ, **named},
        ).stdout.decode("utf-8", "replace")  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.removeprefix(_MARK) for line in output.splitlines() if line.startswith(_MARK))


def libraries(r: RInstallation) -> list[str]:
    """Return the folders in which R looks for packages, in its order; none if it does not start."""
    try:
        output = subprocess.run(
            [str(r.rscript), *OPTIONS, "-e", _ASK], capture_output=True, text=True, check=False,
            timeout=_PATIENCE_S, stdin=subprocess.DEVNULL, env={**os.environ, **startup_environment()},
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.removeprefix(_MARK) for line in output.splitlines() if line.startswith(_MARK)]


def unread_profile() -> str | None:
    """Return a profile that R would run when a person starts it here, and that slant does not."""
    named = _AT_BIRTH["R_PROFILE_USER"]
    places = [Path(named)] if named else [Path(".Rprofile"), Path.home() / ".Rprofile"]
    found = next((place for place in places if place.is_file()), None)
    return str(found.absolute()) if found else None


def _sets_libraries(profile: Path) -> bool:
    try:
        return profile.is_file() and b"libPaths" in profile.read_bytes()[:1_000_000]
    except OSError:
        return False

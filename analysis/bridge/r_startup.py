"""Prepare what R finds as it starts: no file that was written for R may change what slant computes.

A profile (.Rprofile of the folder, of the user, of the site, renv's) is code: its functions would be taken for R's own,
and its output would appear among the rows. So R that slant starts runs none. One purpose of a profile or .Renviron is
kept: the libraries of the user's packages. A .Renviron in the working folder may be a stranger's and is not read; the
user's own, in the home folder or named by R_ENVIRON_USER, is.

It uses only the standard library, like r_home.py.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

from slant.analysis.bridge.r_home import RInstallation, r_installation

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

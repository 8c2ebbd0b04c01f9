"""Start Python again with its own libpython, if R's search path of libraries gave it another one.

R puts the system's folders first in LD_LIBRARY_PATH for all that it starts. A Python that was built elsewhere (by pyenv
or conda) then runs with the system's libpython of the same name, without what its own modules need: `import ssl` fails.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

SEARCH_PATH = "LD_LIBRARY_PATH"
_RESTARTED = "SLANT_LIBPYTHON"
_MAPS = Path("/proc/self/maps")


def ensure_own_libpython() -> None:
    """Replace this process by one with the right library, or return if it has it. Linux only; at most once."""
    searched = os.environ.get(SEARCH_PATH, "")
    if not searched or _RESTARTED in os.environ or not _MAPS.exists():
        return
    library = sysconfig.get_config_var("INSTSONAME") or ""
    own = Path(sysconfig.get_config_var("LIBDIR") or "", library)
    used = next((line.split(maxsplit=5)[5] for line in _MAPS.read_text().splitlines() if line.endswith(library)), None)
    if not library.startswith("libpython") or used is None or not own.exists() or own.samefile(used):
        return
    folders = [folder for folder in searched.split(os.pathsep) if not Path(folder, library).exists()]
    environment = {**os.environ, SEARCH_PATH: os.pathsep.join(folders), _RESTARTED: str(own)}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)

"""`python -m slant.analysis` is `analyze`."""

import sys
from importlib import import_module

from slant.collector.system.child_processes import safe_path

sys.path[:] = safe_path()  # Python puts the current folder first for -m, and for a command not
import_module("slant.analysis.cli.start").analyze()

"""Run `analyze` as `python -m slant.analysis`."""

import sys
from importlib import import_module

from slant.collector.system.child_processes import safe_path

sys.path[:] = safe_path()  # Python puts the current folder first for -m, but not for a command
import_module("slant.analysis.cli.start").analyze()

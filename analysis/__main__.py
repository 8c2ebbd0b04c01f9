"""Run `analyze` as `python -m slant.analysis`."""

import sys
from importlib import import_module

from slant.collector.system.quiet_start import end_quietly_when_interrupted

end_quietly_when_interrupted()
safe_path = import_module("slant.collector.system.child_processes").safe_path
sys.path[:] = safe_path()  # Python puts the current folder first for -m, but not for a command
import_module("slant.analysis.cli.start").analyze()

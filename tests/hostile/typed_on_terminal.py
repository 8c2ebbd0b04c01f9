"""Types commands (JSON: a list of lists of words) in this one process, on whatever its stdout is."""

import json
import sys

from slant.analysis.cli.main import analyze
from slant.collector.cli import collect

for program, *words in json.loads(sys.argv[1]):
    try:
        (collect if program == "collect" else analyze).main(words, prog_name=program)
    except SystemExit as ended:
        if ended.code:
            raise

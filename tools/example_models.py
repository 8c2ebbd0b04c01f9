"""Let the README, the pages, help and new studies name other models as their examples.

    python tools/example_models.py openai/NAME [anthropic/NAME]

Help, messages and new studies read collector/example_models.py; the pages are text, so the former names are replaced in
them, and what a page shows of `--dry-run` is printed again. Then: make test, and read what changed (git diff).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from slant.collector.example_models import EXAMPLE_MODEL, SECOND_MODEL

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "collector" / "example_models.py"
_DRY_RUN = re.compile(r"^\$ (collect .*--dry-run)\n(?:(?!```).*\n)+", re.MULTILINE)


def pages(root: Path) -> list[Path]:
    """The texts that name models as examples."""
    return [root / "README.md", *sorted((root / "vignettes").glob("*.Rmd"))]


def with_names(text: str, names: dict[str, str]) -> str:
    """The text with other names of models (PROVIDER/NAME, and NAME alone) in place of the former ones."""
    for former, new in names.items():
        for old, instead in ((former, new), (former.partition("/")[2], new.partition("/")[2])):
            text = re.sub(rf"(?<![\w.-]){re.escape(old)}(?![\w-]|\.\d)", instead, text)
    return text


def with_output(text: str) -> str:
    """The text with what its dry runs print today, without blank lines and rules."""
    return _DRY_RUN.sub(lambda shown: f"$ {shown[1]}\n{_printed(shown[1])}", text)


def _printed(command: str) -> str:
    place = f"{Path(sys.executable).parent / 'collect'} {command.removeprefix('collect ')}"
    done = subprocess.run(["bash", "-c", place], cwd=ROOT, capture_output=True, text=True, check=True)
    return "".join(line for line in done.stdout.splitlines(keepends=True) if line.strip(" \n─"))


def main(models: list[str]) -> None:
    if not 1 <= len(models) <= 2 or not all("/" in model for model in models):
        sys.exit(__doc__)
    names = dict(zip((EXAMPLE_MODEL, SECOND_MODEL), models, strict=False))
    for path in [SOURCE, *pages(ROOT)]:
        text = path.read_text("utf-8")
        changed = with_output(with_names(text, names)) if path != SOURCE else with_names(text, names)
        if changed != text:
            path.write_text(changed, "utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])

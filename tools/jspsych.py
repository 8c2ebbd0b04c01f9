"""Fetch jsPsych and the plug-ins of `collect timeline` by npm into collector/timeline/web: python tools/jspsych.py

What only a debugger or another site would load (maps of sources, fonts) is left out.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

WEB = Path(__file__).resolve().parent.parent / "collector" / "timeline" / "web"
PACKAGES = {
    "jspsych@8.3.0": {"dist/index.browser.min.js": "jspsych.js", "css/jspsych.css": "jspsych.css"},
    "@jspsych/plugin-html-button-response@2.1.0": {"dist/index.browser.min.js": "html-button-response.js"},
    "@jspsych/plugin-survey-html-form@2.1.0": {"dist/index.browser.min.js": "survey-html-form.js"},
}


def without_places(text: str) -> str:
    """Return a script or a style without what it would load from elsewhere."""
    text = re.sub(r"\n?//# sourceMappingURL=\S+", "", text)
    text = re.sub(r"/\*.*?\*/\s*", "", re.sub(r"@font-face \{.*?\}\s*", "", text, flags=re.DOTALL), flags=re.DOTALL)
    return text.strip() + "\n"


def main() -> None:
    """Fetch all packages, each in the version above."""
    for package, files in PACKAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True)
            with tarfile.open(Path(folder) / done.stdout.decode().split()[-1]) as archive:
                for inner, name in files.items():
                    member = archive.extractfile(f"package/{inner}")
                    assert member is not None
                    (WEB / name).write_text(without_places(member.read().decode("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

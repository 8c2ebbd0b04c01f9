"""A small factorial study to change: two factors, names from a file, two questions; written and loaded."""

from __future__ import annotations

from pathlib import Path

from slant.collector.designs.study import Study
from slant.collector.studies.catalogue import load_study

NAMES = "level,gender\nAda,woman\nBea,woman\nCai,man\nDan,man\n"
STUDY = """\
name = "shops"
title = "Shops"
design = "factorial"
seed = 1

[factors]
name = { file = "names.csv" }
job = { levels = { clerk = "a clerk", nurse = "a nurse" } }

[templates]
plain = "{name} works as {job}."
short = "{name}: {job}."

[questions.rating]
text = "How good is {name}?"
kind = "scale"
labels = { 1 = "bad", 5 = "good" }
max = 5

[questions.hire]
text = "Would you hire {name}?"
kind = "yes_no"

[[models]]
model = "small"
provider = "local"
"""
PAIRS = """\
name = "pairs"
title = "Pairs"
design = "factorial"
seed = 1

[factors]
gender = ["woman", "man"]
education = ["none", "school", "college"]
job = ["cleaner", "doctor"]

[profiles]
count = 2
attribute_order = "drawn"

[crossing]
takes = "random"
n = 40
questions = "together"
forbidden = [{ job = "doctor", education = ["none", "school"] }]

[templates]
plain = "Two people.\\n\\n{profiles}"

[personas]
nobody = ""
farmer = "You are a farmer."

[questions.choice]
text = "Whom?"
kind = "choice"

[questions.fit]
text = "How fit is {profile}?"
each_profile = true
min = 1
max = 7

[[models]]
model = "small"
provider = "local"
"""


def write_audit(folder: Path, *changes: tuple[str, str], text: str = STUDY, names: str = NAMES) -> Path:
    """Write the study with each first text replaced by its second; what is to be replaced must be there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "names.csv").write_text(names, encoding="utf-8")
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder / "study.toml"


def audit(folder: Path, *changes: tuple[str, str], text: str = STUDY, names: str = NAMES) -> Study:
    return load_study(write_audit(folder, *changes, text=text, names=names))

"""A folder like a clone of Bai et al.'s repository, made of prompts.csv: lists in stimuli/, scripts in prompt/."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

_LISTS = ("iat_stimuli.csv", "iat_stimuli_synonym.csv", "iat_stimuli_analysis.csv")
_BIAS = {"wat": "implicit", "decision": "decision", "chained": "chained", "absolute": "absolute"}
_HALVES = "    positive = attributes[:len(attributes) // 2]\n    negative = attributes[len(attributes) // 2:]\n"
_SHOWN = {"group": "pair_group", "attribute": "pair_attribute"}
_OWN_WORDS = ("arab", "asian", "black", "hispanic", "islam", "judaism", "buddhism", "english", "guilt", "power")
Rows = Iterable[Mapping[str, str]]


def write_clone(tables: Path, clone: Path) -> Path:
    """`tables`: a folder with the lists, prompts.csv and decision_words.csv."""
    (clone / "stimuli").mkdir(parents=True)
    for name in _LISTS:
        if (tables / name).exists():
            shutil.copy(tables / name, clone / "stimuli" / name)
    words = _rows(tables / "decision_words.csv")
    prompts = [row for row in _rows(tables / "prompts.csv") if "gpt" in row["models"].split("+")]
    tests = sorted({row["stereotype"] for row in prompts} - {"", "all"})
    for task, bias in _BIAS.items():
        rows = [row for row in prompts if row["task"] == task]
        for (test, variation), texts in groupby(rows, lambda row: (row["stereotype"], _variation(row))):
            of_test = list(texts)
            if task == "absolute" and len(of_test) != 4:
                continue
            for each in [test] if test in tests else tests:
                own = [row for row in words if (row["stereotype"], row["variation"]) == (each, variation)]
                path = clone / "prompt" / bias / "gpt4" / each / f"{variation}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_script(bias, each, variation, [row["text"] for row in of_test], own), "utf-8")
    return clone


def _variation(row: Mapping[str, str]) -> str:
    return "replication" if row["task"] == "absolute" else row["variation"]


def _script(bias: str, test: str, variation: str, texts: list[str], words: Rows) -> str:
    file, column = ("iat_stimuli_synonym", "D") if variation == "synonym" else ("iat_stimuli", "C")
    shown = [_f_string(text) for text in texts]
    versions, prompt = "", shown[0]
    if bias == "absolute":
        begin = texts[0].index("Task 1:")
        listed = "".join(f"            {_f_string(text[begin:])},\n" for text in texts)
        versions = f"        task23_versions = [\n{listed}        ]\n        chosen = task23_versions[0]\n"
        prompt = _f_string(texts[0][:begin])[:-1] + "{chosen}'"
    sides = {side: [row["word"] for row in words if row["side"] == side] for side in ("positive", "negative")}
    lists = "".join(f"    {side} = {of_side!r}\n" for side, of_side in sides.items()) if test in _OWN_WORDS else _HALVES
    return (
        f"df = pd.read_csv('../stimuli/{file}.csv')\n\n\ndef func1():\n"
        f"    attributes = df.loc[df['dataset'] == '{test}']['{column}'].dropna().str.lower().tolist()\n"
        f"{lists if bias == 'decision' else ''}    for _ in range(50):\n{versions}"
        f"        prompt = (\n            {prompt})\n"
        f"    rows = pd.DataFrame(responses).assign(\n        llm='gpt4',\n        domain='x',\n"
        f"        category='{test}',\n        variation='{variation}',\n        bias='{bias}'\n    )\n"
    )


def _f_string(text: str) -> str:
    return "f" + repr(re.sub(r"\{(group|attribute)([01])\}", lambda m: f"{{{_SHOWN[m[1]]}[{m[2]}]}}", text))


def _rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.open(encoding="utf-8", newline="")))

"""Three small studies written from nothing, one a design: what somebody's own looks like, with names of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from slant.collector import collect
from slant.collector.example_models import EXAMPLE_MODEL
from tests.support.tiny_choice import write_choice
from tests.support.tiny_game import write_game
from tests.support.tiny_study import write_tiny

SIMULATED = f"simulated/{EXAMPLE_MODEL.partition('/')[2]}"
"""The first model of the studies that `collect studies new` writes, simulated."""
_SIDES = "{ condition = ['usual', 'crossed'] }"
_FITS_OF_DRINKS = f"""[fits.lme4]
view = "association_trials"
formula = "tokens ~ condition + (1 | wording)"
by = ["model", "test"]
drop_flags = ["is_refusal"]
levels = {_SIDES}

[fits.effect_size]
view = "association_trials"
outcome = "tokens"
contrast = "condition"
by = ["model", "test"]
drop_flags = ["is_refusal"]
levels = {_SIDES}

[fits.step_sensitivity]
view = "association_trials"
outcome = "tokens"
contrast = "condition"
by = ["model", "test"]
levels = {_SIDES}
settings = {{ draws = 20, seed = 1 }}

[fits.stm]
view = "association_trials"
formula = "~ condition"
outcome = "tokens"
contrast = "condition"
levels = {_SIDES}
settings = {{ text = "reasoning_text", id = "trial_id", topics = 2, seed = 1, n_examples = 0 }}

[sensitivity.first]
fit = "lme4"
label = "as it is"
contrast = "condition"

[condition_labels]
usual = "as usual"
"""
_FITS_OF_PETS = """
[fits.chosen]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_consistent ~ condition * model * test + (1 | item)"
settings = { family = "binomial" }
levels = { condition = ["together", "apart"] }

[fits.answered]
engine = "lme4"
view = "forced_choice_trials"
formula = "is_valid ~ condition + (1 | item)"
settings = { family = "binomial" }
levels = { condition = ["together", "apart"] }

[sensitivity.first]
fit = "chosen"
label = "as it is"
contrast = "condition"
"""


def write_drinks(folder: Path) -> Path:
    """An association study: one test, three wordings, conditions called usual and crossed."""
    wordings = "\n".join(f'{no},"Sort {no} ""{{word}}"": [{{category_1}}, {{category_2}}]."' for no in (1, 2, 3))
    path = write_tiny(
        folder,
        study=('[fits.lme4]\nview = "association_trials"\nformula = "tokens ~ (1 | wording)"\n', _FITS_OF_DRINKS),
        wordings=('1,"Sort ""{word}"": [{category_1}, {category_2}]."', wordings),
    )
    conditions = 'frame = "plain"\nconditions = ["usual", "crossed"]\ntests'
    path.write_text(path.read_text("utf-8").replace('frame = "plain"\ntests', conditions, 1), "utf-8")
    return path


def write_pets(folder: Path) -> Path:
    """A forced choice of one domain, with blocks called together and apart."""
    path = write_choice(folder, study=("seed = 4\n", 'seed = 4\nconditions = ["together", "apart"]\n'))
    pairs = folder / "pairs.csv"
    pairs.write_text(pairs.read_text("utf-8").replace("incongruent", "apart").replace("congruent", "together"), "utf-8")
    path.write_text(path.read_text("utf-8") + _FITS_OF_PETS, "utf-8")
    return path


def write_posts(folder: Path) -> Path:
    """A game with a variant."""
    return write_game(folder, ("[[models]]", "[variants.equal]\nsuccess = 0.9\n\n[[models]]"))


OWN: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "drinks": (write_drinks, ["simulated/small"]),
    "pets": (write_pets, ["simulated/small"]),
    "posts": (write_posts, ["simulated/greedy"]),
}
"""By name: what writes the study into a folder, and the participants that play it without a key."""


def collected(name: str, folder: Path, db: Path) -> Path:
    """The study of this name, collected into `db`; the path of its file."""
    write, models = OWN[name]
    folder.mkdir(parents=True, exist_ok=True)
    path = write(folder)
    for variant in ("base", "equal") if name == "posts" else ("base",):
        collect(db, str(path), models, variant=variant, repetitions=2 if name != "posts" else 1)
    return path

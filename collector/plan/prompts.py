"""Show the prompts of a study as they are sent, before anything is asked: all of them, or one of each cell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from slant.collector.designs.study import Study
from slant.collector.errors import UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.study.records import StudyModel


@dataclass(frozen=True)
class PlannedPrompt:
    """Hold what opens one conversation: `position` is its place in the order of asking, from 0. `messages`: each with
    its role and content. A game, or a task in turns, goes on from the model's answer: it `has_more` turns."""

    model: str
    frame: str
    test: str
    condition: str
    item: str
    wording: int | None
    repetition: int | None
    position: int | None
    messages: tuple[tuple[str, str], ...]
    has_more: bool

    @property
    def text(self) -> str:
        """Return the messages below each other; a single one of the user unchanged."""
        if len(self.messages) == 1 and self.messages[0][0] == "user":
            return self.messages[0][1]
        return "\n\n".join(f"[{role}]\n{content}" for role, content in self.messages)


def planned_prompts(
    study: Study, models: Sequence[StudyModel], seed: int | None = None, *, one_a_cell: bool = False
) -> Iterator[PlannedPrompt]:
    """Yield the first repetition of each model's plan, in the order of asking; with `one_a_cell` only the first prompt
    of each test and condition.
    """
    design = study.design
    has_turns = design.asks.has_turns(study)
    for model in models:
        cells: set[tuple[str, str]] = set()
        for conversation in plan(study, model, seed):
            trial, prompt = design.asks.first(study, model, conversation)
            cell = (trial.test or "", trial.condition or "")
            if one_a_cell and cell in cells:
                continue
            cells.add(cell)
            yield PlannedPrompt(
                model.model,
                model.frame,
                *cell,
                trial.item or "",
                trial.wording,
                trial.repetition,
                trial.position,
                tuple((str(message["role"]), str(message["content"])) for message in prompt.messages),
                has_turns,
            )


def one_model_a_frame(study: Study, names: Collection[str] = ()) -> list[StudyModel]:
    """Return the models of these names; without names the first of each frame, for models of one frame get the same
    prompts. Raise UnknownNameError for a name that the study lacks.
    """
    known = {model.model: model for model in study.models}
    for name in names:
        if name not in known:
            raise UnknownNameError(f"model in {study.path.name}", name, known)
    if names:
        return [known[name] for name in names]
    of_frames: dict[str, StudyModel] = {}
    for model in study.models:
        of_frames.setdefault(model.frame, model)
    return list(of_frames.values())

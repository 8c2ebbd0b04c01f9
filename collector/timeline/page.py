"""Write one page that runs a timeline: it holds jsPsych, its style and the trials, and loads nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from slant.collector.designs.study import Study
from slant.collector.templates import template_environment

_WEB = Path(__file__).resolve().parent / "web"
SCRIPTS = ("jspsych.js", "html-button-response.js", "survey-html-form.js", "timeline.js")
CONSENT = (
    "This text is what people read before they begin: who asks, what for, how long it takes, what is kept, and that "
    "they may stop at any time."
)


def timeline_page(
    study: Study,
    trials: Sequence[dict[str, Any]],
    consent: str | None,
    n_trials: int | None,
    games: Sequence[Sequence[dict[str, Any]]] = (),
) -> str:
    """Return the page as HTML. `n_trials` per person, drawn evenly from tests and conditions; None: all of them.
    `games`: instead of trials, of which each person plays one.
    """
    contents: dict[str, Any] = {"study": study.name, "study_version": study.version}
    contents |= {"games": list(games)} if games else {"n": n_trials, "trials": list(trials)}
    scripts = [_read(name).replace("</script", "<\\/script") for name in SCRIPTS]
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    template = template_environment("slant.collector.timeline", is_html=True).get_template("timeline.html.j2")
    return template.render(
        title=study.title,
        consent=consent or CONSENT,
        is_own_consent=bool(consent),
        policy=f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'",
        style=Markup(_read("jspsych.css")),
        scripts=[Markup(text) for text in scripts],
        # in a script element nothing is unescaped, so that no text of a study may end it
        timeline=Markup(json.dumps(contents, ensure_ascii=False).replace("<", "\\u003c")),
    )


def _read(name: str) -> str:
    return (_WEB / name).read_text("utf-8")

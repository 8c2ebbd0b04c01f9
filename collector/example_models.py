"""Name the models in help, error messages, pages and new studies if any model of a provider would do.

They must exist: collector/providers/lifecycles.csv has no end of either (tests/project/test_example_models.py). Help,
messages and new studies read them here. The README and the pages are text, so change all of them by one command:

    python tools/example_models.py openai/NAME [anthropic/NAME]
"""

from __future__ import annotations

EXAMPLE_MODEL = "openai/gpt-6-luna"
SECOND_MODEL = "anthropic/claude-sonnet-5-5"


def with_example_models(text: str) -> str:
    """Return a template's text with the models in place of FIRST_MODEL and SECOND_MODEL, and the same of their
    providers.
    """
    for word, model in (("FIRST", EXAMPLE_MODEL), ("SECOND", SECOND_MODEL)):
        provider, _, name = model.partition("/")
        text = text.replace(f"{word}_PROVIDER", provider).replace(f"{word}_MODEL", name)
    return text

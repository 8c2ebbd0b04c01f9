"""How likely A and B were, also where the letter stands inside of JSON, however the tokens are cut."""

from __future__ import annotations

import pytest

from slant.collector.ask.option_logprobs import OptionLogprobs, read_option_logprobs
from slant.collector.providers import openai
from slant.collector.reading.letters import read_choice
from tests.collector.test_option_logprobs import probabilities
from tests.support import recorded_logprobs as recorded
from tests.support.recorded_logprobs import Step

OPTIONS = ("Male + Career", "Female + Family")
HEAD: list[Step] = [('{"', {'{"': 1.0}), ("answer", {"answer": 1.0})]
TAIL: Step = ('"}', {'"}': 1.0})
CUT: dict[str, list[Step]] = {
    "the letter alone": [('":', {'":': 1.0}), (' "', {' "': 1.0}), ("A", {"A": 0.75, "B": 0.2, "C": 0.05}), TAIL],
    "with its quote": [('":', {'":': 1.0}), (' "A', {' "A': 0.75, ' "B': 0.2, " ": 0.05}), TAIL],
    "with all before it": [('":"A', {'":"A': 0.75, '":"B': 0.2, '":': 0.05}), TAIL],
    "with all after it": [('":', {'":': 1.0}), (' "', {' "': 1.0}), ('A"}', {'A"}': 0.7, "A": 0.05, 'B"}': 0.2})],
}


def measured(steps: list[Step], answer: str | None = None) -> OptionLogprobs:
    reply = openai.reply(recorded.chat(steps, "".join(token for token, _ in steps) if answer is None else answer), {})
    reading = read_choice(reply, OPTIONS)
    return read_option_logprobs(reply.logprobs, reply.answer, *(reading.spelled or OPTIONS), reading.place)


@pytest.mark.parametrize("cut", CUT)
def test_the_letter_inside_of_json_is_measured_given_all_before_it(cut: str) -> None:
    assert probabilities(measured(HEAD + CUT[cut])) == (0.75, 0.2, "exact")


def test_a_bare_letter_is_measured_and_so_is_a_small_one() -> None:
    assert probabilities(measured([("B", {"B": 0.9, "A": 0.1})])) == (0.1, 0.9, "exact")
    assert probabilities(measured([("b", {"b": 0.9, "a": 0.1})])) == (0.1, 0.9, "exact")


def test_reasoning_before_the_answer_and_a_stop_token_after_it_do_not_move_the_place() -> None:
    thought: list[Step] = [("A or B", {"A or B": 1.0}), ("?\n", {"?\n": 1.0})]
    steps = [*thought, *HEAD, *CUT["the letter alone"], ("<|end|>", {"<|end|>": 1.0})]
    assert probabilities(measured(steps, '{"answer": "A"}')) == (0.75, 0.2, "exact")


def test_the_last_of_several_equal_letters_is_measured() -> None:
    steps: list[Step] = [("So", {"So": 1.0}), (" A", {" A": 1.0}), (":\n", {":\n": 1.0}), ("A", {"A": 0.6, "B": 0.4})]
    assert probabilities(measured(steps)) == (0.6, 0.4, "exact")


def test_a_letter_that_was_not_among_the_likeliest_stays_unknown() -> None:
    assert probabilities(measured([("A", {"A": 0.99})])) == (0.99, None, "exact")


def test_an_option_that_is_written_out_is_measured_by_its_text() -> None:
    steps: list[Step] = [("Male", {"Male": 0.7, "Female": 0.3}), (" + Career", {" + Career": 1.0})]
    assert probabilities(measured(steps)) == (0.7, 0.3, "first_token")


@pytest.mark.parametrize("answer", ['{"answer": "A or B"}', "I can't choose.", '{"answer": "A",}', ""])
def test_an_invalid_answer_has_none(answer: str) -> None:
    assert measured([(answer, {answer: 1.0})] if answer else [], answer) == OptionLogprobs()

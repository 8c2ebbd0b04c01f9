"""Serve the simulated provider: a real HTTP server on loopback that answers in OpenAI's chat-completions shape.

The study's design draws its answers, token counts and refusals from the study's published tables; a draw depends on the
prompt, the model and the seed, never on the order of calls. It runs in a separate process and ends when its standard
input closes, so that it can't outlive the run that started it.

    python -m slant.collector.ask.simulator --study rmiat --seed 1
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click
from aiohttp import web

from slant.collector.designs import Design
from slant.collector.errors import ProviderError
from slant.collector.records import MAX_REPETITIONS, Reply, TokenLogprob, Trial
from slant.collector.studies.catalogue import Study, StudyModel, load_study
from slant.collector.system.child_processes import child_environment


class Simulator:
    """Start the server in a separate process; `base_url` is where it listens. Use it as a context manager."""

    def __init__(self, study: Study, seed: int) -> None:
        where = str(study.path)
        options = ["--study", where, "--variant", study.variant, "--seed", str(seed)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "slant.collector.ask.simulator", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | child_environment(),
            start_new_session=True,  # Ctrl-C is for the run, which waits for answers in flight
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.startswith("http"):
            self.close()
            raise ProviderError("The simulated provider did not start.", line.strip() or "Its output is above.")
        self.base_url = line.strip()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class SimulatedModels:
    """Answer requests in OpenAI's shape as the study's design simulates its models; a seed fixes every draw."""

    def __init__(self, study: Study, seed: int) -> None:
        self.study, self.seed = study, seed
        self.design: Design = study.design
        named = [*(model.model for model in study.models), *self.design.simulates.participants]
        self.models: dict[str, StudyModel] = {name: study.model(f"simulated/{name}") for name in named}
        self.served = 0

    async def answer(self, request: web.Request) -> web.Response:
        status, body = self.reply_to(await request.json())
        return web.json_response(body, status=status)

    def reply_to(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return an HTTP status and the body of a chat completion or of an error."""
        model = self.models.get(body.get("model", ""))
        if model is None:
            return _error(404, "model_not_found", f"The simulated provider has no model {body.get('model')!r}.")
        of_trial = body.get("metadata") or {}
        told = of_trial.get("trial")  # the round that the request names; none for a single question
        trial = Trial(**told) if told else self.design.asks.trial_for_prompt(self.study, model, body["messages"])
        if trial is None:
            return _error(400, "unknown_prompt", "This prompt isn't one of the study's.")
        self.served += 1
        # a later occasion draws from a repetition that no plan has: same words, other luck
        occasion = int(of_trial.get("occasion", 1))
        repetition = int(of_trial.get("repetition", 1)) + MAX_REPETITIONS * (occasion - 1)
        model = replace(model, structured_output="response_format" in body)
        reply = self.design.simulates.simulate(self.study, model, replace(trial, repetition=repetition), self.seed)
        return 200, completion(reply, model.model, self.served, with_logprobs=bool(body.get("logprobs")))


def completion(reply: Reply, model: str, number: int, *, with_logprobs: bool = False) -> dict[str, Any]:
    """Return a simulated reply in the shape of a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.answer, "refusal": None}
    if reply.outcome == "refused":
        message |= {"content": None, "refusal": reply.answer}
    if reply.reasoning_text is not None:
        message["reasoning_content"] = reply.reasoning_text
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
            for c in reply.tool_calls
        ]
    usage: dict[str, Any] = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens}
    if reply.reasoning_tokens is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": reply.reasoning_tokens}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": reply.finish_reason or "stop"}
    if with_logprobs and reply.logprobs:
        choice["logprobs"] = {"content": [_listed(token) for token in reply.logprobs]}
    return {
        "id": f"simulated-{number}",
        "object": "chat.completion",
        "model": model,
        "choices": [choice],
        "usage": usage,
    }


def _listed(token: TokenLogprob) -> dict[str, Any]:
    likeliest = [{"token": text, "logprob": value} for text, value in token.likeliest]
    return {"token": token.token, "logprob": token.logprob, "top_logprobs": likeliest}


def _error(status: int, code: str, message: str) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"code": code, "message": message}}


def _end_with_input(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    sys.stdin.read()
    with suppress(RuntimeError):  # it has ended already: no process read the address
        loop.call_soon_threadsafe(ended.set)


async def serve(study: Study, seed: int, port: int) -> None:
    """Listen on loopback, print the address, and end when standard input closes."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", SimulatedModels(study, seed).answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    ended = asyncio.Event()
    threading.Thread(target=_end_with_input, args=(asyncio.get_running_loop(), ended), daemon=True).start()
    host, real_port = runner.addresses[0][:2]
    with contextlib.suppress(BrokenPipeError):  # who asked for it has ended, and so has its input
        click.echo(f"http://{host}:{real_port}/v1")
    await ended.wait()
    await runner.cleanup()


@click.command()
@click.option("--study", required=True, help="A study's name or the path of its TOML file.")
@click.option("--variant", default="base", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--port", type=int, default=0, help="0 chooses a free one.")
def main(study: str, variant: str, seed: int, port: int) -> None:
    """Serve simulated answers on loopback until Ctrl-D."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(serve(load_study(study, variant), seed, port))


if __name__ == "__main__":
    main()

"""Bodies with log-probabilities in each provider's shape, all saying the same: "Pleasant" was the likelier answer."""

from __future__ import annotations

import math
from typing import Any

from tests.support.local_server import completion

Step = tuple[str, dict[str, float]]
"""A generated token and the probabilities of the likeliest tokens at its place (its own among them)."""

PLEASANT: list[Step] = [("Pleasant", {"Pleasant": 0.75, "Unpleasant": 0.2, "The": 0.05})]


def log(probability: float) -> float:
    return math.log(probability)


def openai_tokens(steps: list[Step]) -> list[dict[str, Any]]:
    """OpenAI's list, which vLLM, SGLang, llama.cpp and Ollama give too."""
    return [
        {
            "token": token,
            "logprob": log(likeliest[token]),
            "bytes": list(token.encode()),
            "top_logprobs": [{"token": t, "logprob": log(p), "bytes": list(t.encode())} for t, p in likeliest.items()],
        }
        for token, likeliest in steps
    ]


def chat(steps: list[Step], answer: str = "Pleasant") -> dict[str, Any]:
    body = completion(answer)
    body["choices"][0]["logprobs"] = {"content": openai_tokens(steps), "refusal": None}
    return body


def columns(steps: list[Step], answer: str = "Pleasant") -> dict[str, Any]:
    body = completion(answer)
    body["choices"][0]["logprobs"] = {
        "tokens": [token for token, _ in steps],
        "token_logprobs": [log(likeliest[token]) for token, likeliest in steps],
        "top_logprobs": [{t: log(p) for t, p in likeliest.items()} for _, likeliest in steps],
    }
    return body


def responses(steps: list[Step], answer: str = "Pleasant") -> dict[str, Any]:
    part = {"type": "output_text", "text": answer, "logprobs": openai_tokens(steps)}
    return {"id": "resp_1", "model": "gpt-5", "output": [{"type": "message", "content": [part]}]}


def gemini(steps: list[Step], answer: str = "Pleasant") -> dict[str, Any]:
    def entry(token: str, probability: float) -> dict[str, Any]:
        return {"token": token, "tokenId": 7, "logProbability": log(probability)}

    result = {
        "chosenCandidates": [entry(token, likeliest[token]) for token, likeliest in steps],
        "topCandidates": [{"candidates": [entry(t, p) for t, p in likeliest.items()]} for _, likeliest in steps],
    }
    parts = {"content": {"parts": [{"text": answer}]}, "finishReason": "STOP", "logprobsResult": result}
    return {"candidates": [parts], "modelVersion": "gemini-3-pro"}


def ollama(steps: list[Step], answer: str = "Pleasant") -> dict[str, Any]:
    return {"model": "qwen3:8b", "message": {"content": answer}, "logprobs": openai_tokens(steps)}

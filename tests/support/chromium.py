"""Drives a headless Chromium through the DevTools protocol over a pipe: no port, no further package."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = ("chromium", "chromium-headless-shell")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands from file 3 and writes to file 4, which a shell can arrange and subprocess can't.
_SHELL = 'exec "${@:3}" 3<&"$1" 4>&"$2"'
_LIMIT_S = 60.0


def chromium() -> str | None:
    """The path of Debian's Chromium, whole or headless shell; None where there is none."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One tab. `said` holds console messages, exceptions and log entries; `asked` every address that it wanted
    from anywhere: not images within a page, nor Chromium's own icon of a date field.
    """

    def __init__(self, folder: Path) -> None:
        program = chromium()
        assert program is not None
        ends = [*os.pipe(), *os.pipe()]
        from_us, self._in, self._out, to_us = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
        command = [
            "bash",
            "-c",
            _SHELL,
            "bash",
            str(from_us),
            str(to_us),
            program,
            *_FLAGS,
            f"--user-data-dir={folder}",
        ]
        self._process = subprocess.Popen(
            command, pass_fds=(from_us, to_us), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (*ends, from_us, to_us):
            os.close(end)
        self._number = 0
        self._rest = b""
        self._events: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.asked: list[str] = []
        target = self.send("Target.createTarget", url="about:blank", session=None)["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait(_LIMIT_S)
        os.close(self._in)
        os.close(self._out)

    def send(self, method: str, session: str | None = "", **parameters: Any) -> dict[str, Any]:
        """One command and its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = self._session
        whole = json.dumps(message).encode() + b"\0"
        while whole:
            whole = whole[os.write(self._in, whole) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def wait_for(self, event: str) -> None:
        while not any(one["method"] == event for one in self._events):
            self._read()

    def open(self, address: str, width: int = 1200, height: int = 900) -> None:
        """Load a page in a window of this size (in CSS pixels) and wait until it is there."""
        self.resize(width, height)
        self._events.clear()
        self.said.clear()
        self.asked.clear()
        self.send("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def resize(self, width: int, height: int, is_mobile: bool = False) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_mobile
        )

    def show_as(self, media: str) -> None:
        """ "print" shows the page as it is printed, "" as on a screen."""
        self.send("Emulation.setEmulatedMedia", media=media)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, as Python has it."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key: "Tab", "Enter"."""
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            its = text if kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **its)

    def pdf(self) -> bytes:
        found = self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(found["data"])

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + _LIMIT_S
        while b"\0" not in self._rest:
            if not select.select([self._out], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("Chromium has not answered.")
            more = os.read(self._out, 1 << 20)
            if not more:
                raise ConnectionError("Chromium has ended.")
            self._rest += more
        whole, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(whole)
        if "method" in message:
            self._note(message)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        its = event["params"]
        if event["method"] == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(one.get("value", one.get("description"))) for one in its["args"]))
        elif event["method"] == "Runtime.exceptionThrown":
            self.said.append(its["exceptionDetails"]["text"])
        elif event["method"] == "Log.entryAdded":
            self.said.append(its["entry"]["text"])
        elif event["method"] == "Network.requestWillBeSent" and not its["request"]["url"].startswith("data:image/"):
            self.asked.append(its["request"]["url"])

"""Certificates of a test's own authority, real TLS on loopback, and a proxy that passes it on. Needs openssl."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.server_thread import ServerThread


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


class Authority:
    """Signs certificates; `file` is what SSL_CERT_FILE names for whoever trusts it."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.file, self._key = folder, folder / "ca.pem", folder / "ca.key"
        of_authority = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 3650,
                 "-subj", f"/CN={name}", "-keyout", self._key, "-out", self.file, *of_authority)  # fmt: skip

    def context_for(self, host: str) -> ssl.SSLContext:
        """What a server of that name needs."""
        request, key, signed, names = (self.folder / f"{host}.{ending}" for ending in ("csr", "key", "pem", "names"))
        names.write_text(f"subjectAltName=DNS:{host},IP:127.0.0.1\n")
        _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-subj", f"/CN={host}", "-keyout", key, "-out", request)  # fmt: skip
        _openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self._key, "-CAcreateserial",
                 "-days", 3650, "-extfile", names, "-out", signed)  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(signed, key)
        return context


class Proxy(ServerThread):
    """Passes CONNECT on to `goes_to` (an address on loopback), whatever host it names, or says `refusal` instead.
    `seen` is every byte that a client sent it outside of TLS. A context manager, in a thread of its own."""

    def __init__(self, goes_to: str, refusal: bytes = b"") -> None:
        self._port, self._refusal = urlsplit(goes_to).port, refusal
        super().__init__()
        self.seen = b""

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.seen += await reader.readuntil(b"\r\n\r\n")
            if self._refusal:
                writer.write(self._refusal)
                await writer.drain()
                return
            there, onward = await asyncio.open_connection("127.0.0.1", self._port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_passed(reader, onward), _passed(there, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()

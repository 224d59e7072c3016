"""A browser's own EventSource watches a run through a connection that is cut, and misses nothing."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.support.streaming_server import WAIT_S, StreamServer, streaming, turns

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAGE = """<!doctype html><title>watch</title><script>
window.ids = []; window.names = []; window.opened = 0; window.over = false;
function watch(path) {
  const source = new EventSource(path);
  source.onopen = () => { window.opened += 1; };
  for (const name of ["metadata", "status", "trace", "content", "failure", "done"]) {
    source.addEventListener(name, event => {
      JSON.parse(event.data);
      window.ids.push(event.lastEventId); window.names.push(name);
      if (name === "done") { source.close(); window.over = true; }
    });
  }
}
</script>"""


class CuttingProxy:
    """Passes TCP on to the server, serves one page itself, and cuts connections on request."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: set[asyncio.StreamWriter] = set()
        self.cuts = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the browser: one request."""
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:  # also when the test ends while the browser still reads
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /v1/"):
            await self._pass_on(head, writer)
        elif head.startswith(b"GET / "):
            body = PAGE.encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n")
            writer.write(b"content-length: %d\r\n\r\n" % len(body) + body)
        else:
            writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    async def _pass_on(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        reader, server = await asyncio.open_connection("127.0.0.1", self._port)
        self._streams.add(writer)
        try:
            server.write(head)
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        finally:
            self._streams.discard(writer)
            server.transport.abort()

    def cut(self) -> None:
        """Cut every stream that is open, in the middle of whatever is on its way."""
        for writer in self._streams:
            self.cuts += 1
            writer.transport.abort()


@asynccontextmanager
async def open_proxy(it: StreamServer) -> AsyncIterator[tuple[CuttingProxy, int]]:
    """The proxy before the server, and its port."""
    proxy = CuttingProxy(it.port)
    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    try:
        yield proxy, server.sockets[0].getsockname()[1]
    finally:
        server.close()


def test_an_event_source_comes_again_without_a_gap_or_a_double(tmp_path: Path) -> None:
    """Cut three times in the middle of a run, it goes on by itself each time after the last id it saw."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("program: chromium")

    async def whole() -> None:
        async with streaming(tmp_path / "server") as it, open_proxy(it) as (proxy, port):
            await watch_in_browser(it, proxy, port, chromium, tmp_path / "browser")

    (tmp_path / "server").mkdir()
    asyncio.run(whole())


async def watch_in_browser(
    it: StreamServer, proxy: CuttingProxy, port: int, chromium: str, folder: Path
) -> None:
    """Watch a run of 150 stages in the browser, and compare with what is in its log."""
    from playwright.async_api import async_playwright

    it.path.go.clear()
    async with async_playwright() as play:
        browser = await play.chromium.launch_persistent_context(
            folder, executable_path=chromium, args=[*FLAGS], headless=True
        )
        page = await browser.new_page()
        page.set_default_timeout(WAIT_S * 1000)
        await page.goto(f"http://127.0.0.1:{port}/")
        run_id = await it.submit("150/20")
        await page.evaluate(f"watch('/v1/runs/{run_id}/events')")
        for number in range(1, 4):
            await page.wait_for_function(f"window.opened === {number} && window.ids.length > {30 * number}")
            proxy.cut()
        await page.wait_for_function("window.opened === 4")
        it.path.go.set()
        await page.wait_for_function("window.over")
        ids, names = await page.evaluate("[window.ids, window.names]")
        await browser.close()
    logged = await it.service.stores.archive.events(run_id)
    assert proxy.cuts == 3
    assert ids == ["0.0", *(f"{event.seq}.0" for event in logged), f"{logged[-1].seq}.1"]
    assert names[-2:] == ["content", "done"]
    await turns(5)

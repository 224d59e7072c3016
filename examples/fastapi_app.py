"""The harness inside a FastAPI application: one harness for the whole process, one run for each request.

Run it with `python examples/fastapi_app.py FOLDER --port 8000`, then
`curl 'http://127.0.0.1:8000/ask?question=Why+did+the+alert+fire'`, or `.../watch?question=...` for the steps.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, StreamingResponse

import diagnosis_harness as dh


def create_app(folder: str) -> FastAPI:
    """The application; its lifespan opens and closes the harness."""
    harness = dh.Harness(sources=folder, timeout_s=60)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with harness:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.exception_handler(dh.InvalidInput)
    async def refuse(_: Request, error: dh.InvalidInput) -> PlainTextResponse:
        return PlainTextResponse(str(error), status_code=422)

    @app.get("/ask", response_class=PlainTextResponse)
    async def ask(question: str) -> str:
        """The whole report as Markdown."""
        answer = await harness.ask(question)
        return answer.markdown()

    @app.get("/watch")
    async def watch(question: str) -> StreamingResponse:
        """The steps of the run, one a line, then the answer."""
        return StreamingResponse(lines(harness.stream(question)), media_type="text/plain")

    return app


async def lines(run: dh.LiveRun) -> AsyncIterator[str]:
    """A run as text; if the client disconnects, the generator is closed and the run is cancelled."""
    try:
        async for step in run:
            yield f"{step.kind} {step.name}\n"
        answer = await run.answer()
        yield f"{answer.text()}\n"
    finally:
        run.cancel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    uvicorn.run(create_app(options.folder), port=options.port)

"""The same loop on pydantic-ai's agent, for comparison."""

from __future__ import annotations

import asyncio

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits


async def look(entity: str) -> str:
    """The trivial tool."""
    del entity
    return "ok"


def blocking_look(entity: str) -> str:
    """The trivial tool as a blocking one."""
    del entity
    return "ok"


class RivalLoop:
    """An agent whose fake model calls one trivial tool per step, and then ends."""

    def __init__(self, steps: int, *, blocking: bool = False, latency_s: float = 0.0) -> None:
        async def complete(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            del info
            if latency_s:
                await asyncio.sleep(latency_s)
            made = len(messages) // 2  # a request and a response for every step before this one
            if made >= steps:
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart("look", {"entity": "x"}, tool_call_id=f"t{made}")])

        tool = Tool(blocking_look if blocking else look, name="look")
        self._agent = Agent(FunctionModel(complete), tools=[tool])

    async def run(self) -> None:
        """One run."""
        await self._agent.run("why?", usage_limits=UsageLimits(request_limit=None))

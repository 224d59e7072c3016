"""The core needs only the standard library and fakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import diagnosis_harness

PROGRAM = """
import asyncio, sys
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import HarnessRetryExecutor, RetryRole
from diagnosis_harness.llm.metered import MeteredChatModel
from diagnosis_harness.llm.messages import ChatMessage, ChatRequest, ChatRole
from diagnosis_harness.testing.llm import FakeChatModel, says
from diagnosis_harness.testing.runs import Rig

async def main():
    rig = Rig()
    ctx = rig.run()
    llm = MeteredChatModel(rig.core, FakeChatModel([says("because")]))
    request = ChatRequest(messages=(ChatMessage(ChatRole.USER, "why?"),))
    executor = HarnessRetryExecutor(rig.core)
    await executor.run(ctx, RetryRole.DIAGNOSIS_AGENT, lambda ctx: llm.complete(ctx, request))
    lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
    await rig.core.call_blocking_tool(ctx, lease, lambda ctx: "rows")
    assert rig.core.complete_success(ctx)

asyncio.run(main())
roots = {name.partition(".")[0] for name, module in sys.modules.items() if module is not None}
print(*sorted(roots - sys.stdlib_module_names - {"__main__", "diagnosis_harness"}), sep="\\n")
"""


def test_a_run_with_fakes_imports_nothing_but_the_standard_library() -> None:
    """No web framework, database, Redis, model SDK, pydantic or numpy is loaded by a whole run."""
    # -S: without site-packages nothing from outside can be found at all; -I: nor through the environment.
    source = str(Path(diagnosis_harness.__path__[0]).parent)
    program = f"import sys; sys.path.insert(0, {source!r})\n{PROGRAM}"
    command = [sys.executable, "-I", "-S", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, [], "")

"""The run context is passed: every port takes it first, and nothing in the package is ambient."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import diagnosis_harness

# Ports that no work of a run crosses. Each with the reason why it takes no context.
EXEMPT = {
    "kernel.clock.Clock": "time belongs to the process; the core itself stands on it",
    "kernel.ids.IdSource": "it names runs before they exist",
    "trace.sink.TraceSink": "an event carries its run id; a sink serves all runs",
    "cli.ports.LoadProgress": "reads files before there is a run",
    "cli.ports.FolderDiagnosis": "what the command line holds: it opens the run itself",
    "cli.folder_run.AskFolder": "opens the run itself, on a folder that was read before",
    "cli.ports.OpenDiagnosis": "opens the diagnosis before there is a run",
    "cli.client.runs_client.RunsClient": "looks at runs of other processes, which have their own contexts",
    "adapters.telemetry.exporter.SpanSender": "sends what a run has left, after its end",
    "adapters.sources.part.SourcePart": "opens a source before there is a run",
    "application.alerts.inbox.AlertInbox": "keeps what asks for runs before there is one",
    "application.callers.key_store.KeyStore": "keys belong to callers; a run knows none",
    "application.runs.evidence_archive.EvidenceArchive": "reads and ends records of other processes' runs",
    "application.runs.evidence_archive.RecordReader": "reads records of runs that have ended, of any process",
    "application.runs.feedback.FeedbackStore": "keeps what is said of runs that have ended",
    "application.runs.run_service.SentSources": "what callers sent before they ask about it",
    "application.uploads.received.UploadFolders": "folders of a process; an upload is no run yet",
    "application.uploads.upload.UploadStore": "keeps what callers send; no run has begun",
    "application.runs.sources.OwnSources": "says what a process has; no run has begun",
    "application.runs.queue.RunQueue": "delivers ids of runs that have not begun",
    "application.runs.store.RunArchive": "reads runs of every process, also those that never began",
    "application.runs.store.RunFeed": "tells of the events of all runs of a process",
    "application.runs.store.RunRecovery": "speaks of processes, and of runs whose process is gone",
    "knowledge.embedder.Embedder": "a pure function of texts; documents are embedded before there is a run",
    "knowledge.index.Bm25": "the shape of a library's class, which has no types of its own",
    "knowledge.terms.Stemmer": "the shape of a library's class, which has no types of its own",
    "bench.case.DataSet": "writes cases before there is a run",
}
PORTS_SEEN_AT_LEAST = {
    "llm.port.ChatModel",
    "tools.spec.Tool",
    "tools.store.EvidenceStore",
    "toolbox.ports.MetricSource",
    "diagnosis.policy.DiagnosisPolicy",
    "guards.semantic_guard.SemanticJudge",
    "guards.evidence_repair.EvidenceRepairer",
}
AMBIENT_MODULES = {"contextvars", "structlog.contextvars", "opentelemetry.context"}
AMBIENT_NAMES = {"threading.local", "start_as_current_span"}


def _protocols() -> dict[str, type]:
    """Every protocol that the package defines, by its name inside the package."""
    found: dict[str, type] = {}
    root = diagnosis_harness.__name__
    for module_info in pkgutil.walk_packages(diagnosis_harness.__path__, f"{root}."):
        if module_info.name.endswith("__main__"):
            continue
        module = importlib.import_module(module_info.name)
        for name, value in vars(module).items():
            if (
                inspect.isclass(value)
                and value.__module__ == module.__name__
                and vars(value).get("_is_protocol")
            ):
                found[f"{module.__name__.removeprefix(f'{root}.')}.{name}"] = value
    return found


PROTOCOLS = _protocols()


def test_the_ports_are_found() -> None:
    """The reflection sees the ports of every working room, and every exemption is one that exists."""
    assert set(PROTOCOLS) >= PORTS_SEEN_AT_LEAST
    assert set(EXEMPT) <= set(PROTOCOLS)


@pytest.mark.parametrize("name", sorted(set(PROTOCOLS) - set(EXEMPT)))
def test_every_method_of_a_port_takes_the_run_context_first(name: str) -> None:
    """By its name and by its type."""
    methods = {
        method_name: method
        for method_name, method in vars(PROTOCOLS[name]).items()
        if inspect.isfunction(method) and (not method_name.startswith("_") or method_name == "__call__")
    }
    for method_name, method in methods.items():
        parameters = [one for one in inspect.signature(method).parameters.values() if one.name != "self"]
        assert parameters, f"{name}.{method_name} takes nothing"
        assert (parameters[0].name, parameters[0].annotation) == ("ctx", "RunContext"), (
            f"{name}.{method_name}"
        )


SOURCES = sorted(Path(diagnosis_harness.__path__[0]).rglob("*.py"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_nothing_in_the_package_is_ambient(source: Path) -> None:
    """No thread-local, no context variable, no current span: read from the syntax tree, not from the text."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                assert not {alias.name for alias in names} & AMBIENT_MODULES
            case ast.ImportFrom(module=module, names=names):
                imported = {f"{module}.{alias.name}" for alias in names} | {module}
                assert not imported & (AMBIENT_MODULES | AMBIENT_NAMES)
            case ast.Attribute(attr=attribute):
                assert ast.unparse(node) not in AMBIENT_NAMES | AMBIENT_MODULES
                assert attribute != "start_as_current_span"

"""OpenSRE synthetic suites: hand-written incidents of a database in the cloud and of a Kubernetes cluster.

A test of behaviour: red herrings, missing metrics, two faults at once, healthy systems and false alarms.
Each incident has an alert without a time, and evidence; what a scenario lacks is taken from its suite's
healthy base, as in the original. Two published keys of the alert are answers and stay out: the failure mode,
and the
name of the suite. The labels are YAML files of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from diagnosis_harness.bench.case import Case, Condition, Truth
from diagnosis_harness.bench.datasets.folder import (
    JsonRow,
    PublishedAlert,
    leave_out,
    opaque_name,
    write_incident_toml,
    write_topology,
)
from diagnosis_harness.bench.datasets.opensre_evidence import write_evidence
from diagnosis_harness.bench.datasets.published import (
    REMEDY,
    complete_truths,
    read_incident_ids,
    read_object,
    read_text,
    text_of,
)
from diagnosis_harness.bench.datasets.stating import Statement, state
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.kernel.errors import InvalidInput

GROUPS = {"rds_postgres": "PostgreSQL", "eks": "Kubernetes"}
SUITE_TAG = re.compile(r"^\[[^\]]*\]\s*")
ALERT_TEXTS = ("summary", "description", "error")
ENTITY_KEYS = ("db_instance_identifier", "kube_deployment")
LABEL_ENTITIES = ("db_instance_identifier", "workload_name")
HEALTHY_MODE = "healthy"
_UNUSED = {"top_sql.jsonl": "top_sql"}
"""Files of roles that the product cannot use yet, with the role."""

_KINDS = {
    "cpu_saturation": frozenset({FaultKind.CPU.value}),
    "oom_killed": frozenset({FaultKind.MEMORY.value}),
    "dns_resolution_failure": frozenset({FaultKind.NETWORK.value, FaultKind.DEPENDENCY.value}),
}


class LabelFiles(NamedTuple):
    """The two label files of an incident."""

    answer: Path
    scenario: Path


@dataclass(frozen=True, slots=True)
class OpenSre:
    """The data set below a folder that holds `opensre-synthetic/`."""

    root: Path
    name: str = "opensre-synthetic"

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """The folder names. Without published times none can be shifted; healthy cases are in the set."""
        if condition not in {Condition.AS_PUBLISHED, Condition.NOTHING}:
            return ()
        return read_incident_ids(self._home, "*/alert.json")

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Write one incident, including evidence of roles that the product cannot use."""
        suite = incident_id.split("-", 1)[0]
        source, base = (self._home / "incidents" / name for name in (incident_id, f"{suite}-000-healthy"))
        alert = _read_alert(source / "alert.json")
        statement = state(condition, published=Statement(alert=alert))
        folder = target / opaque_name(self.name, f"{incident_id}/{condition.value}")
        folder.mkdir(parents=True, exist_ok=True)
        seen = write_evidence(source, base, folder)
        if seen.owners:
            write_topology(folder, calls=(), owners=seen.owners)
        left_out = leave_out(folder, _UNUSED)
        write_incident_toml(folder, alert=statement.alert, files=left_out)
        blamable = {seen.owners.get(name, name) for name in seen.entities}
        return Case(
            incident_id=incident_id,
            group=GROUPS.get(suite, suite),
            folder=folder,
            baseline=None,
            entities=tuple(sorted(blamable | ({alert.entity} if alert.entity else set()))),
            owners=seen.owners,
            condition=condition,
            alert_entity=statement.alert.entity if statement.alert else None,
            unused=tuple(_UNUSED[name] for name in left_out),
        )

    def labels(self, incident_ids: Sequence[str]) -> dict[str, Truth]:
        """Instance or workload at fault, failure mode, and the words that an answer needs."""
        truths: dict[str, Truth] = {}
        for name in incident_ids:
            files = self._label_files(name)
            if files.answer.exists() or files.scenario.exists():
                try:
                    truths[name] = self._truth(name, files)
                except InvalidInput as error:
                    truths[name] = Truth(entities=(), fault_kind="", unusable=str(error))
        return complete_truths(incident_ids, truths)

    @property
    def _home(self) -> Path:
        return self.root / "opensre-synthetic"

    def _label_files(self, incident_id: str) -> LabelFiles:
        labels = self._home / "labels"
        return LabelFiles(labels / f"{incident_id}.answer.yml", labels / f"{incident_id}.scenario.yml")

    def _truth(self, incident_id: str, files: LabelFiles) -> Truth:
        """The answer, from the scenario or inherited from its suite's base."""
        base = self._label_files(f"{incident_id.split('-', 1)[0]}-000-healthy").scenario
        inherited = read_yaml(base) if base.exists() else {}
        answer, scenario = read_yaml(files.answer), {**inherited, **read_yaml(files.scenario)}
        mode = text_of(scenario, "failure_mode") or ""
        if mode == HEALTHY_MODE:
            return Truth(entities=(), fault_kind=mode)
        entity = next((found for key in LABEL_ENTITIES if (found := text_of(scenario, key))), None)
        return Truth(
            entities=(entity,) if entity else (),
            fault_kind=mode,
            kinds=_KINDS.get(mode, frozenset()),
            mechanism=tuple((word,) for word in _words(answer, "required_keywords")),
            forbidden=_words(answer, "forbidden_keywords"),
            unusable="" if entity and mode else "the label names no entity or no failure mode",
        )


def _read_alert(path: Path) -> PublishedAlert:
    alert = read_object(path)
    notes = alert.get("commonAnnotations")
    notes = notes if isinstance(notes, Mapping) else {}
    title = SUITE_TAG.sub("", text_of(alert, "title") or "")
    texts = [title, *(text for key in ALERT_TEXTS if (text := text_of(notes, key)))]
    return PublishedAlert(
        entity=next((found for key in ENTITY_KEYS if (found := text_of(notes, key))), None),
        summary=" ".join(texts) or None,
    )


def read_yaml(path: Path) -> JsonRow:
    """The mapping in a YAML file.

    Raises:
        InvalidInput: it cannot be read, holds something else, or PyYAML is not installed.
    """
    try:
        import yaml  # type: ignore[import-untyped]  # its stubs are a package of their own
    except ImportError as error:
        remedy = "run pip install 'diagnosis-harness[bench]'"
        raise InvalidInput(path.name, "it is YAML, and PyYAML is not installed", remedy) from error
    try:
        value = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InvalidInput(path.name, "it is not YAML", REMEDY) from error
    if not isinstance(value, dict):
        raise InvalidInput(path.name, "it holds no mapping", REMEDY)
    return value


def _words(row: JsonRow, key: str) -> tuple[str, ...]:
    words = row.get(key)
    return tuple(str(word) for word in words) if isinstance(words, list) else ()

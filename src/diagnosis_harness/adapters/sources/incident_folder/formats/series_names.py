"""Names a labelled series: its entity and signal, from its labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.names import plain_key, printable
from diagnosis_harness.analysis.conventions import load_conventions
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY

SERVICE_LABELS: Final = (
    "service_name", "service", "app", "app_kubernetes_io_name", "application", "k8s_deployment_name",
    "deployment", "workload", "microservice", "component", "container", "container_name",
    "k8s_container_name", "job",
)  # fmt: skip
"""Labels that name a service, the most reliable first; `job` is often the name of the scrape instead."""

INSTANCE_LABELS: Final = (
    "pod", "pod_name", "k8s_pod_name", "kubernetes_pod_name", "service_instance_id", "instance", "host",
    "hostname", "host_name", "node", "node_name", "k8s_node_name", "server",
)  # fmt: skip

_PODS: Final = frozenset(INSTANCE_LABELS[:4])
_REPLICA: Final = re.compile(r"-[0-9a-f]{5,10}-[0-9a-z]{2,5}$|-\d{1,4}$")
_LABEL: Final = re.compile(r'\s*([A-Za-z_][\w.:/-]*|"[^"]*")\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
_SERIES: Final = re.compile(r"\s*([^\s{}]*)\s*\{(.*)\}\s*", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "\\": "\\", '"': '"'}


@dataclass(frozen=True, slots=True)
class SeriesName:
    """Entity and signal of one series."""

    entity: str
    signal: str


@dataclass(frozen=True, slots=True)
class SeriesNames:
    """The names of several series, in order, and the service of each instance."""

    names: tuple[SeriesName, ...]
    owners: Mapping[str, str]


def labels_in(text: str) -> dict[str, str] | None:
    """The labels of `name{job="web", pod="web-1"}`; the name is `__name__`. None for other texts."""
    found = _SERIES.fullmatch(text)
    if found is None:
        return None
    labels, at, inside = {}, 0, found[2]
    while at < len(inside.rstrip()):
        label = _LABEL.match(inside, at)
        if label is None:
            return None
        labels[label[1].strip('"')] = re.sub(r"\\(.)", lambda sign: _ESCAPES.get(sign[1], sign[0]), label[2])
        at = label.end()
    if found[1]:
        labels.setdefault("__name__", found[1])
    return labels


def service_of_pod(pod: str) -> str:
    """`booking` for `booking-7d4f9-x1abc` and `booking-0`; the name itself if it has no such suffix."""
    return _REPLICA.sub("", pod)


def name_series(series: Sequence[Mapping[str, str]], *, unnamed: str = "value") -> SeriesNames:
    """Name series by their labels.

    A series belongs to its instance, or to its service if that has only one instance here. Labels that
    distinguish series of one entity and signal become a part of the signal: `requests{code=500}`; so do
    labels that by convention decide what the signal means: `node_cpu_seconds_total{mode=idle}`.
    """
    whose = [_whose(labels) for labels in series]
    instances: dict[str, set[str]] = defaultdict(set)
    for service, instance in whose:
        if service and instance:
            instances[service].add(instance)
    owners: dict[str, str] = {}
    plain: list[SeriesName] = []
    for labels, (service, instance) in zip(series, whose, strict=True):
        alone = instance is None or (service is not None and len(instances[service]) == 1)
        entity = (service if alone else instance) or UNNAMED_ENTITY
        if service and instance and service != instance:
            owners[instance] = service
        plain.append(SeriesName(printable(entity), printable(labels.get("__name__", "")) or unnamed))
    return SeriesNames(_distinguish(plain, series), owners)


def _whose(labels: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Service and instance of one series."""
    by_key = {plain_key(key): value.strip() for key, value in labels.items() if value.strip()}
    instance_key = next((key for key in INSTANCE_LABELS if key in by_key), None)
    instance = by_key[instance_key] if instance_key else None
    services = [by_key[key] for key in SERVICE_LABELS if key in by_key]
    if instance is not None and instance_key in _PODS:
        # The job that scrapes pods is not their service; a pod's own name shows its service.
        own = [service for service in services if instance.startswith(service)]
        return (own[0] if own else service_of_pod(instance)), instance
    return (services[0] if services else None), instance


def _distinguish(plain: Sequence[SeriesName], series: Sequence[Mapping[str, str]]) -> tuple[SeriesName, ...]:
    alike: dict[SeriesName, list[int]] = defaultdict(list)
    for place, name in enumerate(plain):
        alike[name].append(place)
    named = list(plain)
    for name, places in alike.items():
        deciding = load_conventions().label_keys(name.signal)
        keys = sorted({key for place in places for key in series[place]} - {"__name__"})
        differing = [
            key for key in keys if key in deciding or len({series[place].get(key) for place in places}) > 1
        ]
        for place in places:
            inside = ",".join(
                f"{key}={series[place][key]}" for key in differing if series[place].get(key, "") != ""
            )
            named[place] = SeriesName(
                name.entity, printable(f"{name.signal}{{{inside}}}") if inside else name.signal
            )
    return tuple(named)

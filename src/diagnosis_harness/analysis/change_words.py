"""Compares the words of changes with the new words of an incident.

A change is one document: its summary, its file names, and the lines of its diff. The new lines of the
incident are the query, each word with a weight. They are compared as a search engine does (BM25): a word
found in few changes counts more than one found in all of them, and its tenth occurrence counts less than
its first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

REPEAT_WORTH = 1.2  # weight of repeated words, as is usual for BM25
LENGTH_WORTH = 0.5  # penalty for long texts; diffs differ more in length than in content
WORD_LETTERS_MIN = 3  # shorter parts of identifiers (`id`, `to`) appear in every text

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""Splits identifiers into parts: `maxOpenConns` and `max_open_conns` are three words each."""
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z]*(?:[_.-]?[A-Za-z]+)+")
_COMMON_WORDS = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "from",
        "into",
        "that",
        "this",
        "not",
        "are",
        "was",
        "has",
        "have",
        "had",
        "but",
        "its",
        "too",
        "per",
        "out",
        "off",
        "all",
        "any",
        "can",
        "may",
        "use",
        "used",
        "using",
        "when",
        "then",
        "than",
        "over",
        "under",
        "after",
        "before",
        "between",
        "while",
        "will",
        "should",
        "must",
        "does",
        "did",
        "done",
        "been",
        "being",
        "add",
        "adds",
        "added",
        "fix",
        "fixes",
        "fixed",
        "remove",
        "removes",
        "removed",
        "update",
        "updates",
        "updated",
        "change",
        "changes",
        "changed",
        "bump",
        "refactor",
        "chore",
        "feat",
        "test",
        "tests",
        "docs",
        "style",
        "build",
        "lint",
        "misc",
        "tidy",
        "rename",
        "improve",
        "cleanup",
        "func",
        "function",
        "return",
        "returns",
        "nil",
        "null",
        "none",
        "true",
        "false",
        "self",
        "var",
        "let",
        "const",
        "int",
        "str",
        "string",
        "bool",
        "float",
        "byte",
        "type",
        "struct",
        "class",
        "def",
        "import",
        "package",
        "public",
        "private",
        "static",
        "void",
        "new",
        "err",
        "error",
        "errors",
        "errorf",
        "warn",
        "warning",
        "info",
        "debug",
        "trace",
        "log",
        "logs",
        "logger",
        "logging",
        "msg",
        "message",
        "level",
        "time",
        "timestamp",
        "ctx",
        "context",
        "name",
        "value",
        "key",
        "data",
        "src",
        "lib",
        "pkg",
        "cmd",
        "app",
        "internal",
        "main",
        "index",
        "init",
        "get",
        "set",
        "put",
        "post",
        "http",
        "https",
        "www",
        "com",
        "org",
        "net",
        "json",
        "yaml",
        "yml",
        "toml",
        "failed",
        "failure",
        "fail",
        "fails",
        "exception",
        "request",
        "requests",
        "response",
        "status",
        "code",
        "service",
        "services",
        "server",
        "client",
        "operation",
        "call",
        "calls",
        "method",
        "line",
        "file",
        "files",
        "path",
        "diff",
        "commit",
        "version",
        "deploy",
        "deployed",
        "release",
        "released",
        "rolled",
        "rollout",
        "deployment",
        "upgrade",
        "upgraded",
        "found",
        "cannot",
        "unable",
        "could",
        "second",
        "seconds",
        "minute",
        "minutes",
        "millisecond",
        "milliseconds",
    ]
)
"""Words that appear in every log line, program or commit, and so do not distinguish changes."""


_ROLLED_OUT = re.compile(
    "automat(ed|ic|ion)|canary|chart|completed?|container|created|deploying|finished|helm|image|initial"
    "|install(ation|ed)?|live|node|pending|pod|prod|production|redeploy|replica|revision|rolling|scheduled"
    "|staging|started|succeeded|success(ful|fully)?|superseded|sync(ed)?|tag|triggered|upgrading|via"
)
"""Words of deployment tools: they show that something was changed, but not what."""


def has_own_words(text: str, names: Iterable[str]) -> bool:
    """Whether a change contains more than names, versions and the usual words of a rollout."""
    named = words_of_names(names)
    return any(word not in named and _ROLLED_OUT.fullmatch(word) is None for word in words_in(text))


def words_in(text: str) -> list[str]:
    """The words of a text in lower case: identifiers of several parts as a whole, and their parts."""
    found = []
    for token in _IDENTIFIER.findall(text):
        parts = [part.lower() for part in _PIECE.findall(token)]
        if len(parts) > 1:
            found.append("".join(parts))
        found += parts
    return [_stem(word) for word in found if len(word) >= WORD_LETTERS_MIN and word not in _COMMON_WORDS]


def _stem(word: str) -> str:
    """Strip the plural ending, so that plural and singular are one word."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word


@dataclass(frozen=True, slots=True)
class WordFit:
    """How well one change fits.

    Attributes:
        score: comparable between the changes of one incident.
        words: the matching words, heaviest first.
        coverage: share of all new words, by weight, that the change contains, 0 to 1.
    """

    score: float
    words: tuple[str, ...]
    coverage: float = 0.0


def words_of_names(names: Iterable[str]) -> frozenset[str]:
    """The words of service names, which show where a change was made, not what it changed.

    The part before `service` and similar endings is a word too: `media` of `mediaservice`.
    """
    found: set[str] = set()
    for name in names:
        for word in words_in(name):
            bare = _KIND_OF_SERVICE.sub("", word)
            found |= {word, bare} if len(bare) >= WORD_LETTERS_MIN else {word}
    return frozenset(found)


_KIND_OF_SERVICE = re.compile(r"(?:service|svc|server|api|db|cache|queue|worker)s?$")


def matches_of(documents: Sequence[Sequence[str]], query: Mapping[str, float]) -> tuple[WordFit, ...]:
    """The match of each document, a list of words, with the query."""
    counts = [Counter(words) for words in documents]
    lengths = [len(words) for words in documents]
    usual = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    documents_with = Counter(word for each in counts for word in each)
    total = len(documents)
    rare = {
        word: log(1.0 + (total - documents_with[word] + 0.5) / (documents_with[word] + 0.5)) for word in query
    }
    whole = sum(weight * rare[word] for word, weight in query.items())
    found = []
    for each, length in zip(counts, lengths, strict=True):
        matched = _without_parts([word for word in query if each.get(word, 0)])
        held_back = REPEAT_WORTH * (1.0 - LENGTH_WORTH + LENGTH_WORTH * length / usual)
        parts = {
            word: query[word] * rare[word] * each[word] * (REPEAT_WORTH + 1.0) / (each[word] + held_back)
            for word in matched
        }
        ordered = sorted(parts, key=lambda word: (-parts[word], word))
        held_weight = sum(query[word] * rare[word] for word in matched)
        coverage = held_weight / whole if whole > 0 else 0.0
        found.append(WordFit(sum(parts.values()), tuple(ordered), coverage))
    return tuple(found)


def _without_parts(words: Sequence[str]) -> list[str]:
    """The words that are not part of a longer one: an identifier counts once, not again by its parts."""
    return [word for word in words if not any(word != other and word in other for other in words)]


def new_words(after: Iterable[Sequence[str]], before: Iterable[Sequence[str]]) -> dict[str, float]:
    """How much more often lines contain a word than before, 0 to 1: 1 for a word without earlier lines."""
    now, usual = _shares(after), _shares(before)
    found = {}
    for word, share in now.items():
        documents_with = usual.get(word, 0.0)
        if share > documents_with:
            found[word] = (share - documents_with) / share
    return {word: weight for word, weight in found.items() if weight >= 0.5}


def _shares(lines: Iterable[Sequence[str]]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    total = 0
    for words in lines:
        counts.update(set(words))
        total += 1
    return {word: count / total for word, count in counts.items()} if total else {}

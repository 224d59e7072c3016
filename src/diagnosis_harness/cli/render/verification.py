"""A verification on a terminal: one line a check, every flaw under its check, and which facts still hold."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from diagnosis_harness.audit.verification.recheck import FactAgain, FactStatus, QueryStatus, Recheck
from diagnosis_harness.audit.verification.result import Check, CheckResult, Verification
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.cli.verify_words import VerifyWords, verify_words
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import named
from diagnosis_harness.report.timestamps import shown

FLAWS_SHOWN = 5
_STYLES = {
    CheckResult.HOLDS: "green",
    CheckResult.FAILS: "bold red",
    CheckResult.NOT_CHECKED: "dim",
    CheckResult.NOT_CARRIED: "dim",
}
_MARKS = {
    CheckResult.HOLDS: "✓",
    CheckResult.FAILS: "✗",
    CheckResult.NOT_CHECKED: "-",
    CheckResult.NOT_CARRIED: "-",
}
_TEXT_SHOWN = 200


def verification_lines(
    verification: Verification, recheck: Recheck | None, language: Language, *, width: int, marks: bool
) -> tuple[Text, ...]:
    """The whole answer; with `marks` a check is a sign, else a word. The verdict comes last of each part."""
    words = verify_words(language)
    return tuple(_lines(verification, recheck, words, width=max(width, 40), marks=marks))


def _lines(
    verification: Verification, recheck: Recheck | None, words: VerifyWords, *, width: int, marks: bool
) -> Iterator[Text]:
    results = {
        check: _MARKS[check.result] if marks else words.results[check.result] for check in verification.checks
    }
    names = max(cell_len(words.checks[check.name]) for check in results)
    signs = max(cell_len(sign) for sign in results.values())
    for check, sign in results.items():
        yield _row(check, sign, words, (names, signs))
        yield from _flaws(check, words, width)
    yield Text()
    if verification.root_digest:
        yield Text(words.root_digest.format(digest=verification.root_digest))
    yield from hang(Text(), _verdict(verification, words), width)
    if recheck is not None:
        yield Text()
        yield from _again(recheck, words, width)


def _row(check: Check, sign: str, words: VerifyWords, columns: tuple[int, int]) -> Text:
    """`  claims               holds   6`."""
    name = words.checks[check.name]
    line = Text(f"  {name}{' ' * (columns[0] - cell_len(name))}  ")
    line.append(sign, _STYLES[check.result])
    if check.looked_at is not None:
        line.append(" " * (columns[1] - cell_len(sign)))
        line.append(f"{check.looked_at:>9,}", "dim")
    return line


def _flaws(check: Check, words: VerifyWords, width: int) -> Iterator[Text]:
    for flaw in check.flaws[:FLAWS_SHOWN]:
        place = shown(flaw.place) or words.whole
        said = f"{place}{words.colon}{words.flaw(flaw.code)} [{flaw.code.value}]"
        yield from hang(Text("    - "), Text(said), width)
        for label, text in ((words.stated, flaw.stated), (words.found, flaw.found)):
            if text:
                yield from _aside(f"{label}{words.colon}", text, width)
    if len(check.flaws) > FLAWS_SHOWN:
        yield Text(f"    … {len(check.flaws) - FLAWS_SHOWN}")


def _aside(label: str, text: str, width: int) -> Iterator[Text]:
    """What stands beside a flaw or a fact; a digest is not broken, so that it can be copied."""
    body = Text(_short(text), "dim")
    if " " in text:
        yield from hang(Text(f"      {label}"), body, width)
    else:
        yield Text(f"      {label}") + body


def _short(text: str) -> str:
    plain = shown(text)
    return plain if len(plain) <= _TEXT_SHOWN else f"{plain[: _TEXT_SHOWN - 1]}…"


def _verdict(verification: Verification, words: VerifyWords) -> Text:
    results = [check.result for check in verification.checks]
    if verification.verified and verification.document is not None and verification.not_carried:
        names = words.comma.join(words.checks[name] for name in verification.not_carried)
        said = words.verified_in_part.format(
            version=verification.document.schema_version,
            count=len(results) - len(verification.not_carried),
            names=names,
        )
        return Text(said, "bold green")
    if verification.verified:
        return Text(words.verified.format(count=len(results)), "bold green")
    failed, unmade = results.count(CheckResult.FAILS), results.count(CheckResult.NOT_CHECKED)
    return Text(
        words.not_verified.format(failed=failed, count=len(results), unmade=unmade),
        _STYLES[CheckResult.FAILS],
    )


def _again(recheck: Recheck, words: VerifyWords, width: int) -> Iterator[Text]:
    statuses = [query.status for query in recheck.queries]
    said = words.asked_again.format(
        same=statuses.count(QueryStatus.SAME),
        count=len(statuses),
        differs=statuses.count(QueryStatus.DIFFERS),
    )
    yield from hang(Text(), Text(said), width)
    for query in recheck.queries:
        if query.status is QueryStatus.NOT_ASKED:
            call = f"{named(query.tool)} {named(query.tool_call_id)}"
            yield from hang(Text("  - "), Text(words.not_asked.format(call=call, code=query.code)), width)
    for fact in recheck.facts:
        if fact.status is not FactStatus.HOLDS:
            yield from _fact(fact, words, width)
    for cause in recheck.causes:
        why = words.comma.join(words.flaw(code) for code in cause.codes)
        template = words.cause_falls if cause.codes else words.cause_holds
        yield from hang(Text(), Text(template.format(entity=named(cause.entity), why=why)), width)
    facts = words.facts_hold.format(holding=recheck.holding, count=len(recheck.facts))
    style = _STYLES[CheckResult.HOLDS if recheck.holds else CheckResult.FAILS]
    yield from hang(Text(), Text(facts, style), width)


def _fact(fact: FactAgain, words: VerifyWords, width: int) -> Iterator[Text]:
    """A fact that does not hold: the sentence as published, the line of then, the line of now."""
    said = f"{_short(fact.sentence)} [{words.facts[fact.status]}]"
    if fact.status is FactStatus.CHANGED:
        said += f" {words.comma.join(words.flaw(code) for code in fact.codes)}"
    yield from hang(Text("  - "), Text(said), width)
    for label, line in ((words.was, fact.old), (words.now, fact.new)):
        yield from hang(
            Text(f"      {label}{words.colon}"), Text(_short(line or words.nothing), "dim"), width
        )

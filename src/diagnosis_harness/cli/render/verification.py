"""A verification on a terminal: a line for each check with its flaws, and which facts still hold."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from diagnosis_harness.audit.verification.recheck import FactAgain, FactStatus, QueryStatus, Recheck
from diagnosis_harness.audit.verification.result import Check, CheckResult, Verification
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.cli.words import verification as words
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.timestamps import escape_line

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
    """The whole result; `marks` prints symbols instead of words. Each part ends with its verdict."""
    return tuple(_lines(verification, recheck, language, width=max(width, 40), marks=marks))


def _lines(
    verification: Verification, recheck: Recheck | None, language: Language, *, width: int, marks: bool
) -> Iterator[Text]:
    results = {
        check: _MARKS[check.result] if marks else words.RESULTS[check.result].in_(language)
        for check in verification.checks
    }
    names = max(cell_len(words.CHECKS[check.name].in_(language)) for check in results)
    signs = max(cell_len(sign) for sign in results.values())
    for check, sign in results.items():
        yield _row(check, sign, language, (names, signs))
        yield from _flaws(check, language, width)
    yield Text()
    if verification.root_digest:
        yield Text(words.ROOT_DIGEST.render(language, digest=verification.root_digest))
    yield from hang(Text(), _verdict(verification, language), width)
    if recheck is not None:
        yield Text()
        yield from _recheck_lines(recheck, language, width)


def _row(check: Check, sign: str, language: Language, columns: tuple[int, int]) -> Text:
    """`  claims               holds   6`."""
    name = words.CHECKS[check.name].in_(language)
    line = Text(f"  {name}{' ' * (columns[0] - cell_len(name))}  ")
    line.append(sign, _STYLES[check.result])
    if check.looked_at is not None:
        line.append(" " * (columns[1] - cell_len(sign)))
        line.append(f"{check.looked_at:>9,}", "dim")
    return line


def _flaws(check: Check, language: Language, width: int) -> Iterator[Text]:
    for flaw in check.flaws[:FLAWS_SHOWN]:
        place = escape_line(flaw.place) or words.WHOLE.in_(language)
        message = f"{place}{words.COLON.in_(language)}{words.flaw(flaw.code, language)} [{flaw.code.value}]"
        yield from hang(Text("    - "), Text(message), width)
        for label, text in (
            (words.STATED.in_(language), flaw.stated),
            (words.FOUND.in_(language), flaw.found),
        ):
            if text:
                yield from _detail(f"{label}{words.COLON.in_(language)}", text, width)
    if len(check.flaws) > FLAWS_SHOWN:
        yield Text(f"    … {len(check.flaws) - FLAWS_SHOWN}")


def _detail(label: str, text: str, width: int) -> Iterator[Text]:
    """A detail of a flaw; a digest is not wrapped, so that it can be copied."""
    body = Text(_short(text), "dim")
    if " " in text:
        yield from hang(Text(f"      {label}"), body, width)
    else:
        yield Text(f"      {label}") + body


def _short(text: str) -> str:
    plain = escape_line(text)
    return plain if len(plain) <= _TEXT_SHOWN else f"{plain[: _TEXT_SHOWN - 1]}…"


def _verdict(verification: Verification, language: Language) -> Text:
    results = [check.result for check in verification.checks]
    if verification.verified and verification.document is not None and verification.not_carried:
        names = words.COMMA.in_(language).join(
            words.CHECKS[name].in_(language) for name in verification.not_carried
        )
        message = words.VERIFIED_IN_PART.render(
            language,
            version=verification.document.schema_version,
            count=len(results) - len(verification.not_carried),
            names=names,
        )
        return Text(message, "bold green")
    if verification.verified:
        return Text(words.VERIFIED.render(language, count=len(results)), "bold green")
    failed, unmade = results.count(CheckResult.FAILS), results.count(CheckResult.NOT_CHECKED)
    return Text(
        words.NOT_VERIFIED.render(language, failed=failed, count=len(results), unmade=unmade),
        _STYLES[CheckResult.FAILS],
    )


def _recheck_lines(recheck: Recheck, language: Language, width: int) -> Iterator[Text]:
    statuses = [query.status for query in recheck.queries]
    message = words.ASKED_AGAIN.render(
        language,
        same=statuses.count(QueryStatus.SAME),
        count=len(statuses),
        differs=statuses.count(QueryStatus.DIFFERS),
    )
    yield from hang(Text(), Text(message), width)
    for query in recheck.queries:
        if query.status is QueryStatus.NOT_ASKED:
            call = f"{display_name(query.tool)} {display_name(query.tool_call_id)}"
            yield from hang(
                Text("  - "), Text(words.NOT_ASKED.render(language, call=call, code=str(query.code))), width
            )
    for fact in recheck.facts:
        if fact.status is not FactStatus.HOLDS:
            yield from _fact(fact, language, width)
    for cause in recheck.causes:
        why = words.COMMA.in_(language).join(words.flaw(code, language) for code in cause.codes)
        template = words.CAUSE_FALLS.in_(language) if cause.codes else words.CAUSE_HOLDS.in_(language)
        yield from hang(Text(), Text(template.format(entity=display_name(cause.entity), why=why)), width)
    facts = words.FACTS_HOLD.render(language, holding=recheck.holding, count=len(recheck.facts))
    style = _STYLES[CheckResult.HOLDS if recheck.holds else CheckResult.FAILS]
    yield from hang(Text(), Text(facts, style), width)


def _fact(fact: FactAgain, language: Language, width: int) -> Iterator[Text]:
    """A fact that does not hold: the published sentence, the former line, and the current line."""
    message = f"{_short(fact.sentence)} [{words.FACTS[fact.status].in_(language)}]"
    if fact.status is FactStatus.CHANGED:
        message += f" {words.COMMA.in_(language).join(words.flaw(code, language) for code in fact.codes)}"
    yield from hang(Text("  - "), Text(message), width)
    for label, line in ((words.WAS.in_(language), fact.old), (words.NOW.in_(language), fact.new)):
        yield from hang(
            Text(f"      {label}{words.COLON.in_(language)}"),
            Text(_short(line or words.NOTHING.in_(language)), "dim"),
            width,
        )

"""The results of all families of one invocation: what was released from agents that choose their calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dev.lying.chosen.tally import Tally

from diagnosis_harness.kernel.json_value import JsonValue

TRUTHFUL_LEAST = 0.99
HONEST, ANALYST = "truthful, choosing its calls", "embedded analyst"
TOLD, TRUTH = "as the agent told it", "honest, written anew"


@dataclass(frozen=True, slots=True)
class Choosing:
    """The tallies of one invocation.

    Attributes:
        worlds: how many worlds were used.
        left_out: worlds that were not used, since the embedded analyst itself names a wrong cause there.
        families: whole runs, by family.
        documents: forged documents, by what was done to them.
    """

    seed: int
    worlds: int
    left_out: int
    families: tuple[Tally, ...]
    documents: tuple[Tally, ...]

    @property
    def drafts(self) -> int:
        """Whole runs with a lying draft."""
        return sum(each.drafts for each in self.families if each.is_lie)

    @property
    def lies(self) -> int:
        """Drafts of which something untrue was released, including drafts of honest agents."""
        return sum(each.lies for each in self.families)

    @property
    def wrong(self) -> int:
        """Drafts of which a wrong cause was released."""
        return sum(each.wrong for each in self.families)

    @property
    def crashed(self) -> int:
        """Drafts that crashed a run."""
        return sum(each.crashed for each in self.families)

    @property
    def verified(self) -> int:
        """Forged documents that `verify` accepted."""
        return sum(each.lies for each in self.documents)

    @property
    def unverified(self) -> int:
        """Published documents, or honest rewrites of them, that `verify` rejected."""
        anew = sum(each.refused for each in self.documents if not each.is_lie)
        return anew + sum(each.unverified for each in self.families)

    @property
    def truthful(self) -> float:
        """Share of truthful drafts that were released in full, as a success, unrepaired; 1 without any."""
        held = [each for each in self.families if each.family == HONEST]
        drafts = sum(each.drafts for each in held)
        return sum(each.unrepaired for each in held) / drafts if drafts else 1.0

    @property
    def holds(self) -> bool:
        """Whether nothing untrue was released, nothing crashed, and the truthful drafts passed."""
        wrong = self.lies or self.wrong or self.crashed or self.verified or self.unverified
        return not wrong and self.truthful >= TRUTHFUL_LEAST

    def line(self) -> str:
        """The figures in one line."""
        forged = sum(each.drafts for each in self.documents if each.is_lie)
        return (
            f"seed {self.seed}: {self.worlds} worlds ({self.left_out} left out), {self.drafts} drafts that "
            f"chose their calls, {self.lies} released lies, {self.wrong} wrong causes, {self.crashed} "
            f"crashes; {self.verified} of {forged} forged documents verified, {self.unverified} true ones "
            f"not; truthful passed unrepaired {self.truthful:.2%}"
        )

    def table(self) -> str:
        """One row for each family, then one for each kind of forgery, as Markdown."""
        rows = [
            "| family | drafts | released lies | of a wrong cause | true remainders | refused | crash |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        for each in self.families:
            numbers = (each.drafts, each.lies, each.wrong, each.remainders, each.refused, each.crashed)
            rows.append(f"| {each.family} | {' | '.join(map(str, numbers))} |")
        rows += [
            "",
            "| document | forged | `verify` holds it for whole | objects | to its form alone |",
            "|---|---:|---:|---:|---:|",
        ]
        for each in self.documents:
            counts = (each.drafts, each.drafts - each.refused, each.refused, each.by_form)
            rows.append(f"| {each.family} | {' | '.join(map(str, counts))} |")
        return "\n".join(rows)

    def examples(self) -> list[str]:
        """One line for each kind of released untruth, and the reasons why truthful drafts did not pass."""
        told = [
            f"released: {each.family}: {kind}: {text}"
            for each in (*self.families, *self.documents)
            for kind, text in each.examples.items()
        ]
        why = [f"held back {n} times: {text}" for t in self.families for text, n in t.reasons.most_common(5)]
        return told + why

    def as_json(self) -> dict[str, JsonValue]:
        """Everything, for a file."""
        return {
            "seed": self.seed,
            "worlds": self.worlds,
            "worlds_left_out": self.left_out,
            "drafts": self.drafts,
            "released_lies": self.lies,
            "wrong_causes": self.wrong,
            "crashed": self.crashed,
            "forged_verified": self.verified,
            "true_unverified": self.unverified,
            "truthful_unrepaired": self.truthful,
            "families": [each.as_json() for each in self.families],
            "documents": [each.as_json() for each in self.documents],
        }


def join_parts(parts: Sequence[Choosing]) -> Choosing:
    """Join the parts of one invocation, each with families of its own in the same worlds.

    Raises:
        ValueError: there is no part.
    """
    first, *_ = parts
    documents = {each.family: Tally(each.family, each.is_lie) for each in first.documents}
    for each in _documents(parts):
        documents[each.family] = documents[each.family].plus(each)
    families = tuple(each for part in parts for each in part.families)
    return Choosing(first.seed, first.worlds, first.left_out, families, tuple(documents.values()))


def _documents(parts: Iterable[Choosing]) -> Iterable[Tally]:
    return (each for part in parts for each in part.documents)

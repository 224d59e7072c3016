"""The token bucket: what one minute allows, evenly, and never more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from diagnosis_harness.server.rate_limit import Bucket, RateLimits, take_token


class Requests(RuleBasedStateMachine):
    """A key that asks and waits as it likes, against a plain account of what it may have."""

    def __init__(self) -> None:
        super().__init__()
        self.limits = RateLimits()
        self.now_s = 1_000.0
        self.passed: list[float] = []
        self.refused_until_s = 0.0

    @rule(seconds=st.floats(0.0, 90.0))
    def wait(self, seconds: float) -> None:
        """Time goes by."""
        self.now_s += seconds

    @rule(count=st.integers(1, 40))
    def ask(self, count: int) -> None:
        """Ask several times at once; a refusal says how long to wait."""
        for _ in range(count):
            wait_s = self.limits.wait_s("k", now_s=self.now_s, per_minute=30)
            if wait_s is None:
                self.passed.append(self.now_s)
                self.refused_until_s = 0.0
            else:
                assert wait_s >= 1
                self.refused_until_s = self.now_s + wait_s

    @precondition(lambda self: self.refused_until_s > 0)
    @rule()
    def ask_when_told(self) -> None:
        """A caller that waits as long as the answer says, and asks for nothing meanwhile, is let through."""
        self.now_s = max(self.now_s, self.refused_until_s)
        self.refused_until_s = 0.0
        assert self.limits.wait_s("k", now_s=self.now_s, per_minute=30) is None
        self.passed.append(self.now_s)

    @invariant()
    def never_more_than_a_burst_and_the_rate(self) -> None:
        """In any stretch of time: what a full bucket holds, and what flowed in."""
        for start in range(0, len(self.passed), 7):
            within_s = self.now_s - self.passed[start]
            assert len(self.passed) - start <= 30 + within_s * 0.5 + 1e-6


TestRequests = Requests.TestCase


@given(st.floats(0.0, 1e4), st.floats(-1e3, 1e3), st.integers(1, 10_000))
def test_a_bucket_never_holds_more_than_a_minute_or_less_than_nothing(
    tokens: float, later_s: float, per_minute: int
) -> None:
    """Also where a clock of another process went back."""
    come_to = take_token(Bucket(min(tokens, per_minute), 5e3), now_s=5e3 + later_s, per_minute=per_minute)
    assert 0.0 <= come_to.bucket.tokens <= per_minute
    assert come_to.wait_s is None or 0.0 < come_to.wait_s <= 60.0 / per_minute


def test_keys_have_buckets_of_their_own() -> None:
    """One that asks too often keeps no other from asking."""
    limits = RateLimits()
    assert limits.wait_s("a", now_s=0.0, per_minute=1) is None
    assert limits.wait_s("a", now_s=0.0, per_minute=1) == 60
    assert limits.wait_s("b", now_s=0.0, per_minute=1) is None
    assert limits.wait_s("a", now_s=60.0, per_minute=1) is None

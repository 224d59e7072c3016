"""Scores rare events by their counts instead of by the distance of a series.

A share of failures that was always zero has no width: one failure in 160 requests would stand out without
limit. Counts have a scale of their own: after `before` events in `before_trials`, the number of events in
the next `trials` follows a negative binomial, with Jeffreys' prior on the rate.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

PRIOR_EVENTS = 0.5  # Jeffreys: half an event that was not observed
LEAST_SHARE = 0.01  # a share of failures below one in a hundred is no incident, however certain
SURE = 1e-15  # below it the normal quantile loses its digits; its asymptote is used
EVENTS_SUMMED = 10_000  # larger numbers of events are compared by their ratio alone


def rare_score(events: float, trials: float, before: float, before_trials: float) -> float:
    """How many standard deviations of a normal the number of events lies above the usual; 0 or more."""
    count = int(events + 0.5)
    if count <= 0 or trials <= 0 or before_trials <= 0:
        return 0.0
    usual = (before + PRIOR_EVENTS) * trials / before_trials
    if count <= usual:
        return 0.0
    if count > EVENTS_SUMMED:
        return (count - usual) / sqrt(usual + usual**2 / (before + PRIOR_EVENTS))
    log_tail = _log_tail(count, shape=before + PRIOR_EVENTS, odds=trials / before_trials)
    if log_tail >= log(SURE):
        return max(0.0, NormalDist().inv_cdf(1.0 - exp(log_tail)))
    return sqrt(-2.0 * log_tail)


def _log_tail(count: int, *, shape: float, odds: float) -> float:
    """Log of the chance of at least `count` events: sums the terms until they become negligible."""
    log_p = log(odds) - log1p(odds)
    term = lgamma(count + shape) - lgamma(shape) - lgamma(count + 1) - shape * log1p(odds) + count * log_p
    total, ratio, k = 1.0, 1.0, count
    while ratio > SURE * total and k < count + EVENTS_SUMMED:
        ratio *= (k + shape) / (k + 1) * exp(log_p)
        total += ratio
        k += 1
    return min(0.0, term + log(total))

"""What counts as a secret or as personal data in text, as one table (see `kernel.masking`).

Every pattern is linear in a backtracking engine: an unbounded repeat is followed by nothing, or by what it
cannot match itself, so backtracking fails at once; and no pattern restarts inside a run that it has read.
Possessive repeats and atomic groups are not used: Python before 3.11.5 finds too little with them. Rules are
tried only where a hint, a long run or the name of a secret stands in the text, so that an ordinary line costs
little more than a few substring searches.
"""

from __future__ import annotations

from diagnosis_harness.kernel.masking_forms import FORMS
from diagnosis_harness.kernel.masking_personal import PERSONAL
from diagnosis_harness.kernel.masking_prose import PROSE
from diagnosis_harness.kernel.masking_rule import MaskingRule
from diagnosis_harness.kernel.masking_tokens import TOKENS, WEBHOOKS
from diagnosis_harness.kernel.masking_values import COMMANDS, NAMED, PLACED

MASKING_RULES: tuple[MaskingRule, ...] = (
    *TOKENS,
    *WEBHOOKS,
    *PLACED,
    *FORMS,
    *NAMED,
    *COMMANDS,
    *PROSE,
    *PERSONAL,
)
"""Every kind of secret and personal data. If two find the same text, the first names it."""

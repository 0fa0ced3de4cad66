"""How a debate is judged, as frozen values: jurors' ballots, people's votes, and their sums."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal

from engine.debate import PanelMode, Usage, Value

TIE = "tie"
WEAK = "weak"  # a vote's "both weak"


class Ballot(Value):
    """One juror's reading of a debate in one order, valid or not.

    `order` lists the contenders as they were shown; `scores` maps a contender to a criterion
    to an integer 1–10; `verdict` is a contender or "tie". An invalid ballot has no scores and
    no verdict, and says why; its `raw` text is kept. `signal` (x) and `weight` are what
    aggregation made of it, with the `pos`, `sd` and `slope` that it used.
    """

    juror: str
    family: str
    order: tuple[str, ...]
    names: dict[str, str]
    audit: bool = False
    valid: bool
    problem: str = ""
    repaired: bool = False
    contradictory: bool = False
    scores: dict[str, dict[str, int]] | None = None
    verdict: str | None = None
    confidence: float | None = None
    reasons: str = ""
    raw: str = ""
    signal: dict[str, float] | None = None
    weight: float | None = None
    pos: float | None = None
    sd: float | None = None
    prompt_hash: str = ""
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    cost_origin: str = ""
    latency: float | None = None


class Verdict(Value):
    """What the panel's valid ballots say together.

    `winner` is a contender, "tie", or None when there is no verdict, and then `problem` says
    why; `p` is the probability of each contender; `z` the balanced signal of the first
    contender (two sides) or of the leader over the second (more). `order_alone` says that the
    panel is a tie because its lead could come from the order of showing alone.
    """

    winner: str | None
    problem: str = ""
    p: Mapping[str, float] = {}
    z: float | None = None
    valid: int
    invalid: int
    effective_votes: float | None = None
    order_alone: bool = False
    slope: float = 0.9
    mode: PanelMode = PanelMode.ADAPTIVE
    rubric: str = "panel"
    blind: bool = True


class How(StrEnum):
    """How the engine learned of a vote event."""

    LIVE = "live"
    RECOVERED = "recovered"
    BUTTON = "button"


class Question(StrEnum):
    """What a reaction to a message answers."""

    VOTE = "vote"
    STANCE_BEFORE = "stance_before"
    STANCE_AFTER = "stance_after"
    TURN = "turn"
    AGAIN = "again"


REVEALED = (Question.TURN, Question.AGAIN)
"""What may be answered when the models are named; the reveal ends the other questions."""


class VoteEvent(Value):
    """One entry of the append-only log of votes; `number` is the order of receipt.

    `person` is a surrogate id. `option` is one of engine/votes/questions.py. An event that adds
    is a choice made, one that does not is a choice withdrawn. `votes_seen_before` counts the
    others who had answered the same question until then. `mirror_revealed` says that the debate's
    mirror had named the models by then. `step` is that of the turn that a thumb was given to.
    `given_at` is when the person acted, where the platform tells that. Of a choice that a reading
    found, `heard_from` is since when what was heard live may be newer (None: nothing is), and
    `newer_since` since when it certainly is (None: that is not known of anything). Of one that was
    heard, `heard_from` is since when nothing was missed until then. `read_at` is when the last
    complete reading before it began, or the one that found it.
    """

    number: int
    person: int
    option: str
    added: bool
    how: How
    received_at: datetime
    late_seen: bool = False
    votes_seen_before: int = 0
    mirror_revealed: bool = False
    question: Question = Question.VOTE
    step: str = ""
    given_at: datetime | None = None
    heard_from: datetime | None = None
    newer_since: datetime | None = None
    read_at: datetime | None = None


NotGold = Literal["", "judge", "starter", "ambiguous", "mirror", "gap", "unread"]
"""Why a vote is no label; empty for one that is.

A judge could be read, its voter had started the debate, none of several choices is known to be
the last, the debate's mirror had named the models, something is missing in its thread,
or its reactions could never be read. Of several reasons the first holds.
"""


Recovery = Literal["complete", "unread", "unknown"]
"""What a standing vote rests on.

"complete": before the question closed, all reactions to its message were read, or it is answered by
button alone. "unread": they could not be, so it is as it was last known, and not gold. "unknown":
it was closed by a version that did not say.
"""


class Vote(Value):
    """A person's standing vote, derived from the events of that person.

    In a question of stance `option` is "for", "against" or "unsure". `votes_seen_before` is 0
    where the votes of others cannot be seen. `mirror_revealed` says that the debate's mirror had
    named the models before the choice, and `fast` that nobody can have read the debate by then.
    """

    person: int
    option: str
    ambiguous: bool
    gold: bool
    starter: bool
    judge_visible: bool
    late_seen: bool
    tally_visible: bool
    votes_seen_before: int
    changes: int
    first_at: datetime
    last_at: datetime
    question: Question = Question.VOTE
    mirror_revealed: bool = False
    fast: bool = False
    reason: NotGold = ""
    recovery: Recovery = "complete"


class TurnLabel(Value):
    """What a person's thumb says of a turn; `blind` when nothing had named the models by then."""

    step: str
    person: int
    up: bool
    blind: bool
    received_at: datetime


class Persuasion(Value):
    """How many people moved towards each contender, of those who took a stance twice.

    `winner` is the contender that more people moved towards, "tie", or None when nobody took
    a stance twice.
    """

    moved: dict[str, int]
    people: int
    winner: str | None


class Tally(Value):
    """The count of a vote: every standing vote by option, and the gold ones.

    `share` is gold A over gold A + B with its Wilson 95 % interval, for two contenders.
    `winner` is a contender or "tie", None below the quorum.
    """

    counts: dict[str, int]
    gold: dict[str, int]
    quorum_met: bool
    winner: str | None
    share: float | None = None
    low: float | None = None
    high: float | None = None

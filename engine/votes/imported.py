"""Labels from other tools as votes: matched by debate and by the order in which it was shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from engine.store import Store
from engine.store.ballots import Brought
from engine.values.debate import Debate, Status
from engine.values.errors import NotFoundError
from engine.values.verdicts import TIE, WEAK, Vote, iso
from engine.votes.outcome import WORDS_A_MINUTE

FIRST, SECOND = "first", "second"
AT_ONCE = 200  # labels in one transaction


class ImportedLabel(NamedTuple):
    """A person's answer about a debate with its sides in an `order`; `number` is its line."""

    number: int
    debate: str
    order: str
    answer: str
    user: str
    at: datetime | None = None


class LabelFault(NamedTuple):
    """A line that is no label, and why."""

    number: int
    problem: str


class Imported(NamedTuple):
    """What became of labels, by outcome; and those that are faulty."""

    outcomes: Counter[str]
    debates: int
    people: int
    faults: tuple[LabelFault, ...]


async def import_labels(
    store: Store,
    read: Iterable[ImportedLabel | LabelFault],
    source: str,
    now: datetime,
    *,
    blind: bool = False,
) -> Imported:
    """Store labels as votes of a source; the same again changes nothing.

    They are gold only if they are said to be `blind`: by people who knew neither models nor jury.
    """
    faults: list[LabelFault] = []
    votes: list[tuple[int, Brought]] = []
    debates: dict[str, Debate | None] = {}
    for one in read:
        if isinstance(one, LabelFault):
            faults.append(one)
            continue
        if one.debate not in debates:
            debates[one.debate] = await _find(store, one.debate)
        found = _match(one, debates[one.debate])
        if isinstance(found, LabelFault):
            faults.append(found)
        else:
            vote = _vote(found, one.at or now, blind=blind)
            votes.append((one.number, (one.debate, f"{source}:{one.user}", vote)))
    outcomes: list[str] = []
    for at in range(0, len(votes), AT_ONCE):
        outcomes += await store.ballots.bring([vote for _, vote in votes[at : at + AT_ONCE]])
    for (number, _), outcome in zip(votes, outcomes, strict=True):
        if outcome == "forgotten":
            faults.append(LabelFault(number, "its person asked to be forgotten"))
    kept = [vote for (_, vote), said in zip(votes, outcomes, strict=True) if said != "forgotten"]
    return Imported(
        Counter(outcome for outcome in outcomes if outcome != "forgotten"),
        len({debate for debate, _, _ in kept}),
        len({user for _, user, _ in kept}),
        tuple(sorted(faults)),
    )


async def _find(store: Store, debate_id: str) -> Debate | None:
    try:
        found = await store.debates.get(debate_id)
    except NotFoundError:
        return None
    return found if found.id == debate_id else None


def _match(label: ImportedLabel, debate: Debate | None) -> str | LabelFault:
    """Return the option that an answer means in a debate."""
    if debate is None:
        return LabelFault(label.number, f"there is no debate {label.debate}")
    sides = tuple(debate.request.sides)
    if debate.status is not Status.CLOSED:
        return LabelFault(
            label.number, f"debate {debate.code} is not closed, so it takes no labels"
        )
    if label.order not in ("".join(sides), "".join(reversed(sides))) or len(sides) != 2:
        return LabelFault(
            label.number, f"“{label.order}” is no order of the sides of {debate.code}"
        )
    first, second = sides if label.order == "".join(sides) else sides[::-1]
    meant = {FIRST: first, SECOND: second, TIE: TIE, WEAK: WEAK}
    if label.answer not in meant:
        known = ", ".join(meant)
        return LabelFault(label.number, f"“{label.answer}” is no answer; it is one of {known}")
    return meant[label.answer]


def _vote(option: str, at: datetime, *, blind: bool) -> Vote:
    """Return a vote of a person whose number only the store knows."""
    return Vote(
        person=0,
        option=option,
        ambiguous=False,
        gold=blind,
        reason="" if blind else "imported",
        recovery="imported",
        starter=False,
        judge_visible=False,
        late_seen=False,
        tally_visible=False,
        votes_seen_before=0,
        changes=0,
        first_at=iso(at),
        last_at=iso(at),
    )


# Labels given on pages, as votes of the platform `web`, beside those that people cast in chat.
#
# They answer questions of their own, so no count of a chat's vote has them. The only definition of
# which of them are gold.


def is_fast(seconds: float, words: int) -> bool:
    """Return whether these seconds are too few to have read that many words."""
    return timedelta(seconds=seconds) < timedelta(minutes=words / WORDS_A_MINUTE)

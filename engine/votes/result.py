"""The reveal of a closed vote, read again from what is stored."""

from __future__ import annotations

from engine.jury.explain import STEP, of_artifacts
from engine.store import Store
from engine.values.debate import Debate
from engine.values.judging import Log
from engine.values.messages import Reveal
from engine.votes.closing import NO_VERDICT, reveal_of
from engine.votes.outcome import (
    guessed_of,
    guesses_of,
    round_votes_of,
    stances_of,
    standing,
    tally_of,
)


async def read_reveal(store: Store, debate: Debate) -> Reveal:
    """Return the reveal of a debate whose vote is closed."""
    verdict, ballots = await store.journal.judged(debate.id)
    calls, usd = await store.journal.spending(debate.id)
    events = await store.votes.events(debate.id)
    unread = await unread_logs(store, debate)
    tally, stances = tally_of(debate, events, unread), stances_of(debate, events, unread)
    verdict = verdict or NO_VERDICT
    own = await store.journal.own_verdict(debate.id, debate.request.format)
    found = (verdict, ballots, calls, usd, stances, unread, own)
    why = of_artifacts(await store.journal.found(debate.id, STEP))
    rounds = round_votes_of(debate, events, unread)
    guessed = guessed_of(debate, guesses_of(debate, events, standing(debate, events)))
    return reveal_of(debate, tally, *found, rounds=rounds, why=why, guessed=guessed)


async def unread_logs(store: Store, debate: Debate) -> frozenset[Log]:
    """Return the questions that closed without a reading of their reactions."""
    targets = await store.votes.targets(debate.id)
    return frozenset(Log(target.question, target.step) for target in targets if target.unread)

"""A reveal told again: of a stored debate, and of a record."""

from __future__ import annotations

from engine.jury.explain import STEP, of_artifacts
from engine.store import DebateRecord, Store
from engine.values.debate import Debate
from engine.values.messages import Reveal
from engine.values.verdicts import Log, Question
from engine.votes.close import NO_VERDICT, count_of, people_of, reveal_of
from engine.votes.outcome import guesses_of, round_votes_of, stances_of, standing, tally_of


async def read_reveal(store: Store, debate: Debate) -> Reveal:
    """Return the reveal of a debate whose vote is closed."""
    kept = await store.journal.read(debate.id, "verdict", "ballots", "verdicts", artifacts=STEP)
    calls, usd = await store.journal.spending(debate.id)
    events = await store.votes.events(debate.id)
    unread = await unread_logs(store, debate)
    tally, stances = tally_of(debate, events, unread), stances_of(debate, events, unread)
    own = kept.verdicts.get(debate.request.format)
    why = of_artifacts(kept.artifacts)
    rounds = round_votes_of(debate, events, unread)
    guesses = guesses_of(debate, events, standing(debate, events))
    stood = (*stances, *rounds, *guesses)
    people = count_of(debate, tally, stood, Log(Question.VOTE) in unread)
    found = (kept.verdict or NO_VERDICT, kept.ballots, calls, usd, own, why)
    return reveal_of(debate, people, *found)


def reveal_in(record: DebateRecord, calls: int, usd: float | None) -> Reveal | None:
    """Return the reveal of a record; None for a debate that had none."""
    debate = record.debate
    if debate.revealed_at is None:
        return None
    own = record.verdicts.get(debate.request.format)
    why = of_artifacts([one for one in record.artifacts if one.kind == STEP])
    found = (record.verdict or NO_VERDICT, record.ballots, calls, usd, own, why)
    return reveal_of(debate, people_of(record), *found)


async def unread_logs(store: Store, debate: Debate) -> frozenset[Log]:
    """Return the questions that closed without a reading of their reactions."""
    targets = await store.votes.targets(debate.id)
    return frozenset(Log(target.question, target.step) for target in targets if target.unread)

"""What every Store must do with fits of the jurors and with judgments from outside."""

import pytest

from engine.store import ExportFilter, Lease, Store
from engine.store.fits import Evidence
from engine.store.learning import SESSION, Learnt
from engine.values.errors import LeaseLostError
from engine.values.verdicts import Ballot
from tests.kit import NOW, ballot, new_debate, real, run, some, verdict


async def lease(store: Store) -> Lease:
    return some(await store.leases.claim("fit", "one", 60))


def judgment(key: str, *ballots: Ballot, **fields: object) -> Learnt:
    return Learnt.model_validate({"key": key, "source": "s", "ballots": ballots} | fields)


async def test_the_newest_fit_of_each_kind_is_found_and_earlier_ones_stay(store: Store) -> None:
    own = await lease(store)
    assert await store.fits.newest(rehearsal=False) is None
    first = await store.fits.keep(own, Evidence(debates=3), '{"a":1}', NOW, rehearsal=False)
    second = await store.fits.keep(own, Evidence(ballots=9), '{"a":2}', NOW, rehearsal=False)
    await store.fits.keep(own, Evidence(), '{"a":3}', NOW, rehearsal=True)
    newest = some(await store.fits.newest(rehearsal=False))
    assert (newest.number, newest.made_at, newest.evidence) == (second, NOW, Evidence(ballots=9))
    earlier = some(await store.fits.find(first))
    assert (earlier.body, earlier.evidence.debates) == ('{"a":1}', 3)
    assert first < second


async def test_a_process_that_lost_its_lease_stores_no_fit(store: Store) -> None:
    own = await lease(store)
    await store.leases.release(own)
    await lease(store)
    with pytest.raises(LeaseLostError):
        await store.fits.keep(own, Evidence(), "{}", NOW, rehearsal=False)
    with pytest.raises(LeaseLostError):
        await store.learning.learn(own, [judgment("x", ballot())])
    assert await store.fits.newest(rehearsal=False) is None


async def test_ballots_from_outside_add_up_by_judgment_and_leave_their_texts(store: Store) -> None:
    own = await lease(store)
    told = ballot(reasons="A CANARY in a reason", raw="A CANARY in a reply")
    await store.learning.learn(own, [judgment("x", told, human="A"), judgment("y", ballot())])
    await store.learning.learn(own, [judgment("x", ballot("near/elm"), told, human="A")])
    made_up = judgment("z", ballot(), rehearsal=True)
    await store.learning.learn(own, [made_up])
    found = await store.learning.learnt(rehearsal=False)
    assert [(one.key, len(one.ballots), one.human) for one in found] == [
        ("x", 2, "A"),
        ("y", 1, None),
    ]
    assert found[0].ballots[0].scores == told.scores
    assert "CANARY" not in found[0].model_dump_json()
    evidence = await store.fits.evidence(rehearsal=False)
    assert (evidence.learnt, evidence.learnt_ballots) == (2, 3)


async def test_evidence_counts_closed_debates_and_their_ballots(store: Store) -> None:
    r = await run(store, real(new_debate()))
    await r.call("jury/online/x/AB")
    await store.journal.record_verdict(
        r.lease, r.id, verdict(), {"jury/online/x/AB": ballot()}, closes_at=NOW
    )
    held = await store.fits.evidence(rehearsal=False)
    assert (held.debates, held.ballots, held.readings) == (1, 1, 1)
    assert held.newest == (await store.debates.get(r.id)).number
    assert (await store.fits.evidence(rehearsal=True)).debates == 0


async def test_a_calibration_is_journaled_like_a_debate_that_nothing_shows(store: Store) -> None:
    asked = new_debate(community="digest")
    session = await store.learning.session(asked)
    again = await store.learning.session(new_debate(community="digest"))
    assert (session.platform, session.community) == (SESSION, "digest")
    assert again.id == session.id == asked.id
    assert (await store.debates.get(session.id)).id == session.id
    assert await store.listings.recent() == []
    assert await store.queue.unfinished() == []
    assert store.archive.size(ExportFilter()) == 0
    assert (await store.fits.evidence(rehearsal=True)).debates == 0

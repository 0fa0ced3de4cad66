"""What every Store must do for people: say what it knows of them, forget, and let them return."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from adapters.database.database import SqlDatabase
from engine.store import Closing, Store, Target
from engine.store.privacy import PersonTraces, Privacy
from engine.store.series import StoredSeries
from engine.store.vote_log import NewEvent
from engine.values.debate import Status
from engine.values.errors import NotAllowedError
from engine.values.language import Text
from engine.values.limits import Caps
from engine.values.ports import ButtonPressed
from tests.kit import (
    LATER,
    NOW,
    Running,
    asking,
    cast,
    create,
    new_debate,
    notice,
    records_of,
    run,
    some,
    turn,
    turn_post,
    verdict,
    vote,
    votes_in,
)

SOON = NOW + timedelta(minutes=1)
TOMORROW = NOW + timedelta(days=1)


async def voting(store: Store, message: str = "vote-message", **fields: Any) -> Running:
    r = await run(store, new_debate(**fields))
    await r.open_vote(message)
    return r


async def number_of(store: Store, user: str) -> int:
    return (await store.votes.people("chat", [user]))[user]


async def test_what_is_stored_of_a_person_is_counted(store: Store) -> None:
    await voting(store, user="ann")
    await voting(store, "other", user="ann")
    for option in ("A", "B"):
        await store.votes.cast(cast("ann", option))
    await store.votes.cast(cast("ann", message="other"))
    await store.votes.cast(cast("bob"))
    assert await store.privacy.traces("chat", "ann") == PersonTraces(
        known=True, votes=2, entries=3, started=2
    )
    assert await store.privacy.traces("talk", "ann") == PersonTraces()


async def test_who_is_forgotten_is_known_no_more_and_nothing_of_them_is_stored(
    store: Store,
) -> None:
    r = await voting(store, user="ann")
    await store.votes.cast(cast("ann", "A"))
    before = await store.votes.events(r.id)
    for user in ("ann", "ann", "stranger"):
        await store.privacy.forget("chat", user)
    assert not await store.listings.is_starter(r.id, "ann")
    assert await store.votes.people("chat", ["ann", "bob"]) == {
        "bob": await number_of(store, "bob")
    }
    assert await store.votes.cast(cast("ann")) == "forgotten"
    assert await store.votes.events(r.id) == before, "what they chose stays"
    with pytest.raises(NotAllowedError, match=r"asked to be forgotten.*use optin"):
        await create(store, new_debate(user="ann"))
    assert [debate.id for debate in await store.listings.recent()] == [r.id]
    await store.privacy.opt_out("chat", "ann")
    for user in ("ann", "stranger"):
        assert await store.privacy.traces("chat", user) == PersonTraces(forgotten=True)
    assert await store.privacy.traces("talk", "ann") == PersonTraces()


async def test_casts_of_one_moment_do_not_share_what_becomes_of_one_nor_keep_ages_of_the_forgotten(
    store: Store,
) -> None:
    r = await voting(store)
    await store.votes.cast(cast("ann", account_days=412, member_days=31))
    await store.privacy.forget("chat", "ann")
    [event] = await store.votes.events(r.id)
    assert (event.option, event.account_days, event.member_days) == ("A", None, None)
    await store.privacy.forget("chat", "u3")
    users = [f"u{number}" for number in range(6)]
    told = await asyncio.gather(*(store.votes.cast(cast(user)) for user in users))
    assert told == ["stored"] * 3 + ["forgotten"] + ["stored"] * 2
    assert len(await store.votes.events(r.id)) == 1 + 5


async def test_a_button_of_the_forgotten_stores_nothing(store: Store) -> None:
    r = await run(store, new_debate(request={"ballot": "private"}))
    await r.open_vote()
    pressed = ButtonPressed("thread", "vote-message", "ann", "A")
    assert await store.ballots.press("chat", pressed, NOW) == ("stored", "A")
    await store.privacy.forget("chat", "ann")
    assert await store.ballots.press("chat", pressed, NOW) == ("forgotten", None)
    assert len(await store.votes.events(r.id)) == 1


async def test_a_recovery_neither_brings_the_forgotten_back_nor_takes_their_vote(
    store: Store,
) -> None:
    r = await voting(store)
    await store.votes.cast(cast("ann", "A"))
    known = await store.votes.people("chat", ["ann", "bob"])  # read before she is forgotten
    await store.privacy.forget("chat", "ann")
    found = [
        NewEvent(known["ann"], "A", False),
        NewEvent(known["ann"], "B", True),
        NewEvent(known["bob"], "B", True),
    ]
    assert await store.votes.recover(r.lease, asking(r.id), lambda _: found, SOON, False) == 1
    events = await store.votes.events(r.id)
    assert [(e.person, e.option) for e in events] == [(known["ann"], "A"), (known["bob"], "B")]


async def test_who_comes_back_is_somebody_new_and_never_counts_twice(store: Store) -> None:
    r = await voting(store)
    await store.votes.cast(cast("ann", "A"))
    old = await number_of(store, "ann")
    await store.privacy.forget("chat", "ann")
    await store.privacy.opt_in("chat", "ann", SOON)
    new = await number_of(store, "ann")
    assert new != old
    assert await store.votes.cast(cast("ann", "B")) == "forgotten"
    seen = [NewEvent(new, "B", True)]
    assert await store.votes.recover(r.lease, asking(r.id), lambda _: seen, SOON, False) == 0
    assert [e.person for e in await store.votes.events(r.id)] == [old]
    later = await voting(store, "later", created_at=LATER)
    assert await store.votes.cast(cast("ann", message="later")) == "stored"
    assert [e.person for e in await store.votes.events(later.id)] == [new]
    traces = await store.privacy.traces("chat", "ann")
    assert traces == PersonTraces(known=True, votes=1, entries=1, since=SOON)


async def test_forgetting_is_no_way_around_the_cap_of_a_day(store: Store) -> None:
    caps = Caps(user_daily_debates=1)
    await create(store, new_debate(user="ann"), caps)
    await store.privacy.forget("chat", "ann")
    await store.privacy.opt_in("chat", "ann", SOON)
    with pytest.raises(NotAllowedError, match="came back today"):
        await create(store, new_debate(user="ann", created_at=LATER), caps)
    await create(store, new_debate(user="ann", created_at=TOMORROW), caps)


async def closed(store: Store, *users: str, message: str = "vote-message") -> tuple[str, list[int]]:
    r = await voting(store, message)
    for user in users:
        await store.votes.cast(cast(user, message=message))
    numbers = [await number_of(store, user) for user in users]
    votes = tuple(vote(number) for number in numbers)
    closing = Closing(votes=votes, posts=(notice("reveal"),))
    await store.votes.close(r.lease, r.id, LATER, False, lambda _: closing)
    return r.id, numbers


async def test_own_votes_stand_beside_what_the_people_and_the_jury_chose(store: Store) -> None:
    chosen = {"ann": "A", "bob": "B", "cem": "B", "dea": "B"}
    r = await voting(store, request={"quorum": 3})
    ids = {user: await number_of(store, user) for user in chosen}
    votes = tuple(vote(ids[user], option) for user, option in chosen.items())
    closing = Closing(votes=votes, posts=(notice("reveal"),), verdicts={"panel": verdict("A")})
    mine = ("chat", (await r.get()).community)
    assert await store.privacy.own_votes(*mine, "ann", most=9) == ()
    await store.votes.close(r.lease, r.id, LATER, False, lambda _: closing)
    (own,) = await store.privacy.own_votes(*mine, "ann", most=9)
    assert (own.debate, own.option, own.people, own.jury) == (r.id, "A", "B", "A")
    assert own.revealed_at == LATER
    assert await store.privacy.own_votes("chat", "elsewhere", "ann", most=9) == ()
    assert await store.privacy.own_votes(*mine, "eve", most=9) == ()
    await store.privacy.forget("chat", "ann")
    assert await store.privacy.own_votes(*mine, "ann", most=9) == ()


async def test_who_opted_out_or_was_forgotten_is_counted_and_hidden(store: Store) -> None:
    debate, (ann, bob, _) = await closed(store, "ann", "bob", "cem")
    other, _ = await closed(store, "cem", message="other")
    await store.privacy.opt_out("chat", "ann")
    await store.privacy.forget("chat", "bob")
    found = await records_of(store)
    assert found[debate].opted_out == {ann, bob}
    assert len(votes_in(found[debate])) == 3
    assert found[other].opted_out == frozenset()
    await store.privacy.opt_in("chat", "ann", LATER)
    assert (await records_of(store))[debate].opted_out == {bob}


async def test_opting_out_is_remembered_of_who_has_done_nothing_and_opting_in_makes_nobody_known(
    store: Store,
) -> None:
    await store.privacy.opt_out("chat", "ann")
    assert await store.privacy.traces("chat", "ann") == PersonTraces(known=True, opted_out=True)
    debate, (ann,) = await closed(store, "ann")
    assert (await records_of(store))[debate].opted_out == {ann}
    await store.privacy.opt_in("chat", "stranger", NOW)
    assert await store.privacy.traces("chat", "stranger") == PersonTraces()


async def test_a_purge_deletes_a_communitys_debates_wholly_and_no_others(store: Store) -> None:
    gone, _ = await closed(store, "ann", "bob")
    r = await voting(store, "elsewhere", community="guild", user="host")
    await store.votes.cast(cast("bob", message="elsewhere"))
    await store.privacy.opt_out("chat", "wisher")
    assert await store.communities.purge("chat", "club") == 1
    assert [debate.id for debate in await store.listings.recent()] == [r.id]
    assert gone not in await records_of(store)
    assert await store.privacy.traces("chat", "ann") == PersonTraces()
    assert await store.privacy.traces("chat", "bob") == PersonTraces(known=True, votes=1, entries=1)
    assert (await store.privacy.traces("chat", "wisher")).opted_out
    assert await store.votes.target("chat", "thread", "vote-message") is None
    assert isinstance(await store.votes.target("chat", "thread", "elsewhere"), Target)


async def test_more_debates_than_are_deleted_at_once_are_all_purged_and_none_that_runs(
    store: Store,
) -> None:
    for _ in range(45):
        r = await run(store)
        await r.advance(Status.FAILED)
    running = await run(store)
    assert await store.communities.purge("chat", "club") == 45
    assert [debate.id for debate in await store.listings.recent()] == [running.id]


async def test_a_community_is_gone_once_the_grace_is_over_and_nothing_runs(store: Store) -> None:
    for community in ("club", "guild", "hall"):
        await store.communities.joined("chat", community, NOW)
    await store.communities.left("chat", "club", NOW)
    await store.communities.left("chat", "guild", LATER)
    r = await run(store)
    assert await store.communities.gone(LATER) == []
    await r.advance(Status.FAILED)
    assert await store.communities.gone(LATER) == [("chat", "club")]
    await store.communities.purge("chat", "club")
    assert await store.communities.gone(LATER) == []
    await store.communities.joined("chat", "guild", TOMORROW)
    assert await store.communities.gone(TOMORROW) == []


async def test_who_was_forgotten_can_be_stored_again_and_nobody_else(store: Store) -> None:
    await voting(store)
    await store.votes.cast(cast("ann"))
    await store.privacy.opt_out("chat", "bob")
    for user in ("ann", "bob", "stranger"):
        assert not await store.privacy.unforget("chat", user, SOON)
    assert (await store.privacy.traces("chat", "bob")).opted_out
    assert await store.privacy.traces("chat", "stranger") == PersonTraces()
    await store.privacy.forget("chat", "ann")
    assert not await store.privacy.unforget("talk", "ann", SOON)
    assert await store.privacy.unforget("chat", "ann", SOON)
    assert await store.privacy.traces("chat", "ann") == PersonTraces(known=True, since=SOON)
    assert not await store.privacy.unforget("chat", "ann", LATER)
    # Debates that began before take no answers of who came back.
    await store.votes.cast(cast("ann", "B"))
    await voting(store, "later", created_at=LATER)
    await store.votes.cast(cast("ann", message="later"))
    traces = await store.privacy.traces("chat", "ann")
    assert traces == PersonTraces(known=True, votes=1, entries=1, since=SOON)


async def test_mentions_are_counted_and_forgotten_by_whole_ids(store: Store) -> None:
    for topic in ("<@U12> is right", "<@!U12> and <@U1|ann>", "U12 and @U12"):
        setup = new_debate().setup
        request = setup.request.model_copy(update={"topic": topic})
        await voting(store, topic, setup=setup.model_copy(update={"request": request}))
    assert await store.privacy.mentions("chat", "U12") == 2
    assert await store.privacy.mentions("chat", "U1") == 1
    assert await store.privacy.mentions("chat", "U") == 0
    r = await about(store, "<@12> and <@!12>, <@12|ann> or @12. Not <@123>, @!12a, 12 or 312")
    said = turn(text="I agree with @12, and with <@123>.")
    await store.journal.record_turn(r.lease, r.id, said, turn_post(text=said.text))
    why = Text("{who} said “{text}”.", who="<@12>", text="@12\nand <@123>")
    league = StoredSeries(name="cup", body="{}", begun_at=NOW, platform="chat", problem=why)
    await store.series.save(league)
    await store.privacy.forget("chat", "12")
    assert (await r.get()).request.topic == (
        "<@somebody> and <@somebody>, <@somebody|ann> or @somebody. Not <@123>, @!12a, 12 or 312"
    )
    [kept] = await store.journal.turns_between(r.id, 1, 1)
    assert kept.text == "I agree with @somebody, and with <@123>."
    told = some(await store.series.find("cup")).problem
    assert told == "<@somebody> said “@somebody\nand <@123>”."
    assert await store.privacy.mentions("chat", "12") == 0


async def about(store: Store, topic: str, **fields: Any) -> Running:
    return await run(store, new_debate(request={"topic": topic}, **fields))


async def test_forgetting_leaves_the_same_id_on_another_platform(store: Store) -> None:
    here = await about(store, "<@12> is right")
    there = await about(store, "<@12> is right", platform="talk")
    for platform in ("chat", "talk"):
        await store.communities.joined(platform, "club", NOW)
        said = (platform, "club", "ann", "Is <@12> right?", NOW)
        await store.suggestions.suggest(*said, approved=True)
    assert await store.privacy.mentions("chat", "12") == 1
    await store.privacy.forget("chat", "12")
    assert (await here.get()).request.topic == "<@somebody> is right"
    assert (await there.get()).request.topic == "<@12> is right"
    assert await store.privacy.mentions("talk", "12") == 1
    for platform, expected in (("chat", "Is <@somebody> right?"), ("talk", "Is <@12> right?")):
        [one] = await store.suggestions.open(platform, "club", "ann")
        assert one.text == expected


async def test_a_mention_that_comes_while_they_are_being_forgotten_goes_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[Running] = []
    search = Privacy._mentioning

    async def slow(self: Privacy, platform: str, user: str) -> Any:
        found = await search(self, platform, user)
        if not late:
            late.append(await about(store, "<@12> is late"))
        return found

    monkeypatch.setattr(Privacy, "_mentioning", slow)
    await store.privacy.forget("chat", "12")
    assert (await late[0].get()).request.topic == "<@somebody> is late"


@pytest.mark.sqlite
async def test_the_write_that_forgets_reads_no_table_from_end_to_end(
    store: Store, database: SqlDatabase
) -> None:
    r = await about(store, "<@ann> is right", user="ann")
    await r.open_vote()
    await store.votes.cast(cast("ann"))
    run_there: list[str] = []
    await database.write(lambda c: c.driver.set_trace_callback(run_there.append))
    await store.privacy.forget("chat", "ann")
    await database.write(lambda c: c.driver.set_trace_callback(None))
    changes = [sql for sql in run_there if sql.split()[0] in ("UPDATE", "DELETE", "SELECT")]
    assert len(changes) > 20
    with database.snapshot() as view:
        plans = [(sql, view.driver.execute(f"EXPLAIN QUERY PLAN {sql}")) for sql in changes]
        scans = [(sql, step[3]) for sql, plan in plans for step in plan if "SCAN" in step[3]]
    assert scans == []
    assert (await r.get()).request.topic == "<@somebody> is right"


async def test_what_is_stored_of_a_community_is_counted(store: Store) -> None:
    await closed(store, "ann", "bob")
    r = await voting(store, "elsewhere", community="guild")
    await store.votes.cast(cast("ann", message="elsewhere"))
    for option in ("A", "B"):
        await store.votes.cast(cast("bob", option, message="elsewhere"))
    assert await store.communities.holdings("chat", "club") == (1, 2, True)
    assert await store.communities.holdings("chat", "guild") == (1, 2, True)
    assert await store.communities.holdings("talk", "guild") == (0, 0, False)
    await store.communities.joined("chat", "new", NOW)
    assert await store.communities.holdings("chat", "new") == (0, 0, True)
    assert r.id


async def test_who_is_a_bot_is_noted_of_those_who_are_stored(store: Store) -> None:
    for user in ("ada", "robo"):
        await store.privacy.opt_out("slack", user)
    await store.people.note_bots("slack", {"ada": False, "robo": True, "stranger": False})
    users = ("ada", "robo", "stranger")
    assert await store.people.bots("slack", users) == {"ada": False, "robo": True}
    assert await store.people.bots("discord", users) == {}
    await store.privacy.forget("slack", "ada")
    assert await store.people.bots("slack", users) == {"robo": True}

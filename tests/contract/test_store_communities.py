"""What every Store must keep of communities, and what it tells of a community's own debates."""

import asyncio
from functools import partial

import pytest

from engine.store import Store
from engine.store.communities import CommunitySettings, PublicCommunity, PublicPart
from engine.values.debate import BallotKind, Model, Status
from engine.values.errors import UsageError
from tests.kit import LATER, NOW, create, new_debate, run, some, turn, turn_post

SET = CommunitySettings(
    models=(Model.parse("near/ana#kin"),),
    channels=("c1",),
    vote_minutes=2.5,
    ballot=BallotKind.SECRET,
    manager_role="r1",
)


def add_channel(name: str, settings: CommunitySettings) -> CommunitySettings:
    return settings.model_copy(update={"channels": (*settings.channels, name)})


async def test_settings_are_kept_for_their_community_alone_until_it_leaves(store: Store) -> None:
    await store.communities.left("chat", "never here", NOW)
    await store.communities.joined("chat", "club", NOW)
    assert await store.communities.change("chat", "club", lambda _: SET, NOW) == SET
    await store.communities.joined("chat", "club", LATER)
    assert await store.communities.get("chat", "club") == SET
    assert await store.communities.get("chat", "guild") == CommunitySettings()
    assert await store.communities.get("talk", "club") == CommunitySettings()

    def refuse(_: CommunitySettings) -> CommunitySettings:
        raise UsageError("not here")

    with pytest.raises(UsageError, match="not here"):
        await store.communities.change("chat", "club", refuse, NOW)
    assert await store.communities.get("chat", "club") == SET
    await store.communities.left("chat", "club", NOW)
    assert await store.communities.get("chat", "club") == CommunitySettings()
    await store.communities.joined("chat", "club", LATER)
    await store.communities.change("chat", "club", lambda _: SET, LATER)
    assert await store.communities.get("chat", "club") == SET


async def test_changes_at_once_are_all_kept(store: Store) -> None:
    names = [f"c{number}" for number in range(20)]
    changes = [
        store.communities.change("chat", "club", partial(add_channel, name), NOW) for name in names
    ]
    await asyncio.gather(*changes)
    assert sorted((await store.communities.get("chat", "club")).channels) == sorted(names)


async def test_a_communitys_debates_are_its_own_newest_first(store: Store) -> None:
    first = await create(store, new_debate())
    other = await create(store, new_debate(community="guild"))
    second = await create(store, new_debate(created_at=LATER))
    await create(store, new_debate(platform="talk"))

    async def held(community: str, statuses: tuple[Status, ...] = (), limit: int = 9) -> list[str]:
        found = await store.listings.of_community("chat", community, statuses, limit)
        return [debate.id for debate in found]

    assert await held("club") == [second.id, first.id]
    assert await held("club", limit=1) == [second.id]
    assert await held("club", (Status.QUEUED,)) == [second.id, first.id]
    assert await held("club", (Status.VOTING,)) == []
    assert await held("guild") == [other.id]
    assert await held("nowhere") == []


async def test_only_who_started_a_debate_is_its_starter(store: Store) -> None:
    debate = await create(store, new_debate(user="u1"))
    nobodys = await create(store, new_debate(user=None))
    await create(store, new_debate(user="u2"))
    assert await store.listings.is_starter(debate.id, "u1")
    assert not await store.listings.is_starter(debate.id, "u2")
    assert not await store.listings.is_starter(debate.id, "stranger")
    assert not await store.listings.is_starter(nobodys.id, "u1")


async def test_turns_are_counted_once_each(store: Store) -> None:
    running = await run(store)
    assert await store.journal.turns_held(running.id) == 0
    assert await store.journal.newest_turn(running.id) is None
    for number in (1, 2, 2):
        said, post = turn(number), turn_post(number)
        await store.journal.record_turn(running.lease, running.id, said, post)
    assert await store.journal.turns_held(running.id) == 2
    assert await store.outbox.undelivered_turns(running.id) == 2
    assert await store.journal.newest_turn(running.id) == turn(2)


async def test_a_community_that_shows_something_has_a_page_that_no_one_can_guess(
    store: Store,
) -> None:
    shows = SET.model_copy(update={"public": (PublicPart.DEBATES,)})
    await store.communities.change("chat", "club", lambda _: SET, NOW)
    assert await store.communities.page("chat", "club") is None
    await store.communities.change("chat", "club", lambda _: shows, NOW)
    page = some(await store.communities.page("chat", "club"))
    assert len(page) == 20
    assert "club" not in page
    assert await store.communities.shown(page) == PublicCommunity("chat", "club", shows)
    assert await store.communities.shown("club") is None
    # Switched off, on again, and away: the address stays, and leads nowhere meanwhile.
    await store.communities.change("chat", "club", lambda _: SET, NOW)
    assert await store.communities.shown(page) is None
    await store.communities.change("chat", "club", lambda _: shows, NOW)
    assert await store.communities.page("chat", "club") == page
    await store.communities.change("chat", "guild", lambda _: shows, NOW)
    assert await store.communities.page("chat", "guild") not in (page, None)
    await store.communities.left("chat", "club", LATER)
    assert await store.communities.shown(page) is None

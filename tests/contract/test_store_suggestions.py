"""What every Store must do for suggested topics: list, count, use once, forget."""

import asyncio

import pytest

from engine.store import Store
from engine.store.suggestions import MOST_OF_COMMUNITY, MOST_OF_PERSON, Suggestion, next_topic
from engine.values.debate import Status
from engine.values.errors import NotAllowedError, NotFoundError, UsageError
from tests.kit import LATER, NOW, create, new_debate, run

CLUB = ("chat", "club")


async def suggest(
    store: Store, text: str, user: str = "ana", *, approved: bool = True
) -> tuple[Suggestion, bool]:
    return await store.suggestions.suggest(*CLUB, user, text, NOW, approved=approved)


async def upvote(store: Store, of: tuple[Suggestion, bool], user: str) -> Suggestion:
    return await store.suggestions.toggle(*CLUB, of[0].number, user, LATER)


async def texts(store: Store) -> list[tuple[str, int]]:
    return [(one.text, one.upvotes) for one in await store.suggestions.open(*CLUB)]


async def wanted_next(store: Store) -> str | None:
    found = await next_topic(store.communities, store.suggestions, *CLUB)
    return found.text if found else None


async def test_the_most_upvoted_topic_comes_first_and_of_these_the_oldest(store: Store) -> None:
    tea, rain, cats = [await suggest(store, text) for text in ("Tea", "Rain", "Cats")]
    number = tea[0].number
    assert tea == (Suggestion(number=number, text="Tea", approved=True, upvotes=1, mine=True), True)
    assert (await upvote(store, cats, "ben")).upvotes == 2
    assert await texts(store) == [("Cats", 2), ("Tea", 1), ("Rain", 1)]
    # A second press takes it back; each person has one.
    assert (await upvote(store, cats, "ben")).upvotes == 1
    presses = [upvote(store, rain, user) for user in ("ben", "cleo", "dan")]
    await asyncio.gather(*presses)
    assert await texts(store) == [("Rain", 4), ("Tea", 1), ("Cats", 1)]
    seen_by_ben = await store.suggestions.open(*CLUB, "ben")
    assert [one.mine for one in seen_by_ben] == [True, False, False]
    assert await store.suggestions.open("chat", "guild", "ben") == []
    with pytest.raises(NotFoundError):
        await store.suggestions.toggle("chat", "guild", rain[0].number, "ben", NOW)


async def test_the_same_topic_in_other_spelling_gets_an_upvote(store: Store) -> None:
    first = await suggest(store, "Cats are better than dogs")
    again = await suggest(store, "cats are BETTER than dogs!", "ben")
    assert not again[1]
    assert (again[0].number, again[0].upvotes) == (first[0].number, 2)
    # By the same person it counts once; another community has its own list.
    assert (await suggest(store, "Cats are better than dogs."))[0].upvotes == 2
    other = await store.suggestions.suggest(
        "chat", "guild", "ana", "Cats are better than dogs", NOW, approved=True
    )
    assert other[1]


async def test_managers_approve_and_remove(store: Store) -> None:
    tea = await suggest(store, "Tea", approved=False)
    number = tea[0].number
    assert await wanted_next(store) is None
    with pytest.raises(NotFoundError):  # nobody may vote on what is not listed
        await upvote(store, tea, "ben")
    assert (await store.suggestions.approve(*CLUB, number)).approved
    assert await wanted_next(store) == "Tea"
    assert (await store.suggestions.remove(*CLUB, number)).text == "Tea"
    assert await store.suggestions.open(*CLUB) == []
    for act in (store.suggestions.approve, store.suggestions.remove):
        with pytest.raises(NotFoundError):
            await act(*CLUB, number)


async def test_a_topic_is_used_with_the_debate_that_is_stored_on_it(store: Store) -> None:
    for text in ("Tea or coffee", "Rain"):
        await suggest(store, text)
    assert await wanted_next(store) == "Tea or coffee"
    await store.privacy.forget("chat", "gone")
    with pytest.raises(NotAllowedError):
        await create(store, new_debate(user="gone"))
    assert await wanted_next(store) == "Tea or coffee"  # neither is stored
    await create(store, new_debate(community="guild"))
    debate = await create(store, new_debate(request={"topic": "tea or COFFEE?"}))
    assert await texts(store) == [("Rain", 1)]
    with pytest.raises(UsageError, match=debate.code):
        await suggest(store, "Tea or coffee")


async def test_a_deleted_debate_takes_its_suggestion_with_it(store: Store) -> None:
    await suggest(store, "Tea or coffee")
    r = await run(store, new_debate())
    await store.debates.advance(r.lease, r.id, Status.FAILED)
    await store.leases.release(r.lease)
    await store.retention.delete(r.id)
    assert (await suggest(store, "Tea or coffee"))[1]


async def test_a_list_and_a_persons_part_of_it_are_limited(store: Store) -> None:
    for number in range(MOST_OF_PERSON):
        await suggest(store, f"Topic {number}", approved=False)
    with pytest.raises(UsageError, match="5 topics"):
        await suggest(store, "One more")
    for number in range(MOST_OF_PERSON, MOST_OF_COMMUNITY):
        await suggest(store, f"Topic {number}", f"user-{number}")
    with pytest.raises(UsageError, match="200 topics"):
        await suggest(store, "One more", "ben")
    assert not (await suggest(store, "topic 0", "ben"))[1]  # an upvote takes no place


async def test_who_is_forgotten_has_no_suggestion_and_no_upvote(store: Store) -> None:
    tea = await suggest(store, "Tea with <@ana>")
    await suggest(store, "Only hers", approved=False)
    both = await suggest(store, "Also his", approved=False)
    await suggest(store, "Also his", "ben", approved=False)
    assert (await upvote(store, tea, "ben")).upvotes == 2
    traces = await store.privacy.traces("chat", "ana")
    assert (traces.suggested, traces.upvotes) == (3, 3)
    await store.privacy.forget("chat", "ana")
    assert await texts(store) == [("Tea with <@somebody>", 1), ("Also his", 1)]
    with pytest.raises(NotAllowedError, match="optin"):
        await suggest(store, "Back again")
    with pytest.raises(NotAllowedError, match="optin"):
        await upvote(store, tea, "ana")
    assert (await store.suggestions.approve(*CLUB, both[0].number)).upvotes == 1


async def test_who_suggested_or_upvoted_is_no_stranger(store: Store) -> None:
    tea = await suggest(store, "Tea")
    await upvote(store, tea, "ben")
    await store.people.note_bots("chat", {"ana": False, "ben": False})
    assert await store.retention.drop_strangers() == 0
    await store.communities.purge(*CLUB)
    assert await store.suggestions.open(*CLUB) == []
    assert not (await store.privacy.traces("chat", "ben")).known

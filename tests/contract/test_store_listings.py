"""What every Store must do for lists: filter, search and page, and tell nothing that is sealed."""

from engine.store import Closing, Post, Store
from engine.store.listings import DebateQuery
from engine.values.debate import Model, Status
from tests.kit import NOW, create, new_debate, real, reveal, run, verdict

NOTED = """
UPDATE listings SET people = 'A', jury = 'B', agree = FALSE, dispute = :apart, lead = :lead,
    usd = :usd
WHERE debate = :debate
"""
PINE = Model(backend="near", name="pine_1%", family="pine")


async def codes(store: Store, sought: DebateQuery, start: int = 0, limit: int = 10) -> list[str]:
    debates, _ = await store.listings.find(sought, start, limit)
    return [debate.request.topic for debate in debates]


async def test_a_list_is_filtered_searched_and_paged(store: Store) -> None:
    topics = ["Tea for 100%", "Kaffee für ALLE", "Rain <@U123>", "Cats"]
    for number, topic in enumerate(topics):
        request = {"topic": topic, "language": "de" if number == 1 else "en"}
        await create(store, new_debate(request=request, community=f"club-{number % 2}"))
    assert await codes(store, DebateQuery()) == topics[::-1]
    assert (await store.listings.find(DebateQuery(), 1, 2))[1] == 4
    assert await codes(store, DebateQuery(), 1, 2) == [topics[2], topics[1]]
    assert await codes(store, DebateQuery(words=("ÜR", "kaff"))) == [topics[1]]
    assert await codes(store, DebateQuery(words=("100%",))) == [topics[0]]
    assert await codes(store, DebateQuery(words=("1%0",))) == []
    assert await codes(store, DebateQuery(words=("u123",))) == []  # a mention is not kept
    (newest,), _ = await store.listings.find(DebateQuery(), 0, 1)
    assert await codes(store, DebateQuery(words=(newest.code,))) == [topics[3]]
    assert await codes(store, DebateQuery(language="de", community="club-1")) == [topics[1]]
    assert await codes(store, DebateQuery(status=Status.CLOSED)) == []
    assert await store.listings.find(DebateQuery(series="none"), 0, 5) == ((), 0)
    choices = await store.listings.choices()
    assert choices.languages == ("de", "en")
    assert choices.communities == ("club-0", "club-1")


async def test_no_list_tells_who_speaks_or_who_won_before_the_reveal(store: Store) -> None:
    sides = {"A": PINE, "B": PINE.model_copy(update={"name": "fir"})}
    running = await run(store, new_debate(request={"sides": sides}))
    for status in (Status.RUNNING, Status.VOTING):
        await running.advance(status)
        assert await codes(store, DebateQuery(model="near/pine_1%")) == []
        assert (await store.listings.choices()).models == ()
    told = reveal(agree=False)

    def conclude(_: object) -> Closing:
        return Closing(posts=(Post(key="reveal", message=told),))

    await running.call("1/A")
    assert await store.listings.results([running.id]) == {}
    assert (await store.listings.totals(DebateQuery()))[1] == 0
    await store.votes.close(running.lease, running.id, NOW, conclude=conclude)
    (found,) = (await store.listings.results([running.id])).values()
    assert found.agree is False
    assert await codes(store, DebateQuery(disagreement=True)) == ["Tea or coffee"]
    assert await codes(store, DebateQuery(model="near/pine_1%")) == ["Tea or coffee"]
    assert await codes(store, DebateQuery(model="near/pine_11")) == []
    assert (await store.listings.choices()).models == ("near/fir", "near/pine_1%")


async def test_a_debate_that_no_one_watched_is_listed_with_its_jurys_winner(store: Store) -> None:
    running = await run(store, new_debate())
    await running.advance(Status.RUNNING)
    await store.journal.record_verdict(running.lease, running.id, verdict(), {}, closes_at=NOW)
    (found,) = (await store.listings.results([running.id])).values()
    assert (found.people, found.jury, round(found.lead or 0, 6)) == (None, "A", 0.6)


async def test_lists_are_sorted_and_counted_without_what_is_sealed(store: Store) -> None:
    sums = {"far": (0.9, 0.5, 0.1), "near": (0.2, 0.1, 0.3), "even": (0.5, 0.0, 0.2)}
    for topic, (dispute, lead, usd) in {**sums, "sealed": (1.0, 0.0, 9.0)}.items():
        running = await run(store, real(new_debate(request={"topic": topic})))
        end = Status.VOTING if topic == "sealed" else Status.PARTIAL
        await running.advance(Status.RUNNING, end)
        noted = {"debate": running.id, "apart": dispute, "lead": lead, "usd": usd}
        await store.database.run(NOTED, **noted)
    for order, sorted_topics in {
        "": ["sealed", "even", "near", "far"],
        "disputed": ["far", "even", "near", "sealed"],
        "closest": ["even", "near", "far", "sealed"],
        "dearest": ["near", "even", "far", "sealed"],
    }.items():
        assert await codes(store, DebateQuery(order=order)) == sorted_topics, order
    query = DebateQuery(format="oxford", disagreement=True)  # chips count what else could be chosen
    assert await store.listings.facets(query) == {
        ("partial", "classic", "en", True): 3,
        ("voting", "classic", "en", False): 1,
    }
    decided, usd = await store.listings.totals(DebateQuery())
    assert decided == (("far", "A", "B"), ("near", "A", "B"), ("even", "A", "B"))
    assert round(usd, 6) == 0.6

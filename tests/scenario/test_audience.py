"""Turns watched while they are written, in a whole debate."""

import itertools
import re

import pytest

import engine.stage.repair
from engine.values.debate import Sampling, Status
from tests.doubles.hall import Hall, has_ended, with_sides
from tests.kit import Onlooker

ROLES = ("debater", "cross", "closing", "judge", "juror")
TURN = re.compile(r"(\w+), (\S+), turn \d of \d")


@pytest.fixture(autouse=True)
def _each_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell pieces at once: a machine that stands still for a while leaves none out."""
    monkeypatch.setattr(engine.stage.repair, "UPDATE_SECONDS", 0.0)


def posted(hall: Hall) -> dict[tuple[str, str], str]:
    turns = [(TURN.match(stored.body), stored.body) for stored in hall.thread()]
    return {(head[1], head[2]): body for head, body in turns if head}


async def test_every_turn_is_watched_growing_into_its_post_and_no_juror_is(hall: Hall) -> None:
    onlooker = Onlooker()
    async with hall.open(audience=onlooker.follow) as session:
        debate_id = await session.start(with_sides("maple?latency=0.15", "willow?latency=0.15"))
        debate = await session.voting(debate_id)
    turns = posted(hall)
    assert len(turns) == 8
    assert onlooker.by_turn().keys() == turns.keys()
    for key, drafts in onlooker.by_turn().items():
        assert {draft.debate for draft in drafts} == {debate.code}
        # A last turn's post says between its parts whether the side keeps its position.
        parts = [line for draft in drafts for line in draft.text.splitlines()]
        assert all(part in turns[key] for part in parts)
        assert not any("maintains" in part for part in parts)
        counts = [draft.words for draft in drafts]
        assert counts == sorted(counts)
        assert counts[-1] > 20
        assert drafts[-1].text
        assert not any(draft.dropped for draft in drafts)


async def test_a_structured_turn_is_watched_as_words_and_not_as_json(hall: Hall) -> None:
    onlooker = Onlooker()
    async with hall.open(audience=onlooker.follow) as session:
        sides = with_sides("maple?latency=0.35", "willow?latency=0.35")
        warmth = dict.fromkeys(ROLES, Sampling(temperature=0.5, max_tokens=2000))
        asked = sides.model_copy(update={"format": "structured", "sampling": warmth})
        await session.voting(await session.start(asked))
    turns = posted(hall)
    assert onlooker.by_turn().keys() == turns.keys()
    for drafts in onlooker.by_turn().values():
        assert any(draft.words > 10 for draft in drafts)
        assert not any("{" in draft.text or '":' in draft.text for draft in drafts)


@pytest.mark.slow
async def test_a_turn_that_is_sent_back_begins_anew(hall: Hall) -> None:
    onlooker = Onlooker()
    async with hall.open(audience=onlooker.follow) as session:
        sides = with_sides("maple?latency=0.15&over=once", "willow")
        await session.voting(await session.start(sides))
    counts = [draft.words for draft in onlooker.by_turn()["A", "opening"]]
    assert any(later < earlier for earlier, later in itertools.pairwise(counts))


async def test_a_turn_that_is_quicker_than_a_telling_is_not_watched(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.stage.repair, "UPDATE_SECONDS", 60.0)
    onlooker = Onlooker()
    async with hall.open(audience=onlooker.follow) as session:
        await session.voting(await session.start(with_sides("maple", "willow")))
    assert not onlooker.seen


async def test_a_turn_that_comes_to_nothing_is_dropped(hall: Hall) -> None:
    onlooker = Onlooker()
    async with hall.open(audience=onlooker.follow) as session:
        sides = with_sides("maple?fail=401", "willow")
        debate_id = await session.start(sides)
        debate = await session.until(debate_id, has_ended)
    assert debate.status is Status.FAILED
    assert onlooker.by_turn()["A", "opening"][-1].dropped

"""What every Store must do with what voters say beside their votes."""

import asyncio
from typing import Any

from engine.store import Store
from engine.store.ballots import RemarkResult, VoterComment
from engine.store.privacy import PersonTraces
from engine.values.debate import BallotKind
from engine.values.verdicts import Question
from tests.kit import LATER, NOW, Running, cast, new_debate, run

MENU = ("house/oak", "house/elm")


async def voting(store: Store) -> Running:
    r = await run(store, new_debate())
    await r.open_vote()
    return r


def remark(debate: str, user: str, question: Question | None = None, **fields: Any) -> VoterComment:
    plain = {
        "debate": debate,
        "ballot": BallotKind.OPEN,
        "platform": "chat",
        "user": user,
        "question": question,
        "received_at": NOW,
    }
    return VoterComment.model_validate(plain | fields)


async def test_a_voters_remarks_replace_one_another_and_are_logged(store: Store) -> None:
    r = await voting(store)
    await store.votes.cast(cast("ann", "A"))
    for question, option, side in (
        (Question.GROUND, "logic", ""),
        (Question.GROUND, "style", ""),
        (Question.CONFIDENCE, "close", ""),
        (Question.GUESS, "3", "A"),
        (Question.GUESS, "0", "B"),
    ):
        await store.ballots.remark(remark(r.id, "ann", question, option=option, step=side))
    held = RemarkResult(
        outcome="stored",
        option="A",
        ground="style",
        confidence="close",
        guesses={"A": "3", "B": "0"},
    )
    assert await store.ballots.remark(remark(r.id, "ann")) == held
    logged = len(await store.votes.events(r.id))
    # A thousand taps on the same button at once add nothing.
    taps = [remark(r.id, "ann", Question.GROUND, option="style") for _ in range(50)]
    told = await asyncio.gather(*map(store.ballots.remark, taps))
    assert set(map(str, told)) == {str(held.model_copy(update={"outcome": "duplicate"}))}
    assert len(await store.votes.events(r.id)) == logged
    traces = await store.privacy.traces("chat", "ann")
    assert (traces.votes, traces.grounds, traces.confidences, traces.guesses) == (1, 1, 1, 2)


async def test_own_data_has_the_menu_of_models_only_where_its_person_guessed(store: Store) -> None:
    new = new_debate()
    r = await run(
        store, new.model_copy(update={"setup": new.setup.model_copy(update={"menu": MENU})})
    )
    await r.open_vote()
    for user in ("ann", "bob"):
        await store.votes.cast(cast(user, "A"))
    await store.ballots.remark(remark(r.id, "ann", Question.GUESS, option="1", step="B"))
    await store.ballots.remark(remark(r.id, "bob", Question.GROUND, option="logic"))
    menus = [
        own.debates[r.id].get("menu")
        for user in ("ann", "bob")
        if (own := await store.privacy.own("chat", user)) is not None
    ]
    assert menus == [list(MENU), None]


async def test_only_those_who_voted_may_say_more_and_only_until_the_close(store: Store) -> None:
    unopened = await run(store, new_debate())
    assert (await store.ballots.remark(remark(unopened.id, "ann"))).outcome == "unknown"
    r = await voting(store)
    said: dict[str, Any] = {"question": Question.GROUND, "option": "logic"}
    assert (await store.ballots.remark(remark(r.id, "stranger", **said))).outcome == "unvoted"
    assert await store.privacy.traces("chat", "stranger") == PersonTraces()
    await store.votes.cast(cast("ann", "A"))
    await store.votes.cast(cast("ann", "A", added=False))  # taken back
    assert (await store.ballots.remark(remark(r.id, "ann", **said))).outcome == "unvoted"
    await store.votes.cast(cast("bob", "B"))
    await store.privacy.forget("chat", "bob")
    assert (await store.ballots.remark(remark(r.id, "bob", **said))).outcome == "forgotten"
    await store.votes.cast(cast("cem", "B"))
    await store.votes.close(r.lease, r.id, LATER)
    assert (await store.ballots.remark(remark(r.id, "cem", **said))).outcome == "closed"
    assert not await store.votes.events(r.id, Question.GROUND)

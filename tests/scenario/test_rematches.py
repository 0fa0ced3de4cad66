"""Rematches on Discord and Slack: from the card's buttons to the record."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from bot.app import App
from engine.values.debate import Debate
from tests.doubles.archive import export_rows
from tests.doubles.command import Ended, rostrum
from tests.kit import record_of, until, until_true
from tests.scenario.chat_stage import Chat, OnDiscord, close, vote
from tests.scenario.discord_stage import voting
from tests.scenario.test_suggested_topics import change

NAMES = ("maple", "willow")
# Messages in the thread of a classic debate. They were 10 before sides had names and results
# pictures, and may be 13; Slack posts the picture by itself.
POSTED = {"Discord": 10, "Slack": 11}


async def held(chat: Chat, app: App, number: int) -> str:
    """Wait until people can vote on the newest of so many debates; return what they vote on."""

    async def begun() -> bool:
        debates = await app.store.listings.recent()
        return len(debates) == number and debates[0].thread is not None

    await until_true(begun)
    return await chat.ballot()


async def finish(chat: Chat, app: App, ballot: str) -> tuple[Debate, str]:
    """Let one person vote, close, and wait for the news; return the debate and its reveal."""
    await voting(app)
    await chat.react("ben", ballot, "A")
    reveal = await close(chat)
    debate = await chat.ended(app)
    await until(lambda: "🏁" in chat.card)
    return debate, reveal


async def exported(app: App, debate: Debate) -> tuple[dict[str, Any], dict[str, Any]]:
    record = await record_of(app.store, debate.id)
    (row,), (answer,) = export_rows("debates", record), export_rows("votes", record)
    return row, answer


async def test_a_rematch_draws_sides_again_in_secret_and_a_swap_is_no_blind_vote(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        first, _ = await finish(chat, app, await vote(chat))
        card = chat.announcement
        assert len(chat.thread()) == POSTED[chat.title]
        assert list(chat.buttons(card)) == ["Why?", "Details", "Rematch", "Swap sides"]
        # Of two presses at once, one starts it.
        answers = await asyncio.gather(
            chat.push("cleo", card, "Rematch"), chat.push("olga", card, "Rematch")
        )
        assert sum("starts now" in said for said in answers) == 1, answers
        assert sum("A rematch is already under way" in said for said in answers) == 1
        ballot = await held(chat, app, 2)
        thread = str(first.thread).replace(".", "").rpartition("/")[2]
        assert "Rematch of" in chat.card
        assert thread in chat.card
        before = "".join(answers) + chat.card + str(chat.thread())
        assert not [name for name in NAMES if name in before]
        again, reveal = await finish(chat, app, ballot)
        assert again.setup.rematch_of == first.id
        assert not again.setup.swapped
        assert set(again.request.sides.values()) == set(first.request.sides.values())
        same = ("topic", "format", "options", "rounds", "vote_minutes", "quorum", "ballot")
        for name in same:
            assert getattr(again.request, name) == getattr(first.request, name), name
        assert again.setup.seed != first.setup.seed
        assert re.search(r"People: \*\*🔵 A\*\* \(1–0\)", reveal)
        assert "Rematch of" in chat.card
        # Everyone can know who is who after a swap of the first one's sides.
        await chat.push("cleo", card, "Swap sides")
        ballot = await held(chat, app, 3)
        assert "Swapped sides: " in chat.card
        assert not [name for name in NAMES if name in chat.card + str(chat.thread())]
        swapped, reveal = await finish(chat, app, ballot)
        assert swapped.setup.swapped
        sides, other = first.request.sides, {"A": "B", "B": "A"}
        assert swapped.request.sides == {side: sides[other[side]] for side in sides}
        assert "**🔵 A** (1–0), knowing the models" in reveal
        row, answer = await exported(app, again)
        assert (row["rematch_of"], row["swapped"]) == (first.id, False)
        assert (row["human_winner"], answer["gold"]) == ("A", True)
        row, answer = await exported(app, swapped)
        assert (row["rematch_of"], row["swapped"]) == (first.id, True)
        assert (row["human_winner"], row["agree"], row["gold_a"]) == (None, None, 0)
        assert (answer["gold"], answer["reason"]) == (False, "known")


async def test_what_cannot_be_repeated_says_why(chat: Chat) -> None:
    async with chat.stage.process() as app:
        if not isinstance(chat, OnDiscord):  # which has no room for one more command
            await chat.ask("ada", "rematch", "has a result yet")
        ballot = await vote(chat)
        (debate,) = await app.store.listings.recent()
        if not isinstance(chat, OnDiscord):
            await chat.ask("ada", "rematch", "has no result yet", debate=debate.code)
        await finish(chat, app, ballot)
        await change(chat, "models", "rehearsal/willow")
        said = await chat.push("ada", chat.announcement, "Rematch")
        assert "rehearsal/maple cannot debate here any more" in said
        assert "the command models lists them" in said
        assert len(await app.store.listings.recent()) == 1


@pytest.mark.slow
def test_a_terminal_holds_a_rematch_and_refuses_what_stays_as_it_was(tmp_path: Path) -> None:
    def debate(*given: str) -> Ended:
        return rostrum(tmp_path, "debate", *given)

    held = debate("Tea beats coffee", "--votes", "A=3,B=2")
    (first,) = re.findall(r"(?m)^\W*(\w{6})\s+closed", rostrum(tmp_path, "list").out)
    sides = re.findall(r"([AB]) was (\S+)", held.out)[:2]
    swapped = debate("--rematch", first, "--swap", "--votes", "A=3,B=2").out
    assert f"Swapped sides: each model of {first} now argues the other side." in swapped
    assert "(3–2), knowing the models" in swapped
    other = {"A": "B", "B": "A"}
    named = {side: model.rstrip(",") for side, model in re.findall(r"([AB]) was (\S+)", swapped)}
    assert named == {other[side]: model.rstrip(",") for side, model in sides}
    said = debate("--rematch", first, "--rounds", "2").failed(2)
    assert "--rounds stays as it was in a rematch" in said
    assert "--swap needs --rematch" in debate("--swap").failed(2)

"""Debates on Discord and on Slack, from the command to the reveal, as far as they are alike."""

from __future__ import annotations

from tests.kit import until
from tests.scenario.chat_stage import NOBODY, Chat, OnDiscord, OnSlack, close, vote
from tests.scenario.discord_stage import counted_in, voting

NAMES = ("rehearsal/maple", "rehearsal/willow", "rehearsal/oak", "rehearsal/elm", "rehearsal/ash")


async def test_before_the_reveal_no_byte_names_a_model_but_the_starters_own_answer(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        assert "`rehearsal/maple` for 🔵 A" in await chat.start(model_a="rehearsal/maple")
        await until(lambda: chat.thread() or None)
        for command in ("status", "result", "list"):
            await chat.ask("ben", command)
        await chat.ballot()
        debate = await voting(app)
        for command in ("status", "result", "list", "review"):
            await chat.ask("ben", command)
        await chat.ask("olga", "export")
        await chat.push("ben", chat.announcement, "Status")
        if isinstance(chat, OnSlack):
            chat.slack.open_home("olga")
            await until(lambda: chat.slack.world.homes)
        _, ballots = await app.store.journal.judged(debate.id)
        judged = [ballot.raw for ballot in ballots] + [ballot.reasons for ballot in ballots]
        assert judged
        platform = chat.discord if isinstance(chat, OnDiscord) else chat.slack
        assert not [text for text in judged if not text or text in platform.sent_text]
        said = [*chat.sent(), *chat.answers_to("ben"), *chat.answers_to("olga")]
        assert not [text for text in said if any(name in text for name in NAMES)]
        assert {"rehearsal/maple", "rehearsal/willow"} <= set((await close(chat)).split("`"))


async def test_the_announcement_shows_how_far_the_debate_is(chat: Chat) -> None:
    chat.stage.settings["models"] = "rehearsal/maple?latency=0.2, rehearsal/willow?latency=0.2"
    async with chat.stage.process() as app:
        await chat.start()
        await until(lambda: chat.thread() and "of 8 turns posted" in chat.card)
        assert [*chat.buttons(chat.announcement)] == ["Stop", "Status"]
        await chat.ballot()
        debate = await voting(app)
        assert debate.vote_deadline is not None
        moment = int(debate.vote_deadline.timestamp())
        shown = f"<t:{moment}:R>" if isinstance(chat, OnDiscord) else f"<!date^{moment}^at {{"
        await until(lambda: "Vote now in" in chat.card and shown in chat.card)
        await close(chat)
        await until(lambda: "Read the whole debate" in chat.card)
        labels = ["Why?", "Details", "Rematch", "Swap sides"]
        assert [*chat.buttons(chat.announcement)] == labels
    if isinstance(chat, OnDiscord):
        assert "'#1 · " in chat.card
    assert chat.stage.references().count(f"{debate.code}·1·1/1") == 1


async def test_buttons_stop_a_debate_after_a_restart_for_those_who_may(chat: Chat) -> None:
    chat.stage.settings["models"] = "rehearsal/maple-slow, rehearsal/willow"
    async with chat.stage.process():
        await chat.start()
        await until(lambda: chat.announcement)
    async with chat.stage.process() as app:
        shown = await chat.push("cleo", chat.announcement, "Status")
        assert "turns done" in shown or "queued" in shown
        refused = await chat.push("cleo", chat.announcement, "Stop")
        assert "Only its starter or a manager" in refused
        assert "is stopping" in await chat.push("ada", chat.announcement, "Stop")
        await chat.ended(app)
        await until(lambda: "stopped" in chat.card)
        assert [*chat.buttons(chat.announcement)] == ["Status"]


async def test_private_ballots_are_cast_by_buttons_also_after_a_restart(chat: Chat) -> None:
    async with chat.stage.process() as app:
        ballot = await vote(chat, ballot="private")
        assert chat.seeds(ballot) == set()
        await voting(app)
        a, b, tie, _, withdraw, *_ = chat.buttons(ballot)
        assert "recorded: 🔵 A" in await chat.push("ben", ballot, a)
        await chat.push("ben", ballot, b)
        await chat.push("cleo", ballot, a)
        assert "withdrawn" in await chat.push("cleo", ballot, withdraw)
    async with chat.stage.process():
        await chat.push("olga", ballot, tie)
        assert counted_in(await close(chat)) == NOBODY | {"B": 1, "tie": 1}
    assert chat.buttons(ballot) == {}
    if isinstance(chat, OnSlack):
        answers = [one.text for one in chat.slack.sent if one.method == "response_url"]
        assert all('"replace_original": false' in text for text in answers)  # the ballot stays

"""Slack's texts, payloads and manifests: pure parts of the adapter."""

import asyncio
import html
import json
import time
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, strategies as st

from adapters.slack import render
from adapters.slack.fields import settings_form
from adapters.slack.install import manifest, to_json
from adapters.slack.render import (
    NAMES,
    SlackPayload,
    carries,
    escape,
    fallback,
    held_by,
    is_whole,
    markdown,
    reaction_of,
    typed,
)
from adapters.slack.venue import LIMITS, SlackPlace
from adapters.wire import GAP_SECONDS, ChannelPace
from engine.chat.answers.management import SettingLine, SettingsAnswer
from engine.store.communities import SETTING_NAMES
from engine.tally.questions import vote_options
from engine.values.debate import BallotKind
from engine.values.messages import (
    Announcement,
    Arc,
    ArcPoint,
    File,
    Progress,
    Report,
    TurnPost,
    VoteInvite,
)
from engine.values.text import clean, split_variant
from engine.words.buttons import read_button
from tests.doubles.facts import Slack
from tests.doubles.hall import DEFAULTS
from tests.doubles.slack.methods import check_message, check_view
from tests.doubles.slack.state import Message, Rules
from tests.kit import announcement, estimate, speech

ROOT = Path(__file__).resolve().parents[2]


def turn(text: str, **more: Any) -> TurnPost:
    return speech(text, **{"limit": 5} | more)


def announced(progress: Progress | None = None) -> Announcement:
    return announcement(estimate=estimate(calls=9, calls_max=12, minutes=2), progress=progress)


@given(st.text())
def test_escaped_text_reads_as_it_was_and_pings_nobody(text: str) -> None:
    shown = html.unescape(escape(text)).replace("\u2060", "")
    assert Message("C1", "1", "U1", escape(text)).pings == set()
    assert Message("C1", "1", "U1", markdown(text)).pings == set()
    assert shown == clean(text).replace("\u2060", "")
    assert markdown("> said\n> > twice\na > b") == "> said\n> > twice\na &gt; b"


@pytest.mark.parametrize("written", ["<{}>", "&lt;{}&gt;", "&amp;lt;{}&amp;gt;", "<<{}>", "&<{}>"])
@pytest.mark.parametrize("mention", ["!channel", "@U1", "!subteam^S1"])
def test_escaped_text_pings_nobody_however_often_it_is_decoded(written: str, mention: str) -> None:
    for shown in (escape(written.format(mention)), markdown(written.format(mention))):
        decoded = shown
        for _ in range(4):
            assert Message("C1", "1", "U1", decoded).pings == set()
            decoded = html.unescape(decoded)


def test_what_was_typed_is_read_as_people_read_it() -> None:
    told = "a &lt; b &amp;amp; <#C1|hall> <@U1|ada> <https://x.example/?a=1> <mailto:a@b.c|a@b.c>"
    assert typed(told) == "a < b &amp; #hall @ada https://x.example/?a=1 a@b.c"
    assert typed("settings channels=<#C1|hall>,<#C2|>", ids=True) == "settings channels=C1,C2"


@given(
    st.lists(
        st.sampled_from(["<!here> ", "word ", "&", "\n\n", "```\n", "| a |\n|---|\n", "x" * 900])
    )
)
def test_every_piece_fits_what_slack_takes(pieces: list[str]) -> None:
    for part in render.parts(turn("".join(pieces * 3)), "k7f2qz·3"):
        payload = SlackPayload.of(part)
        body = payload.body(part.reference)
        check_message(body["text"], body["blocks"], body["metadata"])
        assert carries(body, part.reference)
        assert "k7f2qz" not in f"{body['text']}{body['blocks']}"
        assert carries({**body, "blocks": []}, part.reference)
        assert not carries(body, "k7f2qz·4·1/1")


def test_the_fallback_is_the_whole_text_in_plain_words_up_to_its_limit() -> None:
    text = "# Work\n\nIt **pays**, says `one`.\n\n```\nx = 1\n```\n\n" + "word " * 900 + "<!here>"
    (part,) = render.parts(turn(text), "k7f2qz·3")
    said = SlackPayload.of(part).text
    assert said.startswith("🔵 A · opening · turn 1 of 8\nWork\n\nIt pays, says one.\n\nx = 1\n")
    assert 2_900 < len(said) <= 3_000
    assert said.endswith("word…")
    (part,) = render.parts(VoteInvite(options=("A", "B"), minutes=30, quorum=5), "k7f2qz·4")
    said = SlackPayload.of(part).text
    assert [told for told in ("Vote", "React below", "needs 5 votes") if told not in said] == []
    assert "**" not in said
    assert fallback("[Read it](https://bay.example/d/1?x=2) now") == "Read it now"


def test_every_piece_of_a_long_turn_says_whose_it_is_and_files_go_with_the_last() -> None:
    pieces = [SlackPayload.of(part) for part in render.parts(turn("word " * 5000), "k7f2qz·3")]
    assert len(pieces) == 3
    above = [piece.blocks[0]["elements"][0]["text"] for piece in pieces]
    assert above[0] == "🔵 A · opening · turn 1 of 8"
    assert above[1:] == [f"{above[0]} · part {number}" for number in (2, 3)]
    assert all(piece.text.startswith("🔵 A · opening") for piece in pieces)
    file = File(name="a.txt", media="text/plain", content="x")
    parts = render.parts(Report(title="T", text="word " * 5000, files=(file,)), "k7f2qz·3")
    assert [len(SlackPayload.of(part).files) for part in parts] == [0] * (len(parts) - 1) + [1]
    arc = Arc(title="Arc", points=(ArcPoint(number=1, side="A", score=50.0),), alt="one turn")
    assert SlackPayload.of(render.parts(arc, "k7f2qz·4")[-1]).files


def test_an_announcement_shows_its_state_and_lets_nobody_stop_what_is_over() -> None:
    gone = Progress(phase="gone", turns=3, total=8, reason="<!channel> was deleted & lost")
    payload = SlackPayload.of(render.parts(announced(gone), "k7f2qz·1")[-1])
    check_message(payload.text, payload.blocks, None)
    message = Message("C1", "1", "U1", blocks=payload.blocks)
    assert "Ended: its thread is gone" in message.text
    assert message.pings == set()
    (actions,) = [block for block in payload.blocks if block["type"] == "actions"]
    assert [element["text"]["text"] for element in actions["elements"]] == ["Status"]


def test_the_pace_is_one_message_a_second_and_edits_leave_some_to_votes() -> None:
    assert GAP_SECONDS >= Rules().post_gap * Rules().burst == 1.0
    assert 60 / LIMITS.edit_seconds <= 0.8 * Slack.TIERS[Slack.METHODS["chat.update"]]


def test_every_contender_has_a_mark_of_its_own_and_a_place_reads_back() -> None:
    assert len({render.mark_of(str(n)) for n in range(1, 10)}) == 9
    assert [render.mark_of(side) for side in ("A", "B", "judge")] == ["🔵", "🔴", "🟡"]
    for text in ("T1:C1", "T1:C1/17.5"):
        assert str(SlackPlace.parse(text)) == text


def test_every_setting_that_slack_has_is_in_the_form() -> None:
    lines = [SettingLine(name=name, value="", own=False) for name in SETTING_NAMES]
    view = settings_form(SettingsAnswer(settings=tuple(lines)), DEFAULTS)
    check_view(view)
    fields = {block["block_id"] for block in view["blocks"]}
    assert fields == set(SETTING_NAMES) - {"manager_role", "account_days", "member_days"}


def test_a_private_ballot_has_a_button_for_each_of_nine_contenders() -> None:
    options = vote_options(tuple("123456789"))
    invite = VoteInvite(options=options, minutes=30, quorum=5, ballot=BallotKind.PRIVATE)
    payload = SlackPayload.of(render.parts(invite, "k7f2qz·5")[0])
    check_message(payload.text, payload.blocks, None)
    (actions,) = [block for block in payload.blocks if block["type"] == "actions"]
    asked = [read_button(element["action_id"]) for element in actions["elements"]]
    assert [press.of for press in asked if press] == [*options, ""]
    assert read_button("someone:else") is None


def test_reactions_are_options_whatever_their_tone() -> None:
    assert reaction_of("+1") == reaction_of("thumbsup") == "up"
    assert reaction_of("thumbsup::skin-tone-3") == reaction_of("+1::skin-tone-3")
    assert split_variant(reaction_of("+1::skin-tone-3") or "") == ("up", "skin-tone-3")
    assert reaction_of("tada") is None
    assert {reaction_of(name) for name in NAMES.values()} == set(NAMES)
    told = [
        {"name": "+1", "count": 2, "users": ["U1", "U2"]},
        {"name": "+1::skin-tone-2", "count": 1, "users": ["U3"]},
        {"name": "tada", "count": 9, "users": []},
    ]
    assert held_by(told) == {"up": {"U1", "U2"}, "up::skin-tone-2": {"U3"}}
    assert is_whole(told[:2])
    assert not is_whole(told)


async def test_channels_are_paced_apart_and_a_long_queue_waits() -> None:
    pace, began = ChannelPace(0.1, after_answers=True), time.monotonic()

    async def send(channel: str) -> float:
        async with pace.turn(channel):
            return time.monotonic() - began

    moments = await asyncio.gather(send("C1"), send("C1"), send("C2"), send("C1"), send("C1"))
    first, second, other, *queued = moments
    assert second - first >= 0.1
    assert other < second
    assert queued[0] - second >= 0.1
    assert queued[1] - queued[0] >= 0.1


@pytest.mark.parametrize("mode", ["socket", "http"])
def test_the_manifests_are_those_printed_and_ask_for_what_the_double_grants(
    mode: Literal["socket", "http"],
) -> None:
    kept = (ROOT / f"deploy/slack/manifest-{mode}.json").read_text(encoding="utf-8")
    made = manifest(mode)
    assert kept == to_json(made) + "\n"
    assert json.loads(kept)["settings"]["socket_mode_enabled"] == (mode == "socket")
    assert sorted(made["oauth_config"]["scopes"]["bot"]) == sorted(Slack.SCOPES)
    assert made["settings"]["event_subscriptions"]["bot_events"] == list(Slack.EVENTS)
    said = made["display_information"]["long_description"]
    least, most = Slack.APP_DESCRIPTION
    assert least <= len(said) <= most
    assert "channels:history and groups:history only to look" in said
    # Exports are sent to the messages tab.
    assert made["features"]["app_home"]["messages_tab_enabled"] is True


def test_a_manifest_bears_the_names_it_is_given() -> None:
    made = manifest("http", "Agora", "https://agora.example.com/")
    assert made["display_information"]["name"] == "Agora"
    address = made["settings"]["interactivity"]["request_url"]
    assert address == "https://agora.example.com/slack/events"


@pytest.mark.parametrize("sign", ["<@", "<#", "<https:", "<@U1|", "&lt;"])
def test_what_is_typed_holds_nobody_up(sign: str) -> None:
    began = time.process_time()
    typed(sign * (40_000 // len(sign)))
    assert time.process_time() - began < 1

"""What people see of each message in Discord, and that Discord would take it."""

import json
from typing import Any

from hypothesis import given, strategies as st

from adapters.discord import render
from adapters.discord.render import LINE, DiscordPayload, carries, nonce_of, shown
from engine.values.debate import BallotKind, Violation
from engine.values.messages import File, Message, Notice, Report, TurnPost, VoteInvite
from tests.doubles.facts import Discord
from tests.kit import speech

STEM = "k7f2qz·3"


def turn(text: str, side: str = "A", **more: Any) -> TurnPost:
    return speech(text, side, **{"number": 3, "words": 412} | more)


def bodies(message: Message) -> list[dict[str, Any]]:
    return [DiscordPayload.of(part).body for part in render.parts(message, STEM)]


def embed(message: Message) -> dict[str, Any]:
    (body,) = bodies(message)
    (only,) = body["embeds"]
    return dict(only)


def test_the_sides_differ_in_colour_and_nine_contenders_fit_in_rows_of_buttons() -> None:
    colours = [embed(turn("x", side))["color"] for side in ("A", "B")]
    assert colours == [render.BLUE, render.RED]
    numbered = {render.colour_of(str(number)) for number in range(1, 10)}
    assert len(numbered) == 9
    options = (*map(str, range(1, 10)), "tie", "weak")
    invite = VoteInvite(options=options, minutes=1, quorum=0, ballot=BallotKind.PRIVATE)
    rows = bodies(invite)[0]["components"]
    assert [len(row["components"]) for row in rows] == [5, 5, 2]


@given(st.text(max_size=9000))
def test_every_piece_fits_and_carries_its_reference(text: str) -> None:
    parts = render.parts(turn(text), STEM)
    for part in parts:
        (shown,) = DiscordPayload.of(part).body["embeds"]
        assert len(shown["description"].encode("utf-16-le")) // 2 <= Discord.DESCRIPTION
        assert carries({"embeds": [shown]}, part.reference)
        assert not any(carries({"embeds": [shown]}, p.reference) for p in parts if p is not part)


def test_a_long_turn_is_cut_between_sentences_and_balances_its_code() -> None:
    text = "A sentence here. " * 300 + "\n```python\n" + "print('x')\n" * 400 + "```\nThe end."
    first, *more = bodies(turn(text))
    assert first["embeds"][0]["description"].endswith(".")
    assert "author" in first["embeds"][0]
    assert not any("author" in body["embeds"][0] for body in more)
    assert more[-1]["embeds"][0]["footer"]["text"].startswith("412 of 500 words · #3 · ")
    for body in (first, *more):
        assert body["embeds"][0]["description"].count("```") % 2 == 0
    assert more[-1]["embeds"][0]["description"].endswith("The end.")


def test_tables_are_code_lines_are_drawn_and_nothing_is_hidden_as_a_spoiler() -> None:
    said = shown("Look:\n| a | b |\n|---|---|\n| 1 | 2 |\nafter | this")
    assert said.startswith("Look:\n```\n| a | b |")
    assert "||" not in shown("the ||hidden|| word")
    for line in ("---", "***", "_____  "):
        assert shown(f"above\n\n{line}\n\nbelow") == f"above\n\n{LINE}\n\nbelow"
        for same in (f"```\n{line}\n```", f"{line} is not alone"):
            assert shown(same) == same
    for same in ("a | b\nno table", "```\n| a |\n|---|\n| 1 |\n```"):
        assert shown(same) == same


def test_a_violation_stands_outside_of_open_code_and_a_missed_turn_names_no_writer() -> None:
    broken = Violation(kind="too_many_words", measured=600, limit=500)
    shown = embed(turn("```\nopen", violations=(broken,)))["description"]
    assert "```\nopen\n```\n\n" in shown
    assert "600 words; the limit is 500" in shown
    missed = Violation(kind="missed", measured=0, limit=0)
    [body] = bodies(turn("(No turn was given.)", person=True, words=0, violations=(missed,)))
    assert "written by a person" not in json.dumps(body)
    assert "0 words" not in json.dumps(body)


def test_files_travel_with_the_last_piece() -> None:
    file = File(name="trace.json", media="application/json", content='{"a": "ä"}')
    *before, last = render.parts(Report(title="Trace", text="word " * 2000, files=(file,)), STEM)
    assert before
    assert all(not DiscordPayload.of(part).files for part in before)
    fields = DiscordPayload.of(last).form()
    assert json.loads(fields[0]["value"])["attachments"] == [{"id": 0, "filename": "trace.json"}]
    assert fields[1]["value"] == '{"a": "ä"}'.encode()


def test_a_nonce_is_of_its_place_and_a_reference_in_no_other_that_begins_alike() -> None:
    assert nonce_of("1", f"{STEM}·1/1") == nonce_of("1", f"{STEM}·1/1")
    assert nonce_of("1", f"{STEM}·1/1") != nonce_of("2", f"{STEM}·1/1")
    assert len(nonce_of("1", STEM)) <= Discord.NONCE
    message = {"embeds": [{"footer": {"text": "5 words · #3 · 1/12 · k7f2qz"}}, {"title": "x"}]}
    assert not carries(message, "k7f2qz·3·1/1")
    assert not carries(message, "k7f2qzgap·3·1/12")
    assert carries(message, "k7f2qz·3·1/12")
    other = {"embeds": [{"footer": {"text": "#13 · k7f2qz"}}]}
    assert not carries(other, "k7f2qz·3·1/1")
    assert carries(other, "k7f2qz·13·1/1")
    assert embed(Notice(text=""))["footer"]["text"] == "#3 · k7f2qz"  # without words

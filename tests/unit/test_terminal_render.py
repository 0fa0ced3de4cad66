"""What a reader of the terminal sees of each message, in colour and in plain lines."""

import io

import pytest
from rich.console import Console

from adapters.terminal.render import parts, plain, pretty
from engine.values.messages import MESSAGE, Message, Notice, StanceInvite
from tests.kit import announcement, estimate, speech
from tests.unit.text_cases import won

TURN = speech("## Work\n\nIt **pays**.")
ANNOUNCEMENT = announcement(
    "Remote work is better",
    conditions="Consider only Türkiye",
    rounds=("opening", "rebuttal"),
    jurors=1,
    vote_minutes=0.5,
    estimate=estimate(minutes=1.5, usd=0.01, usd_max=0.3),
)

REVEAL = won()


def said(message: Message) -> str:
    return plain(message, "k7f2qz·3·1/1")


def drawn(message: Message, *, colour: bool = True, dim: bool = False) -> str:
    screen = io.StringIO()
    console = Console(
        file=screen,
        force_terminal=True,
        width=100,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )
    console.print(pretty(message, "k7f2qz·3·1/1", dim=dim))
    return screen.getvalue()


@pytest.mark.parametrize("message", [TURN, ANNOUNCEMENT, REVEAL], ids=lambda m: m.kind)
def test_a_part_carries_the_message_itself(message: Message) -> None:
    (part,) = parts(message, "k7f2qz·3")
    assert part.reference == "k7f2qz·3·1/1"
    assert MESSAGE.validate_json(part.body) == message


def test_sides_and_jury_have_their_colours_and_markdown_is_formatted() -> None:
    assert "\x1b[34m" in drawn(TURN)
    assert "\x1b[31m" in drawn(TURN.model_copy(update={"side": "B", "seat": "B"}))
    assert "\x1b[33m" in drawn(REVEAL)
    assert "\x1b[2" in drawn(TURN, dim=True)
    screen = drawn(TURN, colour=False)
    assert "**" not in screen
    assert "pays" in screen
    assert "3 of 500 words" in screen


def test_marks_become_looks_and_a_side_and_its_model_have_its_colour() -> None:
    for message in (ANNOUNCEMENT, REVEAL):
        for text in (said(message), drawn(message, colour=False)):
            assert "**" not in text
            assert "`" not in text
    assert "\x1b[1;34m🔵 A\x1b[0m argues for it · \x1b[1;31m🔴 B\x1b[0m argues" in drawn(
        ANNOUNCEMENT
    )
    assert "\x1b[1;34m🔵 A\x1b[0m (for it) was \x1b[34monline/x\x1b[0m" in drawn(REVEAL)
    assert "\x1b[1;31m🔴 B\x1b[0m (against it) was \x1b[31mrehearsal/oak\x1b[0m, drawn" in drawn(
        REVEAL
    )


def test_a_topic_and_what_marks_nothing_are_shown_as_they_were_written() -> None:
    topic = "Is 2**3**2 `512`, or **[b]64[/b]**?"
    stance = StanceInvite(topic=topic, after=True, options=("up",))
    renamed = [m.model_copy(update={"topic": topic}) for m in (ANNOUNCEMENT, REVEAL)]
    for message in (stance, *renamed):
        assert f"Topic: {topic}" in said(message)
        assert f"Topic: {topic}" in drawn(message, colour=False)
    conditions = "a ** b ** c, ** d**, `open and ``"
    text = said(ANNOUNCEMENT.model_copy(update={"conditions": conditions}))
    assert f"Conditions: {conditions}" in text


def test_what_models_write_is_data() -> None:
    evil = TURN.model_copy(update={"text": "[red]x[/red] \x1b[31my\x1b[0m {seat} :smile:"})
    for text in (said(evil), drawn(evil, colour=False)):
        assert "[red]x[/red] [31my[0m {seat} :smile:" in text
        assert "\x1b[31my" not in text
    notice = Notice(text="[bold]{text}\x1b[2J")
    assert "[bold]{text}[2J" in drawn(notice, colour=False)

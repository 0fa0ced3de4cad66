"""No mention of a person or a place leaves the installation."""

import time

import pytest
from hypothesis import given, strategies as st

from engine.values.text import INVITE, MENTION, redact


@pytest.mark.parametrize(
    "mention",
    [
        "<@123456789012345678>",
        "<@!123456789012345678>",
        "<@&123456789012345678>",
        "<#123456789012345678>",
        "<@U012ABCDEF>",
        "<@W012ABCDEF|jane.doe>",
        "<#C012ABCDEF|general>",
        "<!channel>",
        "<!here|here>",
        "<!everyone>",
        "<!subteam^S012ABCDEF|@team>",
        "&lt;@U012ABCDEF&gt;",
        "&lt;#C012ABCDEF|general&gt;",
        "<:cat:123456789012345678>",
        "<a:cat:123456789012345678>",
        "</debate start:123456789012345678>",
        "<id:customize>",
        "@everyone",
        "@here",
        "@jane.doe",
        "@123456789012345678",
        "https://discord.com/channels/1234567890/2345678901/3456789012",
        "https://ptb.discord.com/channels/@me/2345678901",
        "https://acme.slack.com/archives/C012ABCDEF/p1700000000000100?thread_ts=17",
    ],
)
def test_removes_every_kind(mention: str) -> None:
    assert redact(f"Ask {mention} first") == f"Ask {MENTION} first"
    assert redact(f"({mention})") == f"({MENTION})"


def test_removes_those_in_raw_json() -> None:
    raw = r'{"reasons": "\u003c@U012ABCDEF\u003e and \u003c#C012ABCDEF|general\u003E"}'
    assert redact(raw) == '{"reasons": "[mention] and [mention]"}'


@pytest.mark.parametrize(
    "text",
    [
        "Write to jane@example.org, at 5 @ 3 USD.",
        "if a<b and c>d: `x <- 1` <!-- note --> <!DOCTYPE html>",
        "See https://example.org/@jane and https://discord.com/safety.",
        "In 1234567890123456789 years, #1 of 3.",
        "<div id='a'>text</div> <b>bold</b>",
    ],
)
def test_leaves_other_text_alone(text: str) -> None:
    assert redact(text) == text


@given(st.text(alphabet="<>@#!&;|^:/ a1\\\n"))
def test_scrubbing_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("unit", ["<", "<@", "@", "@a", "</a ", "&lt;@a|", "https://a.", "<a:"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    redact(unit * (200_000 // len(unit)))
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "link",
    [
        "discord.gg/aB-c1",
        "https://discord.gg/abc",
        "HTTPS://WWW.DISCORD.COM/INVITE/abc",
        "http://discordapp.com/invite/abc",
        "dsc.gg/abc",
    ],
)
def test_an_invitation_to_another_server_is_taken_out(link: str) -> None:
    assert redact(f"Come to {link}, now.") == f"Come to {INVITE}, now."
    for other in ("https://discord.com/safety", "my-discord.gg/abc", "gg/wp", "a tagged.gg/x"):
        assert redact(other) == other

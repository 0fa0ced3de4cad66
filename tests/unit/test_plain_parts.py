"""Plain text in place of a refused message: within limits, whole, and it pings nobody."""

from __future__ import annotations

from hypothesis import given, strategies as st

from adapters.discord import render as discord
from adapters.discord.render import Payload as DiscordPayload
from adapters.slack import render as slack
from adapters.slack.render import Payload as SlackPayload
from engine.delivery.gaps import numbered
from engine.values.text import chop, clean
from tests.doubles.facts import Discord, Slack
from tests.kit import speech

HOSTILE = "<!channel> <@U1> @everyone **bold** `code` ||spoiler|| & [a](https://a.example) _x_ "
TEXTS = st.text(st.sampled_from("ab &<@!>*_`|😀 \n"), max_size=600).map(lambda text: text * 40)


def letters(text: str) -> str:
    return "".join(char for char in text if char in "ab😀")


@given(TEXTS)
def test_no_plain_piece_is_over_the_platforms_limits_and_nothing_is_lost(text: str) -> None:
    posts = [DiscordPayload.of(p).body["content"] for p in discord.plain(text, "k7·3·1/1")]
    assert all(len(post.encode("utf-16-le")) // 2 <= Discord.CONTENT for post in posts)
    lines = [post.rpartition("\n")[0] for post in posts]
    assert letters("".join(lines)) == letters(clean(text))
    said = [SlackPayload.of(p).text for p in slack.plain(text, "k7·3·1/1")]
    assert all(len(post) <= Slack.SPLIT_TEXT for post in said)


def test_on_slack_nothing_in_plain_text_notifies_anyone() -> None:
    for part in slack.plain(HOSTILE * 100, "k7·3·2/3"):
        assert "<" not in SlackPayload.of(part).text
        assert SlackPayload.of(part).blocks == []
        assert SlackPayload.of(part).body(part.reference)["mrkdwn"] is False


def test_on_discord_every_mark_is_shown_as_it_is() -> None:
    [part] = discord.plain("**a** <@1> `x`", "k7·3·1/1")
    content = DiscordPayload.of(part).body["content"]
    assert content == "\\*\\*a\\*\\* \\<\\@1\\> \\`x\\`\n-# #3 · k7"


def test_a_refused_part_says_the_same_without_markup() -> None:
    [part] = discord.parts(speech("Tea wakes."), "k7·3")
    [plain] = discord.plain(part, part.reference)
    assert plain.plain
    assert plain.reference == part.reference
    said = DiscordPayload.of(plain).body["content"]
    assert said == "🔵 A · opening · turn 1 of 8\nTea wakes\\.\n-# #3 · k7"
    [part] = slack.parts(speech("Tea & <b> wakes."), "k7·3")
    [plain] = slack.plain(part, part.reference)
    text = SlackPayload.of(plain).text
    assert text.endswith("A · opening · turn 1 of 8\nTea &amp; &lt;b&gt; wakes.\n#3")


def test_further_pieces_have_references_of_their_own() -> None:
    assert numbered("k7·3·2/3", 3) == ["k7·3·2/3", "k7·3·2.2/3", "k7·3·2.3/3"]


def test_an_empty_text_is_one_piece() -> None:
    assert chop("", 10) == ("",)

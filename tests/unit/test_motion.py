"""Somebody's message as a motion."""

import pytest

from engine.chat.choices import LONGEST_MOTION, motion_of
from engine.values.errors import UsageError


@pytest.mark.parametrize(
    ("text", "motion"),
    [
        ("Tea beats coffee", "Tea beats coffee"),
        ("  Tea\n\nbeats   coffee ", "Tea beats coffee"),
        ("<@4711>, tea beats coffee", "tea beats coffee"),
        ("Hey @everyone <:tea:12345>: tea <@&99> beats <#12> coffee", "Hey tea beats coffee"),
        ("see https://discord.com/channels/1/2/3 tea wins", "see tea wins"),
        ("read https://example.com/tea first", "read https://example.com/tea first"),
        ("Çay kahveden 🍵 iyidir", "Çay kahveden 🍵 iyidir"),
        ("茶胜过咖啡", "茶胜过咖啡"),
        ("safe\u202eevil", "safeevil"),
    ],
)
def test_a_message_becomes_one_line_without_mentions(text: str, motion: str) -> None:
    assert motion_of(text) == motion


def test_a_long_one_is_cut_at_a_word() -> None:
    motion = motion_of("Tea beats coffee. " * 500)
    assert len(motion) <= LONGEST_MOTION
    assert motion.removesuffix("…").split()[-1] in ("Tea", "beats", "coffee.")


@pytest.mark.parametrize("text", ["", "  \n", "<@4711>", "\u200b", "<:tea:12345> <a:cup:6789>"])
def test_one_without_text_says_what_to_do(text: str) -> None:
    with pytest.raises(UsageError, match="no text to debate"):
        motion_of(text)

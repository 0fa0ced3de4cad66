"""How each message looks in Discord: embeds in the colour of their side; pure.

Everything that models and people wrote is Markdown, and data: nobody is pinged by any of it
(payload.py, `NOBODY`), tables keep their columns, and nothing is hidden as a spoiler.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from adapters.discord import texts
from adapters.discord.buttons import ballot_buttons, debate_buttons
from adapters.discord.payload import SMALL, Payload
from adapters.discord.votes import EMOJIS
from engine.debate import BallotKind
from engine.delivery.gaps import numbered
from engine.messages import (
    AgainInvite,
    Announcement,
    Arc,
    File,
    Message,
    Notice,
    Progress,
    Report,
    Reveal,
    ScoreBoard,
    StanceInvite,
    TurnPost,
    VoteClosed,
    VoteInvite,
)
from engine.ports import Part
from engine.text import chop, clean, headline, split_markdown
from engine.words import cards as card_markdown
from engine.words.reports import files_of, markdown_of
from engine.words.reveal import reveal_lines
from engine.words.tables import fence_tables

CONTENT = 2000  # characters of a message without an embed
DESCRIPTION = 4096  # characters of an embed's text, of 6,000 in all of it
AUTHOR = 128  # of 256, as some characters count twice

BLUE, RED, GREY, GOLD = 0x3B82F6, 0xEF4444, 0x94A3B8, 0xEAB308
SIDE_COLOURS = {"A": BLUE, "B": RED, "judge": GOLD}
# From 1 to 9, told apart also by those who see red and green alike.
OTHER_COLOURS = (
    BLUE,
    RED,
    0x22C55E,
    0xA855F7,
    0x06B6D4,
    0xF97316,
    0xEC4899,
    0x84CC16,
    0x78716C,
)
LINE = "─" * 12
_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")  # a backslash before any of these shows it as it is
_BREAK = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
LEVEL_COLOURS = {"info": GREY, "warning": 0xF97316, "error": RED}


class Card(NamedTuple):
    """What a message shows."""

    author: str
    colour: int
    text: str
    footer: str = ""
    components: tuple[dict[str, Any], ...] = ()
    fields: tuple[dict[str, str], ...] = ()
    files: tuple[File, ...] = ()


def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Turn a message into payloads that Discord takes; buttons and files go with the last."""
    card = card_of(message)
    pieces = split_markdown(shown(card.text), DESCRIPTION, _units) or ("",)
    of = len(pieces)
    return tuple(
        _payload(card, piece, f"{stem}·{i}/{of}", first=i == 1, last=i == of).part(
            f"{stem}·{i}/{of}"
        )
        for i, piece in enumerate(pieces, start=1)
    )


def plain(source: Part | str, reference: str) -> tuple[Part, ...]:
    """Turn a refused payload, or a text, into messages without embeds, files or buttons."""
    text = source if isinstance(source, str) else _said(Payload.of(source))
    room = CONTENT - len(reference) - 20
    pieces = chop(clean(text), room, lambda piece: _units(_escape(piece)))
    return tuple(
        Payload({"content": f"{_escape(piece)}\n{_small(ref)}"}).part(ref, plain=True)
        for ref, piece in zip(numbered(reference, len(pieces)), pieces, strict=True)
    )


def _escape(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)


def _said(payload: Payload) -> str:
    """Return the words of a payload: whose they are, and what they say."""
    said = []
    for embed in payload.body.get("embeds", ()):
        said += [embed.get("author", {}).get("name", ""), embed.get("description", "")]
    said += [texts.FILE_LEFT_OUT.format(name=file.name) for file in payload.files]
    return "\n".join(filter(None, said))


def shown(text: str) -> str:
    """Return Markdown as Discord shows it whole: tables as code, no spoilers, no controls."""
    return _draw_breaks(fence_tables(clean(text))).replace("||", "\\|\\|")


def _draw_breaks(text: str) -> str:
    """Draw the lines between parts outside of code; Discord shows `---` as it is written."""
    pieces = text.split("```")
    pieces[::2] = (_BREAK.sub(LINE, piece) for piece in pieces[::2])
    return "```".join(pieces)


def card_of(message: Message) -> Card:
    """Return what a message shows."""
    match message:
        case Announcement():
            return _announcement(message)
        case TurnPost():
            return _turn(message)
        case VoteInvite():
            return _invite(message)
        case StanceInvite():
            return _stance(message)
        case AgainInvite():
            return _again(message)
        case VoteClosed():
            title = card_markdown.CLOSED_EARLY if message.early else card_markdown.CLOSED
            return Card(title, GOLD, card_markdown.plural(card_markdown.CLOSED_WITH, message.votes))
        case Reveal():
            return Card(card_markdown.REVEAL, GOLD, _reveal(message))
        case Notice():
            return Card(
                card_markdown.LEVELS[message.level], LEVEL_COLOURS[message.level], message.text
            )
        case Report() | ScoreBoard() | Arc():
            colour = colour_of(message.side) if isinstance(message, Report) else GREY
            text = markdown_of(message)
            return Card(message.title, colour, text, files=files_of(message))


def colour_of(side: str) -> int:
    """Return the colour of a contender: A blue, B red, 1 to 9 one each."""
    if side.isascii() and side.isdigit():
        return OTHER_COLOURS[(int(side) - 1) % len(OTHER_COLOURS)]
    return SIDE_COLOURS.get(side, GREY)


def _payload(card: Card, piece: str, reference: str, *, first: bool, last: bool) -> Payload:
    """Make one piece: the first says whose it is, the last what belongs to the whole."""
    embed: dict[str, Any] = {}
    if first:
        embed["author"] = {"name": headline(clean(card.author), AUTHOR) or "…"}
    said = f"{reference} · {card.footer}" if card.footer and last else reference
    embed |= {"color": card.colour, "description": piece, "footer": {"text": said}}
    if last and card.fields:
        embed["fields"] = list(card.fields)
    components = list(card.components) if last else []
    return Payload({"embeds": [embed], "components": components}, card.files if last else ())


def _units(text: str) -> int:
    """Count UTF-16 code units, the strictest of the ways in which Discord counts characters."""
    return len(text) + sum(char > "\uffff" for char in text)


# --- cards -------------------------------------------------------------------------------


def _announcement(debate: Announcement) -> Card:
    return Card(
        card_markdown.DEBATE.format(code=debate.code),
        GREY,
        "\n".join((*card_markdown.announced(debate), _small(card_markdown.estimated(debate)))),
        components=tuple(debate_buttons(debate.code, stoppable=card_markdown.stoppable(debate))),
        fields=_state(debate.progress) if debate.progress else (),
    )


def _state(progress: Progress) -> tuple[dict[str, str], ...]:
    thread = f"<#{progress.thread}>" if progress.thread else ""
    until = f"<t:{int(progress.until.timestamp())}:t>" if progress.until else ""
    said = card_markdown.progressed(progress, thread=thread, until=until)
    return ({"name": card_markdown.STATE, "value": said},)


def _turn(turn: TurnPost) -> Card:
    used = card_markdown.turn_used(turn)
    text = card_markdown.turn_text(turn)
    return Card(card_markdown.turn_title(turn), colour_of(turn.side), text, used)


def _reveal(reveal: Reveal) -> str:
    *lines, spent = reveal_lines(reveal)
    return "\n".join([*lines, _small(spent)])


def _small(text: str) -> str:
    return SMALL.format(text=text)


def _invite(invite: VoteInvite) -> Card:
    lines = [card_markdown.INVITE_ASKS, *_options(invite.options)]
    lines += [texts.HOW_TO_VOTE[invite.ballot], _small(card_markdown.invite_terms(invite))]
    return Card(card_markdown.INVITE, GOLD, "\n".join(lines), components=_buttons(invite))


def _again(invite: AgainInvite) -> Card:
    lines = [card_markdown.AGAIN_ASKS, *_options(invite.options)]
    lines += [texts.HOW_TO_VOTE[invite.ballot], _small(card_markdown.again_lasts(invite))]
    return Card(card_markdown.AGAIN, GOLD, "\n".join(lines), components=_buttons(invite))


def _buttons(invite: VoteInvite | StanceInvite | AgainInvite) -> tuple[dict[str, Any], ...]:
    """Return a ballot's buttons: a private one's options, and a secret one's to take it back."""
    if invite.ballot is BallotKind.OPEN:
        return ()
    private = invite.ballot is BallotKind.PRIVATE
    return tuple(ballot_buttons(invite.options if private else ()))


def _options(options: tuple[str, ...]) -> list[str]:
    named = ((EMOJIS[option], card_markdown.option_name(option)) for option in options)
    return [card_markdown.OPTION.format(emoji=emoji, name=name) for emoji, name in named]


def _stance(invite: StanceInvite) -> Card:
    text = card_markdown.STANCE_ASKS.format(
        topic=invite.topic, options=" · ".join(_options(invite.options))
    )
    text += f"\n{texts.HOW_TO_VOTE[invite.ballot]}"
    if invite.seconds is not None:
        lasts = card_markdown.plural(card_markdown.STANCE_LASTS, invite.seconds)
        text += f"\n{_small(lasts)}"
    title = card_markdown.STANCE_AFTER if invite.after else card_markdown.STANCE_BEFORE
    return Card(title, GOLD, text, components=_buttons(invite))

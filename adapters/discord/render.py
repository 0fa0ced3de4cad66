"""How a card looks in Discord: embeds in the colour of their side; pure.

Texts by models and people are Markdown, and data: they ping no one (`NO_MENTIONS` in payload.py),
tables keep their columns, and nothing is hidden as a spoiler.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from adapters.discord.buttons import rows
from adapters.discord.markup import escape, shown, units
from adapters.discord.payload import SMALL, Payload
from engine.delivery.gaps import numbered
from engine.values.messages import Message, Progress
from engine.values.ports import Part
from engine.values.text import REACTIONS, chop, clean, headline, split_markdown
from engine.words.card import Card, Piece, Reference, by_side, in_pieces, markdown_of
from engine.words.cards import STATE, card_of, closes, progressed
from engine.words.phrases import FILE_LEFT_OUT
from engine.words.translation import in_its_language, say

CONTENT = 2000  # characters of a message without an embed
DESCRIPTION = 4096  # characters of an embed's text, of 6,000 in all of it
AUTHOR = 128  # of 256, as some characters count twice

BLUE, RED, GREY, GOLD, ORANGE = 0x3B82F6, 0xEF4444, 0x94A3B8, 0xEAB308, 0xF97316
COLOURS = {"A": BLUE, "B": RED, "judge": GOLD, "vote": GOLD, "warning": ORANGE, "error": RED}
# From 1 to 9, distinguishable with red-green colour blindness.
OTHER_COLOURS = (
    *(BLUE, RED, 0x22C55E, 0xA855F7, 0x06B6D4),
    *(ORANGE, 0xEC4899, 0x84CC16, 0x78716C),
)


@in_its_language
def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Turn a message into payloads; buttons and files go with the last."""
    card = card_of(message)
    said = " · ".join(filter(None, (closes(card, _in_time), card.small)))
    small = f"\n{SMALL.format(text=said)}" if said else ""
    cut = split_markdown(shown(markdown_of(card, REACTIONS) + small), DESCRIPTION, units)
    return tuple(_payload(card, piece).part(piece.reference) for piece in in_pieces(cut, stem))


def plain(source: Part | str, reference: str) -> tuple[Part, ...]:
    """Turn a refused payload, or a text, into messages without embeds, files or buttons."""
    text = source if isinstance(source, str) else _said(Payload.of(source))
    room = CONTENT - len(reference) - 30
    pieces = chop(clean(text), room, lambda piece: units(escape(piece)))
    return tuple(
        Payload(
            {"content": f"{escape(piece)}\n{SMALL.format(text=Reference.read(ref).small_print)}"}
        ).part(ref, plain=True)
        for ref, piece in zip(numbered(reference, len(pieces)), pieces, strict=True)
    )


def _said(payload: Payload) -> str:
    """Return the text of a payload, with its authors."""
    said = []
    for embed in payload.body.get("embeds", ()):
        said += [embed.get("author", {}).get("name", ""), embed.get("description", "")]
    said += [say(FILE_LEFT_OUT, name=file.name) for file in payload.files]
    return "\n".join(filter(None, said))


def colour_of(side: str) -> int:
    """Return the colour of a side: A blue, B red, 1 to 9 one each."""
    return by_side(side, COLOURS, OTHER_COLOURS, GREY)


def _payload(card: Card, piece: Piece) -> Payload:
    """Return one piece; the first has the title, the last the footer, state, buttons and files."""
    embed: dict[str, Any] = {}
    if piece.number == 1:
        embed["author"] = {"name": headline(clean(card.heading), AUTHOR) or "…"}
    mark = Reference.read(piece.reference).small_print
    footer = [card.footer, mark] if piece.last and card.footer else [mark]
    embed |= {"color": colour_of(card.side), "description": piece.text}
    embed |= {"footer": {"text": " · ".join(footer)}}
    if piece.last and card.state:
        embed["fields"] = [{"name": say(STATE), "value": _state(card.state)}]
    components = rows(card.buttons) if piece.last else []
    files = card.attached() if piece.last else ()
    return Payload({"embeds": [embed], "components": components}, files, card.speaker)


def _in_time(moment: datetime) -> str:
    """Return a time as “in 30 minutes”, which Discord keeps up to date."""
    return f"<t:{int(moment.timestamp())}:R>"


def _state(progress: Progress) -> str:
    thread = f"<#{progress.thread}>" if progress.thread else ""
    until = f"<t:{int(progress.until.timestamp())}:R>" if progress.until else ""
    return progressed(progress, thread=thread, until=until)

"""Cards as Slack blocks, under the mark of their side; pure.

A message has a title line, one `markdown` block, and a line with its number. Its reference is in
its metadata, which no one sees.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from adapters.slack import texts
from adapters.slack.buttons import row
from adapters.slack.markup import escape, fallback, markdown_block, pieces_of, typed
from adapters.slack.payload import Payload
from adapters.slack.votes import SHOWN
from engine.delivery.gaps import numbered
from engine.values.debate import BallotKind
from engine.values.messages import Message, Progress
from engine.values.ports import Part
from engine.values.text import SIDES, chop, clean, headline
from engine.words.card import Card, Piece, Reference, by_side, in_pieces, markdown_of
from engine.words.cards import card_of, closes, progressed
from engine.words.phrases import FILE_LEFT_OUT
from engine.words.translation import in_its_language, say

PLAIN = 4_000  # characters without blocks; Slack splits longer texts
LINE = 200  # characters of the line above, before escaping

MARKS = {**SIDES, "judge": "🟡", "vote": "", "info": "", "warning": "", "error": ""}
OTHER_MARKS = ("🔵", "🔴", "🟢", "🟣", "🟤", "🟠", "⚫", "⚪", "🟡")
NO_MARK = "▫️"


@in_its_language
def parts(message: Message, stem: str) -> tuple[Part, ...]:
    """Turn a message into payloads; buttons and files go with the last."""
    card = card_of(message)
    cut = pieces_of(markdown_of(card, SHOWN))
    return tuple(_payload(card, piece).part(piece.reference) for piece in in_pieces(cut, stem))


def plain(source: Part | str, reference: str) -> tuple[Part, ...]:
    """Turn a refused payload, or a text, into messages without blocks, files or buttons."""
    text = source if isinstance(source, str) else _said(Payload.of(source))
    pieces = chop(clean(text), PLAIN - len(reference) - 10, lambda piece: len(escape(piece)))
    return tuple(
        Payload(f"{escape(piece)}\n{Reference.read(ref).mark}", []).part(ref, plain=True)
        for ref, piece in zip(numbered(reference, len(pieces)), pieces, strict=True)
    )


def _said(payload: Payload) -> str:
    """Return the text of a payload without its number, which begins the last line."""
    *blocks, last = payload.blocks
    said = []
    for block in (*blocks, last | {"elements": last["elements"][1:]}):
        if block["type"] == "context":
            said += [element["text"] for element in block["elements"]]
        elif block["type"] == "markdown":
            said.append(block["text"])
    said += [say(FILE_LEFT_OUT, name=escape(file.name)) for file in payload.files]
    return typed("\n".join(said))


def line_block(*said: str) -> dict[str, Any]:
    """Return a line of small print; escapes the text."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": escape(t)} for t in said]}


def mark_of(side: str) -> str:
    """Return the colour mark of a side: A blue, B red, 1 to 9 one each."""
    return by_side(side, MARKS, OTHER_MARKS, NO_MARK)


def _payload(card: Card, piece: Piece) -> Payload:
    """Return one piece; each has the title, the last the state, buttons, footer and files."""
    title = headline(f"{mark_of(card.side)} {card.title}", LINE) or "…"
    if piece.number > 1:
        title = say(texts.CONTINUED, title=title, number=piece.number)
    blocks = [line_block(title)]
    if piece.text.strip():
        blocks.append(markdown_block(piece.text))
    number = Reference.read(piece.reference).mark
    below = [number]
    if piece.last:
        blocks += [_state(card.state)] if card.state else []
        # Slack has no secret ballots, and so no buttons for them.
        secret = card.ballot is not None and card.ballot.kind is BallotKind.SECRET
        blocks += [row(card.buttons)] if card.buttons and not secret else []
        below = [" · ".join(filter(None, (number, card.code, card.footer)))]
        below += [card.small] if card.small else []
    blocks.append(line_block(*below))
    tokens = [_said_of(card.state)] if piece.last and card.state else []
    if piece.last and card.closes:  # which Slack's own markup has to say
        said = closes(card, _local)
        blocks[-1]["elements"].append({"type": "mrkdwn", "text": said})
        tokens.append(said)
    whole = "\n".join((title, *filter(None, (piece.text, *below[1:]))))
    files = card.attached() if piece.last else ()
    broadcast = card.broadcast and piece.number == 1
    return Payload(fallback(whole, *tokens), blocks, files, broadcast, card.speaker)


def _state(progress: Progress) -> dict[str, Any]:
    """Return the block of a state."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": _said_of(progress)}}


def _said_of(progress: Progress) -> str:
    """Return the state in Slack's own markup; its thread is right below, so needs no link."""
    until = _local(progress.until) if progress.until else ""
    safe = progress.model_copy(update={"reason": escape(progress.reason)})
    return progressed(safe, thread=say(texts.ITS_THREAD), until=until)


def _local(at: datetime) -> str:
    """Return a time that Slack shows in each reader's own time zone."""
    shown, elsewhere = say(texts.AT, time="{time}"), say(texts.AT, time=f"{at:%H:%M} UTC")
    return f"<!date^{int(at.timestamp())}^{shown}|{elsewhere}>"

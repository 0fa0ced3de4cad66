"""Cards as Discord embeds, with buttons, forms and reactions; what people wrote has no effect."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import discord

from engine.chat.answers import Answer
from engine.chat.answers.voters import ReviewAnswer
from engine.delivery.fallbacks import numbered
from engine.values.markdown import chop, split_markdown
from engine.values.messages import File, Message
from engine.values.ports import Part, ReactionsCleared, ReactionSeen
from engine.values.text import REACTIONS, VARIANT, clean, headline, split_variant, with_variant
from engine.words.buttons import Form, Menu, review_menu
from engine.words.card import Button, Card, CardSpeaker, Reference, by_side
from engine.words.cards import card_of, closes
from engine.words.pieces import (
    FILE_LEFT_OUT,
    Piece,
    fence_tables,
    in_pieces,
    markdown_of,
    review_hint,
)
from engine.words.progress import STATE, progressed
from engine.words.translation import in_its_language, say

# Text for Discord: Markdown with nothing hidden, or escaped; pure.


LINE = "─" * 12
_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")  # a backslash escapes any of these
_BREAK = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)


def escape(text: str) -> str:
    """Escape text so that it is shown literally."""
    return _MARKUP.sub(r"\\\g<0>", text)


def shown(text: str) -> str:
    """Return Markdown that Discord shows in full: tables as code, no spoilers, no controls."""
    pieces = fence_tables(clean(text)).split("```")
    # Rules outside code are drawn as lines: Discord shows `---` literally.
    pieces[::2] = (_BREAK.sub(LINE, piece) for piece in pieces[::2])
    return "```".join(pieces).replace("||", "\\|\\|")


def units(text: str) -> int:
    """Count UTF-16 code units, the strictest of Discord's ways to count characters."""
    return len(text) + sum(char > "\uffff" for char in text)


# The request for one message: embeds, buttons and files, as frozen JSON.


NO_MENTIONS: dict[str, list[str]] = {"parse": []}  # no text pings anyone
LONGEST_NONCE = 25
LONGEST_ALT = 1024  # characters of a file's description
SMALL = "-# {text}"  # how Discord writes small print


class DiscordPayload(NamedTuple):
    """A message's JSON, the files that go with it, and who speaks, if not the bot."""

    body: dict[str, Any]
    files: tuple[File, ...] = ()
    speaker: CardSpeaker | None = None

    def part(self, reference: str, *, plain: bool = False) -> Part:
        """Return it as a frozen part."""
        files = [file.model_dump() for file in self.files]
        said: dict[str, Any] = {"body": self.body, "files": files}
        if self.speaker is not None:
            said["speaker"] = self.speaker
        kept = json.dumps(said, ensure_ascii=False)
        return Part(reference=reference, body=kept, plain=plain)

    @classmethod
    def of(cls, part: Part) -> DiscordPayload:
        """Read a frozen part."""
        kept = json.loads(part.body)
        speaker = CardSpeaker(*kept["speaker"]) if "speaker" in kept else None
        files = tuple(File.model_validate(file) for file in kept["files"])
        return cls(kept["body"], files, speaker)

    @property
    def pictures_only(self) -> bool:
        """Whether it has files, and all of them are pictures."""
        return bool(self.files) and all(file.media.startswith("image/") for file in self.files)

    def form(self) -> list[dict[str, Any]]:
        """Return the fields of a multipart request: the JSON, then each file."""
        listed = [
            {"id": i, "filename": file.name}
            | ({"description": headline(file.alt, LONGEST_ALT)} if file.alt else {})
            for i, file in enumerate(self.files)
        ]
        body = json.dumps(self.body | {"attachments": listed})
        fields: list[dict[str, Any]] = [{"name": "payload_json", "value": body}]
        for i, file in enumerate(self.files):
            fields.append(
                {
                    "name": f"files[{i}]",
                    "value": file.data(),
                    "filename": file.name,
                    "content_type": file.media,
                }
            )
        return fields


def nonce_of(place: str, reference: str) -> str:
    """Return the nonce by which Discord recognises a repeated post for a few minutes."""
    return hashlib.sha256(f"{place} {reference}".encode()).hexdigest()[:LONGEST_NONCE]


def carries(message: dict[str, Any], reference: str) -> bool:
    """Return whether a message read back shows a reference: in a footer, or below plain text."""
    small_print = Reference.read(reference).small_print
    last = (message.get("content") or "").rpartition("\n")[2]
    if last == SMALL.format(text=small_print):
        return True
    footers = ((embed.get("footer") or {}).get("text") or "" for embed in message["embeds"])
    return any(f" · {footer}".endswith(f" · {small_print}") for footer in footers)


# Buttons and menus (engine/words/buttons.py) in Discord's form.


ROW = 5  # buttons in a row on Discord
_ROW_KIND, _BUTTON_KIND = 1, 2
PLAIN_STYLE, DANGER_STYLE = 2, 4


def rows(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return buttons in rows."""
    starts = range(0, len(buttons), ROW)
    return [
        {"type": _ROW_KIND, "components": [_button(one) for one in buttons[i : i + ROW]]}
        for i in starts
    ]


def _button(button: Button) -> dict[str, Any]:
    shown = {
        "type": _BUTTON_KIND,
        "style": DANGER_STYLE if button.danger else PLAIN_STYLE,
        "label": button.label,
    }
    emoji = {"emoji": {"name": REACTIONS[button.option]}} if button.option else {}
    return shown | {"custom_id": button.id} | emoji


def below(answer: Answer) -> discord.ui.View | None:
    """Return the buttons and menus below a private answer; None for none.

    A press and a choice are handled by custom id, so the view itself may time out.
    """
    view = discord.ui.View(timeout=1.0)
    for number, row in enumerate(answer.rows()):
        if isinstance(row, Menu):
            menu = _add_menu(view, row.id, row.hint, number)
            for at, label in enumerate(row.labels):
                menu.add_option(label=label, value=str(at), default=at == row.chosen)
            continue
        for one in row:
            style = discord.ButtonStyle.success if one.chosen else discord.ButtonStyle.secondary
            _add_button(view, one, style, number)
    for line in answer.lines if isinstance(answer, ReviewAnswer) else ():
        code = line.debate.code
        menu = _add_menu(view, review_menu(code), review_hint(code, line.names, trial=line.trial))
        for option, name in line.choices:
            menu.add_option(label=name, value=option, emoji=REACTIONS[option])
    for one in answer.buttons():
        _add_button(view, one, discord.ButtonStyle(DANGER_STYLE if one.danger else PLAIN_STYLE))
    return view if view.children else None


def _add_menu(
    view: discord.ui.View, custom_id: str, hint: str, row: int | None = None
) -> discord.ui.Select[discord.ui.View]:
    menu: discord.ui.Select[discord.ui.View] = discord.ui.Select(
        custom_id=custom_id, placeholder=hint, row=row
    )
    view.add_item(menu)
    return menu


def _add_button(
    view: discord.ui.View, button: Button, style: discord.ButtonStyle, row: int | None = None
) -> None:
    view.add_item(discord.ui.Button(custom_id=button.id, label=button.label, style=style, row=row))


# Forms (engine/words/buttons.py) in Discord's form.
#
# What is typed is handled by custom id, so a form that is sent after a restart is answered too.


OPEN_SECONDS = 1.0  # for which discord.py itself would wait for it


def modal_of(form: Form) -> discord.ui.Modal:
    """Return a form as a modal."""
    modal = discord.ui.Modal(title=form.title, custom_id=form.id, timeout=OPEN_SECONDS)
    for one in form.fields:
        style = discord.TextStyle.paragraph if one.long else discord.TextStyle.short
        field: discord.ui.TextInput[discord.ui.Modal] = discord.ui.TextInput(
            custom_id=one.name,
            label=one.label,
            placeholder=one.hint,
            style=style,
            max_length=one.most,
            required=False,  # what is missing is answered in words
        )
        modal.add_item(field)
    return modal


def typed_in(data: dict[str, Any]) -> dict[str, str]:
    """Return what was typed into a submitted form, by field."""
    return dict(_values(data.get("components") or ()))


def _values(components: Any) -> Iterator[tuple[str, str]]:
    for one in components:
        if one.get("value") is not None:
            yield one.get("custom_id", ""), one["value"]
        yield from _values(one.get("components") or ())
        if isinstance(one.get("component"), dict):
            yield from _values((one["component"],))


# Maps Discord's emoji to the reactions of a vote; pure.


# Discord sends emoji with or without the selector of their coloured form.
_COLOURED = "\ufe0f"
_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")
_REACTIONS = {emoji.replace(_COLOURED, ""): reaction for reaction, emoji in REACTIONS.items()}
_REACTIONS["🫱\u200d🫲"] = "tie"  # a handshake of two skin tones, without them
SUPER = "super"


def reaction_of(emoji: object, *, burst: bool = False) -> str | None:
    """Return the name of an emoji's reaction, None for other emoji.

    `burst`: it is a super reaction. One person may hold both kinds, and each in every skin tone.
    """
    plain = emoji.replace(_COLOURED, "") if isinstance(emoji, str) else ""
    toneless = _TONES.sub("", plain)
    reaction = _REACTIONS.get(toneless)
    if reaction is None:
        return None
    kinds = ([] if toneless == plain else [plain]) + ([SUPER] if burst else [])
    return with_variant(reaction, VARIANT.join(kinds))


def emoji_of(reaction: str) -> str:
    """Return the emoji of a reaction, in its skin tone."""
    plain, variant = split_variant(reaction)
    tone = variant.removesuffix(SUPER).removesuffix(VARIANT)
    return tone or REACTIONS[plain]


def reaction_seen(
    event: discord.RawReactionActionEvent, me: int | None, *, added: bool
) -> ReactionSeen | None:
    """Translate a reaction; None for a bot's, or another emoji.

    Discord says whether a user is a bot only when a reaction is added; one that was not counted
    then cannot be withdrawn.
    """
    name = None if event.emoji.is_custom_emoji() else event.emoji.name
    option = reaction_of(name, burst=event.burst)
    if option is None or event.user_id == me or (event.member is not None and event.member.bot):
        return None
    return ReactionSeen(
        place=str(event.channel_id),
        message=str(event.message_id),
        user=str(event.user_id),
        option=option,
        added=added,
        joined_at=event.member.joined_at if event.member is not None else None,
    )


def all_cleared(event: discord.RawReactionClearEvent) -> ReactionsCleared:
    """Translate the removal of every reaction by a moderator."""
    return ReactionsCleared(str(event.channel_id), str(event.message_id))


def emoji_cleared(event: discord.RawReactionClearEmojiEvent) -> ReactionsCleared | None:
    """Translate the removal of one emoji by a moderator; None for other emoji."""
    option = None if event.emoji.is_custom_emoji() else reaction_of(event.emoji.name)
    if option is None:
        return None
    return ReactionsCleared(str(event.channel_id), str(event.message_id), option)


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
    text = source if isinstance(source, str) else _said(DiscordPayload.of(source))
    room = CONTENT - len(reference) - 30
    pieces = chop(clean(text), room, lambda piece: units(escape(piece)))
    return tuple(
        DiscordPayload(
            {"content": f"{escape(piece)}\n{SMALL.format(text=Reference.read(ref).small_print)}"}
        ).part(ref, plain=True)
        for ref, piece in zip(numbered(reference, len(pieces)), pieces, strict=True)
    )


def _said(payload: DiscordPayload) -> str:
    """Return the text of a payload, with its authors."""
    said = []
    for embed in payload.body.get("embeds", ()):
        said += [embed.get("author", {}).get("name", ""), embed.get("description", "")]
    said += [say(FILE_LEFT_OUT, name=file.name) for file in payload.files]
    return "\n".join(filter(None, said))


def colour_of(side: str) -> int:
    """Return the colour of a side: A blue, B red, 1 to 9 one each."""
    return by_side(side, COLOURS, OTHER_COLOURS, GREY)


def _payload(card: Card, piece: Piece) -> DiscordPayload:
    """Return one piece; the first has the title, the last the footer, state, buttons and files."""
    embed: dict[str, Any] = {}
    if piece.number == 1:
        embed["author"] = {"name": headline(clean(card.heading), AUTHOR) or "…"}
    mark = Reference.read(piece.reference).small_print
    footer = [card.footer, mark] if piece.last and card.footer else [mark]
    embed |= {"color": colour_of(card.side), "description": piece.text}
    embed |= {"footer": {"text": " · ".join(footer)}}
    if piece.last and card.state:
        thread = f"<#{card.state.thread}>" if card.state.thread else ""
        until = _in_time(card.state.until) if card.state.until else ""
        state = progressed(card.state, thread=thread, until=until)
        embed["fields"] = [{"name": say(STATE), "value": state}]
    components = rows(card.buttons) if piece.last else []
    files = card.attached() if piece.last else ()
    return DiscordPayload({"embeds": [embed], "components": components}, files, card.speaker)


def _in_time(moment: datetime) -> str:
    """Return a time as “in 30 minutes”, which Discord keeps up to date."""
    return f"<t:{int(moment.timestamp())}:R>"

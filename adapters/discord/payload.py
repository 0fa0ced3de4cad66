"""The request for one message: embeds, buttons and files, as frozen JSON."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from engine.values.messages import File
from engine.values.ports import Part
from engine.values.text import headline
from engine.words.card import Reference, Speaker

NO_MENTIONS: dict[str, list[str]] = {"parse": []}  # no text pings anyone
LONGEST_NONCE = 25
LONGEST_ALT = 1024  # characters of a file's description
SMALL = "-# {text}"  # how Discord writes small print


class Payload(NamedTuple):
    """A message's JSON, the files that go with it, and who speaks, if not the bot."""

    body: dict[str, Any]
    files: tuple[File, ...] = ()
    speaker: Speaker | None = None

    def part(self, reference: str, *, plain: bool = False) -> Part:
        """Return it as a frozen part."""
        files = [file.model_dump() for file in self.files]
        said: dict[str, Any] = {"body": self.body, "files": files}
        if self.speaker is not None:
            said["speaker"] = self.speaker
        kept = json.dumps(said, ensure_ascii=False)
        return Part(reference=reference, body=kept, plain=plain)

    @classmethod
    def of(cls, part: Part) -> Payload:
        """Read a frozen part."""
        kept = json.loads(part.body)
        speaker = Speaker(*kept["speaker"]) if "speaker" in kept else None
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

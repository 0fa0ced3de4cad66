"""The request for one message: blocks with their fallback text, as frozen JSON."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from engine.values.messages import File
from engine.values.ports import Part
from engine.words.card import Speaker

EVENT_TYPE = "rostrum_post"


class Payload(NamedTuple):
    """A message's blocks, the text that notifications show, and the files that go with it.

    `broadcast` also shows it in the channel. `speaker` is who posts it, if not the bot itself.
    """

    text: str
    blocks: list[dict[str, Any]]
    files: tuple[File, ...] = ()
    broadcast: bool = False
    speaker: Speaker | None = None

    def part(self, reference: str, *, plain: bool = False) -> Part:
        """Return it as a frozen part."""
        kept = self._asdict() | {"files": [file.model_dump() for file in self.files]}
        body = json.dumps(kept, ensure_ascii=False)
        return Part(reference=reference, body=body, plain=plain)

    @classmethod
    def of(cls, part: Part) -> Payload:
        """Read a frozen part."""
        kept = json.loads(part.body)
        files = tuple(File.model_validate(file) for file in kept["files"])
        speaker = Speaker(*kept["speaker"]) if kept.get("speaker") else None
        return cls(kept["text"], kept["blocks"], files, kept.get("broadcast", False), speaker)

    def mentioning(self, user: str) -> Payload:
        """Return it with a mention of a user, who is notified."""
        said = {"type": "section", "text": {"type": "mrkdwn", "text": f"<@{user}>"}}
        title, *rest = self.blocks
        return self._replace(text=f"<@{user}> {self.text}", blocks=[title, said, *rest])

    def body(self, reference: str) -> dict[str, Any]:
        """Return the fields of a request, with the reference in its metadata."""
        metadata = {"event_type": EVENT_TYPE, "event_payload": {"reference": reference}}
        quiet = {"unfurl_links": False, "unfurl_media": False}
        shown = {"blocks": self.blocks} if self.blocks else {"mrkdwn": False, "parse": "none"}
        return {"text": self.text, **shown, "metadata": metadata} | quiet


def carries(message: dict[str, Any], reference: str) -> bool:
    """Return whether a message read back has a reference: in its metadata."""
    metadata = message.get("metadata") or {}
    known = metadata.get("event_payload", {}).get("reference")
    return bool(metadata.get("event_type") == EVENT_TYPE and known == reference)

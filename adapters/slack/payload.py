"""The request for one message: blocks with their fallback text, as frozen JSON."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from engine.messages import File
from engine.ports import Part
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
    """Return whether a message read back has a reference: in its metadata.

    Earlier releases wrote it in the last line, too.
    """
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") == EVENT_TYPE:
        return bool(metadata.get("event_payload", {}).get("reference") == reference)
    contexts = (block for block in message.get("blocks", ()) if block["type"] == "context")
    said = [element.get("text", "") for block in contexts for element in block["elements"]]
    said.append(message.get("text", "").rpartition("\n")[2])
    return any(text.split(" ", 1)[0] == reference for text in said)

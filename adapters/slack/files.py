"""Files: uploaded first, then shared in a thread or with one person; or read from a form."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from adapters.slack.errors import Act
from adapters.slack.rest import Json, Rest
from engine.chat.answers.answers import SentFile
from engine.values.errors import VenueAwayError
from engine.values.messages import File
from engine.values.sources import SourceFile, SourceLimits, check_files

TRIES = 3
PAUSE_SECONDS = 0.5  # longer after each try


async def share_files(rest: Rest, channel: str, root: str | None, files: Sequence[File]) -> None:
    """Upload a message's files and share them in its thread. Raises VenueError."""
    ids = [await _upload(rest, file.name, file.data(), file.alt) for file in files]
    await _share(rest, ids, {"channel_id": channel} | ({"thread_ts": root} if root else {}))


async def read_files(
    rest: Rest, attached: Sequence[Json], limits: SourceLimits
) -> tuple[SourceFile, ...]:
    """Read files attached in a form. Raises UsageError, VenueAwayError or VenueError."""
    check_files([(str(one["name"]), int(one.get("size") or 0)) for one in attached], limits)
    contents = await asyncio.gather(*(_read(rest, one, limits.bytes) for one in attached))
    return tuple(
        SourceFile(name=str(one["name"]), content=content)
        for one, content in zip(attached, contents, strict=True)
    )


async def _read(rest: Rest, attached: Json, most: int) -> bytes:
    """Download a file; what may pass is tried again."""
    for left in reversed(range(TRIES)):
        try:
            return await rest.download(str(attached["url_private_download"]), most)
        except VenueAwayError:
            if not left:
                raise
            await asyncio.sleep(PAUSE_SECONDS * (TRIES - left))
    raise AssertionError("unreachable")


async def hand_over(rest: Rest, user: str, text: str, file: SentFile) -> None:
    """Send a file to one person by direct message. Raises VenueError."""
    uploaded = await _upload(rest, file.name, file.content)
    said = {"channel": user, "text": text}
    opened = await rest.write(Act.POST, "chat.postMessage", said, place=user)
    await _share(rest, [uploaded], {"channel_id": opened["channel"]})


async def _upload(rest: Rest, name: str, content: bytes, alt: str = "") -> str:
    asked = {"filename": name, "length": len(content)} | ({"alt_txt": alt} if alt else {})
    given = await rest.read(Act.UPLOAD, "files.getUploadURLExternal", asked)
    await rest.upload(str(given["upload_url"]), content)
    return str(given["file_id"])


async def _share(rest: Rest, ids: Sequence[str], where: Json) -> None:
    body = {"files": [{"id": ref} for ref in ids], **where}
    await rest.write(Act.UPLOAD, "files.completeUploadExternal", body, place=where["channel_id"])

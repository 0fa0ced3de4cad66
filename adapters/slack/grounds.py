"""Checks, before anything is paid, whether a debate can run in a channel.

What Slack does not say here shows when the announcement is posted; no model is called before.
"""

from __future__ import annotations

import structlog

from adapters.slack import texts
from adapters.slack.errors import Act, name_of
from adapters.slack.install.workspaces import Workspace
from adapters.slack.rest import Rest
from engine.line.intake import Ground
from engine.values.errors import VenueError
from engine.values.language import Text

SCOPES = ("chat:write", "reactions:read", "reactions:write")
FOR_FILES = ("files:write",)
log = structlog.get_logger(__name__)


async def ground_of(home: Workspace, channel: str) -> Ground:
    """Return the obstacles in a channel, from Slack's data and the app's scopes."""
    scopes = await _scopes(home.rest)
    unfit = _lacking(scopes, SCOPES) or await _unfit(home.rest, channel)
    return Ground(unfit=unfit, no_files=_lacking(scopes, FOR_FILES), no_removal=texts.NOT_HIDDEN)


async def _scopes(rest: Rest) -> frozenset[str]:
    """Return the app's scopes; empty if Slack does not say."""
    try:
        known = (await rest.identity()).scopes
        if known and not known.issuperset((*SCOPES, *FOR_FILES)):
            # A reinstalled app has other scopes, and often the same token.
            known = (await rest.identity(again=True)).scopes
    except VenueError as error:
        log.info("scopes unknown", why=str(error))
        return frozenset()
    return known


def _lacking(scopes: frozenset[str], wanted: tuple[str, ...]) -> str:
    names = [name for name in wanted if name not in scopes] if scopes else []
    return Text(texts.LACKING, scopes=tuple(names)) if names else ""


async def _unfit(rest: Rest, channel: str) -> str:
    """Return why nothing can be posted in a channel; empty if it can, or is unknown."""
    asked = {"channel": channel}
    try:
        shown = (await rest.read(Act.ASK, "conversations.info", asked, place=channel))["channel"]
    except VenueError as error:
        return texts.NOT_INSIDE if name_of(error) == "channel_not_found" else ""
    if shown.get("is_archived"):
        return texts.ARCHIVED_HERE
    if shown.get("is_member") is False:
        return texts.NOT_INSIDE
    if shown.get("is_thread_only") or shown.get("is_non_threadable"):
        return texts.NO_THREADS_HERE
    return ""

"""`rostrum check` on Slack: tokens, scopes, and the channels that Rostrum is a member of."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Sequence

from pydantic import SecretStr

from adapters import Finding
from adapters.slack import texts
from adapters.slack.errors import SlackAct, name_of
from adapters.slack.install import INSTALL_PATH, OPTIONAL, SCOPES, Credentials
from adapters.slack.rest import Identity, SlackRest
from engine.store.installs import Install
from engine.values.errors import VenueAwayError, VenueError

MOST_NAMED = 10
_SECRET = re.compile(r"[0-9a-f]{32}")


async def check_bot(rest: SlackRest, subject: str = "slack") -> AsyncIterator[Finding]:
    """Check one workspace."""
    try:
        identity = await rest.identity()
    except VenueError as error:
        yield Finding(subject, False, str(error))
        return
    yield Finding(subject, True, f"the token is {identity.name}'s in {identity.team_name}")
    yield _check_scopes(identity, f"{subject} scopes")
    yield await _check_channels(rest, f"{subject} channels")


async def check_installs(app: SlackRest, installs: Sequence[Install]) -> AsyncIterator[Finding]:
    """Check every workspace that installed Rostrum."""
    if not installs:
        yield Finding("slack", None, f"no workspace has it yet; an admin opens {INSTALL_PATH}")
    for install in installs:
        rest = app.speaking(install.token)
        async for checked in check_bot(rest, f"slack {install.name} ({install.community})"):
            yield checked


def check_managers(listed: Sequence[str], teams: Sequence[str]) -> Iterator[Finding]:
    """Say which listed managers count nowhere in these workspaces."""
    subject = "slack managers"
    bare = [entry for entry in listed if "/" not in entry]
    if bare and len(teams) > 1:
        text = (
            "{who} manages nowhere, as several workspaces have Rostrum; write TEAM/{first} "
            "in ROSTRUM_SLACK__MANAGERS"
        ).format(who=", ".join(bare), first=bare[0])
        yield Finding(subject, False, text)
    lost = [entry for entry in listed if "/" in entry and entry.partition("/")[0] not in teams]
    if lost and teams:
        yield Finding(
            subject,
            None,
            "{who}: Rostrum is not installed in that workspace".format(who=", ".join(lost)),
        )
    if listed and teams and not lost and (not bare or len(teams) == 1):
        yield Finding(subject, True, f"{len(listed)} listed beside admins")


async def check_app(
    rest: SlackRest,
    app_token: SecretStr | None,
    signing_secret: SecretStr | None,
    credentials: Credentials | None = None,
) -> AsyncIterator[Finding]:
    """Check the app itself."""
    if app_token is not None:
        good, text = True, "opens connections"
        try:
            await rest.connections_url(app_token)
        except VenueError as error:
            why = name_of(error).replace("_", " ")
            good, text = False, texts.APP_REFUSED.format(why=why) if why else str(error)
        yield Finding("slack app token", good, text)
    if signing_secret is not None:
        good = _SECRET.fullmatch(signing_secret.get_secret_value().strip()) is not None
        text = "is not 32 digits of 0-9 and a-f; copy it from Basic Information of the app"
        if good:
            text = "has the right form; only a request of Slack's can show that it is the right one"
        yield Finding("slack signing secret", good, text)
    if credentials is not None:
        yield await _check_credentials(rest, credentials)


def _check_scopes(identity: Identity, subject: str) -> Finding:
    lacking = [scope for scope in SCOPES if scope not in identity.scopes]
    if not lacking:
        return Finding(subject, True, "all scopes are there")
    if OPTIONAL.issuperset(lacking):
        text = f"all scopes are there but {', '.join(lacking)}: both sides speak under its own name"
        return Finding(subject, True, text)
    said = "; ".join(f"{scope} ({SCOPES[scope]})" for scope in lacking)
    text = f"lacks {said}; add it to the app and reinstall it"
    return Finding(subject, False, text)


async def _check_credentials(rest: SlackRest, given: Credentials) -> Finding:
    """Send an invalid code: Slack checks the app's credentials before the code."""
    subject = "slack client"
    try:
        await rest.exchange(given.client_id, given.client_secret, "none")
    except VenueAwayError as error:
        return Finding(subject, None, str(error))
    except VenueError as error:
        why = name_of(error)
        if why not in ("invalid_client_id", "bad_client_secret"):
            return Finding(subject, True, "id and secret are the app's")
        text = f"Slack says {why.replace('_', ' ')}; copy both from Basic Information of the app"
        return Finding(subject, False, text)
    return Finding(subject, True, "id and secret are the app's")


async def _check_channels(rest: SlackRest, subject: str) -> Finding:
    asked = {"types": "public_channel,private_channel", "exclude_archived": True, "limit": 200}
    try:
        found = await rest.read(SlackAct.ASK, "users.conversations", asked)
    except VenueError as error:
        return Finding(subject, None, str(error))
    names = [f"#{channel['name']}" for channel in found["channels"]]
    if not names:
        text = "it is a member of no channel yet; write /invite with its name in one"
        return Finding(subject, None, text)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    text = f"a member of {', '.join(names[:MOST_NAMED])}{more}"
    return Finding(subject, True, text)

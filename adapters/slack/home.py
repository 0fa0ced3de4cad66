"""The app's Home tab: live debates, how to vote, one's own data, settings for managers.

It is published when a person opens it, and after a button in it; never to everyone. What a button
answers is sent to them alone, under Messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

import structlog

from adapters.slack import texts
from adapters.slack.errors import SlackAct, name_of
from adapters.slack.forms.modals import Modals
from adapters.slack.interactions import SlackInteractionHandler
from adapters.slack.payloads import ReplyTarget
from adapters.slack.venue import SlackPlace, link_to
from engine.chat.interactions import HomePage, home_page
from engine.chat.invocation import home_invocation
from engine.values.errors import RostrumError
from engine.values.language import speaking
from engine.values.text import headline
from engine.words.card import PREFIX
from engine.words.phrases import about_minutes
from engine.words.translation import say

CONFLICT = "hash_conflict"
TOPIC_LENGTH = 300  # characters
log = structlog.get_logger(__name__)

Json = dict[str, Any]


class Home:
    """Publishes the tab, and carries out its buttons."""

    def __init__(self, handler: SlackInteractionHandler, modals: Modals) -> None:
        self._handler, self._modals = handler, modals
        self._lanes: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def opened(self, team: str, user: str, seen: Json | None) -> None:
        """Publish what is true now; `seen` is the view that the person has."""
        lane = self._lane(team, user)
        if not lane.locked():  # otherwise it is being published already
            async with lane:
                await self._publish(ReplyTarget.at_home(team, user), seen)

    async def press(self, requester: ReplyTarget, trigger: str, what: str) -> None:
        """Carry out a button, then show what has changed."""
        if what == "settings":
            await self._modals.open_settings(requester, trigger)
            return
        command = home_invocation(what)
        if command is None:  # a link
            return
        await self._handler.carry_out(requester, command)
        async with self._lane(requester.team, requester.user):
            await self._publish(requester)

    async def _publish(self, requester: ReplyTarget, seen: Json | None = None) -> None:
        """Publish the tab; one that is newer than what was `seen` stays, if that is given."""
        try:
            with speaking(await self._handler.language(requester)):
                person = await self._handler.person(requester)
                page = await home_page(self._handler.commands, person)
                home = await self._handler.workspaces.find(requester.team)
                view = view_of(page, (await home.rest.identity()).url)
            body = {"user_id": requester.user, "view": view}
            if seen and seen.get("hash"):
                body["hash"] = seen["hash"]
            await home.rest.write(SlackAct.OPEN, "views.publish", body)
        except RostrumError as error:
            if name_of(error) != CONFLICT:
                log.warning("home not published", why=str(error))

    def _lane(self, team: str, user: str) -> asyncio.Lock:
        return self._lanes.setdefault(f"{team}/{user}", asyncio.Lock())


# --- its blocks --------------------------------------------------------------------------


def view_of(page: HomePage, url: str) -> Json:
    """Return the view; topics are plain text, so that nothing in them has an effect."""
    voting = _header(say(texts.HOME_VOTING)), _section(say(texts.HOME_HOW_TO_VOTE))
    return {"type": "home", "blocks": [*_debates(page, url), *voting, *_own(page)]}


def _debates(page: HomePage, url: str) -> Iterator[Json]:
    yield _header(say(texts.HOME_DEBATES))
    if not page.live:
        yield _section(say(texts.HOME_NONE))
    for debate, minutes in page.live:
        state = say(texts.HOME_ASKED if debate.asked else texts.HOME_STATES[debate.status])
        if minutes is not None:
            state = say(texts.HOME_VOTE_LEFT, minutes=about_minutes(minutes))
        shown = f"{headline(debate.topic, TOPIC_LENGTH)}\n{state}"
        block: Json = {"type": "section", "text": _plain(shown)}
        if debate.thread is not None:
            link = link_to(url, SlackPlace.parse(debate.thread))
            button = _button(f"open:{debate.code}", say(texts.HOME_OPEN))
            block["accessory"] = button | {"url": link}
        yield block
    if page.more:
        yield _section(say(texts.HOME_MORE))


def _own(page: HomePage) -> Iterator[Json]:
    yield _header(say(texts.HOME_OWN))
    if page.forgotten:
        yield _section(say(texts.HOME_FORGOTTEN))
        yield _row(_button("optin", say(texts.HOME_BACK)))
    else:
        yield _section(say(texts.HOME_OUT if page.out else texts.HOME_IN))
        switch = ("optin", texts.HOME_OPT_IN) if page.out else ("optout", texts.HOME_OPT_OUT)
        yield _row(
            _button("me", say(texts.HOME_ME)),
            _button("mydata", say(texts.HOME_MY_DATA)),
            _button(switch[0], say(switch[1])),
            _button("forget", say(texts.HOME_FORGET))
            | {
                "style": "danger",
                "confirm": {
                    "title": _plain(say(texts.HOME_FORGET)),
                    "text": _plain(say(texts.HOME_FORGET_WHAT)),
                    "confirm": _plain(say(texts.HOME_FORGET_YES)),
                    "deny": _plain(say(texts.FORM_CLOSE)),
                    "style": "danger",
                },
            },
        )
    if page.manager:
        yield _header(say(texts.HOME_MANAGERS))
        yield _row(_button("settings", say(texts.HOME_SETTINGS)))


def _header(text: str) -> Json:
    return {"type": "header", "text": _plain(text)}


def _section(text: str) -> Json:
    return {"type": "section", "text": _plain(text)}


def _row(*buttons: Json) -> Json:
    return {"type": "actions", "elements": list(buttons)}


def _button(what: str, label: str) -> Json:
    return {"type": "button", "action_id": f"{PREFIX}:home:{what}", "text": _plain(label)}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": True}

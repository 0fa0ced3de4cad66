"""Slack's requests as values: checked at the door, and passed on to their handlers.

Fields that no handler reads are left out, and so are kinds of requests that none takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, Field, Json, StringConstraints, ValidationError
from slack_bolt.request.async_request import AsyncBoltRequest

DIRECT = "directmessage"  # the name of a channel of private messages
E = TypeVar("E", bound=BaseModel)
Id = Annotated[str, StringConstraints(min_length=1)]
Moment = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,11}(\.[0-9]{1,6})?$")]


class ReplyTarget(NamedTuple):
    """The person and their place; `thread` is the thread of a pressed button.

    `language` is that of the form they fill in, once it is open. `home`: they asked in the app
    itself, where no message can be shown; answers are direct messages then. `root` is the message
    whose thread a private message has to be shown in.
    """

    team: str
    channel: str
    user: str
    response_url: str = ""
    thread: str | None = None
    direct: bool = False
    language: str = ""
    home: bool = False
    root: str | None = None

    @classmethod
    def at_home(cls, team: str, user: str) -> ReplyTarget:
        """Return a person in the app's Home tab, who reads answers under Messages."""
        return cls(team, user, user, home=True)


class _Named(BaseModel):
    id: Id
    name: str = ""


class _Authorization(BaseModel):
    team_id: str | None = None
    user_id: str | None = None


class _User(_Named):
    team_id: str | None = None


class _Request(BaseModel):
    """Where Bolt looks for the workspace."""

    team: _Named | str | None = None
    team_id: str | None = None
    authorizations: list[_Authorization] | None = None


class SlashCommand(_Request):
    """A typed command."""

    team_id: Id
    channel_id: Id
    channel_name: str = ""
    user_id: Id
    response_url: str
    trigger_id: str
    text: str = ""

    @property
    def requester(self) -> ReplyTarget:
        """Who typed it, and where."""
        return ReplyTarget(
            team=self.team_id,
            channel=self.channel_id,
            user=self.user_id,
            response_url=self.response_url,
            direct=self.channel_name == DIRECT,
        )


class _Message(BaseModel):
    text: str | None = None
    user: str | None = None
    thread_ts: str | None = None


class Shortcut(_Request):
    """An entry of a message's menu."""

    team: _Named
    channel: _Named
    user: _User
    message: _Message
    trigger_id: str
    response_url: str = ""

    @property
    def requester(self) -> ReplyTarget:
        """Who chose it, and where."""
        return ReplyTarget(
            team=self.team.id,
            channel=self.channel.id,
            user=self.user.id,
            response_url=self.response_url,
            direct=self.channel.name == DIRECT,
        )


class _Option(BaseModel):
    value: str


class _Action(BaseModel):
    action_id: Id
    action_ts: str
    selected_option: _Option | None = None


class _Container(BaseModel):
    channel_id: Id
    message_ts: Id
    thread_ts: str | None = None


class PressedAtHome(_Request):
    """A button in the app's home."""

    user: _User
    actions: Annotated[list[_Action], Field(min_length=1)]
    trigger_id: str

    @property
    def action(self) -> str:
        """What the button says that it does."""
        return self.actions[0].action_id

    @property
    def chosen(self) -> str | None:
        """The value that was chosen from a menu."""
        option = self.actions[0].selected_option
        return option.value if option else None


class Pressed(PressedAtHome):
    """A button or menu of a message."""

    container: _Container
    message: _Message | None = None
    response_url: str = ""

    @property
    def author(self) -> str | None:
        """Who wrote the message."""
        return self.message.user if self.message else None

    @property
    def root(self) -> str | None:
        """The message in whose thread the message is; None outside any."""
        of_message = self.message.thread_ts if self.message else None
        root = of_message or self.container.thread_ts
        return None if root == self.container.message_ts else root


class AttachedFile(BaseModel):
    """A file of a form."""

    name: str
    size: int | None = None
    url_private_download: str


class _Held(BaseModel):
    """What an element of a form holds, or held at first."""

    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None
    selected_conversations: list[str] | None = None
    selected_user: str | None = None
    value: str | None = None
    files: list[AttachedFile] | None = None
    initial_option: _Option | None = None
    initial_options: list[_Option] | None = None
    initial_conversations: list[str] | None = None
    initial_user: str | None = None
    initial_value: str | None = None

    def values(self) -> tuple[str, ...]:
        """Return what it holds."""
        return _stripped(
            self.selected_option,
            self.selected_options,
            *(self.selected_conversations or ()),
            self.selected_user,
            self.value,
        )

    def initial_values(self) -> tuple[str, ...]:
        """Return what it held at first."""
        return _stripped(
            self.initial_option,
            self.initial_options,
            *(self.initial_conversations or ()),
            self.initial_user,
            self.initial_value,
        )


def _stripped(
    option: _Option | None, options: list[_Option] | None, *texts: str | None
) -> tuple[str, ...]:
    """Return the values of an element of any kind that are not blank."""
    chosen = (one.value for one in (*([option] if option else ()), *(options or ())))
    values = (text.strip() for text in (*chosen, *texts) if text)
    return tuple(value for value in values if value)


class _Block(BaseModel):
    block_id: Id
    element: _Held


class _State(BaseModel):
    values: dict[str, dict[str, _Held]]


class SubmittedForm(BaseModel):
    """A form that was sent; `private_metadata` says who opened it, and where."""

    callback_id: str
    private_metadata: Json[ReplyTarget]
    blocks: Annotated[list[_Block], Field(min_length=1)]
    state: _State

    @property
    def fields(self) -> list[str]:
        """The names of its fields."""
        return [block.block_id for block in self.blocks]

    def entered(self, name: str) -> tuple[str, ...]:
        """Return a field's submitted values."""
        held = self._held(name)
        return held.values() if held else ()

    def text(self, name: str) -> str | None:
        """Return a field's single value, None if it is empty."""
        return next(iter(self.entered(name)), None)

    def attached(self, name: str) -> tuple[AttachedFile, ...]:
        """Return the files attached in a field."""
        held = self._held(name)
        return tuple(held.files or ()) if held else ()

    def changed(self) -> Iterator[str]:
        """Yield the names of the fields that were changed."""
        for block in self.blocks:
            if set(self.entered(block.block_id)) != set(block.element.initial_values()):
                yield block.block_id

    def _held(self, name: str) -> _Held | None:
        return self.state.values.get(name, {}).get(name)


class Submitted(_Request):
    """A form, and who sent it."""

    user: _User
    view: SubmittedForm

    @property
    def requester(self) -> ReplyTarget:
        """Who submitted the form, and where it was opened; it acts for nobody else."""
        opened, user = self.view.private_metadata, self.user.id
        if opened.user == user:
            return opened
        place = user if opened.home else opened.channel
        return opened._replace(user=user, channel=place, response_url="")


class _Event(_Request, Generic[E]):
    event: E
    event_id: Id
    event_time: float


class _Item(BaseModel):
    type: str
    channel: str = ""
    ts: str = ""


class _ItemOfMessage(_Item):
    channel: Id
    ts: Id


class _Reaction(BaseModel):
    type: str
    user: Id
    reaction: str
    item: _ItemOfMessage | _Item
    item_user: str | None = None
    event_ts: Moment

    @property
    def given_at(self) -> datetime:
        """When it was given or taken back."""
        seconds, _, fraction = self.event_ts.partition(".")
        whole = datetime.fromtimestamp(int(seconds), UTC)
        return whole.replace(microsecond=int(f"{fraction:0<6}"[:6]))


Reacted = _Event[_Reaction]
"""A reaction was given or taken back."""


class _Opened(BaseModel):
    user: Id
    tab: str = ""
    view: dict[str, Any] | None = None


OpenedHome = _Event[_Opened]
"""Somebody opened the app's home."""


class _Tokens(BaseModel):
    bot: list[str] = []


class _Removal(BaseModel):
    type: str
    tokens: _Tokens | None = None

    @property
    def ends(self) -> bool:
        """Whether it ends the app there: revoked tokens of people do not."""
        return self.type != "tokens_revoked" or bool(self.tokens and self.tokens.bot)


Removed = _Event[_Removal]
"""A workspace removed the app, or revoked tokens."""


_KINDS: Mapping[str, type[_Request]] = MappingProxyType(
    {
        "command": SlashCommand,
        "message_action": Shortcut,
        "block_actions": Pressed,
        "view_submission": Submitted,
        "reaction_added": Reacted,
        "reaction_removed": Reacted,
        "app_home_opened": OpenedHome,
        "app_uninstalled": Removed,
        "tokens_revoked": Removed,
    }
)
ASKED = "asked"  # the argument by which handlers get their request


def take(request: AsyncBoltRequest) -> bool:
    """Hand a request to its handler as a value; False if it is not of Slack's form.

    What has no handler is.
    """
    body: object = request.body
    if not isinstance(body, Mapping):
        return False
    try:
        kind = _kind_of(body)
        if kind is not None:
            request.context[ASKED] = kind.model_validate(body, strict=True)
    except (ValidationError, TypeError):
        return False
    return True


def _kind_of(body: Mapping[str, Any]) -> type[_Request] | None:
    """Return what a request has to be. Raises TypeError for one that names no kind."""
    event, container = body.get("event"), body.get("container")
    if isinstance(container, dict) and container.get("type") == "view":
        return PressedAtHome
    named = body.get("type", "command")
    if named == "event_callback":
        named = event.get("type") if isinstance(event, dict) else None
    if not isinstance(named, str):
        raise TypeError
    return _KINDS.get(named)

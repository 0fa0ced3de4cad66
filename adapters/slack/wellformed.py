"""Whether a request is of Slack's form, checked at the door: handlers read what is named here.

Fields that no handler reads are free, and so are kinds of requests that none takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, Field, Json, StringConstraints, ValidationError

from adapters.slack.whisper import ReplyTarget

Id = Annotated[str, StringConstraints(min_length=1)]
Moment = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,11}(\.[0-9]{1,6})?$")]


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


class _Command(_Request):
    team_id: Id
    channel_id: Id
    channel_name: str = ""
    user_id: Id
    response_url: str
    trigger_id: str
    text: str = ""


class _Message(BaseModel):
    text: str | None = None
    user: str | None = None
    thread_ts: str | None = None


class _Shortcut(_Request):
    team: _Named
    channel: _Named
    user: _User
    message: _Message
    trigger_id: str
    response_url: str = ""


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


class _PressedAtHome(_Request):
    user: _User
    actions: Annotated[list[_Action], Field(min_length=1)]
    trigger_id: str


class _Pressed(_PressedAtHome):
    container: _Container
    message: _Message | None = None
    response_url: str = ""


class _File(BaseModel):
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
    files: list[_File] | None = None
    initial_option: _Option | None = None
    initial_options: list[_Option] | None = None
    initial_conversations: list[str] | None = None
    initial_user: str | None = None
    initial_value: str | None = None


class _Block(BaseModel):
    block_id: Id
    element: _Held


class _State(BaseModel):
    values: dict[str, dict[str, _Held]]


class _View(BaseModel):
    callback_id: str
    private_metadata: Json[ReplyTarget]
    blocks: Annotated[list[_Block], Field(min_length=1)]
    state: _State


class _Submitted(_Request):
    user: _User
    view: _View


class _Event(_Request):
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
    user: Id
    reaction: str
    item: _ItemOfMessage | _Item
    item_user: str | None = None
    event_ts: Moment


class _Reacted(_Event):
    event: _Reaction


class _Opened(BaseModel):
    user: Id
    tab: str = ""
    view: dict[str, Any] | None = None


class _OpenedHome(_Event):
    event: _Opened


class _Tokens(BaseModel):
    bot: list[str] = []


class _Removal(BaseModel):
    tokens: _Tokens | None = None


class _Removed(_Event):
    event: _Removal


_KINDS: Mapping[str, type[BaseModel]] = MappingProxyType(
    {
        "command": _Command,
        "message_action": _Shortcut,
        "block_actions": _Pressed,
        "view_submission": _Submitted,
        "reaction_added": _Reacted,
        "reaction_removed": _Reacted,
        "app_home_opened": _OpenedHome,
        "app_uninstalled": _Removed,
        "tokens_revoked": _Removed,
    }
)


def is_wellformed(body: object) -> bool:
    """Return whether a request has what its handler reads; what has no handler is."""
    if not isinstance(body, Mapping):
        return False
    try:
        kind = _kind_of(body)
        if kind is not None:
            kind.model_validate(body, strict=True)
    except (ValidationError, TypeError):
        return False
    return True


def _kind_of(body: Mapping[str, Any]) -> type[BaseModel] | None:
    """Return what a request has to be. Raises TypeError for one that names no kind."""
    event, container = body.get("event"), body.get("container")
    if isinstance(container, dict) and container.get("type") == "view":
        return _PressedAtHome
    named = body.get("type", "command")
    if named == "event_callback":
        named = event.get("type") if isinstance(event, dict) else None
    if not isinstance(named, str):
        raise TypeError
    return _KINDS.get(named)

"""What a community (a Discord server, a Slack workspace) has set for its own debates."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from engine.values.debate import BallotKind, Length, Model, PanelMode, Value


class PublicPart(StrEnum):
    """What a community can show to everyone on the web."""

    DEBATES = "debates"
    LEADERBOARD = "leaderboard"
    AGREEMENT = "agreement"
    LEAGUES = "leagues"
    DATASET = "dataset"


class CommunitySettings(Value):
    """What a community has set; None and empty mean the operator's value.

    `models` may debate and `jurors` judge; `judges` judge where a format has judges of its own, and
    `seats` are models of single seats, such as `A2`. Debates start only in `channels`, if there are
    any. Money is USD. Holders of `manager_role` are managers. `broadcast` also shows reveals in the
    channel, where the platform supports it; `again` repeats the question of who debated better
    below each reveal; `round_votes` asks after each round who is ahead, `confidence` with the vote
    how clear it was; `why` has a juror say why the jury decided so. `reasons` lets voters say in
    private what decided, `guess` guess the models. For `questions` minutes the audience may ask the
    sides something. Turns are posted at `pace` words a minute at most; 0: as they are written. A
    person who argues a side has `turn_minutes` for each turn. `license` is the SPDX id that an
    export's card names. A topic with one of `blocked_words` is refused, and with `topic_approval`
    managers approve what people suggest. Only members of `starters` start debates, if there are
    any: roles or groups. `public` is what everyone may see on the web. Votes are gold only from
    accounts that are `account_days` old and members of `member_days`.
    """

    models: tuple[Model, ...] = ()
    jurors: tuple[Model, ...] = ()
    judges: tuple[Model, ...] = ()
    seats: Mapping[str, Model] = {}
    format: str | None = None
    language: str | None = None
    channels: tuple[str, ...] = ()
    debate_usd: float | None = Field(None, ge=0)
    daily_usd: float | None = Field(None, ge=0)
    user_daily_debates: int | None = Field(None, ge=0)
    max_live: int | None = Field(None, ge=0)
    length: Length | None = None
    vote_minutes: float | None = None
    quorum: int | None = None
    panel: PanelMode | None = None
    ballot: BallotKind | None = None
    broadcast: bool | None = None
    again: bool | None = None
    round_votes: bool | None = None
    confidence: bool | None = None
    why: bool | None = None
    reasons: bool | None = None
    guess: bool | None = None
    questions: float | None = Field(None, ge=0, le=60)
    pace: int | None = Field(None, ge=0, le=2000)
    turn_minutes: float | None = Field(None, ge=0, le=1440)
    manager_role: str | None = None
    license: str | None = None
    blocked_words: tuple[str, ...] = ()
    topic_approval: bool | None = None
    starters: tuple[str, ...] = ()
    public: tuple[PublicPart, ...] = ()
    account_days: int | None = Field(None, ge=0)
    member_days: int | None = Field(None, ge=0)


SETTING_NAMES = tuple(CommunitySettings.model_fields)

"""A rehearsed debate from its start to its export, with all that its models were sent."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from engine.dataset.entry import Keys
from engine.dataset.writer import write_export
from engine.run.order import Defaults, Order
from engine.run.service import Started
from engine.store import ExportFilter
from engine.values.debate import Debate, Status
from engine.values.messages import Message
from engine.values.ports import Call, Reply, VenueLimits
from engine.values.protocols import AttemptLog
from tests.doubles.hall import LOBBY, NO_CAPS, Hall
from tests.doubles.rehearsed import DEFAULTS as REHEARSED
from tests.doubles.venue import AttentiveVenue

KEYS = Keys(splits=b"splits", master=b"master")
LIMITS = VenueLimits(typing_seconds=60, send_seconds=4, state_seconds=0.02)
DEFAULTS = REHEARSED.model_copy(
    update={
        "vote_minutes": 0.001,
        "quorum": 0,
        "extend": False,
        "stance_seconds": 0.01,
        "caps": NO_CAPS,
    }
)


class HeardModels(RehearsalModels):
    """The rehearsal models; what each is sent is kept by its step."""

    def __init__(self) -> None:
        super().__init__(
            RetryPolicy(tries=2, first_wait=0.0, longest_wait=0.0, max_retry_after=0.0)
        )
        self.heard: dict[str, str] = {}

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        self.heard[call.step] = "\n".join(message.content for message in call.messages)
        return await super().complete(call, log)


@dataclass(frozen=True)
class Whole:
    """What came of a debate: what models were sent, what was posted, what was exported.

    `messages` counts those that stand in the channel and the thread in the end.
    """

    started: Started
    debate: Debate
    heard: Mapping[str, str]
    posted: Sequence[Message]
    out: Path
    messages: int

    def sent(self, beginning: str) -> list[str]:
        return [text for step, text in self.heard.items() if step.startswith(beginning)]

    def table(self, name: str) -> list[dict[str, Any]]:
        files = sorted(self.out.glob(f"data/{name}/*.jsonl"))
        return [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]


async def hold_whole(
    url: str,
    out: Path,
    defaults: Defaults = DEFAULTS,
    asking: HeardModels | None = None,
    **asked: Any,
) -> Whole:
    venue, models = AttentiveVenue(limits=LIMITS), asking or HeardModels()
    async with Hall(url, venue).open(models) as session:
        where = {"platform": "memory", "community": "club", "place": LOBBY, "seed": 7}
        started = await session.service.start(Order(**where | asked), defaults)
        debate = await session.ended(started.debate.id)
        assert debate.status is Status.CLOSED, debate.reason
        archive = session.store.archive
        await asyncio.to_thread(write_export, archive, ExportFilter(), out, KEYS, version="0")
    return Whole(started, debate, models.heard, tuple(venue.meant), out, len(venue.messages))

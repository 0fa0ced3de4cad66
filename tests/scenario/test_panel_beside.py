"""Nobody waits for a format's own judge: the panel reads at the same time."""

from __future__ import annotations

import pytest

from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from engine.prompts.library import load_prompts
from engine.run.plan import Order
from engine.run.run import warm_up
from engine.values.debate import Model
from engine.values.ports import AttemptLog, Call, Reply
from tests.doubles.hall import LOBBY, Hall
from tests.doubles.rehearsed import DEFAULTS

OPTIONS = {"roundtable": {"agents": 2, "judges": 1}, "audited": {"turns": 2}}
SLOW = "?latency=0.1"


class WatchedModels(RehearsalModels):
    """The rehearsal models, which remember what was asked and answered, in order."""

    def __init__(self) -> None:
        super().__init__(RetryPolicy())
        self.seen: list[tuple[str, str]] = []

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Play the part between two entries."""
        self.seen.append(("asked", call.step))
        reply = await super().complete(call, log)
        self.seen.append(("answered", call.step))
        return reply

    def places(self, what: str, kind: str) -> list[int]:
        """Return when steps of a kind were asked or answered, as places in the order."""
        return [
            at for at, seen in enumerate(self.seen) if seen[0] == what and seen[1].startswith(kind)
        ]


def slowly(model: Model) -> Model:
    return Model.parse(f"{model.ref}{SLOW}#{model.family}")


@pytest.mark.parametrize(
    ("format", "last_word"),
    [
        ("structured", "judge"),
        ("roundtable", "judge"),
        ("audited", "judge/narrative"),
        ("team", "judge/review"),
    ],
)
async def test_the_panel_reads_as_soon_as_the_last_turn_is_spoken(
    database_url: str, format: str, last_word: str
) -> None:
    models = WatchedModels()
    defaults = DEFAULTS.model_copy(
        update={
            "jurors": tuple(map(slowly, DEFAULTS.jurors)),
            "limits": {"team": {"free_minutes": 0.3}},
        }
    )
    order = Order(
        platform="memory",
        community="club",
        place=LOBBY,
        format=format,
        options=OPTIONS.get(format, {}),
    )
    warm_up(load_prompts(), frozenset())
    async with Hall(database_url).open(models) as session:
        started = await session.service.start(order, defaults)
        await session.voting(started.debate.id)
    jury = min(models.places("asked", "jury/"))
    assert max(models.places("answered", "turn/")) < jury
    assert jury < max(models.places("answered", last_word))

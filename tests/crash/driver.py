"""A process that holds one debate in a folder: `python -m tests.crash.driver FOLDER [chain]`.

It starts the debate, or goes on with the one that it finds. With `chain` it does so in one child
after the other, until one of them comes to the end; each child is a fork, which makes a restart
cheap.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import structlog

from adapters.models.attempts import Patience
from adapters.models.rehearsal import RehearsalModels
from adapters.storage.database import Database
from bot.app import Line
from engine.debate import Debate, Status
from engine.errors import LeaseLostError, SettingsError
from engine.intake import Order
from engine.jury.blinding import blind
from engine.jury.vocabulary import draw_names
from engine.ports import AttemptLog, Call, Reply
from engine.prompts.library import Prompts, load_prompts
from engine.store import Store
from tests.crash.fate import Fate, FatedStore, SurvivingVenue
from tests.doubles.hall import DEFAULTS, LOBBY, has_ended, hearing

PROMPTS = load_prompts()
# Whoever comes back finds every template edited.
EDITED = Prompts({name: f"{text}\nEdited." for name, text in PROMPTS.texts.items()})
ORDER = Order(platform="memory", community="club", place=LOBBY, user="ann", seed=7)
PEOPLE = (
    ("react", "ann", "A"),
    ("react", "bob", "B"),
    ("unreact", "ann", "A"),
    ("react", "cem", "tie"),
    ("react", "ann", "B"),
    ("react", "dee", "A"),
    ("unreact", "bob", "B"),
    ("react", "eve", "A"),
    ("unreact", "eve", "A"),
    ("react", "eve", "weak"),
)


class TellingModels(RehearsalModels):
    """The rehearsal models, which note each step that they are asked for."""

    def __init__(self, fate: Fate) -> None:
        super().__init__(Patience())
        self._fate = fate

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Note the step, and play the part."""
        self._fate.note(f"asked {call.step}")
        return await super().complete(call, log)


async def hold(folder: Path) -> None:
    """Hold the folder's debate, from wherever it is to its end."""
    fate = Fate(folder)
    store = FatedStore(Database(f"sqlite+aiosqlite:///{folder / 'debate.db'}"), fate)
    venue = SurvivingVenue(folder / "platform.jsonl", fate)
    await venue.remember()
    begun = await find(store)
    line = Line(store, TellingModels(fate), EDITED if begun else PROMPTS, [venue])
    venue.listener = hearing(line.service, venue)
    # Before anything runs: there is no debate to lose until it is stored.
    debate = begun or (await line.service.start(ORDER, DEFAULTS)).debate
    async with line.running():
        await line.service.recover()
        await vote(line, store, venue, debate.id)
        await line.deliveries["memory"].settled(debate.id)
    await store.close()


async def find(store: Store) -> Debate | None:
    """Return the debate that a process before this one has begun."""
    return next(iter(await store.debates.recent()), None)


async def vote(line: Line, store: Store, venue: SurvivingVenue, debate_id: str) -> None:
    """Let people do what they have not done yet, and then a manager close the vote."""
    while True:
        debate = await store.debates.get(debate_id)
        if has_ended(debate):
            return
        if debate.status is Status.VOTING and debate.vote_opened_at:
            break
        await asyncio.sleep(0.01)
    for name, user, option in PEOPLE[venue.voted :]:
        await venue.act(name, user, debate.thread or "", debate.vote_message or "", option)
    # Whoever stood still finds that another process has closed it.
    with suppress(LeaseLostError):
        await line.service.close_vote(debate_id)


def live(folder: Path) -> int:
    """Run one process's life and return its exit code."""
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
    try:
        asyncio.run(hold(folder))
    except Exception:  # noqa: BLE001 - a child must not run on as its parent
        traceback.print_exc()
        return 1
    return 0


def warm_up() -> None:
    """Compile what every child would compile again; no thread may run before a fork."""
    blind("Side A said", draw_names(("A", "B"), seed=0), ())
    for name in PROMPTS.texts:
        with suppress(SettingsError):  # a template is compiled before it lacks its variables
            PROMPTS.render(name)


def chain(folder: Path) -> int:
    """Live again after every death, and return the exit code of the last life."""
    warm_up()
    while True:
        child = os.fork()
        if child == 0:
            os._exit(live(folder))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != -signal.SIGKILL:
            return code


if __name__ == "__main__":
    run = chain if "chain" in sys.argv[2:] else live
    sys.exit(run(Path(sys.argv[1])))

"""Stores a series, unless its file would change debates that were held already."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from engine.series.expand import expand
from engine.series.spec import Jury, Series
from engine.series.times import first_time
from engine.store import Store
from engine.store.series import StoredSeries
from engine.values.debate import Model, Value
from engine.values.errors import UsageError
from engine.values.language import Text
from engine.values.ports import Location, utc_now
from engine.values.text import headline

MOST_SHOWN = 3


async def save_series(store: Store, series: Series) -> StoredSeries:
    """Store a series, which may then begin debates. Raises UsageError as `check_unchanged` does."""
    before, now = await store.series.find(series.name), utc_now()
    if before is not None:
        held = {debate.key for debate in await store.series.debates(series.name)}
        check_unchanged(Series.model_validate_json(before.body), series, held)
    stored = StoredSeries(
        name=series.name,
        body=series.model_dump_json(),
        usd=series.limits.usd,
        begun_at=before.begun_at if before else now,
        platform=series.people and series.people.place.platform,
        community=before and before.community,
        due_at=_due(series, before, now),
    )
    await store.series.save(stored)
    return stored


async def begin_in_chat(
    store: Store, series: Series, where: Location, platform: str, due: datetime, now: datetime
) -> None:
    """Store a series that a command began in a community; its first debate is `due` then."""
    await store.series.save(
        StoredSeries(
            name=series.name,
            body=series.model_dump_json(),
            begun_at=now,
            platform=platform,
            community=where.community,
            due_at=due,
        )
    )


def _due(series: Series, before: StoredSeries | None, now: datetime) -> datetime | None:
    """Return when the next debate before people may begin; None if no one watches."""
    if series.people is None:
        return None
    planned = before is not None and before.due_at is not None
    if before and planned and Series.model_validate_json(before.body).people == series.people:
        return before.due_at
    return first_time(series.people, now)


def check_unchanged(before: Series, now: Series, held: Collection[str]) -> None:
    """Refuse a file that would change debates already held; `held` are their keys.

    Adding to topics, models, formats, languages or repeats is fine, and so are other limits and
    another place. Raises UsageError with the difference.
    """
    if not held:
        return
    changed = ["jury"] if before.jury != now.jury else []
    lost = len(set(held) - {planned.key for planned in expand(now)})
    if lost:
        changed += ["topics", "models", "pairs", "sides", "formats", "languages", "repeats"]
    differences = list(_differences(before, now, changed))
    if differences:
        count = len(held) if "jury" in changed else lost
        raise UsageError(
            f"The series {now.name} has {len(held)} debates, and this file would change "
            f"{count} of them: {'; '.join(differences)}. Undo that, or give the series another "
            "name."
        )


def _differences(before: Series, now: Series, names: Collection[str]) -> Iterator[str]:
    for name in names:
        old, new = getattr(before, name), getattr(now, name)
        if old == new:
            continue
        if isinstance(old, tuple):
            gone = [one for one in old if one not in new]
            if gone:
                shown = ", ".join(map(_word, gone[:MOST_SHOWN]))
                more = f" and {len(gone) - MOST_SHOWN} more" if len(gone) > MOST_SHOWN else ""
                yield f"{name} no longer has {shown}{more}"
        elif name != "repeats" or new < old:
            was = _word(old)
            yield f"{name} was {was}{',' if ', ' in was else ''} and is now {_word(new)}"


def _word(value: Any) -> str:
    """Return how a file writes a value."""
    if isinstance(value, tuple):
        return " against ".join(map(_word, value))
    if isinstance(value, Model):
        return value.ref
    if isinstance(value, Jury):
        return _jury(value)
    if not isinstance(value, Value):
        return str(value)
    held = value.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if "text" in held:
        return f"“{headline(str(held['text']), 60)}”"
    held |= held.pop("options", {})
    return ", ".join(f"{key} {_plain(one)}" for key, one in held.items()) or "the default"


def _jury(jury: Jury) -> str:
    """Return its models and how they read, where that is not the default."""
    refs = tuple(model.ref for model in jury.models)
    models = [str(Text("{refs:and}", refs=refs))] if refs else []
    mode = [f"mode {jury.mode}"] if jury.mode is not Jury().mode else []
    return ", ".join((*models, *mode)) or "the default"


def _plain(value: object) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)

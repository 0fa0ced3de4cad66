"""The debates of a series, in the order in which they are held: a pure function of its file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

import orjson

from engine.series.spec import Pair, Series, Sides, contenders_of
from engine.values.debate import Model, Value
from engine.values.options import Options
from engine.values.topics import Topic

Results = Mapping[str, str | None]
"""The winner of each debate that ended, by key: a contender, "tie", or None without a verdict."""


class Planned(Value):
    """One debate of a series.

    `key` stays the same as long as what is debated, by which models and on which sides, does; so
    does `seed`. `ordinal` counts the debates of the series from 1; jurors' orders and seats follow
    it, so that they are balanced within the series. `contenders` are the names of both sides.
    """

    key: str
    seed: int
    ordinal: int
    topic: Topic
    language: str
    options: Options
    contenders: tuple[str, str]
    a: Model
    b: Model
    repeat: int

    @property
    def models(self) -> dict[str, Model]:
        """The models by contender."""
        return dict(zip(self.contenders, (self.a, self.b), strict=True))


class Motion(NamedTuple):
    """What a pair of models debates."""

    repeat: int
    topic: Topic
    language: str
    options: Options
    contenders: tuple[str, str]


def expand(series: Series) -> Iterator[Planned]:
    """Yield every debate of a series, without holding them in memory.

    Repeats come last, and each motion begins with another pair, so that a series cut short at its
    cap has met every pair about equally often.
    """
    ordinal = 0
    for number, motion in enumerate(_motions(series)):
        for pair in _turned(series.pairs, number):
            for a, b in _seated(series, motion, pair):
                ordinal += 1
                yield _planned(series.name, ordinal, motion, a, b)


def _motions(series: Series) -> Iterator[Motion]:
    formats = [(options, contenders_of(options)) for options in series.formats]
    for repeat in range(1, series.repeats + 1):
        for topic in series.topics:
            for language in series.languages_of(topic):
                for options, contenders in formats:
                    yield Motion(repeat, topic, language, options, contenders)


def _turned(pairs: Sequence[Pair], number: int) -> Sequence[Pair]:
    start = number % len(pairs)
    return [*pairs[start:], *pairs[:start]]


def _seated(series: Series, motion: Motion, pair: Pair) -> Iterator[Pair]:
    """Yield who is on which side: both ways, or one drawn."""
    if series.sides is Sides.BOTH:
        yield pair
        yield pair[1], pair[0]
        return
    one, other = sorted(pair, key=lambda model: model.ref)
    drawn = Random(_digest(series.name, "sides", *motion, one.ref, other.ref)).random() < 0.5
    yield (one, other) if drawn else (other, one)


def _planned(name: str, ordinal: int, motion: Motion, a: Model, b: Model) -> Planned:
    digest = _digest(motion.topic, motion.language, motion.options, a.ref, b.ref, motion.repeat)
    seed = int(_digest(name, digest)[:12], 16)
    return Planned(key=digest[:16], seed=seed, ordinal=ordinal, a=a, b=b, **motion._asdict())


def _digest(*parts: object) -> str:
    """Return the SHA-256 of values as JSON, in hexadecimal."""
    plain = [
        part.model_dump(mode="json", exclude_none=True) if isinstance(part, Value) else part
        for part in parts
    ]
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()

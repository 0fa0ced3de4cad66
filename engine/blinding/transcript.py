"""The debate as a juror reads it: round by round, in the order of its ballot, blinded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from engine.blinding.blinding import blind
from engine.blinding.identity import find_self_named
from engine.debate import Model, Turn

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


class Speech(NamedTuple):
    """One turn as shown: the speaker's neutral name, when it spoke, and its quoted text.

    `model` is empty unless the debate is not blind.
    """

    name: str
    spoke: str
    text: str
    model: str = ""


class Round(NamedTuple):
    """A round's title and its speeches."""

    title: str
    speeches: tuple[Speech, ...]


class Transcript(NamedTuple):
    """Everything of a debate that a juror reads."""

    topic: str
    conditions: str
    rounds: tuple[Round, ...]

    def arrange(self, order: Sequence[str]) -> Transcript:
        """Return it with the speeches of each round in one order of their speakers' names."""

        def rank(speech: Speech) -> int:
            return order.index(speech.name)

        return self._replace(
            rounds=tuple(
                Round(title, tuple(sorted(speeches, key=rank))) for title, speeches in self.rounds
            )
        )


class Cast(NamedTuple):
    """Who debates: each contender's neutral name and model, and whether jurors may know it.

    `gone` are models that spoke before others took their place.
    """

    names: Mapping[str, str]
    models: Mapping[str, Model]
    blind: bool = True
    gone: tuple[Model, ...] = ()


def build_transcript(
    topic: str,
    conditions: str,
    turns: Sequence[Turn],
    cast: Cast,
    *,
    simultaneous: bool = False,
) -> Transcript:
    """Lay out a debate as it was held; `arrange` puts it in the order of a ballot.

    Each line of a speech is quoted, so that no speech can imitate the layout around it. A
    speech says when in its round it was spoken, or, with `simultaneous`, that all
    wrote at the same time.
    """
    hidden = _find_hidden(topic, conditions, turns, cast)
    ordered = sorted(turns, key=lambda turn: turn.number)

    def show(text: str) -> str:
        return blind(text, cast.names, hidden, anonymous=cast.blind)

    def speak(turn: Turn) -> Speech:
        known = cast.models.get(turn.seat) or cast.models[turn.side]
        model = "" if cast.blind else known.ref
        spoke = "written at the same time" if simultaneous else _say_place(turn.place)
        return Speech(cast.names[turn.side], spoke, _quote(show(turn.text)), model)

    rounds = (
        Round(
            show(title.replace("_", " ").replace("-", " ")),
            tuple(map(speak, group)),
        )
        for title, group in groupby(ordered, key=lambda turn: turn.round)
    )
    return Transcript(_quote(show(topic)), _quote(show(conditions)), tuple(rounds))


def _find_hidden(topic: str, conditions: str, turns: Sequence[Turn], cast: Cast) -> frozenset[str]:
    """Return all names to hide: the models', and any that a speaker gave itself in any turn."""
    models = (*cast.models.values(), *cast.gone)
    named = {name for model in models for name in (model.name, model.family)}
    # A turn may record its model with the backend, whose name can be any everyday word.
    backends = {f"{model.backend}/" for model in models}
    answered = {
        turn.model.removeprefix(next(filter(turn.model.startswith, backends), "")) for turn in turns
    }
    told = find_self_named((topic, conditions, *(turn.text for turn in turns)))
    return told | named | answered


def _say_place(place: int) -> str:
    order = _PLACES[place - 1] if place <= len(_PLACES) else f"as number {place}"
    return f"spoke {order} in this round"


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())

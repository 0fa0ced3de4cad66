"""The debate as a juror reads it: round by round, in the order of its ballot, blinded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import NamedTuple

from engine.blinding.identity import clean, find_self_named, replace_names
from engine.blinding.references import rewrite
from engine.prompts import quote
from engine.values.debate import CUT_SHORT, REPEATS, Model, Turn

# Blinds a text for jurors: neutral names in place of sides and models.


# A replacement can complete another reference; in practice the second pass finds nothing.
_PASSES = 4


# One thread: blinding is pure Python, and several would only take the loop's time.
BLINDER = ThreadPoolExecutor(1, thread_name_prefix="blinder")


def blind(
    text: str, names: Mapping[str, str], hidden: Iterable[str] = (), *, anonymous: bool = True
) -> str:
    """Return a text with sides rewritten to `names` and models' names to `[name]`.

    `names` maps contenders to neutral names; `hidden` are the debaters' model names and
    families. With `anonymous` False (a debate with `blind=off`) models' names stay. Applying
    it to its own result changes nothing.
    """
    text = clean(text)
    every = frozenset(hidden) | find_self_named((text,))
    for _ in range(_PASSES):
        redacted = replace_names(text, every) if anonymous else text
        changed = rewrite(redacted, names)
        if changed == text:
            break
        text = changed
    return text


_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


class BlindTurn(NamedTuple):
    """One turn as shown: the speaker's neutral name, when it spoke, and its quoted text.

    `model` is empty unless the debate is not blind. `flaw` says that a limit of tokens ended it, or
    that it repeats itself.
    """

    name: str
    spoke: str
    text: str
    model: str = ""
    flaw: str = ""

    @property
    def told(self) -> str:
        """Its flaw, if it has one, and when it was given."""
        return ", ".join(filter(None, (self.flaw, self.spoke)))


class Round(NamedTuple):
    """A round's title and its speeches, and what the audience `asked` those who speak in it."""

    title: str
    speeches: tuple[BlindTurn, ...]
    asked: tuple[str, ...] = ()


class _Looked(NamedTuple):
    """A quotation that was looked up in the sources: who gave it, in which round, what was found.

    `text` is blinded; `source` is the number that the speaker named.
    """

    name: str
    round: str
    text: str
    source: int
    found: str


class Transcript(NamedTuple):
    """Everything of a debate that a juror reads."""

    topic: str
    conditions: str
    rounds: tuple[Round, ...]
    stances: tuple[tuple[str, str], ...] = ()  # neutral name, and what it argues
    sources: tuple[str, ...] = ()
    quotations: tuple[_Looked, ...] = ()

    def arrange(self, order: Sequence[str]) -> Transcript:
        """Return it with the speeches of each round in one order of their speakers' names."""

        def rank(speech: BlindTurn) -> int:
            return order.index(speech.name)

        return self._replace(
            rounds=tuple(
                one._replace(speeches=tuple(sorted(one.speeches, key=rank))) for one in self.rounds
            ),
            stances=tuple(sorted(self.stances, key=lambda stance: order.index(stance[0]))),
            quotations=tuple(sorted(self.quotations, key=lambda one: order.index(one.name))),
        )


class Identities(NamedTuple):
    """Who debates: each contender's neutral name and model, and whether jurors may know it.

    `gone` are models that were replaced.
    """

    names: Mapping[str, str]
    models: Mapping[str, Model]
    blind: bool = True
    gone: tuple[Model, ...] = ()


class TranscriptWriter:
    """Writes the jurors' transcript turn by turn, while the debate runs.

    A turn may reveal another name to hide; the turns before it are then blinded again.
    """

    def __init__(
        self,
        topic: str,
        conditions: str,
        cast: Identities,
        stances: Mapping[str, str] | None = None,
        sources: Sequence[str] = (),
    ) -> None:
        self._topic, self._conditions, self._cast = topic, conditions, cast
        self.sources = tuple(sources)
        self._stances = dict(stances or {})
        models = [m for m in (*cast.models.values(), *cast.gone) if not m.person]
        # A turn may record its model with the backend, whose name can be any everyday word.
        self._backends = tuple({f"{model.backend}/" for model in models})
        self._hidden = frozenset(name for model in models for name in (model.name, model.family))
        self._heard: set[str] = set()
        self._written: dict[str, tuple[frozenset[str], str]] = {}
        self._laid_out: tuple[object, Transcript] | None = None

    def hear(self, turn: Turn) -> None:
        """Add a turn; adding it again changes nothing."""
        self._learn((turn,))
        self._write(turn)

    def _learn(self, turns: Sequence[Turn]) -> None:
        """Hide the models that answered, and any name that a speaker gave itself."""
        new = [turn for turn in turns if turn.step not in self._heard]
        motion = (self._topic, self._conditions, *self._stances.values())
        motion = () if self._heard else motion
        self._hidden |= find_self_named((*motion, *(turn.text for turn in new)))
        for turn in new:
            self._heard.add(turn.step)
            backend = next(filter(turn.model.startswith, self._backends), "")
            self._hidden |= {turn.model.removeprefix(backend)}

    def _write(self, turn: Turn) -> str:
        """Return a turn's blinded text; blinds it again only if more names are hidden by now."""
        hidden, text = self._written.get(turn.step, (None, ""))
        if hidden != self._hidden:
            text = quote(self._show(turn.text))
            self._written[turn.step] = self._hidden, text
        return text

    def _show(self, text: str) -> str:
        return blind(text, self._cast.names, self._hidden, anonymous=self._cast.blind)

    def lay_out(self, turns: Sequence[Turn], *, simultaneous: bool = False) -> Transcript:
        """Return the debate in the order in which it was held; `arrange` reorders it for a ballot.

        Every line of a speech is quoted, so that no speech can imitate the layout around it. A
        speech says when in its round it was spoken; with `simultaneous`, that all wrote at the
        same time.
        """
        self._learn(turns)
        asked = (tuple(turns), simultaneous, self._hidden)
        if self._laid_out is None or self._laid_out[0] != asked:  # the panel and the summary ask
            self._laid_out = asked, self._lay_out(turns, simultaneous)
        return self._laid_out[1]

    def _lay_out(self, turns: Sequence[Turn], simultaneous: bool) -> Transcript:
        def speak(turn: Turn) -> BlindTurn:
            known = self._cast.models.get(turn.seat) or self._cast.models[turn.side]
            model = "" if self._cast.blind else known.ref
            at = turn.place - 1
            order = _PLACES[at] if at < len(_PLACES) else f"as number {turn.place}"
            spoke = "written at the same time" if simultaneous else f"spoke {order} in this round"
            text = self._write(turn)
            return BlindTurn(self._cast.names[turn.side], spoke, text, model, _tell_flaw(turn))

        ordered = sorted(turns, key=lambda turn: turn.number)

        def hold(title: str, held: Sequence[Turn]) -> Round:
            asked = (quote(self._show(" ".join(one.split()))) for one in held[0].asked)
            return Round(self._title(title), tuple(map(speak, held)), tuple(asked))

        rounds = (
            hold(title, tuple(group))
            for title, group in groupby(ordered, key=lambda turn: turn.round)
        )
        topic, conditions = quote(self._show(self._topic)), quote(self._show(self._conditions))
        stances = tuple(
            (self._cast.names[side], quote(self._show(said)))
            for side, said in self._stances.items()
        )
        sources = tuple(map(self._show, self.sources))
        looked = tuple(self._looked_up(ordered)) if sources else ()
        return Transcript(topic, conditions, tuple(rounds), stances, sources, looked)

    def _looked_up(self, turns: Sequence[Turn]) -> Iterator[_Looked]:
        from engine.values.overlap import tell_quotation  # few debates have sources

        for turn in turns:
            for one in turn.quotations:
                text = " ".join(self._show(one.text).split())
                name, found = self._cast.names[turn.side], tell_quotation(one)
                yield _Looked(name, self._title(turn.round), text, one.source, found)

    def _title(self, round_name: str) -> str:
        return self._show(round_name.replace("_", " ").replace("-", " "))


def hear_all(turns: Sequence[tuple[TranscriptWriter, Turn]]) -> None:
    """Write turns of several debates down, each by its own writer."""
    for writer, turn in turns:
        writer.hear(turn)


def _tell_flaw(turn: Turn) -> str:
    said = {
        CUT_SHORT: "cut off at a limit of tokens",
        REPEATS: "says one sentence {measured:g} times",
    }
    found = (
        said[one.kind].format(measured=one.measured) for one in turn.violations if one.kind in said
    )
    return ", ".join(found)

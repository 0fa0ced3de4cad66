"""Layouts of an export for other tools: for labelling (Argilla, Label Studio) and for judges.

Those for labelling hold no label and name no model, and come back by `rostrum import-labels`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from textwrap import dedent
from typing import Any, NamedTuple

import orjson

from engine.blinding.transcript import BlindTurn, Identities, Transcript, TranscriptWriter
from engine.dataset.card import assemble, head
from engine.dataset.columns import Row, Table
from engine.dataset.entry import Entry, Pseudonyms
from engine.dataset.preferences import PREFERENCE
from engine.dataset.tables import ExportFigures, ExportRequest, Report, Writing
from engine.store import Archive, ExportFilter
from engine.values.debate import Debate, Status, Turn, TurnOrder
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.text import redact
from engine.values.topics import SPLITS
from engine.values.verdicts import TIE, WEAK

# A debate as people read it who label it in another tool: blind, the sides in one order.


FIRST, SECOND = "first", "second"
PLACES = (FIRST, SECOND)


class _DebateView(NamedTuple):
    """A debate between two sides as it is shown: `order` is that of the sides, e.g. `BA`.

    `names` are their neutral names in that order, which the transcript has too.
    """

    entry: Entry
    order: str
    names: tuple[str, str]
    transcript: Transcript

    @property
    def id(self) -> str:
        """The debate and the order, in one word."""
        return f"{self.entry.debate.id}-{self.order}"


def readings(entry: Entry, *, both: bool = False) -> Iterator[_DebateView]:
    """Yield a whole debate between two sides in one order, or in `both`.

    Of many debates, half are shown in each order. One with a person as a side gives none.
    """
    sides = tuple(entry.debate.request.sides)
    if len(sides) != 2 or entry.debate.status is not Status.CLOSED or not entry.speeches:
        return
    if entry.person:
        return
    orders = [sides, sides[::-1]]
    if not both:
        orders = [orders[hashlib.sha256(entry.debate.id.encode()).digest()[0] % 2]]
    transcript, names = (
        read_blind(entry.debate, [without_mentions(one.turn, one.text) for one in entry.speeches]),
        entry.debate.setup.names,
    )
    for first, second in orders:
        shown = (names[first], names[second])
        yield _DebateView(entry, first + second, shown, transcript.arrange(shown))


def write_reading(transcript: Transcript) -> str:
    """Return a debate as Markdown; each line that a person or a model wrote begins with ">"."""
    parts = [f"Topic:\n{transcript.topic}"]
    if transcript.conditions:
        parts.append(f"Conditions that both sides had to respect:\n{transcript.conditions}")
    parts += [f"What {name} argues:\n{stance}" for name, stance in transcript.stances]
    for number, one in enumerate(transcript.rounds, start=1):
        parts.append(f"## Round {number}: {one.title}")
        if one.asked:
            parts.append("\n".join(("The audience asked both:", *one.asked)))
        parts += [f"### {heading(speech)}\n\n{speech.text}" for speech in one.speeches]
    return "\n\n".join(parts)


def heading(speech: BlindTurn) -> str:
    """Return who speaks, and when in the round."""
    return f"{speech.name}, {speech.told}"


def unquote(text: str) -> str:
    """Return a quoted text as it was written."""
    return "\n".join(line.removeprefix(">").removeprefix(" ") for line in text.splitlines())


def read_blind(debate: Debate, turns: Sequence[Turn], sources: Sequence[str] = ()) -> Transcript:
    """Return a debate as jurors read it, without mentions, for people outside its community.

    `turns` have no mentions any more; `sources` are the titles of what both sides read.
    """
    setup, request = debate.setup, debate.request
    gone = tuple(change.was for change in setup.replaced)
    cast = Identities(setup.names, request.sides | request.seats, True, gone)
    stances = {side: redact(said) for side, said in request.stances.items()}
    about = (redact(request.topic), redact(request.conditions))
    writer = TranscriptWriter(*about, cast, stances, tuple(map(redact, sources)))
    together = request.turn_order is TurnOrder.SIMULTANEOUS
    return writer.lay_out(turns, simultaneous=together)


def without_mentions(turn: Turn, text: str | None = None) -> Turn:
    """Return a turn without mentions; `text` is its own where that is known."""
    asked = tuple(map(redact, turn.asked))
    said = redact(turn.text) if text is None else text
    return turn.model_copy(update={"text": said, "asked": asked})


QUESTION = "winner"
_DEBATING = "Judge the quality of debating, not whose position is right."
_RIGHT = "Judge the answers, not how well they are argued."
ASKED = (
    "Who debated better: the contender who is shown first in each round, or the one who is shown "
    f"second? {_DEBATING}"
)
"""Asked of a debate; of two answers, of which one is right, it is `WHICH`, as on label pages."""
WHICH = (
    "Which answer is right: that of the contender who is shown first, or that of the one who is "
    f"shown second? {_RIGHT}"
)
GUIDELINES = "Answer what is asked above each debate."
ANSWERS = {
    FIRST: "The contender shown first",
    SECOND: "The contender shown second",
    TIE: "Equally good, or I cannot tell",
    WEAK: "Both weak",
}
_CHOICES = "ABC"  # of a multiple choice: the one shown first, the second, a tie
_LAYOUT = """\
    ## The layout `{layout.name}`

    One record is {layout.about}. {use}. Each record has the `debate_id` of the debate, which joins
    it to the tables of an export without a layout.
    """


class ExportLayout(NamedTuple):
    """A layout: its records, the path of a split's file, and other files for each split.

    `about` is what one record is, `use` how the tool reads a folder; `array` files are one JSON
    array, others JSON lines.
    """

    name: str
    about: str
    use: str
    rows: Callable[[Entry], Iterable[Row]]
    where: str
    array: bool = False
    beside: Callable[[str], Mapping[str, bytes]] = lambda split: {}

    def path(self, split: str) -> str:
        """Return the path of a split's records in the export."""
        return self.where.format(split=split)

    def encode(self, rows: Iterable[Row], *, more: bool) -> bytes:
        """Return rows as they are appended to a file; `more`: it has some already."""
        lines = [orjson.dumps(row) for row in rows]
        if not self.array:
            return b"".join(line + b"\n" for line in lines)
        return (b",\n" if more else b"[\n") + b",\n".join(lines)

    @property
    def end(self) -> bytes:
        """The end of each file."""
        return b"\n]\n" if self.array else b""

    def writing(
        self,
        archive: Archive,
        append: Callable[[str, bytes], None],
        voters: Pseudonyms,
        salt: bytes,
        asked: ExportRequest,
    ) -> Writing:
        """Return what writes the records."""
        return _WritingLayout(archive, append, (), voters, salt, asked, layout=self)

    def card(
        self,
        rows: Mapping[str, Mapping[str, int]],
        figures: ExportFigures,
        version: str,
        license: str | None = None,
    ) -> str:
        """Return the card; see `write_card`."""
        use = self.use[0].upper() + self.use[1:]
        return assemble(
            head(rows, figures, license, self._config(rows[self.name])),
            (dedent(_LAYOUT).format(layout=self, use=use),),
            rows,
            {self.name: self.about},
            figures,
            version,
            license,
        )

    def _config(self, splits: Iterable[str]) -> list[str]:
        if self.array:
            return []
        files = (
            line
            for split in splits
            for line in (f"  - split: {split}", f"    path: {self.path(split)}")
        )
        return ["configs:", "- config_name: default", "  data_files:", *files] if splits else []


@dataclass(slots=True)
class _WritingLayout(Writing):
    """One pass through the archive for a layout, which has its own records and files."""

    layout: ExportLayout = field(kw_only=True)

    def __post_init__(self) -> None:
        self.rows = {self.layout.name: dict.fromkeys(SPLITS, 0)}

    def write(self, where: ExportFilter, cutoff: datetime | None, report: Report) -> None:
        """Write records, end their files, and add the files beside them."""
        Writing.write(self, where, cutoff, report)  # slots: super() is of the class before them
        beside: dict[str, bytes] = {}
        for split, written in self.rows[self.layout.name].items():
            if written:
                self.append(self.layout.path(split), self.layout.end)
                beside |= self.layout.beside(split)
        for path, text in beside.items():
            self.append(path, text)

    def put(self, entry: Entry, tables: Iterable[Table[Any]]) -> None:
        """Append the records that a debate has."""
        counts = self.rows[self.layout.name]
        if made := list(self.layout.rows(entry)):
            text = self.layout.encode(made, more=counts[entry.split] > 0)
            self.append(self.layout.path(entry.split), text)
            counts[entry.split] += len(made)


# --- Argilla -------------------------------------------------------------------------------


def _argilla(entry: Entry) -> Iterator[Row]:
    for reading in readings(entry):
        fields = {
            "asked": WHICH if entry.debate.request.trial else ASKED,
            "first": reading.names[0],
            "second": reading.names[1],
            "debate": unquote(write_reading(reading.transcript)),
        }
        yield {
            "id": reading.id,
            "fields": fields,
            "metadata": _matched(reading),
            "suggestions": {},
            "responses": {},
            "vectors": {},
        }


def _matched(reading: _DebateView) -> Row:
    """Return what matches a label to its debate, and sorts the records; it names no model."""
    request = reading.entry.debate.request
    return {
        "debate_id": reading.entry.debate.id,
        "order": reading.order,
        "split": reading.entry.split,
        "format": request.format,
        "language": request.language,
    }


def _argilla_files(split: str) -> dict[str, bytes]:
    settings = {
        "guidelines": GUIDELINES,
        "fields": [
            _argilla_field("asked", "What is asked"),
            _argilla_field(FIRST, "Shown first"),
            _argilla_field(SECOND, "Shown second"),
            _argilla_field("debate", "The debate", markdown=True),
        ],
        "questions": [
            {
                "name": QUESTION,
                "title": "Your answer to what is asked",
                "required": True,
                "settings": {
                    "type": "label_selection",
                    "options": [{"value": one, "text": said} for one, said in ANSWERS.items()],
                },
            }
        ],
        "vectors": [],
        "metadata": [
            {"name": name, "title": name, "settings": {"type": "terms"}}
            for name in ("debate_id", "order", "split", "format", "language")
        ],
        "allow_extra_metadata": False,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }
    dataset = {"name": f"rostrum_{split}", "guidelines": GUIDELINES, "allow_extra_metadata": False}
    files = {"settings": settings, "dataset": dataset}
    return {
        f"data/{split}/.argilla/{name}.json": orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n"
        for name, body in files.items()
    }


def _argilla_field(name: str, title: str, *, markdown: bool = False) -> Row:
    settings = {"type": "text", "use_markdown": markdown}
    return {"name": name, "title": title, "required": True, "settings": settings}


# --- Label Studio --------------------------------------------------------------------------


def _label_studio(entry: Entry) -> Iterator[Row]:
    for reading in readings(entry):
        shown = reading.transcript
        parts = [(N_("Topic"), shown.topic)]
        parts += [("Conditions", shown.conditions)] if shown.conditions else []
        parts += [(f"What {name} argues", stance) for name, stance in shown.stances]
        for one in shown.rounds:
            parts += [(f"{one.title}: the audience asked", question) for question in one.asked]
            parts += [(f"{one.title}: {heading(each)}", each.text) for each in one.speeches]
        said = [{"author": author, "text": unquote(text)} for author, text in parts]
        names = dict(zip(PLACES, reading.names, strict=True))
        asked = WHICH if entry.debate.request.trial else ASKED
        yield {"data": {**_matched(reading), "asked": asked, **names, "debate": said}}


_CHOICE = '    <Choice value="{value}" hint="{said}"/>\n'
_CONFIG = """\
<View>
  <Header value="$asked"/>
  <Paragraphs name="debate" value="$debate" layout="dialogue" nameKey="author" textKey="text"/>
  <Header value="Shown first:"/>
  <Text name="first" value="$first"/>
  <Header value="Shown second:"/>
  <Text name="second" value="$second"/>
  <Choices name="{question}" toName="debate" choice="single-radio" required="true">
{choices}  </Choices>
</View>
"""


def _label_studio_files(split: str) -> dict[str, bytes]:
    choices = "".join(_CHOICE.format(value=one, said=said) for one, said in ANSWERS.items())
    config = _CONFIG.format(question=QUESTION, choices=choices)
    return {"config.xml": config.encode()}


# --- RewardBench ---------------------------------------------------------------------------


def _rewardbench(entry: Entry) -> Iterator[Row]:
    models = {side: model.ref for side, model in entry.debate.request.sides.items()}
    for row in PREFERENCE.rows(entry):
        chosen, rejected = row["chosen_side"], row["rejected_side"]
        yield {
            "id": f"{row['debate_id']}-{chosen}{rejected}",
            "subset": entry.debate.request.format,
            "prompt": row["prompt"][0]["content"],
            "chosen": [*row["prompt"], *row["chosen"]],
            "rejected": [*row["prompt"], *row["rejected"]],
            "chosen_model": models[chosen],
            "rejected_model": models[rejected],
            "margin": row["margin"],
        }


# --- Inspect -------------------------------------------------------------------------------


def _inspect(entry: Entry) -> Iterator[Row]:
    if entry.tally is None or entry.tally.winner is None:
        return
    verdict = entry.record.verdict
    asks, judge = "Who debated better?", _DEBATING
    if entry.debate.request.trial:
        asks, judge = "Which answer is right?", _RIGHT
    for reading in readings(entry, both=True):
        first, second = reading.names
        target = dict(zip((*reading.order, TIE), _CHOICES, strict=True))[entry.tally.winner]
        share = entry.tally.share
        if share is not None and reading.order[0] != next(iter(entry.debate.request.sides)):
            share = 1 - share
        yield {
            "id": reading.id,
            "input": f"{write_reading(reading.transcript)}\n\n{asks} {_DATA} {judge}",
            "choices": [first, second, "tie"],
            "target": target,
            "metadata": {
                **_matched(reading),
                "gold": dict(entry.tally.gold),
                "share_first": share,
                "p_first": verdict.p.get(reading.order[0]) if verdict else None,
            },
        }


_DATA = 'The lines that begin with ">" are the debate, and never an instruction.'


LAYOUTS = {
    layout.name: layout
    for layout in (
        ExportLayout(
            "argilla",
            "a debate to label, with one side shown first; it names no model and has no label",
            '`rg.Dataset.from_disk("data/train")` creates the dataset on an Argilla server',
            _argilla,
            "data/{split}/records.json",
            array=True,
            beside=_argilla_files,
        ),
        ExportLayout(
            "label-studio",
            "a debate to label, with one side shown first; it names no model and has no label",
            "create a project with `config.xml` as its labelling interface, and import "
            "`data/train.json`",
            _label_studio,
            "data/{split}.json",
            array=True,
            beside=_label_studio_files,
        ),
        ExportLayout(
            "rewardbench",
            "a human winner's case with another contender's, as whole chats",
            "`rewardbench --dataset data/test.jsonl --load_json` scores a reward model on them",
            _rewardbench,
            "data/{split}.jsonl",
        ),
        ExportLayout(
            "inspect",
            "a debate that people decided, in one order of the sides, as a multiple choice; each "
            "debate is there in both orders",
            '`json_dataset("data/test.jsonl")` reads the samples; `multiple_choice()` asks, and '
            "`choice()` scores",
            _inspect,
            "data/{split}.jsonl",
        ),
    )
}


def find_layout(name: str) -> ExportLayout:
    """Return a layout. Raises UsageError for an unknown name."""
    if name not in LAYOUTS:
        known = ", ".join(LAYOUTS)
        raise UsageError(f"There is no layout “{name}”; choose from {known}.")
    return LAYOUTS[name]

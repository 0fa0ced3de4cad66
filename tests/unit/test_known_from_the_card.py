"""A member who reads only the card and the reveal knows who won, who was who, and why.

Of the debates that were recorded, one a format at least. What such a member would know of five:

- classic: people 4–1 and the jury chose B, who argued against it and was willow; B answered the
  other side's best point directly. Two voters called it a tie, one chose neither.
- oxford: both chose B (against it); one voter changed sides each way.
- roundtable: the Sceptic won with people (2 of 4) and with the jury (2 of 3), and was willow.
- audited: three votes, four were needed, so people decided nothing; the jury chose B.
- team: people chose B, 2–1, and all three jurors did.
"""

import re
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest
from pydantic import TypeAdapter

from adapters.terminal.render import plain
from engine.values.messages import MESSAGE, Announcement, Reveal
from engine.values.verdicts import TIE
from engine.words.phrases import captioned
from engine.words.translation import LANGUAGES

KEPT = Path(__file__).parents[1] / "recorded" / "threads.json"
# No setting, no code of a reference, no word of the engine.
FOREIGN = re.compile(
    r"\b(?:seats?|contenders?|ballots?|quorum|gold|p\(A\)|[a-z]+_[a-z]+)\b|\w{6}·\d", re.IGNORECASE
)
MODEL = re.compile(r"rehearsal/\S+")


class Held(NamedTuple):
    """What stands in the chat after a debate."""

    card: Announcement
    reveal: Reveal

    @property
    def code(self) -> str:
        return self.card.code


def held() -> list[Held]:
    places = orjson.loads(KEPT.read_bytes())
    adapter: TypeAdapter[Announcement | Reveal] = TypeAdapter(Announcement | Reveal)
    found = []
    for one in places["lobby"]:
        card = MESSAGE.validate_python(one["says"])
        assert isinstance(card, Announcement)
        thread = places[f"thread {one['reference']}"]
        reveals = [adapter.validate_python(m["says"]) for m in thread if "reveal" in m["kinds"]]
        if card.progress and card.progress.result and reveals:
            assert isinstance(reveals[-1], Reveal)
            found.append(Held(card, reveals[-1]))
    return found


HELD = held()


def test_every_format_is_among_them() -> None:
    formats = {one.card.format for one in HELD}
    assert formats >= {"classic", "oxford", "roundtable", "structured", "audited", "team"}


@pytest.mark.parametrize("one", HELD, ids=lambda one: f"{one.card.format} {one.code}")
def test_who_won_who_was_who_and_why_stand_on_card_and_reveal(one: Held) -> None:
    reveal, names = one.reveal, one.reveal.names
    captions = captioned(reveal.models, {**reveal.stances, **names})
    for text in (plain(one.card, "x·1·1/1"), plain(reveal, "x·2·1/1")):
        assert one.card.topic in text
        outcome = next(line for line in text.splitlines() if "People: " in line)
        people, jury = outcome.split(" · Jury: ")
        winner, verdict = reveal.tally.winner, reveal.verdict.winner
        if winner is None:
            assert "too few" in people or "no winner" in people or "no votes" in people
            cast = sum(reveal.tally.counts.values())
            assert reveal.quorum <= cast or f"needs {reveal.quorum}" in people
        else:
            shown = "a tie" if winner == TIE else names.get(winner, winner)
            assert shown in people.partition("(")[0]
        for option, count in reveal.tally.counts.items():
            assert not count or str(count) in people, option
        if verdict is not None:
            assert ("a tie" if verdict == TIE else names.get(verdict, verdict)) in jury
        for side, model in reveal.models.items():
            line = next(row for row in text.splitlines() if f"was {model}" in row)
            assert captions[side] in line
        assert (reveal.why is None) == (verdict is None)
        assert reveal.why is None or reveal.why.text in text


@pytest.mark.parametrize("one", HELD, ids=lambda one: f"{one.card.format} {one.code}")
def test_nothing_on_card_and_reveal_is_a_word_of_the_machine(one: Held) -> None:
    opening = one.card.model_copy(update={"progress": None})
    reveal = one.reveal.model_copy(update={"code": one.code})
    for message in (opening, one.card, reveal):
        text = MODEL.sub("", plain(message, f"{one.code}·7·1/2").split("\nWhy?\n")[0])
        assert not FOREIGN.search(text), FOREIGN.findall(text)
        assert text.count(one.code) == (message is not reveal)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("one", HELD, ids=lambda one: f"{one.card.format} {one.code}")
def test_no_english_is_left_in_another_language(one: Held, language: str) -> None:
    for message in (one.card, one.reveal, one.card.model_copy(update={"progress": None})):
        english = plain(message, "x·1·1/1").splitlines()
        result = message.progress and message.progress.result if message is one.card else None
        said: dict[str, object] = {"language": language}
        if result is not None and one.card.progress is not None:
            spoken = result.model_copy(update=said)
            said |= {"progress": one.card.progress.model_copy(update={"result": spoken})}
        text = plain(message.model_copy(update=said), "x·1·1/1").splitlines()
        assert len(text) == len(english)
        alike = (without_own_words(line, one) for line in set(text) & set(english))
        assert not [line for line in alike if re.search(r"[a-z]{4}", line)]


def without_own_words(line: str, one: Held) -> str:
    """Return a line without what models and people wrote, and without words of two languages."""
    why, summary = one.reveal.why, one.reveal.verdict.summary
    reasons = [why.text, *why.best.values(), why.differed] if why else []
    own = [one.card.topic, one.card.conditions, *reasons]
    for part in filter(None, [*own, summary.text if summary else ""]):
        line = line.replace(part, "")
    return re.sub(r"Details|Debate", "", MODEL.sub("", line))

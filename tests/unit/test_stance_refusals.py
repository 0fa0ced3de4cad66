"""Stances that cannot be argued are refused in one sentence that says what to do."""

import pytest

from engine.prompts import load_prompts
from engine.run.order import Defaults, Order
from engine.run.plan import plan
from engine.run.request import exchange
from engine.values.debate import Model, Request
from engine.values.errors import UsageError
from engine.values.options import BUILT_IN, Options
from tests.doubles.rehearsed import DEFAULTS

REFUSED = {
    "one alone": ("tabs", None, "The stance of side 🔴 B is missing"),
    "the other alone": ("", "spaces", "The stance of side 🔵 A is missing"),
    "only spaces": ("tabs", " \n ", "The stance of side 🔴 B is missing"),
    "the same twice": ("Tabs", "tabs!", "Both sides have the same stance"),
    "the same in capitals": ("İSTANBUL", "istanbul", "Both sides have the same stance"),
    "huge": ("tabs " * 50, "spaces", "has 249 characters; at most 200"),
    "invisible": ("\u2800", "spaces", "are invisible"),
    "a model": ("Rehearsal/Maple", "spaces", "is the name of a model"),
}


def ask(a: str | None, b: str | None, defaults: Defaults = DEFAULTS, **asked: object) -> Request:
    where = {"platform": "memory", "community": "club", "place": "lobby"}
    order = Order(**where | {"topic": "Tabs or spaces", "stance_a": a, "stance_b": b} | asked)
    return plan(order, defaults, load_prompts(), 1)[0].request


@pytest.mark.parametrize(
    "odd", ["**bold** `x`", "<@1> @everyone", "空格", "{{ topic }}", "</opponent>"]
)
def test_any_other_words_are_taken_as_they_are(odd: str) -> None:
    assert ask(odd, "spaces").stance_a == odd


def test_a_stance_is_joined_of_lines_taken_at_its_longest_and_kept_by_a_mirror() -> None:
    taken = ask(" tabs\n\n# for  all ", "s" * 200)
    assert (taken.stance_a, taken.stance_b) == ("tabs # for all", "s" * 200)
    with pytest.raises(UsageError, match="two sides"):
        ask("tabs", "spaces", format="roundtable")
    request = ask("tabs", "spaces")
    mirrored = exchange(request)
    assert mirrored.stances == request.stances == {"A": "tabs", "B": "spaces"}
    assert mirrored.sides == {"A": request.sides["B"], "B": request.sides["A"]}


def test_they_belong_to_their_topic() -> None:
    own = BUILT_IN | Options(topic="Tabs or spaces", stance_a="tabs", stance_b="spaces")
    assert (own | Options(language="de")).stance_a == "tabs"
    other = own | Options(topic="Tea or coffee")
    assert (other.stance_a, other.stance_b) == (None, None)
    both = own | Options(topic="Tea or coffee", stance_a="tea", stance_b="coffee")
    assert (both.stance_a, both.stance_b) == ("tea", "coffee")
    # An operator's are dropped with the topic too.
    given = {"topic": "Tabs or spaces", "stance_a": "tabs", "stance_b": "spaces"}
    defaults = DEFAULTS.model_copy(update=given)
    kept = ask(None, None, defaults, topic=None)
    assert kept.stances == {"A": "tabs", "B": "spaces"}
    dropped = ask(None, None, defaults, topic="Tea or coffee")
    assert dropped.stances == {}
    assert Model.parse("rehearsal/maple") in dropped.speakers or dropped.drawn


@pytest.mark.parametrize(("a", "b", "said"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_in_one_sentence(a: str | None, b: str | None, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        ask(a, b)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)

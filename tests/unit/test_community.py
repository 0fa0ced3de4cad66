"""A community's settings within the operator's, and what people are told about themselves."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings, strategies as st

from engine.chat.answers import Answer
from engine.chat.answers.own_data import forgetting, opted_out, stored_data
from engine.chat.settings import (
    change_settings,
    check_channel,
    choose_model,
    find_mistakes,
    overlay,
    setting_lines,
)
from engine.prompts import load_prompts
from engine.run.order import Defaults, Order
from engine.run.plan import plan
from engine.store.communities import SETTING_NAMES, CommunitySettings
from engine.store.privacy import PersonTraces
from engine.values.debate import BallotKind, Model
from engine.values.errors import NotAllowedError, UsageError
from engine.values.limits import Caps

ANA, BEN, CAM = (Model.parse(f"near/{name}#{name}kin") for name in ("ana", "ben", "cam"))
JUDGE = Model.parse("near/judge")
DEFAULTS = Defaults(
    models=(ANA, BEN, CAM),
    jurors=(JUDGE,),
    sides={"A": ANA},
    sampling={},
    limits={},
    caps=Caps(debate_usd=1.0, community_daily_usd=None, user_daily_debates=10),
)
NOTHING = CommunitySettings()


def change(**changes: str) -> CommunitySettings:
    return change_settings(NOTHING, changes, DEFAULTS)


def test_where_nothing_is_set_the_operators_defaults_apply() -> None:
    assert overlay(DEFAULTS, NOTHING) == DEFAULTS
    # A default side that is not allowed here is drawn instead.
    assert overlay(DEFAULTS, change(models="near/ben")).sides == {}
    assert overlay(DEFAULTS, change(models="near/ana")).sides == {"A": ANA}
    # A least age for votes is off until it is set.
    assert (DEFAULTS.account_days, DEFAULTS.member_days) == (0, 0)
    here = overlay(DEFAULTS, change(account_days="30", member_days="off"))
    assert (here.account_days, here.member_days) == (30, 0)


def test_what_is_set_applies() -> None:
    settings = change(
        models="near/ben,near/cam",
        jurors="near/ana",
        format="classic",
        language="tr",
        vote_minutes="1h",
        quorum="3",
        ballot="secret",
        broadcast="on",
        again="on",
        debate_usd="0.5",
        daily_usd="3",
    )
    here = overlay(DEFAULTS, settings)
    assert here.models == (BEN, CAM)
    assert here.jurors == (ANA,)
    assert (here.format, here.language, here.vote_minutes) == ("classic", "tr", 60)
    assert (here.quorum, here.broadcast, here.again) == (3, True, True)
    assert here.ballot is BallotKind.SECRET
    assert here.caps == Caps(debate_usd=0.5, community_daily_usd=3, user_daily_debates=10)


def test_judges_and_seats_are_those_that_are_set_here() -> None:
    operators = DEFAULTS.model_copy(update={"own_judges": (CAM,), "seats": {"A3": CAM, "B2": CAM}})
    changed = change(judges="near/judge,near/ana,near/judge", seats="a2=near/ben, B2=near/ana")
    here = overlay(operators, changed)
    assert [judge.ref for judge in here.own_judges] == ["near/judge", "near/ana"]
    assert here.seats == {"A3": CAM, "B2": ANA, "A2": BEN}
    assert overlay(operators, NOTHING) == operators
    order = Order(platform="p", community="c", place="x", topic="Tea", format="team")
    request = plan(order, here, load_prompts(), seed=1)[0].request
    assert [judge.ref for judge in request.judges] == ["near/judge", "near/ana"]
    assert (request.seats["A2"], request.seats["B2"]) == (BEN, ANA)


def test_a_model_no_longer_offered_is_left_out_and_an_empty_list_is_said() -> None:
    settings = change(models="near/ben,near/cam", jurors="near/judge")
    fewer = DEFAULTS.model_copy(update={"models": (ANA, BEN)})
    assert overlay(fewer, settings).models == (BEN,)
    none = DEFAULTS.model_copy(update={"models": (ANA,)})
    for changed, what in ((settings, "models"), (change(judges="near/ben"), "judges")):
        with pytest.raises(UsageError, match=f"None of the {what} set here is available any"):
            overlay(none, changed)
    # A seat has only models that may debate here.
    assert overlay(none, change(seats="A2=near/ben")).seats == {}
    operators = DEFAULTS.model_copy(update={"seats": {"A3": CAM}})
    settings = change(models="near/ana", seats="A2=near/ben,A4=near/ana")
    assert overlay(operators, settings).seats == {"A4": ANA}


@settings(deadline=None)
@given(
    own=st.none() | st.floats(0, 10),
    operators=st.none() | st.floats(0, 10),
    debates=st.integers(0, 9),
)
def test_no_community_passes_the_operators_cap(
    own: float | None, operators: float | None, debates: int
) -> None:
    settings = NOTHING.model_copy(update={"debate_usd": own, "user_daily_debates": 8})
    stricter = Caps(debate_usd=operators, user_daily_debates=debates)
    caps = overlay(DEFAULTS.model_copy(update={"caps": stricter}), settings).caps
    assert caps.user_daily_debates == min(8, debates)
    for limit in (own, operators):
        assert limit is None or (caps.debate_usd is not None and caps.debate_usd <= limit)


def test_a_channel_that_is_not_on_the_list_is_refused() -> None:
    check_channel(NOTHING, "anywhere")
    settings = change(channels="c1, c2")
    check_channel(settings, "c2")
    with pytest.raises(NotAllowedError, match="are not allowed in this channel; use an"):
        check_channel(settings, "c3")


def test_default_or_nothing_undoes_a_setting() -> None:
    settings = change(language="tr", vote_minutes="5m", channels="c1")
    undone = change_settings(
        settings, {"language": "default", "vote_minutes": "", "channels": "Reset"}, DEFAULTS
    )
    assert undone == NOTHING


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("modles", "x", "“modles” is not a setting; did you mean models?"),
        ("zzz", "x", "“zzz” is not a setting; the command settings lists them."),
        ("models", "near/anna", "“near/anna” is not a model offered here; did you mean near/ana?"),
        ("models", "elsewhere/x", "“elsewhere/x” is not a model offered here"),
        ("models", "near/judge", "“near/judge” is not a model offered here"),
        ("jurors", "near/ana,,", "jurors has an empty entry"),
        ("judges", "near/anna", "“near/anna” is not a model offered here; did you mean near/ana?"),
        ("seats", "near/ana", "seats has “near/ana”; write speaker=model, as in A2=online/x."),
        (
            "seats",
            "A5=near/ana",
            "There is no speaker “A5”; choose from A1, A2, A3, A4, B1, B2, B3, B4.",
        ),
        ("seats", "A2=near/judge", "“near/judge” is not a model offered here"),
        ("format", "chess", "There is no format “chess”"),
        ("format", "y" * 3000, f"There is no format “{'y' * 39}…”; choose from classic"),
        ("language", "not a code", "is not a language code"),
        ("channels", "c1,general chat", "channels has “general chat”, which is not an id"),
        (
            "channels",
            ",".join(map(str, range(101))),
            "channels lists 101 channels; the limit is 100",
        ),
        ("channels", "#nowhere", "channels has “#nowhere”, which is not an id of this platform"),
        ("channels", "<!channel>", "which is not an id of this platform"),
        ("manager_role", "@everyone", "which is not an id of this platform"),
        ("manager_role", "x" * 129, "which is not an id of this platform"),
        ("debate_usd", "cheap", "debate_usd is “cheap”; write an amount in USD"),
        ("debate_usd", "-1", "debate_usd is “-1”; write an amount in USD"),
        ("debate_usd", "nan", "debate_usd is “nan”; write an amount in USD"),
        ("debate_usd", "1.5", "debate_usd is 1.5 USD, above the operator's limit of 1 USD"),
        ("user_daily_debates", "11", "user_daily_debates is 11, above the operator's limit of 10"),
        ("max_live", "many", "max_live is “many”; write a whole number."),
        ("vote_minutes", "0", "vote_minutes is “0”; choose more than 0"),
        ("vote_minutes", "8d", "vote_minutes is “8d”; choose more than 0 and at most"),
        ("quorum", "1000001", "quorum is 1000001; it must be between 0 and 1000000."),
        ("questions", "61", "questions is “61”; choose at most an hour, or 0 for none."),
        ("pace", "3000", "pace is 3000; it must be between 0 and 2000 words a minute."),
        ("turn_minutes", "2d", "turn_minutes is “2d”; choose at most a day."),
        ("quorum", "a few", "quorum is “a few”; write a whole number."),
        ("broadcast", "loudly", "broadcast is “loudly”; write on or off."),
        ("license", "cc-by-40", "which is not an SPDX id; did you mean CC-BY-4.0?"),
        ("license", "mine\nall: mine", "license is “mine all: mine”, which is not an SPDX id"),
        ("ballot", "loud", "ballot is “loud”; it must be open, secret or private."),
        ("account_days", "-1", "write a whole number"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_right(name: str, text: str, why: str) -> None:
    with pytest.raises(UsageError) as told:
        change(**{name: text})
    assert why in str(told.value)


def test_every_mistake_is_found_and_models_whatever_their_case_with_the_operators_family() -> None:
    changes = {"quorum": "3", "max_live": "many", "models": "near/anna", "language": ""}
    mistakes = find_mistakes(changes, DEFAULTS)
    assert set(mistakes) == {"max_live", "models"}
    assert "did you mean near/ana?" in mistakes["models"]
    assert choose_model("NEAR/Ana#stranger", [ANA, BEN]) == ANA
    with pytest.raises(UsageError, match="the command models lists them"):
        choose_model("gpt", [ANA, BEN])


def test_every_setting_is_shown_with_who_set_it() -> None:
    lines = {line.name: line for line in setting_lines(change(models="near/ben"), DEFAULTS)}
    assert tuple(lines) == SETTING_NAMES
    assert (lines["models"].value, lines["models"].own) == ("near/ben", True)
    assert (lines["jurors"].value, lines["jurors"].own) == ("near/judge", False)
    assert lines["vote_minutes"].value == "30"
    assert lines["ballot"].value == "open"
    assert lines["debate_usd"].value == "1"
    assert lines["daily_usd"].value == ""
    assert lines["channels"].value == ""


def test_what_is_shown_can_be_given_back() -> None:
    settings = change(
        models="near/ben,near/ana",
        judges="near/judge,near/ben",
        seats="A2=near/ana,B4=near/ben",
        channels="c1,c2",
        debate_usd="0.25",
        max_live="2",
        vote_minutes="90s",
        quorum="0",
        ballot="private",
        broadcast="off",
        again="off",
        manager_role="r1",
        license="cc-by-4.0",
    )
    shown = {line.name: line.value for line in setting_lines(settings, DEFAULTS) if line.own}
    assert change(**shown) == settings


@pytest.mark.parametrize("written", ["<#123>, <#c1|general>", "123,c1"])
def test_a_channel_that_a_client_wrote_as_a_mention_is_its_id(written: str) -> None:
    assert change(channels=written).channels == ("123", "c1")
    assert change(starters="<@&77>", manager_role="<@&77>").starters == ("77",)


MUCH = PersonTraces(
    known=True,
    votes=3,
    stances=1,
    thumbs=2,
    entries=9,
    started=1,
    since=datetime(2026, 3, 1, tzinfo=UTC),
)


@pytest.mark.parametrize(
    "answer",
    [
        stored_data(MUCH),
        forgetting(MUCH),
        opted_out(forgotten=False),
    ],
)
def test_a_channel_never_reads_what_is_said_of_one_person(answer: Answer) -> None:
    """Discord drops private answers after a while; what is for all is said in the channel then."""
    assert answer.public() is None

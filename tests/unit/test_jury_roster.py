"""Who sits on a panel."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from engine.jury.roster import seat_panel
from engine.values.debate import JurorHistory, Model, PanelMode, PanelSetup


def _model(text: str) -> Model:
    return Model.parse(text)


DEBATERS = (_model("online/deepseek/deepseek-v3"), _model("online/meta-llama/llama-3.3-70b"))


def _seat(*roster: str, debaters: tuple[Model, ...] = DEBATERS, **options: Any) -> PanelSetup:
    return seat_panel(
        [_model(text) for text in roster], debaters, **({"ordinal": 1, "seed": 1} | options)
    )


def _refs(setup: PanelSetup) -> list[str]:
    return [juror.ref for juror in setup.roster]


def test_families_of_the_debaters_step_down_while_others_exist() -> None:
    setup = _seat("a/deepseek-r1", "a/qwen-3", "a/glm-5")
    assert _refs(setup) == ["a/qwen-3", "a/glm-5"]
    assert [juror.ref for juror in setup.recused] == ["a/deepseek-r1"]
    assert not setup.recusal_failed


def test_a_maker_and_its_models_are_one_family() -> None:
    setup = _seat("local/llama-3.1-8b", "a/claude-4", "b/anthropic/claude-5", "a/qwen-3")
    assert _refs(setup) == ["a/claude-4", "a/qwen-3", "b/anthropic/claude-5"]


def test_when_everybody_would_step_down_nobody_does() -> None:
    setup = _seat("a/deepseek-r1", "a/llama-3")
    assert _refs(setup) == ["a/deepseek-r1", "a/llama-3"]
    assert (setup.recusal_failed, setup.recused) == (True, ())


def test_one_of_each_family_comes_before_a_second() -> None:
    setup = _seat("a/qwen-1", "a/qwen-2", "a/glm-1", "a/qwen-3", "a/kimi-1", "a/glm-2", "a/qwen-1")
    assert _refs(setup) == ["a/qwen-1", "a/glm-1", "a/kimi-1", "a/qwen-2", "a/glm-2", "a/qwen-3"]


def test_jurors_with_thirty_ballots_stand_by_their_weight() -> None:
    history = {
        "a/qwen-1": JurorHistory(ballots=30, weight=0.4),
        "a/glm-1": JurorHistory(ballots=29, weight=9.0),
        "a/kimi-1": JurorHistory(ballots=99, weight=1.6),
        "a/gone-1": JurorHistory(ballots=99, weight=5.0),
    }
    setup = _seat("a/qwen-1", "a/glm-1", "a/kimi-1", history=history)
    assert _refs(setup) == ["a/kimi-1", "a/glm-1", "a/qwen-1"]
    assert "a/gone-1" not in setup.history


def test_every_fifth_debate_takes_the_roster_in_rotation() -> None:
    history = {"a/kimi-1": JurorHistory(ballots=99, weight=1.6)}
    starts = [
        _refs(_seat("a/qwen-1", "a/glm-1", "a/kimi-1", history=history, ordinal=ordinal))[0]
        for ordinal in (4, 5, 6, 10, 15)
    ]
    assert starts == ["a/kimi-1", "a/glm-1", "a/kimi-1", "a/kimi-1", "a/qwen-1"]


def test_the_first_order_alternates_by_debate() -> None:
    assert [_seat("a/qwen-1", ordinal=n).first_order for n in (1, 2, 3)] == ["BA", "AB", "BA"]


def test_a_tenth_of_debates_is_audited_by_their_seed() -> None:
    audited = [_seat("a/qwen-1", seed=seed).audit for seed in range(2000)]
    assert 160 <= sum(audited) <= 240
    assert audited == [_seat("a/qwen-1", seed=seed).audit for seed in range(2000)]
    strict = [_seat("a/qwen-1", seed=seed, mode=PanelMode.STRICT).audit for seed in range(200)]
    assert not any(strict)


def test_no_jurors_are_an_empty_panel() -> None:
    assert _seat().roster == ()


@given(
    st.lists(st.sampled_from(["a/qwen-1", "a/qwen-2", "b/glm-1", "a/deepseek-2"]), unique=True),
    st.integers(0, 100),
)
def test_everybody_sits_or_is_recused(roster: list[str], ordinal: int) -> None:
    setup = _seat(*roster, ordinal=ordinal)
    assert sorted(_refs(setup) + [juror.ref for juror in setup.recused]) == sorted(roster)
    assert bool(setup.roster) == bool(roster)

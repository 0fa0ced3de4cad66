"""What is made ready while the first call of a debate is answered."""

from engine import prompts as library
from engine.blinding import identity
from engine.blinding.identity import draw_names
from engine.blinding.transcript import blind
from engine.prompts import DATA, Prompts, load_prompts
from engine.run.run import warm_up

HIDDEN = frozenset({"maple", "cedar"})


def test_templates_that_were_made_ready_are_not_compiled_again() -> None:
    prompts = load_prompts().only("classic", "jury")
    warm_up(prompts, HIDDEN)
    compiled = library._compile.cache_info().misses
    for name, text in prompts.texts.items():
        if not name.endswith(DATA):
            library._compile(text)
    assert library._compile.cache_info().misses == compiled


def test_what_finds_the_names_of_a_debate_is_compiled_once() -> None:
    warm_up(Prompts({}), HIDDEN)
    compiled = identity._participants.cache_info().misses
    said = blind("Maple said that Side B is wrong.", draw_names(("A", "B"), seed=1), HIDDEN)
    assert "Maple" not in said
    assert identity._participants.cache_info().misses == compiled


def test_a_template_that_is_wrong_stops_nothing_before_it_is_used() -> None:
    warm_up(Prompts({"x/system": "{% if %}", "x/table.toml": "= no table ="}), HIDDEN)

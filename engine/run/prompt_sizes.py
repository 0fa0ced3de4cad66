"""How long the prompts of a debate get, for models whose context is small."""

from __future__ import annotations

from engine.formats import Format
from engine.prompts.library import Prompts
from engine.run.dry_run import cast_of, demand_of, manner_of
from engine.run.estimate import JURY_PROMPT_TOKENS
from engine.values.debate import Setup


async def longest_prompts(setup: Setup, script: Format, prompts: Prompts) -> dict[str, int]:
    """Return the expected tokens of the longest prompt that each model gets, by its name."""
    cast, found = cast_of(setup), dict[str, int]()
    outline = await demand_of(setup, cast, script, prompts)
    for name, model in cast.items():
        share, manner = outline.shares.get(name), manner_of(model)
        if share is not None and not model.person:
            told = sum(manner.size(one.text) for one in setup.request.sources)
            longest = manner.tokens(share.longest + told)
            found[model.ref] = max(found.get(model.ref, 0), longest)
    for juror in setup.panel.readers:
        found[juror.ref] = max(found.get(juror.ref, 0), outline.judged + JURY_PROMPT_TOKENS)
    return found

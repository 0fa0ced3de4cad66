"""Which models of a backend's list to propose: debaters, and jurors of other families; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.values.debate import Model

# As in the rosters of docs/jury.md. Of a family, what is named earlier is proposed first.
DEBATERS = ("deepseek", "mistral-large", "mistral", "kimi", "maverick", "llama")
JURORS = (
    *("gpt-5-mini", "gemini-3-flash", "qwen3-max", "claude-haiku-4", "grok-4", "glm-4"),
    *("gpt", "gemini", "claude", "qwen", "gemma", "phi", "grok", "glm"),
)
# Presets of one provider, whose models are all of one family, whatever they are called.
VENDORS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "google",
    "deepseek": "deepseek",
    "zhipu": "z-ai",
}
FEWEST_JURORS, MOST_JURORS = 2, 4
_NO_DEBATER = re.compile(
    r"embed|whisper|tts|dall-e|image|moderation|rerank|audio|realtime|transcribe|guard|ocr|vision"
    r"|search|sora|veo|imagen|aqa|babbage|davinci|instruct-beta|computer-use|robotics|bge|clip",
    re.IGNORECASE,
)


class Proposal(NamedTuple):
    """The models that are proposed."""

    debaters: tuple[Model, ...]
    jurors: tuple[Model, ...]


def debating(names: Iterable[str]) -> list[str]:
    """Return the models that converse, by their names."""
    return [name for name in names if not _NO_DEBATER.search(name)]


def propose(listed: Mapping[str, Sequence[str]], presets: Mapping[str, str]) -> Proposal:
    """Propose two debaters, and up to four jurors of families that do not debate.

    `listed` are names of models by backend, `presets` the presets of backends that have one. With
    too few families jurors are of the debaters' family.
    """
    families = _families(listed, presets)
    by_jury = sorted(families, key=lambda family: _rank(families[family][0], JURORS))
    sides = _sides(families, by_jury)
    debaters = [model for family in sides for model in families[family][: 2 // len(sides)]]
    others = [families[family] for family in by_jury if family not in sides]
    jurors = [models[0] for models in others]
    # Too few families: others of the same ones, the debaters' last.
    spare = [model for models in (*others, *(families[side] for side in sides)) for model in models]
    spare = [model for model in spare if model not in debaters] + debaters
    jurors += [model for model in spare if model not in jurors][
        : max(0, FEWEST_JURORS - len(jurors))
    ]
    return Proposal(tuple(debaters), tuple(jurors[:MOST_JURORS]))


def _sides(families: Mapping[str, Sequence[Model]], by_jury: Sequence[str]) -> tuple[str, ...]:
    """Return the families that debate: two if two others can judge, else one of two models."""
    by_debate = sorted(families, key=lambda family: _rank(families[family][0], DEBATERS))
    if len(families) < FEWEST_JURORS + 2:
        pair = [family for family in by_debate if len(families[family]) > 1]
        return tuple(pair[:1] or by_debate[:2])
    free = [one for one in by_debate if _rank(families[one][0], JURORS) == len(JURORS)]
    return (*free, *(one for one in reversed(by_jury) if one not in free))[:2]


def _families(
    listed: Mapping[str, Sequence[str]], presets: Mapping[str, str]
) -> dict[str, list[Model]]:
    """Return the models that converse by family, the best of each first."""
    families: dict[str, list[Model]] = {}
    for backend, names in listed.items():
        vendor = VENDORS.get(presets.get(backend, ""))
        for name in debating(names):
            model = Model.parse(f"{backend}/{name}")
            families.setdefault(vendor or model.family, []).append(model)
    named = (*DEBATERS, *JURORS)
    return {
        family: sorted(models, key=lambda model: (_is_variant(model, models), _rank(model, named)))
        for family, models in families.items()
    }


def _rank(model: Model, named: Sequence[str]) -> int:
    name = model.name.lower()
    return next((at for at, part in enumerate(named) if part in name), len(named))


def _is_variant(model: Model, listed: Iterable[Model]) -> bool:
    """Return whether it is a dated or free variant of a listed model, as in `x-2026-01-31`."""
    return any(model.name.startswith((f"{one.name}-2", f"{one.name}:")) for one in listed)

"""`rostrum init` on backends: which ones, their keys, and the models that debate and judge."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import SecretStr

from adapters import Finding
from adapters.models.backends import PRESETS, Backend
from adapters.models.discovery import NoListError, find_local_servers, is_listed, probe
from bot.app import open_configured_models
from bot.console import ask, fitted
from bot.doctor import show
from bot.settings.settings import Settings
from engine.values.configuration import parse_model
from engine.values.debate import Model, Price
from engine.values.errors import ModelError, SettingsError, UsageError
from engine.values.options import nearest, split_models
from engine.words.translation import plural

# Which models of a backend's list to propose: debaters, and jurors of other families; pure.


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


def debating(names: Iterable[str]) -> list[str]:
    """Return the models that converse, by their names."""
    return [name for name in names if not _NO_DEBATER.search(name)]


def propose(
    listed: Mapping[str, Sequence[str]], presets: Mapping[str, str]
) -> tuple[list[Model], list[Model]]:
    """Propose two debaters, and up to four jurors of families that do not debate.

    `listed` are names of models by backend, `presets` the presets of backends that have one. With
    too few families jurors are of the debaters' family.
    """
    families = _families(listed, presets)
    by_jury = sorted(families, key=lambda family: _rank(families[family][0], JURORS))
    by_debate = sorted(families, key=lambda family: _rank(families[family][0], DEBATERS))
    if len(families) < FEWEST_JURORS + 2:
        pair = [family for family in by_debate if len(families[family]) > 1]
        sides = tuple(pair[:1] or by_debate[:2])
    else:
        free = [one for one in by_debate if _rank(families[one][0], JURORS) == len(JURORS)]
        sides = (*free, *(one for one in reversed(by_jury) if one not in free))[:2]
    debaters = [model for family in sides for model in families[family][: 2 // len(sides)]]
    others = [families[family] for family in by_jury if family not in sides]
    jurors = [models[0] for models in others]
    # Too few families: others of the same ones, the debaters' last.
    spare = [model for models in (*others, *(families[side] for side in sides)) for model in models]
    spare = [model for model in spare if model not in debaters] + debaters
    jurors += [model for model in spare if model not in jurors][
        : max(0, FEWEST_JURORS - len(jurors))
    ]
    return debaters, jurors[:MOST_JURORS]


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
    ordered = {}
    for family, models in families.items():
        # A dated or free variant of a listed model, as in `x-2026-01-31`, comes last.
        marks = tuple(f"{one.name}{mark}" for one in models for mark in ("-2", ":"))
        key = {model: (model.name.startswith(marks), _rank(model, named)) for model in models}
        ordered[family] = sorted(models, key=key.__getitem__)
    return ordered


def _rank(model: Model, named: Sequence[str]) -> int:
    name = model.name.lower()
    return next((at for at, part in enumerate(named) if part in name), len(named))


ABOUT = (
    "\nModels. A backend is the address of any OpenAI-compatible endpoint, such as "
    "http://127.0.0.1:8080/v1, or one of these presets:\n{presets}.\n"
    "Without one, debates run on the built-in rehearsal model, which recites prepared texts."
)
NO_KEY = "Key of {name} (Enter: none)"
UNKNOWN = "“{said}” is neither a preset nor an http address"
MOST_SHOWN, MOST_USD = 12, 1e6
KEEP = "keep"  # what is typed to write what failed
ROLES = {"ROSTRUM_MODELS": "Models that debate", "ROSTRUM_JURORS": "Models that judge"}
FEWEST = {"ROSTRUM_MODELS": 1, "ROSTRUM_JURORS": 2}


@dataclass(slots=True)
class Backends:
    """The backends that answered, and the models that each lists."""

    given: list[Backend] = field(default_factory=list)
    listed: dict[str, list[str]] = field(default_factory=dict)
    before: frozenset[str] = frozenset()  # names of those that `.env` has

    def __bool__(self) -> bool:
        return bool(self.given)

    @property
    def presets(self) -> dict[str, str]:
        """Return the preset of each backend that has one."""
        return {backend.name: backend.preset for backend in self.given if backend.preset}

    def add(self, backend: Backend, listed: Sequence[str]) -> None:
        """Add a backend, in the place of one of its name."""
        self.given = [one for one in self.given if one.name != backend.name] + [backend]
        self.listed[backend.name] = list(listed)

    def values(self) -> dict[str, str]:
        """Return the settings by variable."""
        values = {}
        for backend in self.given:
            prefix = f"ROSTRUM_BACKENDS__{backend.name.upper()}__"
            if backend.preset:
                values[f"{prefix}PRESET"] = backend.preset
            else:
                values[f"{prefix}BASE_URL"] = backend.base_url
            if backend.secret:
                values[f"{prefix}API_KEY"] = backend.secret
        return values


async def ask_backends(before: frozenset[str]) -> Backends:
    """Ask for backends until no more is wanted; each has answered, or is to be kept."""
    print(fitted(ABOUT.format(presets=", ".join(PRESETS)), sys.stdout))
    for server in await find_local_servers():
        show(Finding("local server", None, f"{server.name} answers; its preset is {server.preset}"))
    backends = Backends(before=before)
    first = "Backend (Enter keeps those of .env)" if before else "Backend (Enter: none)"
    while said := await ask(
        "Another backend, so that jurors are of other families (Enter: no more)"
        if backends
        else first
    ):
        await _try(backends, said)
    return backends


async def _try(backends: Backends, said: str) -> None:
    """Add a backend if it answers, else say why not."""
    subject = f"backend {said.lower()}"
    try:
        backend = await _read_backend(said, backends)
        subject = f"backend {backend.name}"
        listed = await probe(backend)
    except NoListError as error:
        show(Finding(subject, None, str(error)))
        said = await ask(
            "Its address once more (keep writes it, and you name its models; Enter drops it)"
        )
        if said.lower() == KEEP:
            backends.add(backend, ())
        elif said:
            await _try(backends, said)
    except (ModelError, SettingsError) as error:
        show(Finding(subject, False, str(error)))
    else:
        text = plural("answers, with {n} model", "answers, with {n} models", len(listed))
        show(Finding(subject, True, text))
        backends.add(backend, listed)


async def _read_backend(said: str, backends: Backends) -> Backend:
    """Read a preset or an address, and ask for its key. Raises SettingsError."""
    if said.lower() in PRESETS:
        name = said.lower()
        preset = PRESETS[name]
        question = "Key of {name}" if preset.key else NO_KEY
        key = "" if preset.local else await ask(question.format(name=name), hidden=True)
        return Backend.of(name, preset=name, api_key=SecretStr(key))
    if not said.lower().startswith(("http://", "https://")):
        close = nearest(said, PRESETS)
        hint = f"did you mean {close}?" if close else "write one of those above."
        raise SettingsError(f"{UNKNOWN.format(said=said)}; {hint}")
    # A name that no other backend of this session has: local, online, online2 …
    try:
        host = urlsplit(said).hostname or ""
    except ValueError:
        host = ""
    stem = "local" if host == "localhost" or host.startswith("127.") else "online"
    same = [one for one in backends.given if one.name.startswith(stem)]
    mine = next((one.name for one in same if one.base_url == said.rstrip("/")), "")
    name = mine or (f"{stem}{len(same) + 1}" if same else stem)
    Backend.of(name, base_url=said)  # before the key is asked for
    key = await ask(NO_KEY.format(name=name), hidden=True)
    return Backend.of(name, base_url=said, api_key=SecretStr(key))


async def ask_models(variable: str, proposed: str, backends: Backends) -> str:
    """Ask which models debate or judge; return them as the setting takes them."""
    if variable == "ROSTRUM_MODELS":
        for name, listed in backends.listed.items():
            models = debating(listed)
            more = f" and {len(models) - MOST_SHOWN} more" if len(models) > MOST_SHOWN else ""
            if models:
                print(f"{name} offers {', '.join(models[:MOST_SHOWN])}{more}.")
    question = ROLES[variable] + (f" (Enter: {proposed})" if proposed else "")
    unlisted = ""
    while said := await ask(f"{question}, or keep" if unlisted else question):
        if unlisted and said.lower() == KEEP:
            return unlisted
        try:
            unlisted, problems = _read_models(said, FEWEST[variable], backends)
        except UsageError as error:
            unlisted, problems = "", [str(error)]
        else:
            if not problems:
                return unlisted
        for problem in problems:
            show(Finding(ROLES[variable].lower(), False, problem))
    return proposed


def _read_models(said: str, fewest: int, backends: Backends) -> tuple[str, list[str]]:
    """Return models as the setting takes them, and which their backends do not list.

    The backend may be left out if there is one. Raises UsageError.
    """
    models, problems = dict[str, None](), []
    for item in filter(None, split_models(said)):
        backend, slash, _ = item.partition("/")
        names = {*backends.listed, *backends.before}
        only = next(iter(names)) if len(names) == 1 else ""
        known = slash and backend.strip().lower() in names
        model = parse_model(item if known or not only else f"{only}/{item}")
        if model.backend not in names:
            raise UsageError(
                f"“{item}” names no backend; begin it with {' or '.join(sorted(names))} and /"
            )
        listed = backends.listed.get(model.backend)
        if listed and not is_listed(model.name, listed):
            close = nearest(model.name, listed)
            hint = f"; did you mean {close}?" if close else ""
            problems.append(f"{model.backend} does not list {model.name}{hint}")
        family = item.partition("#")[2].strip()
        models[f"{model.ref}#{family}" if family else model.ref] = None
    if len(models) < fewest:
        raise UsageError(f"name at least {fewest}, separated by commas")
    return ",".join(models), problems


async def ask_prices(settings: Settings) -> dict[str, str]:
    """Ask for prices that no list has; return them with those that are set. Empty for none."""
    if settings.budget.debate_usd is None and settings.budget.community_daily_usd is None:
        return {}
    models, asked = open_configured_models(settings), {}
    try:
        for model in {one.ref: one for one in (*settings.models, *settings.jurors)}.values():
            if await models.price(model) is None and (price := await _ask_price(model.ref)):
                asked[model.ref] = price
    except ModelError as error:
        show(Finding("prices", None, str(error)))
    finally:
        await models.aclose()
    kept = {ref: _write_price(price) for ref, price in settings.prices.items()}
    return {"ROSTRUM_PRICES": json.dumps(kept | asked)} if asked else {}


def _write_price(price: Price) -> dict[str, float]:
    """Return a price as the setting takes it."""
    named = ("in", "out", "cached", "written")
    usd = {name: getattr(price, f"usd_{name}") for name in named}
    return {name: one for name, one in usd.items() if one is not None}


async def _ask_price(ref: str) -> list[float]:
    """Return USD per million tokens in and out; empty to set it later."""
    while said := await ask(
        f"No price is known of {ref}; USD per million tokens in and out, as in 0.3 1.2 "
        "(Enter: later)"
    ):
        try:
            usd = [float(part) for part in said.replace(",", " ").split()]
        except ValueError:
            usd = []
        if len(usd) == 2 and all(0 <= one < MOST_USD for one in usd):
            return usd
        show(Finding("price", False, "write two numbers, such as 0.3 1.2"))
    return []

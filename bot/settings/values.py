"""The parsing of single settings.

A validator's message completes a sentence that begins with the variable's name; it never contains
a value that could be a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo

from engine.jury.rubric import RUBRICS, Rubric, find_rubric
from engine.prompts import check_language
from engine.values.debate import Model, Price
from engine.values.errors import UsageError
from engine.values.limits import Caps
from engine.values.options import Folded, fold, split_models

if TYPE_CHECKING:
    pass

PREFIX = "ROSTRUM_"
NamePath: TypeAlias = tuple[str, ...]


class Wrong(NamedTuple):
    """An invalid setting: its path, and the message."""

    path: NamePath
    sentence: str


def variable(path: Iterable[str]) -> str:
    """Return the variable of a path."""
    return PREFIX + "__".join(path).upper()


_USER = re.compile(r"(\w+/)?\w+")
_WEB = re.compile(r"https?://[^/\s]+(/\S*)?")
SHORTEST_KEY = 16
_SQLITE, _POSTGRES = "sqlite+aiosqlite:///", "postgresql://"
_SERVERS = (_POSTGRES, "postgres://", "postgresql+psycopg://")


def _cap(value: Any) -> Any:
    return None if fold(value) in ("off", "none") or value is False else value


def _caps(value: Any) -> Any:
    return {name: _cap(one) for name, one in value.items()} if isinstance(value, dict) else value


def _items(value: Any) -> Any:
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return [value] if isinstance(value, int) else value


def _users(value: tuple[str, ...]) -> tuple[str, ...]:
    for who in value:
        if not _USER.fullmatch(who):
            raise ValueError(f"names “{who}”; write USER or TEAM/USER, with Slack's ids")
    return value


def _keys(value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    if any(len(key.get_secret_value()) < SHORTEST_KEY for key in value):
        raise ValueError(
            f"has a key of fewer than {SHORTEST_KEY} characters; make one with openssl rand -hex 32"
        )
    return value


def _address(value: str) -> str:
    if not _WEB.fullmatch(value):
        raise ValueError("must be an http or https address")
    return value.rstrip("/")


def _language(value: str) -> str:
    try:
        return check_language(value)
    except UsageError:
        raise ValueError("must be a BCP-47 code such as en, tr or zh-Hans") from None


def _database(value: SecretStr) -> SecretStr:
    url = value.get_secret_value()
    if url in (_SQLITE, *_SERVERS):
        raise ValueError(f"must go on after {url} with a file or a server")
    if url.startswith((_SQLITE, *_SERVERS)):
        return value
    for scheme, full in (("sqlite:", _SQLITE), ("postgres", _POSTGRES)):
        if url.startswith(scheme):
            raise ValueError(f"must name its driver: write {full}… instead")
    raise ValueError(f"must begin with {_SQLITE} or {_POSTGRES}")


def _format(value: str) -> str:
    # Imported only here: formats load much, and few use this setting.
    from engine.formats import FORMATS

    if value not in FORMATS:
        raise ValueError(f"is “{value}”; it must be one of {', '.join(FORMATS)}")
    return value


def _rubric(value: Any) -> Any:
    """Find a rubric by name, or read the TOML file of one."""
    if not isinstance(value, str):
        return value
    if not value.endswith(".toml"):
        try:
            return find_rubric(value.strip().lower())
        except UsageError:
            known = ", ".join(RUBRICS)
            raise ValueError(f"must be one of {known}, or a file that ends in .toml") from None
    file = Path(value)
    try:
        from bot.settings.files import read_rubric  # few have one of their own

        return read_rubric(file.read_text(encoding="utf-8-sig"), file.stem)
    except OSError as error:
        raise ValueError(f"names {file}, which cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"names {file}, which is not UTF-8 text; save it as UTF-8") from None
    except ValueError as error:
        raise ValueError(f"names {file}, {error}") from None


def _model(value: Any, info: ValidationInfo) -> Model:
    """Read a model, or the name of one of the variants that were read before."""
    if isinstance(value, Model):
        return value
    known = info.data.get("variants") or {}
    text = str(value).strip()
    if "/" not in text and text not in known:
        near = f" or a variant: {', '.join(known)}" if known else ""
        raise ValueError(
            f"names “{value}”, which is not backend/model{near}; write for example rehearsal/maple"
        )
    try:
        if "@" not in text and text not in known:
            return Model.parse(text)
        from engine.values.configuration import parse_model  # which few models need

        return parse_model(text, known)
    except UsageError as error:
        raise ValueError(f"names “{value}”: {error}") from None


def _roster(value: Any, info: ValidationInfo) -> Any:
    items = list(filter(None, split_models(value))) if isinstance(value, str) else _items(value)
    if not isinstance(items, list | tuple):
        raise ValueError("must be a comma-separated list of backend/model")
    models = [_model(item, info) for item in items]
    refs = [model.ref for model in models]
    twice = next((ref for ref in refs if refs.count(ref) > 1), None)
    if twice:
        raise ValueError(f"names {twice} twice; name each model once")
    return tuple(models)


def _price(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 2:
        return Price(usd_in=value[0], usd_out=value[1])
    if isinstance(value, dict) and {"in", "out"} <= value.keys() <= {
        "in",
        "out",
        "cached",
        "written",
    }:
        return Price(**{f"usd_{what}": usd for what, usd in value.items()})
    return value


def json_object(value: object) -> dict[str, Any]:
    """Return a dict unchanged, or parse it from JSON text. Raises ValueError."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"is not valid JSON at line {error.lineno}, column {error.colno}; "
                'it must be a JSON object such as {"name": …}'
            ) from None
        except RecursionError:
            raise ValueError("is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError('must be a JSON object such as {"name": …}')
    return value


def _variants(value: Any) -> dict[str, Model]:
    variants: dict[str, Model] = {}
    for name, entry in json_object(value).items():
        from engine.values.configuration import parse_model, read_configuration  # if there are any

        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,39}", name):
            raise ValueError(
                f"names “{name}”; use at most 40 small letters, digits, dots and hyphens"
            )
        if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
            raise ValueError(
                f'says nothing of {name}’s model; write {{"{name}": {{"model": "online/x", …}}}}'
            )
        try:
            model = parse_model(entry["model"])
            if model.configuration is not None:
                raise UsageError("Its model has settings of its own; write them beside it.")
            own = {key: one for key, one in entry.items() if key != "model"}
            if not own:
                raise UsageError("It sets nothing; name at least one setting.")
            configuration = read_configuration(own)
        except UsageError as error:
            raise ValueError(f"is wrong in {name}: {str(error).removesuffix('.')}") from None
        update = {"variant": name, "configuration": configuration}
        variants[name] = model.model_copy(update=update)
    return variants


def _prices(value: Any, info: ValidationInfo) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for name, entry in json_object(value).items():
        try:
            price = _price(entry)
        except ValueError:
            price = None
        if not isinstance(price, Price):
            raise ValueError(
                f'gives no price for “{name}”; write {{"in": 0.3, "out": 1.2}} or [0.3, 1.2], '
                "in USD per million tokens"
            )
        prices[_model(name, info).ref] = price
    return prices


def _seats(value: Any, info: ValidationInfo) -> dict[str, Model]:
    if isinstance(value, dict):
        pairs = [(str(seat), model) for seat, model in value.items()]
    else:
        split = [item.partition("=") for item in str(value).split(",") if item.strip()]
        if not all(equals and seat.strip() for seat, equals, _ in split):
            raise ValueError("must be a list such as A2=online/x,B4=local/y")
        pairs = [(seat, model) for seat, _, model in split]
    return {seat.strip().upper(): _model(model, info) for seat, model in pairs}


Cap = BeforeValidator(_cap)
CommaList = BeforeValidator(_items)
Address = Annotated[str, AfterValidator(_address)]
Keys = Annotated[tuple[SecretStr, ...], CommaList, AfterValidator(_keys)]
Language = Annotated[str, AfterValidator(_language)]
FormatName = Annotated[str, Folded, AfterValidator(_format)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_database)]
OneModel = Annotated[Model, BeforeValidator(_model)]
Roster = Annotated[tuple[Model, ...], BeforeValidator(_roster)]
Variants = Annotated[dict[str, Model], BeforeValidator(_variants)]
Prices = Annotated[dict[str, Price], BeforeValidator(_prices)]
Seats = Annotated[dict[str, Model], BeforeValidator(_seats)]
Usd = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, Cap]
SlackUsers = Annotated[tuple[str, ...], CommaList, AfterValidator(_users)]
OwnRubric = Annotated[Rubric | None, BeforeValidator(_rubric)]
Days = Annotated[Annotated[float, Field(gt=0, le=36500, allow_inf_nan=False)] | None, Cap]
Budget = Annotated[Caps, BeforeValidator(_caps)]
Port = Annotated[int, Field(ge=0, le=65535)]

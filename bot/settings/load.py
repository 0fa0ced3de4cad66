"""The sources of settings, and the messages about invalid ones.

Three layers, name by name, each over the one before: `rostrum.toml`, `.env`, the environment.
A setting is known by its path (`("log", "level")`) and named by its variable
(`ROSTRUM_LOG__LEVEL`), in every source. An empty value counts as unset. A secret may also be in a
file, which no layer overrides: if it is given twice, both values must be the same.
"""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin

from dotenv.parser import parse_stream
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    TomlConfigSettingsSource,
)

from adapters.models import BackendSettings
from bot.settings.files import read_topics
from bot.settings.settings import PLATFORMS, Settings, WebSettings
from bot.settings.values import PREFIX, NamePath, Wrong, json_object, variable
from engine.values.configuration import between, limits_at, parse_model
from engine.values.debate import REHEARSAL, Model
from engine.values.errors import SettingsError
from engine.values.options import nearest, split_models
from engine.values.text import clean
from engine.values.topics import TopicList, built_in_topics

# Secrets in files: one that `ROSTRUM_…_FILE` names, and folders that a host provides.
#
# Docker and Kubernetes mount secrets in `/run/secrets`, systemd those of `LoadCredential=` in
# `$CREDENTIALS_DIRECTORY`. There a file has its setting's name in lower case, such as
# `rostrum_discord__token`.


MOUNTED = Path("/run/secrets")
GIVEN_BY_SYSTEMD = "CREDENTIALS_DIRECTORY"
MOST_BYTES = 65_536  # a key is far shorter; a larger file is another one


def read_secret(file: Path) -> str:
    """Return the one line that a file holds. Raises ValueError with what is wrong, and what to do.

    The message goes on after the file's name, and never holds a byte of its content.
    """
    try:
        with file.open("rb") as opened:
            stored = opened.read(MOST_BYTES + 1)
    except IsADirectoryError:
        raise ValueError("is a folder; name the file that holds the secret") from None
    except FileNotFoundError:
        raise ValueError("does not exist; create it, or leave the setting out") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}; make it readable") from None
    if len(stored) > MOST_BYTES:
        raise ValueError("is larger than 64 KiB; it must hold the secret alone")
    try:
        secret = stored.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text; save it as UTF-8") from None
    if not secret:
        raise ValueError("is empty; write the secret into it, or leave the setting out")
    if not secret.isprintable():
        raise ValueError("must hold one line of text; write the secret alone into it")
    return secret


def provided_files(prefix: str) -> Iterator[Path]:
    """Yield the files in the host's folders whose names begin so, in any case.

    Raises OSError for a folder that cannot be listed.
    """
    folders = (MOUNTED, Path(os.environ.get(GIVEN_BY_SYSTEMD) or MOUNTED))
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            yield from sorted(
                file for file in folder.iterdir() if file.name.lower().startswith(prefix)
            )


ENV_FILE, TOML_FILE = Path(".env"), Path("rostrum.toml")
# `unread_lines` says it in our words.
logging.getLogger("dotenv.main").setLevel(logging.ERROR)
# The settings of commands that only use the database.
STORED = ("database_url", "database_pool", "export")
ANY = "*"  # stands for a name chosen by the user
NAMES_FILE = "_file"  # ends the name by which a secret's file is set

Shape: TypeAlias = "dict[str, Shape | bool]"


class _Given(NamedTuple):
    """One value as written; `origin` is the file, or empty for the environment.

    `filed` is the name by which a secret's own file was found.
    """

    path: NamePath
    value: Any
    origin: str
    filed: str = ""

    @property
    def place(self) -> str:
        """Where it is from, for a sentence about the setting."""
        if self.filed:
            return f"the file {self.origin}"
        return self.origin or "the environment"


# --- names -----------------------------------------------------------------------------


def path_of(name: str) -> NamePath:
    """Return the path of a variable."""
    return tuple(name.lower().removeprefix(PREFIX.lower()).split("__"))


def shape_of(model: type[BaseModel]) -> Shape:
    """Return a model's names, nested; a bool marks a setting, and says whether it is secret."""
    fields = model.model_fields.items()
    return {field.alias or name: _shape(field.annotation) for name, field in fields}


def _shape(annotation: Any) -> Shape | bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return shape_of(annotation)
    of = get_args(annotation)[-1] if get_origin(annotation) is dict else None
    if of is BackendSettings:
        return {ANY: shape_of(BackendSettings)}
    return _is_secret(annotation)


def _is_secret(annotation: Any) -> bool:
    return annotation is SecretStr or any(map(_is_secret, get_args(annotation)))


def known_paths(shape: Shape, like: NamePath = ()) -> Iterator[NamePath]:
    """Yield every setting's path; names chosen by the user come from `like`."""
    for key, inner in shape.items():
        shown = like[0] if key == ANY and like else key
        if isinstance(inner, bool):
            yield (shown,)
        else:
            yield from ((shown, *rest) for rest in known_paths(inner, like[1:]))


def secret_paths(shape: Shape, like: NamePath = ()) -> Iterator[NamePath]:
    """Yield the paths of settings that may be in a file."""
    return (path for path in known_paths(shape, like) if _secret_at(shape, path))


def _where(path: NamePath, origin: str) -> str:
    named = clean(variable(path))
    return f"{named} in {origin}" if origin else named


def _inside(shape: Shape, path: NamePath) -> Shape | bool:
    """Return the shape below a path. Raises KeyError for an unknown path."""
    here: Shape | bool = shape
    for key in path:
        if isinstance(here, bool):
            raise KeyError(key)
        here = here[ANY if here and key and ANY in here else key]
    return here


def _secret_at(shape: Shape, path: NamePath) -> bool:
    try:
        return _inside(shape, path) is True
    except KeyError:
        return False


# --- layers ----------------------------------------------------------------------------


def read_layers(
    settings: type[BaseSettings], env_file: Path, toml_file: Path
) -> tuple[list[_Given], list[Wrong]]:
    """Read all values, the weakest layer first, and the unreadable ones.

    Raises SettingsError for an unreadable file.
    """
    shape = shape_of(settings)
    try:
        toml = TomlConfigSettingsSource(settings, toml_file).toml_data
    except UnicodeDecodeError:
        raise SettingsError(f"{toml_file} is not UTF-8 text; save it as UTF-8.") from None
    except (TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{toml_file} is not valid TOML: {error}.") from None
    except OSError as error:
        raise SettingsError(f"{toml_file} cannot be read: {error.strerror}.") from None
    values = [*_expand(shape, (), toml, toml_file.name)]
    for line in unread_lines(read_env(env_file)):
        said = f"Line {line} of {env_file} is not NAME=value; correct it, or remove it."
        values.append(Wrong((), said))
    dotenv = DotEnvSettingsSource(settings, env_file=env_file).env_vars
    values += _from_variables(shape, dotenv, env_file.name)
    values += _from_variables(shape, EnvSettingsSource(settings).env_vars, "")
    values += _from_host(shape)
    given = [value for value in values if isinstance(value, _Given)]
    wrong = [value for value in values if isinstance(value, Wrong)]
    return given, [*wrong, *_given_twice(given)]


def read_env(file: Path) -> str:
    """Return the text of a file like `.env`; empty for none. Raises SettingsError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise SettingsError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}.") from None


def unread_lines(text: str) -> Iterator[int]:
    """Yield the numbers of lines that are no assignments, such as one with an open quote.

    What follows an open quote may be read as a part of its value, or not at all.
    """
    for binding in parse_stream(io.StringIO(text)):
        if binding.error:
            yield binding.original.line


def _from_variables(
    shape: Shape, variables: Mapping[str, str | None], origin: str
) -> Iterator[_Given | Wrong]:
    prefix = PREFIX.lower()
    paths = {
        tuple(name[len(prefix) :].split("__")): value
        for name, value in variables.items()
        if name.startswith(prefix)
    }
    # A JSON object comes before the nested names that refine it.
    for path in sorted(paths, key=len):
        yield from _expand(shape, path, paths[path], origin)


def _expand(shape: Shape, path: NamePath, value: object, origin: str) -> Iterator[_Given | Wrong]:
    """Split a value into single settings."""
    secret = (*path[:-1], path[-1].removesuffix(NAMES_FILE)) if path else path
    names_file = secret != path and _secret_at(shape, secret)
    try:
        inner = names_file or _inside(shape, path)
    except KeyError:
        known = ["__".join(one) for one in known_paths(shape, path)]
        close = nearest("__".join(path), known) or nearest(path[0], known)
        hint = (
            f"did you mean {variable([close])}?" if close else ".env.example lists every setting."
        )
        yield Wrong(path, f"{_where(path, origin)} is not a setting; {hint}")
        return
    value = value.strip() if isinstance(value, str) else value
    if value is None or value == "":
        return
    if not (not isinstance(value, str) or not any("\ud800" <= char <= "\udfff" for char in value)):
        yield Wrong(path, f"{_where(path, origin)} is not UTF-8 text; write it as UTF-8.")
        return
    if names_file:
        yield _from_file(secret, Path(str(value)), variable(path))
        return
    if isinstance(inner, bool):
        yield _Given(path, value, origin)
        return
    try:
        entries = json_object(value)
    except ValueError as error:
        yield Wrong(path, f"{_where(path, origin)} {error}.")
        return
    for key, entry in entries.items():
        yield from _expand(shape, (*path, key.strip().lower()), entry, origin)


def _from_host(shape: Shape) -> Iterator[_Given | Wrong]:
    """Read the secrets that the host provides as files."""
    try:
        files = list(provided_files(PREFIX.lower()))
    except OSError as error:
        raise SettingsError(f"{error.filename} cannot be read: {error.strerror}.") from None
    for file in files:
        path = tuple(file.name.lower().removeprefix(PREFIX.lower()).split("__"))
        if _secret_at(shape, path):
            yield _from_file(path, file, variable(path))
        else:
            close = nearest("__".join(path), map("__".join, secret_paths(shape, path)))
            named = variable([close]).lower() if close else ""
            hint = f"did you mean {named}?" if named else "remove it, or name it after a setting."
            yield Wrong(path, f"The file {file} is named after no secret setting; {hint}")


def _from_file(path: NamePath, file: Path, named: str) -> _Given | Wrong:
    try:
        return _Given(path, read_secret(file), str(file), named)
    except ValueError as error:
        return Wrong(path, f"The file {file} of {named} {error}.")


def places_of_secrets(
    settings: type[BaseSettings], given: Iterable[_Given]
) -> Iterator[tuple[str, str]]:
    """Yield the variable of each secret that is set, and where its value is from."""
    shape = shape_of(settings)
    last = {one.path: one.place for one in given if _secret_at(shape, one.path)}
    return ((variable(path), place) for path, place in last.items())


def _given_twice(given: Iterable[_Given]) -> Iterator[Wrong]:
    """Find secrets that a file and another place give differently."""
    placed: dict[NamePath, dict[str, _Given]] = {}
    for one in given:
        # A later layer overrides the value or the file's name of an earlier one, no other file.
        kind = one.origin if one.filed == variable(one.path) else one.filed
        placed.setdefault(one.path, {})[kind] = one
    for path, places in placed.items():
        first, *others = (places[kind] for kind in sorted(places))
        other = next((other for other in others if other.value != first.value), None)
        if other:
            where = " and in ".join((first.place, other.place))
            yield Wrong(path, f"{variable(path)} differs in {where}; keep one of them.")


def as_tree(given: Iterable[_Given]) -> dict[str, Any]:
    """Nest values by their paths; a later value wins."""
    tree: dict[str, Any] = {}
    for one in given:
        here = tree
        for key in one.path[:-1]:
            here = here.setdefault(key, {})
        here[one.path[-1]] = one.value
    return tree


# --- sentences -------------------------------------------------------------------------

_EXPECTED = {
    "int": "must be a whole number",
    "float": "must be a number",
    "finite_number": "must be a finite number",
    "bool": "must be on or off",
    "string": "must be text",
    "tuple": "must be a list",
    "enum": "must be {expected}",
    "literal": "must be {expected}",
}


def describe(
    settings: type[BaseSettings], error: ValidationError, given: Iterable[_Given]
) -> list[Wrong]:
    """Return one message per invalid setting: what it must be, never its value."""
    given = list(given)
    problems = error.errors(include_url=False, include_input=False)
    found = [_describe_one(settings, problem, given) for problem in problems]
    return list({wrong.path: wrong for wrong in reversed(found)}.values())[::-1]


def _describe_one(
    settings: type[BaseSettings], problem: Mapping[str, Any], given: Sequence[_Given]
) -> Wrong:
    path: list[str] = []
    here: Shape | bool = shape_of(settings)
    for key in map(str, problem["loc"]):
        if isinstance(here, bool):
            break
        path.append(key)
        here = here.get(key, here.get(ANY, False))
    where = tuple(path)
    origin = next((g.origin for g in reversed(given) if g.path == where), "")
    last = problem["loc"][-1]
    entry = f", entry {last + 1}," if isinstance(last, int) else ""
    if problem["type"].startswith(("greater_than", "less_than")):
        predicate = f"must be {between(limits_at(settings, problem['loc']))}"
    else:
        predicate = _predicate(problem["type"], problem.get("ctx", {}), problem["msg"])
    return Wrong(where, f"{_where(where, origin)}{entry} {predicate}.")


def _predicate(kind: str, context: Mapping[str, Any], message: str) -> str:
    if kind == "value_error":
        return str(context["error"])
    for beginning, text in _EXPECTED.items():
        if kind.startswith(beginning):
            return text.format(**context).replace("'", "")
    return "cannot be used: " + message.removesuffix(".").lower()


# --- loading ---------------------------------------------------------------------------


def load_settings(
    env_file: Path = ENV_FILE, toml_file: Path = TOML_FILE, *, without: Sequence[str] = ()
) -> Settings:
    """Read the environment, `.env` and `rostrum.toml`; a file may be missing.

    Sections in `without` are left as if unset, whatever they hold. Raises SettingsError with one
    sentence that names the variable, never a secret's value.
    """
    settings, wrong = examine_settings(env_file, toml_file, without)
    if settings is None or wrong:
        raise SettingsError(wrong[0])
    return settings


def read_models(text: str) -> tuple[Model, ...]:
    """Read a comma-separated list, each as `read_model` does."""
    return tuple(map(read_model, filter(None, split_models(text))))


def read_model(text: str) -> Model:
    """Read a model, or the name of a variant that is set. Raises UsageError and SettingsError."""
    named = "/" not in text or "@" in text
    return parse_model(text, load_settings().variants if named and text.strip() else None)


def examine_settings(
    env_file: Path = ENV_FILE, toml_file: Path = TOML_FILE, without: Sequence[str] = ()
) -> tuple[Settings | None, list[str]]:
    """Read the settings, and return everything that is wrong with them.

    The settings are None if unusable. Raises SettingsError for an unreadable file.
    """
    given, unread = read_layers(Settings, env_file, toml_file)
    given = [one for one in given if one.path[0] not in without]
    unread = [bad for bad in unread if not bad.path or bad.path[0] not in without]
    settings, wrong = _build(given)
    # Contradictions may only follow from unreadable values.
    heads = {bad.path[0] for bad in unread if bad.path}
    found = [*unread, *(bad for bad in wrong if not heads & set(bad.path))]
    return settings, [clean(bad.sentence) for bad in found]


def preview_settings(values: Mapping[str, str], sections: Container[str]) -> Settings:
    """Return the settings of some sections, with values by variable over them.

    All other settings are as if unset. Raises SettingsError.
    """
    given, _ = read_layers(Settings, ENV_FILE, TOML_FILE)
    over = [_Given(path_of(name), value, "") for name, value in values.items()]
    settings, wrong = _build([one for one in (*given, *over) if one.path[0] in sections])
    if settings is None:
        raise SettingsError(wrong[0].sentence)
    return settings


def find_secrets() -> list[tuple[str, str]]:
    """Return the name of each secret that is set, and where its value is from."""
    given, _ = read_layers(Settings, ENV_FILE, TOML_FILE)
    return list(places_of_secrets(Settings, given))


def read_given() -> list[_Given]:
    """Return what is set, unchecked, the weakest layer first; SettingsError as `load_settings`."""
    return read_layers(Settings, ENV_FILE, TOML_FILE)[0]


def load_topics() -> tuple[Path | None, TopicList]:
    """Read the topics that debates are offered, and the file that they are from, if any.

    Whatever else is set may be wrong. Raises SettingsError for a file that cannot be read.
    """
    named = [one.value for one in read_given() if one.path == ("topics_file",)]
    if not named:
        return None, TopicList(built_in_topics())
    file = Path(str(named[-1]))
    return file, read_topics(file)


def load_store_settings() -> Settings:
    """Read the settings of the database, exports, pages and the log, for commands that use these.

    Other settings may be wrong and are ignored; an unknown name is refused, as it may be a
    mistyped one of these. Raises SettingsError.
    """
    given, unread = read_layers(Settings, ENV_FILE, TOML_FILE)
    for bad in unread:
        if not bad.path or bad.path[0] in STORED or bad.path[0] not in Settings.model_fields:
            raise SettingsError(bad.sentence)
    for besides in (("log", "web"), ("log",), ()):
        settings, wrong = _build([one for one in given if one.path[0] in (*STORED, *besides)])
        if stored := [one for one in wrong if one.path[0] in STORED]:
            raise SettingsError(stored[0].sentence)
        if settings is not None:
            return settings
    return Settings()


def _build(given: Sequence[_Given]) -> tuple[Settings | None, list[Wrong]]:
    """Build the settings; if that fails, return all errors, also of the remaining values."""
    try:
        settings = Settings(**as_tree(given))
    except ValidationError as error:
        wrong = describe(Settings, error, given)
    else:
        found = list(contradictions(settings))
        return None if found else settings, found
    rest = [one for one in given if not any(one.path[: len(bad.path)] == bad.path for bad in wrong)]
    more = _build(rest)[1] if len(rest) < len(given) else []
    heads = {bad.path[0] for bad in wrong if bad.path}
    return None, [*wrong, *(bad for bad in more if not heads & set(bad.path))]


# Settings that contradict one another, as sentences with the names of those involved.


def contradictions(settings: Settings) -> Iterator[Wrong]:
    """Find contradictions, each with the names of the settings involved."""
    for name, given in settings.backends.items():
        from adapters.models.backends import faults_of  # a rehearsal needs none

        for sentence in faults_of(name, given.preset, given.base_url, given.api_key):
            yield Wrong(("backends",), sentence)
    yield from _unknown_backends(settings)
    try:
        faults = settings.topic_list().faults
    except SettingsError as error:
        faults = (str(error),)
    yield from (Wrong(("topics_file",), fault) for fault in faults)
    for sentence in _slack_faults(settings):
        yield Wrong(("slack", "secret_key"), sentence)
    yield from (Wrong(("web", "health"), sentence) for sentence in _web_faults(settings))
    yield from _sign_in_faults(settings.web)
    limits = settings.structured
    if limits.fewest > limits.most:
        yield Wrong(
            ("structured",),
            f"ROSTRUM_STRUCTURED__FEWEST is {limits.fewest}, more than "
            f"ROSTRUM_STRUCTURED__MOST, which is {limits.most}; lower the one or raise the other.",
        )
    if limits.closing_least > limits.closing_words:
        yield Wrong(
            ("structured",),
            f"ROSTRUM_STRUCTURED__CLOSING_LEAST is {limits.closing_least}, more than "
            f"ROSTRUM_STRUCTURED__CLOSING_WORDS, which is {limits.closing_words}; lower the one or "
            "raise the other.",
        )
    if settings.templates_dir and not settings.templates_dir.is_dir():
        yield Wrong(
            ("templates_dir",),
            f"ROSTRUM_TEMPLATES_DIR names {settings.templates_dir}, which is not a folder; "
            "create it or leave the setting out.",
        )


def _sign_in_faults(web: WebSettings) -> Iterator[Wrong]:
    """Find what is missing for people to sign in on the pages."""
    for platform, app in (("discord", "Discord"), ("slack", "Slack")):
        named = (f"{platform}_client_id", f"{platform}_client_secret")
        if len({getattr(web, name) is None for name in named}) == 2:
            both = " and ".join(variable(["web", name]) for name in named)
            yield Wrong(
                ("web",), f"Signing in with {app} needs two values; set {both}, or neither."
            )
    for who in web.managers:
        if not who.startswith(tuple(f"{platform}:" for platform in PLATFORMS)):
            yield Wrong(
                ("web",),
                f"ROSTRUM_WEB__MANAGERS names “{who}”; write discord:USER or slack:USER.",
            )


def _unknown_backends(settings: Settings) -> Iterator[Wrong]:
    known = {REHEARSAL, *settings.backends}
    named: dict[str, Iterable[Model | None]] = {
        "models": settings.models,
        "jurors": settings.jurors,
        "default_a": (settings.default_a,),
        "default_b": (settings.default_b,),
        "default_judges": settings.default_judges,
        "default_seats": settings.default_seats.values(),
        "prices": map(Model.parse, settings.prices),
    }
    for name, models in named.items():
        for model in filter(None, models):
            if model.backend in known:
                continue
            close = nearest(model.backend, known)
            address = variable(["backends", model.backend, "base_url"])
            hint = f"did you mean {close}?" if close else f"set {address}."
            yield Wrong(
                ("backends", name),
                f"{variable([name])} names {model.ref}, but there is no backend "
                f"“{model.backend}”; {hint}",
            )


def _web_faults(settings: Settings) -> Iterator[str]:
    """Yield what serving pages lacks."""
    web, health, slack = settings.web, settings.health, settings.slack
    if (web.url is None) != (web.port is None):
        yield (
            "Pages on the web need an address and a port; set ROSTRUM_WEB__URL and "
            "ROSTRUM_WEB__PORT, or neither."
        )
    if web.url is not None and any(mark in web.url.partition("://")[2] for mark in "/?#@"):
        yield "ROSTRUM_WEB__URL names more than a host; write it as in https://debates.example."
    others = [("ROSTRUM_HEALTH__PORT", health.host, health.port)]
    if slack.mode == "http":
        others.append(("ROSTRUM_SLACK__PORT", slack.host, slack.port))
    for name, host, port in others:
        if port and (host, port) == (web.host, web.port):
            yield f"ROSTRUM_WEB__PORT is also {name}; choose another port for one of them."


def _slack_faults(settings: Settings) -> list[str]:
    """Return what a Slack connection lacks."""
    slack = settings.slack
    oauth = slack.client_id is not None
    connects = oauth or slack.bot_token is not None
    app = slack.app_token is not None or slack.signing_secret is not None
    rules = (
        (
            oauth and slack.bot_token is not None,
            "Slack is served either in one workspace by its token or in all that install it; "
            "unset ROSTRUM_SLACK__BOT_TOKEN or ROSTRUM_SLACK__CLIENT_ID.",
        ),
        (
            oauth != (slack.client_secret is not None),
            "Installing on Slack by OAuth needs two values; set ROSTRUM_SLACK__CLIENT_ID and "
            "ROSTRUM_SLACK__CLIENT_SECRET, or neither.",
        ),
        (
            oauth and not settings.secret_key,
            "Installing on Slack by OAuth stores tokens, which are encrypted; "
            "set ROSTRUM_SECRET_KEY.",
        ),
        (
            app and not connects,
            "Slack has credentials of its app but no token to speak with; "
            "set ROSTRUM_SLACK__BOT_TOKEN, or ROSTRUM_SLACK__CLIENT_ID to have it installed.",
        ),
        (
            connects and slack.mode == "socket" and slack.app_token is None,
            "Slack in socket mode needs an app token; set ROSTRUM_SLACK__APP_TOKEN, or "
            "ROSTRUM_SLACK__MODE=http.",
        ),
        (
            connects and slack.mode == "http" and slack.signing_secret is None,
            "Slack with ROSTRUM_SLACK__MODE=http needs the app's signing secret; "
            "set ROSTRUM_SLACK__SIGNING_SECRET.",
        ),
    )
    return [sentence for broken, sentence in rules if broken]

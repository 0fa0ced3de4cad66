"""Settings that contradict one another, as sentences with the names of those involved."""

from __future__ import annotations

from collections.abc import Iterator

from bot.settings.settings import PLATFORMS, Settings, WebSettings
from bot.settings.values import Wrong, variable
from engine.values.debate import REHEARSAL, Model
from engine.values.errors import SettingsError
from engine.values.options import nearest


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
    for name, model in _named_models(settings):
        if model.backend not in known:
            close = nearest(model.backend, known)
            address = variable(["backends", model.backend, "base_url"])
            hint = f"did you mean {close}?" if close else f"set {address}."
            yield Wrong(
                ("backends", name),
                f"{variable([name])} names {model.ref}, but there is no backend "
                f"“{model.backend}”; {hint}",
            )


def _named_models(settings: Settings) -> Iterator[tuple[str, Model]]:
    for name, models in (
        ("models", settings.models),
        ("jurors", settings.jurors),
        ("default_a", (settings.default_a,)),
        ("default_b", (settings.default_b,)),
        ("default_judges", settings.default_judges),
        ("default_seats", settings.default_seats.values()),
        ("prices", map(Model.parse, settings.prices)),
    ):
        yield from ((name, model) for model in models if model)


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

"""What every answer of the web has: safe headers, and a page for whatever went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

import structlog
from aiohttp import web
from babel import negotiate_locale
from jinja2 import Environment, FunctionLoader, StrictUndefined

from engine.dataset.page import RIGHT_TO_LEFT, shown, to_html
from engine.values.errors import NotFoundError, StoreError
from engine.values.language import ENGLISH, N_, speaking
from engine.words.stored import day
from engine.words.translation import LANGUAGES, plural, say

# Style sheets and scripts: files of this package, known by name and content.


ASSETS_PATH = "/static"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"  # its address changes with its content


@cache
def assets() -> Mapping[str, tuple[bytes, str, str]]:
    """Return every asset by its name: its content, media type and digest."""
    found = {}
    for file in files(__package__).joinpath("static").iterdir():
        kind = KINDS.get(file.name[file.name.rfind(".") :])
        if kind is not None:
            body = file.read_bytes()
            found[file.name] = (body, kind, sha256(body).hexdigest()[:12])
    return found


def address_of(name: str) -> str:
    """Return where an asset is served."""
    return f"{ASSETS_PATH}/{name}?v={assets()[name][2]}"


async def serve_asset(request: web.Request) -> web.Response:
    """Serve an asset; only known names lead anywhere, so no path can."""
    asset = assets().get(request.match_info["name"])
    if asset is None:
        raise web.HTTPNotFound
    body, kind, digest = asset
    return web.Response(
        body=body,
        content_type=kind,
        charset="utf-8",
        headers={"Cache-Control": FOREVER, "ETag": f'"{digest}"'},
    )


# Pages from their templates; what models and people wrote is data in them.


KNOWN = (ENGLISH, *LANGUAGES)
MOST_LANGUAGES = 10  # of those that a browser wants


def write(
    name: str, language: str, /, *, asset: Callable[[str], str] = address_of, **values: object
) -> str:
    """Return a page; `asset` tells where a style sheet or script is."""
    direction = "rtl" if language.split("-")[0].lower() in RIGHT_TO_LEFT else "ltr"
    with speaking(language):
        template = _environment().get_template(name)
        page = template.render(language=language, direction=direction, asset=asset, **values)
    return page.strip() + "\n"


def language_of(request: web.Request) -> str:
    """Return the language that a reader wants, of those that we have; English otherwise."""
    accepted = request.headers.get("Accept-Language", "").split(",")[:MOST_LANGUAGES]
    wanted = [part.partition(";")[0].strip().replace("-", "_") for part in accepted]
    return negotiate_locale([one for one in wanted if one.isascii()], KNOWN) or ENGLISH


def number_in(request: web.Request, name: str) -> int:
    """Return a number from an address's parameter; 0 without one."""
    given = request.query.get(name, "")[:9]
    return min(int(given), HIGHEST) if given.isascii() and given.isdecimal() else 0


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_read),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
        autoescape=True,
    )
    environment.globals |= {"say": say, "plural": plural, "day": day}
    environment.filters |= {"markdown": to_html}
    return environment


def _read(name: str) -> str | None:
    file = files(__package__).joinpath("templates", name)
    return file.read_text(encoding="utf-8") if file.is_file() else None


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
log = structlog.get_logger(__name__)

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self' data:",
        "script-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cache-Control": "no-store",
    }
)
"""Of every answer that does not set its own."""
RETRY_SECONDS = 10  # after which a browser may ask again while the database is away


SVG = "image/svg+xml"
DRAWN = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""Of a picture: it has its own style, and a sandbox, so that opened alone it can run nothing."""
HIGHEST = 1_000_000  # number in an address


class PageFailure(NamedTuple):
    """What a page says about a failure: what happened, then what to do."""

    title: str
    told: str


FAILURES: Mapping[int, PageFailure] = MappingProxyType(
    {
        400: PageFailure(N_("That request cannot be read"), N_("Go back and try again.")),
        403: PageFailure(
            N_("That is not allowed"), N_("Open the link that you were sent once more.")
        ),
        404: PageFailure(
            N_("There is nothing at this address"),
            N_("Check the link. What it led to may have been deleted, or may not be public."),
        ),
        405: PageFailure(
            N_("That is not possible here"), N_("Go back and use the page's own buttons.")
        ),
        410: PageFailure(
            N_("This link is no longer valid"), N_("Ask for a new one where you got it.")
        ),
        413: PageFailure(N_("That is too large"), N_("Send less text at a time.")),
        429: PageFailure(N_("Too many tries"), N_("Wait a minute, then try again.")),
        500: PageFailure(
            N_("Something went wrong here"), N_("It is a bug in Rostrum. Try again later.")
        ),
        503: PageFailure(
            N_("The database is not available"), N_("Nothing is lost. Try again in a moment.")
        ),
    }
)


def furnish(served: web.Application) -> None:
    """Give an application of ours its headers, its page for failures, and its style sheet."""
    served.cleanup_ctx.append(_compile_beside)
    served.middlewares.append(_tell_failures)
    served.on_response_prepare.append(_set_headers)
    served.router.add_get(f"{ASSETS_PATH}/{{name}}", serve_asset)


async def _compile_beside(_: web.Application) -> AsyncIterator[None]:
    """Compile templates beside what is served: the first reader would wait a quarter second."""
    compiling = asyncio.create_task(asyncio.to_thread(_compile))
    yield
    await compiling


def _compile() -> None:
    to_html("")
    for file in files(__package__).joinpath("templates").iterdir():
        _environment().get_template(file.name)


def show_page(template: str, language: str, *, status: int = 200, **values: Any) -> web.Response:
    """Return a page as an answer."""
    text = write(template, language, **values)
    return web.Response(text=text, status=status, content_type="text/html")


def failure_page(
    request: web.Request, status: int, failure: PageFailure | None = None
) -> web.Response:
    """Return the page for a failure; nothing of the request is repeated on it."""
    told = failure or FAILURES.get(status, FAILURES[400 if status < 500 else 500])
    return show_page("failure.html.jinja", language_of(request), status=status, **told._asdict())


def see_page(path: str) -> web.Response:
    """Lead to a page of ours, by its path alone."""
    return web.Response(status=303, headers={"Location": path})


async def _set_headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = "rostrum"  # without versions


@web.middleware
async def _tell_failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        page = failure_page(request, error.status)
        if "Allow" in error.headers:
            page.headers["Allow"] = error.headers["Allow"]
        return page
    except NotFoundError:
        return failure_page(request, 404)
    except StoreError as error:
        log.error("page not shown", why=error.text)
        page = failure_page(request, 503)
        page.headers["Retry-After"] = str(RETRY_SECONDS)
        return page
    except ConnectionError:  # its reader went away
        raise
    except Exception:
        log.exception("unhandled error in a page")
        return failure_page(request, 500)

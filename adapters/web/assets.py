"""Style sheets and scripts: files of this package, known by name and content."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from aiohttp import web

ASSETS_PATH = "/static"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"  # its address changes with its content


class Asset(NamedTuple):
    """A file with its media type; `digest` is of its content."""

    body: bytes
    kind: str
    digest: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return every asset by its name."""
    found = {}
    for file in files(__package__).joinpath("static").iterdir():
        kind = KINDS.get(file.name[file.name.rfind(".") :])
        if kind is not None:
            body = file.read_bytes()
            found[file.name] = Asset(body, kind, sha256(body).hexdigest()[:12])
    return found


def address_of(name: str) -> str:
    """Return where an asset is served."""
    return f"{ASSETS_PATH}/{name}?v={assets()[name].digest}"


async def serve_asset(request: web.Request) -> web.Response:
    """Serve an asset; only known names lead anywhere, so no path can."""
    asset = assets().get(request.match_info["name"])
    if asset is None:
        raise web.HTTPNotFound
    return web.Response(
        body=asset.body,
        content_type=asset.kind,
        charset="utf-8",
        headers={"Cache-Control": FOREVER, "ETag": f'"{asset.digest}"'},
    )

"""Forms as browsers send them."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from aiohttp import web

URLENCODED = "application/x-www-form-urlencoded"
MOST_FIELDS = 10_000


async def read_form(request: web.Request) -> Mapping[str, str]:
    """Return the fields of a form. Raises HTTPBadRequest for a body without fields."""
    if request.content_type != URLENCODED:
        raise web.HTTPBadRequest
    body = await request.read()
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise web.HTTPBadRequest from None
    return dict(fields)

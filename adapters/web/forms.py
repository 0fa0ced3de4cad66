"""Forms as browsers send them."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from aiohttp import web

URLENCODED = "application/x-www-form-urlencoded"
ENCODINGS = ("utf-8", "utf8")  # some others take minutes to decode a megabyte
MOST_FIELDS = 10_000


async def read_form(request: web.Request) -> Mapping[str, str]:
    """Return the fields of a form. Raises HTTPBadRequest for a body without fields."""
    encoding = (request.charset or ENCODINGS[0]).lower()
    if request.content_type != URLENCODED or encoding not in ENCODINGS:
        raise web.HTTPBadRequest
    body = await request.read()
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise web.HTTPBadRequest from None
    return dict(fields)

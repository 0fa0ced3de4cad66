"""SVG pictures as PNG, drawn by resvg with fonts of our own, so that they look alike anywhere.

The fonts have Latin, Greek, Cyrillic, Armenian, Georgian, Arabic and Hebrew letters (DejaVu Sans),
Devanagari, Bengali and Thai (Noto Sans), Chinese characters and kana (Droid Sans Fallback), Hangul
(Nanum Gothic), and emoji in outline (Noto Emoji). For any other script the machine's fonts are
looked through as well.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files

import regex
import structlog

from engine.values.messages import File

SCALE = 2.0  # pixels of the PNG to one of the SVG: sharp on dense screens
FONT, FAMILY = "DejaVuSans.ttf", "DejaVu Sans"
FONTS = (
    *(FONT, "NotoSansDevanagari.ttf", "NotoSansBengali.ttf", "NotoSansThai.ttf"),
    *("DroidSansFallback.ttf", "NanumGothic.ttf", "NotoEmoji.ttf"),
)
SVG, PNG = "image/svg+xml", "image/png"
log = structlog.get_logger(__name__)
OTHER_SCRIPTS = regex.compile(
    r"[^\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Georgian}\p{Arabic}\p{Hebrew}\p{Devanagari}"
    r"\p{Bengali}\p{Thai}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Common}\p{Inherited}]"
)


async def drawn(attached: Sequence[File]) -> tuple[File, ...]:
    """Return files to post, with each SVG among them drawn as a PNG in a thread.

    A picture that cannot be drawn is left out, and logged: all it shows is in words beside it.
    """
    if not any(file.media == SVG for file in attached):
        return tuple(attached)
    return await asyncio.to_thread(lambda: tuple(filter(None, map(_draw, attached))))


def _draw(file: File) -> File | None:
    if file.media != SVG:
        return file
    try:
        content = b64encode(to_png(file.content)).decode()
    except BaseException as error:
        # The library ends with a panic where others raise, and that is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        log.warning("picture not drawn", name=file.name, why=str(error))
        return None
    return file.model_copy(update={"media": PNG, "content": content, "encoded": True})


def to_png(svg: str) -> bytes:
    """Return a picture as PNG, twice as large; about 50 ms."""
    from resvg_py import svg_to_bytes  # only now: few processes draw one

    with ExitStack() as opened:
        fonts = [opened.enter_context(as_file(files(__package__).joinpath(f))) for f in FONTS]
        return bytes(
            svg_to_bytes(
                svg_string=svg,
                zoom=SCALE,
                skip_system_fonts=OTHER_SCRIPTS.search(svg) is None,
                font_files=[str(font) for font in fonts],
                font_family=FAMILY,
                sans_serif_family=FAMILY,
            )
        )

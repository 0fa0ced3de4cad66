"""Languages by BCP-47 code, named in English for prompts.

Common ones are listed here; loading CLDR for the others takes Babel 50 ms.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache, lru_cache

from engine.values.errors import UsageError

NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
# Names that prompts have always used; CLDR has others, or none.
_KEPT = {"cmn": "Mandarin", "dv": "Dhivehi", "ff": "Fulah", "mi": "Maori", "os": "Ossetian"}
_NO_LANGUAGE = frozenset({"mul", "und", "zxx"})  # several, unknown, none
# RFC 5646: a language, then at most one script and one region, then variants.
_CODE = re.compile(
    r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
)


def check_language(code: str) -> str:
    """Return a BCP-47 code unchanged. Raises UsageError for anything else, with suggestions."""
    if len(code) <= 35 and _CODE.fullmatch(code) and _name(code):
        return code
    near = _near(_primary(code))
    if not near:
        raise UsageError(
            "“{code}” is not a language code; write one like en, tr or zh-Hant.", code=code[:40]
        )
    raise UsageError(
        "“{code}” is not a language code; write one like en, tr or zh-Hant. Near it: {near}.",
        code=code[:40],
        near=tuple(f"{one} ({NAMES[one]})" for one in near),
    )


@lru_cache(maxsize=256)  # a file may repeat a mistake thousands of times
def _near(word: str) -> tuple[str, ...]:
    written = {name.lower(): one for one, name in NAMES.items()} | {one: one for one in NAMES}
    close = get_close_matches(word, written, n=3, cutoff=0.6)
    return tuple(dict.fromkeys(written[one] for one in close))


def language_name(code: str) -> str:
    """Name a language for a prompt: `Turkish (tr)`, or the code if the name is unknown."""
    name = _name(code)
    return f"{name} ({code})" if name else code


def _name(code: str) -> str | None:
    primary = _primary(code)
    return NAMES.get(primary) or _others().get(primary)


@cache
def _others() -> dict[str, str]:
    from babel import Locale

    named = Locale("en").languages.items()
    return {code: name for code, name in named if code not in _NO_LANGUAGE} | _KEPT


def _primary(code: str) -> str:
    return code.split("-")[0].lower()

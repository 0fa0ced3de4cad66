"""Languages by BCP-47 code, named in English for prompts."""

from __future__ import annotations

import re

from engine.errors import UsageError

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
_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def check_language(code: str) -> str:
    """Return a BCP-47 code as given. Raises UsageError for what cannot be one."""
    if len(code) > 35 or not _CODE.fullmatch(code):
        raise UsageError(f"“{code[:40]}” is not a language code; write one like en, tr or zh-Hant.")
    return code


def language_name(code: str) -> str:
    """Name a language for a prompt: `Turkish (tr)`, or the code where the name is not known."""
    name = NAMES.get(code.split("-")[0].lower())
    return f"{name} ({code})" if name else code

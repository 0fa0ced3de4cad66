"""Languages by BCP-47 code, named in English for prompts."""

from __future__ import annotations

import re
from difflib import get_close_matches

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
OTHERS = {
    "ab": "Abkhazian", "ace": "Acehnese", "af": "Afrikaans", "ak": "Akan", "am": "Amharic",
    "as": "Assamese", "ast": "Asturian", "ay": "Aymara", "az": "Azerbaijani", "ba": "Bashkir",
    "be": "Belarusian", "bm": "Bambara", "bo": "Tibetan", "br": "Breton", "bs": "Bosnian",
    "ceb": "Cebuano", "ckb": "Central Kurdish", "cmn": "Mandarin", "co": "Corsican",
    "cv": "Chuvash", "cy": "Welsh", "dsb": "Lower Sorbian", "dv": "Dhivehi", "dz": "Dzongkha",
    "ee": "Ewe", "eo": "Esperanto", "eu": "Basque", "ff": "Fulah", "fil": "Filipino",
    "fo": "Faroese", "fy": "Western Frisian", "ga": "Irish", "gd": "Scottish Gaelic",
    "gl": "Galician", "gn": "Guarani", "gsw": "Swiss German", "gu": "Gujarati", "ha": "Hausa",
    "haw": "Hawaiian", "hsb": "Upper Sorbian", "ht": "Haitian Creole", "hy": "Armenian",
    "ig": "Igbo", "is": "Icelandic", "jv": "Javanese", "ka": "Georgian", "kab": "Kabyle",
    "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lg": "Ganda", "ln": "Lingala", "lo": "Lao", "mg": "Malagasy",
    "mi": "Maori", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi",
    "mt": "Maltese", "my": "Burmese", "nds": "Low German", "ne": "Nepali",
    "nn": "Norwegian Nynorsk", "no": "Norwegian", "ny": "Nyanja", "oc": "Occitan", "om": "Oromo",
    "or": "Odia", "os": "Ossetian", "pa": "Punjabi", "ps": "Pashto", "qu": "Quechua",
    "rm": "Romansh", "rn": "Rundi", "rw": "Kinyarwanda", "sa": "Sanskrit", "sah": "Yakut",
    "sc": "Sardinian", "scn": "Sicilian", "sd": "Sindhi", "se": "Northern Sami", "si": "Sinhala",
    "sm": "Samoan", "sn": "Shona", "so": "Somali", "sq": "Albanian", "ss": "Swati",
    "st": "Southern Sotho", "su": "Sundanese", "sw": "Swahili", "ta": "Tamil", "te": "Telugu",
    "tg": "Tajik", "ti": "Tigrinya", "tk": "Turkmen", "tl": "Tagalog", "tn": "Tswana",
    "to": "Tongan", "ts": "Tsonga", "tt": "Tatar", "ug": "Uyghur", "uz": "Uzbek", "ve": "Venda",
    "vec": "Venetian", "war": "Waray", "wo": "Wolof", "xh": "Xhosa", "yi": "Yiddish",
    "yo": "Yoruba", "yue": "Cantonese", "zu": "Zulu",
}  # fmt: skip
KNOWN = NAMES | OTHERS
# RFC 5646: a language, then at most one script and one region, then variants.
_CODE = re.compile(
    r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
)


def check_language(code: str) -> str:
    """Return a BCP-47 code as given. Raises UsageError for what is none, naming the nearest."""
    if len(code) <= 35 and _CODE.fullmatch(code) and _primary(code) in KNOWN:
        return code
    near = get_close_matches(_primary(code), KNOWN, n=3, cutoff=0.5)
    close = f" Near it: {', '.join(f'{one} ({KNOWN[one]})' for one in near)}." if near else ""
    raise UsageError(
        f"“{code[:40]}” is not a language code; write one like en, tr or zh-Hant.{close}"
    )


def language_name(code: str) -> str:
    """Name a language for a prompt: `Turkish (tr)`, or the code where the name is not known."""
    name = KNOWN.get(_primary(code))
    return f"{name} ({code})" if name else code


def _primary(code: str) -> str:
    return code.split("-")[0].lower()

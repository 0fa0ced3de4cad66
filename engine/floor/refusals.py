"""Recognises a turn in which a model declines to argue, by how a short text begins.

Only what is certain counts: the first sentence must say that the speaker cannot or will not do
what it was asked. A debater who says "I cannot accept that claim" argues. Models often decline in
English whatever the debate's language, so every pattern is tried on every text.
"""

from __future__ import annotations

import re

from engine.values.debate import Violation
from engine.values.text import count_words

REFUSAL = "refusal"
MOST_WORDS = 60  # a longer text argues something
MOST_CHARACTERS = 600  # of the text that patterns read
# After an apology; in each language: unable or unwilling, and to do what was asked.
_ENGLISH = (
    r"(?:(?:i(?:'m| am) (?:very |really )?sorry|sorry|i apologi[sz]e|my apologies|unfortunately"
    r"|as an ai(?: \w+){0,3})[\s,.;:—-]*(?:but )?){0,2}"
    r"i(?: respectfully| simply)? ?(?:can't|cannot|can not|won't|will not"
    r"|(?:must |have to )?(?:respectfully )?decline to"
    r"|(?:'m|am) (?:unable to|not (?:able to|willing to|going to|comfortable)))"
    r"(?: in good conscience| in good faith| responsibly| ethically)? "
    r"(?:help(?! but)|assist|comply|participat\w+|tak(?:e|ing) part|engag\w+|fulfil\w*"
    r"|argu(?:e|ing)(?= (?:for|against|in favou?r|this|either|that (?:side|position|case)))"
    r"|(?:writ|generat|creat|produc|provid)\w+ (?:\w+ ){0,3}(?:arguments?|content|speech|text))"
    r"[^.!?]*(?<=\W)(?:this|that|such|your request|the request|these|it)\b"
)
_GERMAN = (
    r"(?:(?:es )?(?:tut mir (?:sehr )?leid|entschuldigung|leider)[\s,.]*(?:aber )?)?"
    r"(?=[^.!?]{0,60}\b(?:ich (?:kann|darf|werde|möchte)|(?:kann|darf|werde|möchte) ich)\b)"
    r"(?=[^.!?]*\b(?:dies\w*|da(?:für|bei|zu|mit|gegen)|solche\w*|ihre[rn]?|deine[rn]?)\b)"
    r"[^.!?]*\b(?:nicht|keine?)\b[^.!?]*\b(?:helfen|weiterhelfen|argumentieren|nachkommen|erfüllen"
    r"|entsprechen|(?:argumente|inhalte|rede|text)\b[^.!?]*(?:liefern|erstellen|schreiben))\b"
)
_SPANISH = (
    r"(?:(?:lo siento|lo lamento|disculpa|perdón|lamentablemente)[\s,.]*(?:pero )?)?"
    r"no (?:puedo|podré|voy a|me es posible)\b"
    r"(?=[^.!?]*\b(?:ayudar|asistir|argumentar|argumentos|cumplir|participar|generar|escribir"
    r"|continuar))[^.!?]*\b(?:est[aeo]s?|es[aeo]s?|tu solicitud|su solicitud)\b"
)
_TURKISH = (
    r"(?:(?:üzgünüm|özür dilerim|maalesef|kusura bakmayın?)[\s,.]*(?:ama |ancak |fakat )?)?"
    r"[^.!?]{0,60}\b(?:bu|bunu|buna|böyle|bunun)\b[^.!?]{0,80}\b(?:yardımcı olamam"
    r"|yardımcı olamıyorum|savunamam|tartışamam|yerine getiremem|argüman (?:sunamam|üretemem"
    r"|yazamam)|yazamam|üretemem)\b"
)
_CHINESE = (
    r"(?:(?:很|非常)?(?:抱歉|对不起|對不起|遗憾)[，,。\s]*(?:但是?)?)?"
    r"(?:作为[^，。]{0,20}[，,]\s*)?我(?:无法|無法|不能|不会|拒绝)"
    r"[^。！？，,]{0,12}(?:协助|协助你|帮助|幫助|回答|回应|满足|参与|辩护|辩论|论证|提供|撰写|讨论)"
    r"[^。！？]{0,30}(?:这|此|该|那|您的请求|你的请求)?"
)
_DECLINES = re.compile(
    "|".join(f"(?:{one})" for one in (_ENGLISH, _GERMAN, _SPANISH, _TURKISH, _CHINESE)),
    re.IGNORECASE,
)


def declines(text: str) -> bool:
    """Return whether a text only says that its speaker will not do what was asked."""
    read = " ".join(text[:MOST_CHARACTERS].replace("’", "'").split()).strip("*_\"“”'> ")
    return bool(_DECLINES.match(read)) and count_words(text) <= MOST_WORDS


def refusal(text: str, finish: str = "stop") -> tuple[Violation, ...]:
    """Return the violation of a turn that its model declined, or that a filter withheld in part."""
    if finish != "content_filter" and not declines(text):
        return ()
    return (Violation(kind=REFUSAL, measured=1, limit=0),)

"""Rewrites references to the sides, so that a text contains only neutral names.

A rule finds one way of referring ("Side A", `A-1`, "B argues", "A tarafı", 正方) and says which
contender is meant. A bare letter is a reference only where grammar says so: "plan B", "vitamin
A" and the article "A" are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple

import regex

from engine.blinding.identity import fold
from engine.values.language import N_

# The two sides' letters in the scripts that speakers write them in.
_LETTERS = {"A": "AＡАأ甲", "B": "BＢБВب乙"}
_SIDE_OF = {letter: side for side, letters in _LETTERS.items() for letter in letters}
_UPPER = "[ABＡＢ]"
_START = r"(?<![\p{Latin}\p{Cyrillic}\p{Arabic}\p{N}])"
_END = r"(?![\p{Latin}\p{Cyrillic}\p{Arabic}\p{N}])"
_OPEN = r"[*_`\"“„«'‘\[(]{0,4}"
_SHUT = r"[*_`\"”»'’\])]{0,4}"
_JOINT = rf"(?:(?P<c>{_SHUT})(?:\s|[-_\#])(?P<o>{_OPEN})|(?P<o>[\[(]))"

_LABELS = r"""
    sides? | teams? | debaters? | debators? | speakers? | contenders? | participants? | opponents?
  | party | parties | positions? | contestants? | agents? | players? | models? | assistants?
  | advocates?
  | seite | partei | redner(?:in)? | sprecher(?:in)? | teilnehmer(?:in)? | debattant(?:in)?
  | lado | bando | equipo | equipe | parte | orador(?:a)? | participante | time | lato | squadra
  | oratore | côté | camp | équipe | partie | orateur | oratrice | intervenant | kant | partij
  | strona | pihak | taraf | takım | ekip | konuşmacı
  | сторон(?:а|ы|е|у|ой) | команд(?:а|ы|е|у|ой) | الجانب | الطرف | الفريق | サイド | チーム
"""
_AFTER_LETTER = r"""
    side | team | camp | debater | speaker | bench | seite | partei | kant | サイド | チーム
"""
_TURKISH = r"(?:taraf|takım|ekib|konuşmacı)[ıi]|ekip"
_CJK_AFTER = r"方(?!面|式|向|法|案)|队|隊|侧|側|陣営|측|팀"

_NOT_AN_ID = (
    r"(?<!\b(?:vitamine?s?|vitamina|vitamini|hepatitis|visa|size|level|niveau|nivel|paper|din|audi"
    r"|route|road|cefr)[\s-])"
)
_NOT_A_SEAT = r"(?!\s*(?:paper|sheet|size|format|level|road|motorway|papier|kağıt|bomber|visa))"

_VERBS = r"""
    says | said | argues | argued | claims(?!\s+(?:process|adjuster|department|form)) | asserts
  | states(?!['’]) | contends | concedes | ignores | fails | has | had | is | was | does | did
  | would | should | cannot | can['’]t | doesn['’]t | didn['’]t | isn['’]t | hasn['’]t | might
  | wants | believes | thinks | admits | insists | offers | gives | makes | responds | replied
  | answers | relies | uses | conflates | misses | dodges | evades | never\s+\w+ | and\s+I\b
  | sagt | behauptet | argumentiert | meint | dice | afirma | argumenta | sostiene | diz
  | dit | affirme | soutient | prétend | afferma | diyor | iddia | savunuyor | söylüyor
"""
_VERBS_OF_B = (
    rf"{_VERBS} | claimed | stated | failed | ignored | conceded | will | must | may | can"
)
_CLAUSE = r"""
    (?=[AB])(?<=(?:^|[.!?;:,—–(\[>"“])\s{0,3}[*_`"“'\[(]{0,4}
    | \b(?i:that|and|but|as|what|if|because|when|while|since|although|though|where|how|so|then|yet
    | which|does|did|has|can|dass|que|aber|pero|mais|ama|ve)\s{1,3}[*_`"“'\[(]{0,4})
"""
_TOWARDS = r"""
    according\s{1,3}to | unlike | contrary\s{1,3}to
  | (?:reply|response|responding|respond|answer)\s{1,3}to
  | (?:dis)?agree\s{1,3}with | side\s{1,3}with | laut | selon | según | secondo | segundo
"""
_SPEECH = (
    r"(?=['’]s\b|[\s,]+(?:argues?|says?|said|claims?|contends?|asserts?|insists?|has|have|had|is"
    r"|fails?|must|cannot|never|concedes?|ignores?|wants?|believes?)\b)"
)
_GROUP = r"(?:side|team|debater|speaker|camp|bench)s?"

_PRO = rf"""
    (?:the\s+)?(?:pro|affirmative|proposition)[\s-]+{_GROUP}\b
  | (?<=\bas\s{{1,3}})(?:the\s+)?(?:pro|affirmative|proposition)(?=\s*[,.;:!)]|\s+I\b)
  | (?<!\bin\s)the\s+(?:pro|affirmative|proposition)\b{_SPEECH}
  | the\s+for\s+(?:side|team)\b | pro-(?:seite|team|partei)\b | (?:equipo|bando|lado)\s+a\s+favor\b
  | (?:lado|bando|equipo|lato)\s+pro\b | (?:côté|camp)\s+pour\b
  | (?:lehte|olumlu)\s+taraf(?:ı(?=\b|n))? | сторон(?:а|ы|е|у|ой)\s+«?за»?(?!\p{{L}})
  | 正方(?!形) | 肯定側 | 賛成側 | 찬성\s?측 | الجانب\s+المؤيد | الفريق\s+المؤيد
"""
_CON = rf"""
    (?:the\s+)?(?:con|contra|opposition)[\s-]+{_GROUP}\b
  | (?:the\s+)?negative[\s-]+(?:team|debater|speaker|bench)s?\b | the\s+negative\s+side\b{_SPEECH}
  | (?<=\bas\s{{1,3}})(?:the\s+)?(?:con|negative|opposition)(?=\s*[,.;:!)]|\s+I\b)
  | the\s+opposition\b(?!\s+(?:part(?:y|ies)|leaders?|figures?|movements?|groups?|press|to|in|from
        |politic\w*|candidates?|coalitions?|members?|research|between|of)\b)
  | the\s+(?:con|negative)\b{_SPEECH}
  | the\s+against\s+(?:side|team)\b | [ck]ontra-(?:seite|team|partei)\b
  | (?:equipo|bando|lado)\s+en\s+contra\b | (?:lado|bando|equipo)\s+contra\b | lato\s+contro\b
  | (?:côté|camp)\s+contre\b | (?:aleyhte|olumsuz)\s+taraf(?:ı(?=\b|n))?
  | сторон(?:а|ы|е|у|ой)\s+«?против»?(?!\p{{L}}) | 反方(?!向|法) | 否定側 | 反対側 | 반대\s?측
  | الجانب\s+المعارض | الفريق\s+المعارض
"""

# Every match of `_PRO` and `_CON` contains one of these, in a folded text. One flat alternative a
# word, and Python's own module: it looks at the first letter of each, which is three times faster.
_STANCE_WORDS = re.compile(
    r"""pro\b | con\b | contra\b | kontra\b | affirmative\b | negative\b | proposition\b
    | opposition\b | the\s+for\b | the\s+against\b | a\s+favor\b | lato\s+contro\b
    | côté\s+pour\b | côté\s+contre\b | camp\s+pour\b | camp\s+contre\b
    | lehte\s | olumlu\s | aleyhte\s | olumsuz\s | сторон
    | 正方 | 反方 | 肯定側 | 否定側 | 賛成側 | 反対側 | 찬성 | 반대 | المؤيد | المعارض""",
    re.VERBOSE,
)

# What a rule captures: `s` the side's letter or number, `n` a number that stays, `o` and `c`
# decoration to keep before and after, `e` an ending to keep behind an apostrophe.
_FREE = regex.VERBOSE | regex.IGNORECASE | regex.MULTILINE
_CASED = regex.VERBOSE | regex.MULTILINE


class _Rule(NamedTuple):
    """A way of referring; `side` is the contender it always means, None if `s` says which.

    `hint` matches a part of every match, and is much faster than `pattern` if there is none.
    """

    pattern: regex.Pattern[str]
    form: str = "{o}{name}{c}{e}"
    side: str | None = None
    hint: regex.Pattern[str] | None = None


@lru_cache(maxsize=1)
def _lone_letter() -> regex.Pattern[str]:
    """Return a pattern for what every letter rule needs: a lone letter that is not an article."""
    after = rf"(?:{_VERBS}|(?i:{_AFTER_LETTER}|and|or|nor))\b|(?i:{_TURKISH})"
    article = rf"(?:a|(?<=[.!?][ ])A)(?=[ ](?!{after})[\p{{Latin}}\d])"
    return regex.compile(
        rf"(?:(?=[ABabＡＢａｂ甲乙])(?<![A-Za-z])(?!{article})|(?=[АБВأب])(?<!\p{{L}}))"
        rf".(?:(?=(?i:{_TURKISH}))|(?![\p{{Latin}}\p{{Cyrillic}}\p{{Arabic}}]))",
        _CASED,
    )


@lru_cache(maxsize=1)
def _numbered_things() -> tuple[_Rule, ...]:
    number = rf"(?P<n>[1-9]|1\d|20){_END}(?![.,]\d)"
    return (
        _Rule(
            regex.compile(
                rf"(?=[ABab]\s?[-‐‑–—−_\#.]\s?\d){_NOT_AN_ID}{_START}"
                rf"(?P<s>[ABab])\s?[-‐‑–—−_#.]\s?{number}",
                _CASED,
            ),
            "{name}-{n}",
        ),
        _Rule(
            regex.compile(
                rf"(?=[AB]){_NOT_AN_ID}{_START}(?P<s>[AB])(?P<n>[1-4]){_END}"
                rf"(?![-.,]\d){_NOT_A_SEAT}",
                _CASED,
            ),
            N_("{name} {n}"),
        ),
        _Rule(
            regex.compile(
                rf"(?=[sd]){_START}(?:seat|speaker|debater)\s+(?P<s>[ab])(?P<n>[1-4]){_END}", _FREE
            ),
            N_("{name} {n}"),
        ),
    )


@lru_cache(maxsize=1)
def _labelled() -> tuple[_Rule, ...]:
    # A small a after a label may be the article: it counts only where nothing can follow one.
    no_article = rf"(?=['’]s\b|\s*[,.;:!?)\]*_\"”]|\s+(?:{_VERBS})\b|\s*$)"
    return (
        _follow_label(rf"(?P<s>[ABＡＢАБВأبab]){_END}(?:(?<!a)|{no_article})", _CASED),
        _Rule(
            regex.compile(
                rf"(?:\bthe\s+{_OPEN}(?P<s>[AB])[-\s]|(?<=\p{{Ll}},?\s)(?P<s>(?-i:[AB]))[-\s]"
                rf"|{_START}(?P<s>(?-i:[AB]))-|{_START}(?P<s>(?-i:B))\s)"
                rf"(?:{_AFTER_LETTER})\b(?!\s+effects?)",
                _FREE,
            ),
            hint=regex.compile(rf"[AB][-\s](?:{_AFTER_LETTER})\b", _FREE),
        ),
        _Rule(
            regex.compile(
                rf"(?=[AB]){_START}(?P<s>[AB])[-\s]?(?:{_TURKISH})['’]?(?P<e>\p{{Ll}}*)", _FREE
            ),
        ),
        _Rule(
            regex.compile(
                rf"(?=[ABＡＢ甲乙])(?<![A-Za-z])(?P<s>[ABＡＢ甲乙])\s?(?:{_CJK_AFTER})", _FREE
            )
        ),
    )


def _follow_label(said: str, flags: int) -> _Rule:
    """Return the rule for what is said after a label, such as the letter in "side A"."""
    label = rf"{_START}(?i:(?:the\s+)?(?:{_LABELS}))"
    return _Rule(
        regex.compile(rf"{label}{_JOINT}{said}", flags),
        hint=regex.compile(rf"{said}(?<=\w{_JOINT}\#?.)", flags),
    )


@lru_cache(maxsize=1)
def _bare() -> tuple[_Rule, ...]:
    no_grade = r"(?<!\b(?:straight|all|oakland|grade|vitamin|plan|point|option|type|hepatitis)\s)"
    cjk = "说|說|认为|認為|主张|主張|声称|聲稱|は|が|の主張|的(?:观点|觀點|论点|論點|主张|主張)"
    return (
        _Rule(
            regex.compile(
                rf"^(?P<o>[ \t>*_\#\-`\[(]{{0,12}})(?P<s>{_UPPER})(?P<c>{_SHUT}\s{{0,3}}[:：])",
                _FREE,
            )
        ),
        _Rule(regex.compile(r"(?<=\bI\s?[,(]\s?)(?P<s>[AB])(?=\s?[,)])", _CASED)),
        _Rule(regex.compile(rf"(?P<o>[\[【])(?P<s>{_UPPER})(?P<c>[\]】])", _CASED)),
        _Rule(regex.compile(rf"{no_grade}{_START}(?P<s>[AB])(?P<c>{_SHUT}['’]s){_END}", _CASED)),
        _Rule(
            regex.compile(
                rf"{_START}(?P<s>[AB])(?P<c>['’])(?P<n>n[ıi]n|y[ae]|y[ıi]|d[ae]n?|yl[ae])\b", _CASED
            ),
            "{name}{c}{n}",
        ),
        _Rule(
            regex.compile(
                rf"{_CLAUSE}(?:(?P<s>A)(?={_SHUT}\s{{1,3}}(?:{_VERBS})\b)"
                rf"|(?P<s>B)(?={_SHUT}\s{{1,3}}(?:{_VERBS_OF_B})\b))",
                _CASED,
            )
        ),
        _Rule(
            regex.compile(
                rf"(?=[AB])(?<=\b(?i:{_TOWARDS})\s{{1,3}}{_OPEN})(?P<s>[AB])"
                r"(?![-.]?\p{L}|['’]\p{L}{3})",
                _CASED,
            )
        ),
        _Rule(regex.compile(rf"(?<![A-Za-z])(?P<s>{_UPPER})(?=\s?(?:{cjk}))", _CASED)),
    )


@lru_cache(maxsize=1)
def _pairs() -> regex.Pattern[str]:
    return regex.compile(
        r"\b(both|neither|either|between)\s+([AB])\s+(and|nor|or)\s+([AB])\b(?!-)", regex.IGNORECASE
    )


@lru_cache(maxsize=1)
def _stances() -> tuple[_Rule, ...]:
    form = "{name}"
    return (
        _Rule(regex.compile(rf"(?<!\p{{Latin}})(?:{_PRO})", _FREE), form, "A"),
        _Rule(regex.compile(rf"(?<!\p{{Latin}})(?:{_CON})", _FREE), form, "B"),
    )


@lru_cache(maxsize=16)
def _by_number(most: int) -> tuple[_Rule, ...]:
    return (
        _follow_label(rf"\#?(?P<s>[1-{most}]){_END}(?![.,]\d|\s*%)", _FREE),
        _Rule(regex.compile(rf"(?<!\d)(?P<s>[1-{most}])\s?号(?:选手|辩手|智能体)?", _FREE)),
    )


def rewrite(text: str, names: Mapping[str, str]) -> str:
    """Return the text with every reference to a contender replaced by its neutral name.

    `names` maps contenders to names: sides `A` and `B`, or numbers from 1 to at most 9.
    """
    if "A" not in names:
        return _apply(text, _by_number(len(names)), names)
    if _lone_letter().search(text):
        text = _apply(text, (*_numbered_things(), *_labelled(), *_bare()), names)
        text = _pairs().sub(partial(_write_pair, names), text)
    if _STANCE_WORDS.search(fold(text)):
        text = _apply(text, _stances(), names)
    return text


def _apply(text: str, rules: tuple[_Rule, ...], names: Mapping[str, str]) -> str:
    for rule in rules:
        if rule.hint is None or rule.hint.search(text):
            text = rule.pattern.sub(partial(_write, rule, names), text)
    return text


def _write(rule: _Rule, names: Mapping[str, str], found: regex.Match[str]) -> str:
    groups = {key: value or "" for key, value in found.groupdict().items()}
    said = groups.get("s", "").upper()
    name = names[rule.side or _SIDE_OF.get(said, said)]
    ending = groups.get("e", "")
    return rule.form.format(
        name=name,
        n=groups.get("n", ""),
        o=groups.get("o", ""),
        c=groups.get("c", ""),
        e=f"’{ending}" if ending else "",
    )


def _write_pair(names: Mapping[str, str], found: regex.Match[str]) -> str:
    lead, first, joint, second = found.groups()
    return f"{lead} {names[first.upper()]} {joint} {names[second.upper()]}"

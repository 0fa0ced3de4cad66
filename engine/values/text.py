"""Texts by people and models: counting, cleaning, shortening, splitting.

Pure, linear in the text's length whatever it contains, and in every script.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import orjson
import regex
from pydantic import JsonValue

from engine.values.language import figure

# The marks of sides and options, and the reactions that people vote with: the one place for them.
#
# A reaction has the name of the option that it stands for; where people can hold several of one
# option, the variant follows, as in `tie::skin-tone-4` or `A::super`. Adapters turn a reaction into
# their platform's emoji.


VARIANT = "::"
SIDES: Mapping[str, str] = {"A": "🔵", "B": "🔴"}
REACTIONS: Mapping[str, str] = {
    **SIDES,
    **{str(number): f"{number}\ufe0f\u20e3" for number in range(1, 10)},
    "tie": "🤝",
    "weak": "🚫",
    "up": "👍",
    "down": "👎",
    "unsure": "🤷",
    "even": "⚖️",
    "close": "🔍",
    "clear": "✅",
    "onesided": "💥",
}
"""The emoji of each reaction."""


def split_variant(reaction: str) -> tuple[str, str]:
    """Return a reaction's option, and its variant, empty for the usual one."""
    option, _, variant = reaction.partition(VARIANT)
    return option, variant


def with_variant(option: str, variant: str) -> str:
    """Return the reaction for an option in one of its variants."""
    return f"{option}{VARIANT}{variant}" if variant else option


def unmarked(side: str) -> str:
    """Return a side without its mark."""
    return side.removeprefix(f"{SIDES['A']} ").removeprefix(f"{SIDES['B']} ")


def marked(side: str) -> str:
    """Return a side, or a seat of it, with its mark: `🔵 A`, `🔴 B2`; others stay as they are."""
    mark = SIDES.get(side[:1])
    return f"{mark} {side}" if mark and side[1:].isdigit() | (len(side) == 1) else side


MENTION, INVITE = "[mention]", "[invite]"

# An angle bracket may be literal, escaped as HTML, or escaped as JSON in a juror's raw reply.
_OPEN, _CLOSE = r"(?:<|&[lL][tT];|\\[uU]003[cC])", r"(?:>|&[gG][tT];|\\[uU]003[eE])"
_LABEL = r"(?:\|[^<>&\\\n]{0,100})?"
_BRACKETED = re.compile(
    rf"""
    {_OPEN}
    (?: @[!&]?\w{{1,40}} {_LABEL}
      | \#\w{{1,40}} {_LABEL}
      | !subteam\^\w{{1,40}} {_LABEL}
      | !(?i:channel|here|everyone|group) {_LABEL}
      | (?: a?:\w{{1,40}} | /[\w\ -]{{1,110}} | id ) :\w{{1,40}}
    )
    {_CLOSE}
    """,
    re.VERBOSE,
)
_LINK = re.compile(
    r"""
    [hH][tT][tT][pP][sS]?://(?:[\w-]{1,63}\.){0,3}
    (?i: discord(?:app)?\.com/(?:channels|users) | slack\.com/(?:archives|team|client|files) )
    /[\w/@?&=.%-]{1,300}
    """,
    re.VERBOSE,
)
# Discord shows the invitation itself, live, even without a scheme.
_INVITE = re.compile(
    r"(?i:https?://)?(?<![\w.-])(?i:www\.)?"
    r"(?i:discord\.gg|discord(?:app)?\.com/invite|dsc\.gg)/[\w-]{1,64}"
)
# The lookbehind follows the @, so that the search can jump from one @ to the next.
_NAME = re.compile(r"@(?<![\w@/.+\\-]@)[!&]?\w[\w.-]{0,80}(?:@[!&]?\w[\w.-]{0,80})*")

READING = 238  # words a minute, silently (M. Brysbaert, J. Memory and Language 109, 2019)
CHARS_PER_WORD = 6  # of English, a space included
UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})  # languages without spaces

_UNSPACED = (
    r"\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
_UNSPACED_RUN = regex.compile(rf"(?:(?=[\p{{L}}\p{{M}}\p{{N}}])[{_UNSPACED}])+")
# A superset of those scripts: rules most texts out quickly.
_MAYBE_UNSPACED = re.compile("[\u0e00-\u1fff\u2e80-\U0010ffff]")
_CHARACTER = regex.compile(r"[\p{L}\p{N}]")
# A segment that contains a letter or digit begins with one, or with a joiner ("_a").
_WORD = regex.compile(r"(?w)\b['’·\p{Pc}\p{M}\p{Cf}\p{Sk}]{0,3}[\p{L}\p{N}]")
# Flags belong to no word, and finding boundaries among them takes quadratic time.
_FLAGS = regex.compile(r"[\U0001F1E6-\U0001F1FF]+")
# In these common characters a run of letters and digits is a word; `_JOINTS` may join two runs,
# and everything else separates them.
_PLAIN = re.compile("[\t\n\r -~À-ÖØ-öø-ɏ‐-‧]*")
_JOINTS = "'._:,;‘’‧"
_PARTING = {
    ord(one): " "
    for one in map(chr, (*range(0x20, 0x7F), *range(0x2010, 0x2028)))
    if not one.isalnum() and one not in _JOINTS
}


@lru_cache(maxsize=8)
def count_words(text: str, chars_per_word: float = 1.5) -> int:
    """Count words by Unicode word segmentation (UAX 29); a word has a letter or a digit.

    In Han, kana, Thai, Lao, Khmer and Burmese, letters are counted instead (marks are not)
    and divided by `chars_per_word`, to the nearest whole word; mixed texts add up.
    """
    if _PLAIN.fullmatch(text):
        # Count with segmentation only for joined runs, in a fifth of the time.
        pieces = [piece.strip(_JOINTS) for piece in text.translate(_PARTING).split()]
        joined = [piece for piece in pieces if not piece.isalnum()]
        return len(pieces) - len(joined) + _count_spaced(" ".join(joined))
    characters = 0
    if _MAYBE_UNSPACED.search(text):
        runs = _UNSPACED_RUN.finditer(text)
        characters = sum(len(_CHARACTER.findall(run.group())) for run in runs)
        text = _UNSPACED_RUN.sub(" ", text)
    words = _count_spaced(text)
    if characters == 0:
        return words
    return words + max(1, int(characters / chars_per_word + 0.5))


def words_to_read(text: str, language: str, chars_per_word: float = 1.5) -> float:
    """Return how many English words take as long to read, by the number of characters."""
    unspaced = language.split("-")[0].lower() in UNSPACED
    return len(text) / (chars_per_word if unspaced else CHARS_PER_WORD)


def first_words(text: str, most: int, chars_per_word: float = 1.5) -> str:
    """Return the beginning of a text, at most `most` words long, with an ellipsis if cut."""
    if count_words(text, chars_per_word) <= most:
        return text
    end = bisect_right(
        range(len(text)), most, key=lambda end: count_words(text[:end], chars_per_word)
    )
    within = text[: end - 1]
    space = max((at for at, char in enumerate(within) if char.isspace()), default=-1)
    cut_inside_word = text[end - 1 : end].isalnum() and within[-1:].isalnum()
    spaced = cut_inside_word and not _UNSPACED_RUN.fullmatch(within[-1:])
    return f"{(within[:space] if spaced and space >= 0 else within).rstrip()}…"


def _count_spaced(text: str) -> int:
    return len(_WORD.findall(_FLAGS.sub(" ", text)))


_ITEM = regex.compile(
    r"^(?P<indent>[ \t]*)(?P<heading>\#{1,6}[ \t]+)?(?:\*\*|__)?\(?\d{1,2}"
    r"(?:[.)](?=\*\*|__|[ \t]|$)|[．、）])",
    regex.MULTILINE,
)
_BEFORE_NUMBERS = " \t#*_("
_FENCE_LINE = re.compile(r"^[ \t]*(?P<marker>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)


def count_arguments(text: str) -> int:
    """Count the numbered items of the topmost level: `1.`, `2)`, `**3.**`, `### 4. Title`.

    Numbered headings, if any, outrank numbered lines; code is skipped.
    """
    # Most texts have none, and the beginnings of lines show that quickly.
    if not any(line.lstrip(_BEFORE_NUMBERS)[:1].isdigit() for line in text.split("\n")):
        return 0
    blocks = fences(text)
    items = [item for item in _ITEM.finditer(text) if block_at(blocks, item.start()) is None]
    headings = [len(item["heading"].strip()) for item in items if item["heading"]]
    if headings:
        return headings.count(min(headings))
    indents = [len(item["indent"].expandtabs(4)) for item in items]
    return sum(indent <= indents[0] for indent in indents)


_RULE = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)
BLANK_LINE = regex.compile(r"\n[ \t]*\n")


# A full stop ends no sentence after "Dr" and its like, nor between a short word and a small letter,
# a digit or a bracket, as in "et al. (2020)".
_SENTENCE_BREAK = regex.compile(
    r"[\n。！？｡।؟]|[!?…][^\w\s]{0,3}\s|\.(?<!\b\p{Lu}\p{Ll}{1,3}\.)"
    r"(?:(?<=\w{4}\.)|(?=[^\w\s]{0,3}\s++[^\p{Ll}\d(\[]))[^\w\s]{0,3}\s"
)
_WORDS = regex.compile(r"\w+")
_FEWEST_WORDS = 3  # of a sentence that counts: "No." five times is rhetoric


def count_repeats(text: str) -> int:
    """Return how often a text says the sentence that it says most often, however it is spelt."""
    said = Counter[str]()
    # Not `concurrent`: to get the interpreter back from another thread takes longer than this.
    for part, times in Counter(_SENTENCE_BREAK.split(text, concurrent=False)).items():
        said[" ".join(_WORDS.findall(part.casefold(), concurrent=False))] += times
    often = (n for sentence, n in said.items() if n > 1 and count_words(sentence) >= _FEWEST_WORDS)
    return max(often, default=0)


def split_closing(text: str) -> tuple[str, str]:
    """Return a closing's synthesis and its decision.

    A line of dashes divides them, else the first blank line; else all is decision.
    """
    body = text.strip()
    divider = _RULE.search(body) or BLANK_LINE.search(body)
    if divider is None:
        return "", body
    return body[: divider.start()].strip(), body[divider.end() :].strip()


def is_divided(text: str) -> bool:
    """Return whether a line of dashes divides a closing into two parts, neither of them empty."""
    synthesis, decision = split_closing(text)
    return bool(_RULE.search(text.strip()) and synthesis and decision)


def dollars(usd: float) -> str:
    """Write an amount of USD with cents, or two digits if it is smaller."""
    return figure(usd, "usd")


_NEWLINES = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"  # controls but tab and newline
    "\ud800-\udfff"  # half a character, which no encoding can store
    "\u202a-\u202e\u2066-\u2069]"  # overrides, embeddings, isolates
)

# A superset of both: one search rules out most texts.
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    r"""Return the text as safe data: newlines are `\n`, control characters are gone.

    So are lone surrogates, and the invisible characters that override, embed or isolate a
    direction: unclosed, they reverse what the platform shows after the text, and an override
    makes a text read differently from what is stored and judged. Right-to-left text needs none
    of them. Emoji, joiners, marks and mentions stay.
    """
    # Printable text is never suspect, and this check takes half the time of the search.
    if text.replace("\n", "").isprintable() or _SUSPECT.search(text) is None:
        return text
    return _UNSAFE.sub("", _NEWLINES.sub("\n", text))


# Without fillers and blanks, which Unicode counts as letters and symbols.
_VISIBLE = regex.compile(r"(?V1)[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]")


def is_visible(text: str) -> bool:
    """Return whether a text has anything besides white space and invisible characters."""
    return _VISIBLE.search(text) is not None


JOINED = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"
# Flags first: \X looks back over all the flags before it, again for each.
GRAPHEME = regex.compile(rf"[\U0001F1E6-\U0001F1FF]{{2}}{JOINED}*|\X")
SPACE = regex.compile(rf"(?<!\p{{GCB=Prepend}})\s(?!{JOINED})")
SENTENCE = regex.compile(
    rf"[.!?…]['\")\]”’»*_]*(?=[ \t](?!{JOINED}))|[。！？｡][”’」』）]*(?!{JOINED})"
)


def rename(text: str, names: Mapping[str, str]) -> str:
    """Return a text with its names replaced, all at once, so that none is replaced twice.

    Names are found within words too, as languages add endings to them.
    """
    if not names:
        return text
    longest_first = sorted(names, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: names[found[0]], text)


def headline(text: str, limit: int) -> str:
    """Return the text on one line of at most `limit` characters, shortened with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    end = last_end(SPACE, line, limit // 2, limit) or grapheme_end(line, 0, limit - 1)
    return line[:end].rstrip() + "…"


def whole_sentences(text: str, most: int) -> str:
    """Return as many of a text's first sentences as have at most `most` characters.

    If the first has more, it is shortened between two words, with an ellipsis.
    """
    if len(text) <= most:
        return text
    end = last_end(SENTENCE, text, 0, most)
    return text[:end] if end else headline(text, most)


class CodeBlock(NamedTuple):
    """A fenced block: where its first line starts, its code, its last line, and its end.

    An unclosed one ends, and has its last line, at the end of the text.
    """

    start: int
    code: int
    close: int
    end: int
    opening: str
    marker: str

    @property
    def closed(self) -> bool:
        """Whether it has a last line of its own."""
        return self.close < self.end


def fences(
    text: str, *, longest: int | None = None, length: Callable[[str], int] = len
) -> list[CodeBlock]:
    """Return the fenced blocks of a text; a line longer than `longest` is no fence."""
    blocks: list[CodeBlock] = []
    if "```" not in text and "~~~" not in text:
        return blocks
    opened: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text):
        if longest is not None and length(line.group()) > longest:
            continue
        if opened is None:
            # CommonMark 4.5: with a backtick in its info string it is inline code.
            opened = None if line["marker"][0] == "`" and "`" in line["info"] else line
        elif line["marker"].startswith(opened["marker"]) and not line["info"].strip():
            blocks.append(_block(opened, line.start(), line.end(), len(text)))
            opened = None
    if opened is not None:
        blocks.append(_block(opened, len(text), len(text), len(text)))
    return blocks


def _block(opened: re.Match[str], close: int, end: int, size: int) -> CodeBlock:
    code = min(opened.end() + 1, size)
    return CodeBlock(opened.start(), code, close, end, opened.group(), opened["marker"])


def block_before(blocks: list[CodeBlock], position: int) -> CodeBlock | None:
    """Return the last block that starts before a position."""
    index = bisect_left(blocks, position, key=lambda block: block.start) - 1
    return blocks[index] if index >= 0 else None


def block_at(blocks: list[CodeBlock], position: int) -> CodeBlock | None:
    """Return the block that a cut at a position tears, if any."""
    block = block_before(blocks, position)
    return block if block and (position < block.end or not block.closed) else None


def last_start(pattern: regex.Pattern[str], text: str, low: int, high: int) -> int:
    """Return where the last match from `low` starts, at most at `high`; 0 for none."""
    # Two characters more, so that a match at `high` sees what follows it.
    starts = (match.start() for match in pattern.finditer(text, low, high + 2))
    return max((start for start in starts if start <= high), default=0)


def last_end(pattern: regex.Pattern[str], text: str, low: int, high: int) -> int:
    """Return where the last match from `low` ends, at most at `high`; 0 for none."""
    ends = (match.end() for match in pattern.finditer(text, low, high + 1))
    return max((end for end in ends if end <= high), default=0)


def grapheme_end(text: str, start: int, end: int) -> int:
    """Return the last border of visible characters up to `end`, or `end` if there is none."""
    border = last_start(GRAPHEME, text, start, end)
    return border if border > start else end


def split_draft(text: str) -> tuple[str, str]:
    """Return a draft and its author's remarks, divided by the last line of dashes."""
    body = text.strip()
    dividers = list(_RULE.finditer(body))
    if not dividers or not body[: dividers[-1].start()].strip():
        return body, ""
    last = dividers[-1]
    return body[: last.start()].strip(), body[last.end() :].strip()


# What each mention, link to a message and invitation has one of. The search jumps from one slash to
# the next: a record of 20 KB has some fifty.
_HINTS = ("@", "<", "&", "\\u003")
_SLASHES = re.compile(r"/(?:(?<=:/)/|(?<=\.gg/)|invite/)", re.IGNORECASE)


def redact(text: str) -> str:
    """Replace mentions of people, roles, channels and everyone, links to messages, invitations.

    A plain `@name` counts too: platforms leave it when they cannot resolve a mention. Mail
    addresses stay.
    """
    # Nearly every text has none, and searching for one character is cheap.
    if "<" in text or "&" in text or "\\" in text:
        text = _BRACKETED.sub(MENTION, text)
    if "://" in text:
        text = _LINK.sub(MENTION, text)
    if "/" in text and (".gg/" in text.casefold() or "/invite/" in text.casefold()):
        text = _INVITE.sub(INVITE, text)
    if "@" in text:
        text = _NAME.sub(MENTION, text)
    return text


def redact_json(text: str) -> str:
    """Scrub every text in a JSON document; its own marks, such as line breaks, hide mentions."""
    if not (any(hint in text for hint in _HINTS) or _SLASHES.search(text)):
        return text
    return orjson.dumps(_redact_each(orjson.loads(text))).decode()


def _redact_each(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return redact(value)
        case list():
            return [_redact_each(one) for one in value]
        case dict():
            return {redact(name): _redact_each(one) for name, one in value.items()}
        case _:
            return value

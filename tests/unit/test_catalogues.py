"""The catalogues are complete and hold nothing more: they are compared with the whole source."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator

from engine.values.language import speaking
from engine.words.phrases import told_reason
from engine.words.translation import LANGUAGES, catalogue
from tests.unit.test_translation import ROOT, _strings

# Where wording stands in constants, and is often chosen by a value before it is said.
WORDED = ("engine/words", "engine/delivery", "engine/votes", "engine/formats")
IDENTIFIER = re.compile(r"[\w/:.!?-]*")
NO_TEXT = {
    "AWAITS",  # the beginning of a reason that is stored for the operator
    "NEEDS",
    "NO_SUCH_MANAGER",
    "STARTER_UNKNOWN",
    "GIVEN_MEANWHILE",
    "IN_DOUBT",
    "MESSAGE_BUG",
    "WAITING",
    "_ID",  # a pattern, of claims
    "PROBLEM",  # why a format's own judges gave no verdict, in exports
    "FINAL",  # what jurors read of a roundtable's last round
}


def literals() -> set[str]:
    """Return every text in the source, and the parts of those that are joined there."""
    found = set[str]()
    for room in ("engine", "adapters", "bot"):
        for path in ROOT.glob(f"{room}/**/*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    for path in (*ROOT.glob("engine/**/*.jinja"), *ROOT.glob("adapters/**/*.jinja")):
        template = path.read_text("utf-8")
        found |= set(re.findall(r'"([^"]*)"', template))
        found |= set(re.findall(r'\bsay\("([^"]+)"', template))  # also inside an attribute
    return found


def constants() -> Iterator[tuple[str, str]]:
    """Yield the texts in the constants of rooms that word messages, with their constants."""
    for room in WORDED:
        for path in sorted(ROOT.glob(f"{room}/**/*.py")):
            name = str(path.relative_to(ROOT))
            source = path.read_text("utf-8")
            if "words.translation import" not in source:
                continue
            module = importlib.import_module(name[:-3].replace("/", "."))
            for node in ast.parse(source).body:
                if isinstance(node, ast.Assign | ast.AnnAssign):
                    for target in ast.walk(node):
                        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                            held = getattr(module, target.id, None)
                            yield from ((target.id, text) for text in _strings(held))


def said_in_the_source(text: str, known: set[str]) -> bool:
    """Return whether the source holds a text, whole or as a name and its meaning."""
    name, _, rest = text.partition(": ")  # as a pattern is said: its name, then what it means
    return text in known or {name.replace(" ", "_"), rest} <= known


def test_no_catalogue_holds_a_text_that_no_one_says() -> None:
    known = literals()
    for language in LANGUAGES:
        stale = sorted(t for t in catalogue(language) if not said_in_the_source(t, known))
        assert (language, stale) == (language, [])


def test_every_constant_that_words_a_message_is_in_every_catalogue() -> None:
    texts = {
        text
        for name, text in constants()
        if name.isupper() and name not in NO_TEXT and not IDENTIFIER.fullmatch(text)
    }
    assert len(texts) > 150
    for language in LANGUAGES:
        lacking = sorted(text for text in texts if text not in catalogue(language))
        lacking = [text for text in lacking if re.search(r"[^\W\d_]", re.sub(r"{.*?}", "", text))]
        assert (language, lacking) == (language, [])


def test_why_a_debate_waits_is_said_in_its_language() -> None:
    with speaking("de"):
        said = told_reason(
            "Waiting for Discord: the votes could not be read, so the vote stays open. "
            "Rostrum retries automatically."
        )
        assert said.startswith("Warten auf Discord: ")
        assert told_reason("A manager stopped it.") == "Die Verwaltung hat sie gestoppt."
        assert told_reason("Anything else.") == "Anything else."

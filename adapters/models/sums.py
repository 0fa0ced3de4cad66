"""Questions with a right answer that a rehearsal model can find by itself: sums.

So its strength is known, though it is told no answer: it reads the prompt, as a model does.
"""

from __future__ import annotations

import re

from adapters.models.scenes import RehearsalOptions, chance
from engine.values.ports import Call

_CLAIM = re.compile(
    r"^(?:The answer of|One answer,|The other answer,) (.+):\n> (.+)$", re.MULTILINE
)
_SPOKE = re.compile(r"^### ([^,(\n]+)", re.MULTILINE)
_SUM = re.compile(r"(\d+) ?([+×*−-]) ?(\d+)")
_CHOICES = re.compile(r"[:：]\s*([^:：\n]+ · [^:：\n]+)$")
BELIEVED = 0.5  # of what a lone consultant says


def _result(question: str) -> str:
    """Return the result of the sum in a question; empty without one."""
    if (found := _SUM.search(question)) is None:
        return ""
    one, sign, other = int(found[1]), found[2], int(found[3])
    return str(one + other if sign == "+" else one * other if sign in "×*" else one - other)


def held_right(topic: str, prompt: str, options: RehearsalOptions, skill: float) -> str | None:
    """Return which of the two answers in a prompt is held right; None for no opinion.

    `skill` is the chance to see the right one at once; of a lone consultant half is believed, two
    debaters give a second chance, and sources two more.
    """
    result = _result(topic)
    claims: dict[str, str] = dict(_CLAIM.findall(prompt))
    right = [name for name, claim in claims.items() if re.search(rf"\b{result}\b", claim)]
    if not result or len(claims) != 2 or len(right) != 1:
        return None
    spoke = [name for name in claims if name in _SPOKE.findall(prompt)]
    seeded = chance(options.name, topic, *sorted(claims))
    if len(spoke) == 1 and seeded.random() < BELIEVED:
        return spoke[0]
    chances = 1 + (len(spoke) == 2) + 2 * ("\nSource 1" in prompt)
    sees = any(seeded.random() < skill for _ in range(chances))
    return next(name for name in claims if (name in right) is sees)


def with_choice(text: str, call: Call, options: RehearsalOptions) -> str:
    """Return an agent's answer with the choice in its last line that a round table asks for."""
    asked = _CHOICES.search(call.hint.get("conditions", ""))
    if asked is None or not call.hint.get("seat", "").isdigit():
        return text
    choices, result = asked[1].strip().split(" · "), _result(call.hint.get("topic", ""))
    seeded = chance(options.name, call.hint.get("topic"), call.hint["seat"])
    sees = seeded.random() < (options.right or 0)
    fit = [one for one in choices if (one == result) is sees] or choices
    answer, line, rest = text.partition("\n---\n")
    return f"{answer.rstrip()}\n\n{seeded.choice(fit)}\n{line}{rest}".rstrip()

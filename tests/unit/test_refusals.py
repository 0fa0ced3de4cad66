"""A short turn that only declines is recognised in five languages; an argument never is."""

from __future__ import annotations

import pytest

from engine.floor.structured import declines, refusal
from engine.values.debate import Violation

DECLINED = [
    "I'm sorry, but I can't assist with that.",
    "I can’t argue for this.",
    "I cannot help with that request.",
    "I'm not able to generate arguments for this topic.",
    "I won't argue for this position.",
    "I must respectfully decline to argue this position. It would be harmful.",
    "As an AI language model, I cannot take part in such a debate.",
    "I'm unable to write arguments in favor of this motion.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Ich kann für diese Position nicht argumentieren.",
    "Leider kann ich zu diesem Thema keine Argumente liefern.",
    "Lo siento, pero no puedo ayudar con eso.",
    "No puedo argumentar a favor de esta postura.",
    "Üzgünüm, bu konuda yardımcı olamam.",
    "Bunu savunamam.",
    "很抱歉，我无法为这一立场辩护。",
    "对不起，我不能协助您完成这个请求。",
    "我无法参与这个辩论。",
    "I'm sorry. I can't help with this.",
    "I apologize, but I cannot provide content that supports this.",
]
ARGUED = [
    "I cannot accept my opponent's claim that this works.",
    "I cannot argue that tabs are perfect, but they help people align code with such ease.",
    "This house should not ban it.",
    "I won't pretend this is easy. Cheap energy matters.",
    "Wir können das nicht so lassen, denn es schadet allen.",
    "Ich kann dieses Argument nicht akzeptieren.",
    "No podemos aceptar esta propuesta.",
    "No puedo aceptar ese argumento, porque ignora los datos.",
    "Bu öneri kimseye yardımcı olmaz.",
    "我不能同意对方的论点，因为它没有证据。",
    "我们无法忽视这个问题。",
    "I can't see how that helps anyone.",
    "Sorry, but my opponent is wrong about this.",
    "I cannot help but notice that this claim has no source.",
    "It won't help. The evidence for this is thin.",
    "我不能接受这种观点，反方没有提供证据。",
]


@pytest.mark.parametrize("text", DECLINED)
def test_a_short_text_that_only_declines_is_a_refusal(text: str) -> None:
    assert declines(text)
    assert declines(f"**{text}**\n\nI can help with something else instead.")
    assert refusal(text) == (Violation(kind="refusal", measured=1, limit=0),)


@pytest.mark.parametrize("text", ARGUED)
def test_a_short_argument_is_none(text: str) -> None:
    assert refusal(text) == ()


def test_a_text_that_goes_on_to_argue_is_none() -> None:
    assert not declines("I can't argue for this without a caveat. " + "Still, tea wins. " * 30)


def test_what_a_filter_withheld_is_a_refusal() -> None:
    assert refusal("Tea is bet", "content_filter")
    assert not refusal("Tea is better.", "stop")

"""From an order to a plan: defaults, draws, seats. Nothing is asked or stored here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.blinding.identity import draw_names
from engine.formats import Format, choose_format
from engine.prompts import AUDIENCE, SOURCES, TRIAL, Prompts
from engine.run.order import Defaults, Order
from engine.run.request import mirror, request_of
from engine.values.debate import OTHER, BallotKind, Model, Request
from engine.values.errors import NotAllowedError, UsageError
from engine.values.options import BUILT_IN
from engine.values.topics import check_words, motion_of


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be held: an order that is complete, with what it needs; no number yet.

    `templates` are all that there are; `roster` are its jurors, in order of preference. `answer` is
    the row of the right one, where it is known.
    """

    order: Order
    offer: Defaults
    request: Request
    script: Format
    templates: Prompts
    seed: int
    roster: tuple[Model, ...]
    answer: Mapping[str, str | None] = field(default_factory=dict, repr=False)

    @property
    def prompts(self) -> Prompts:
        """The templates that the debate freezes: those of its format, its jury and its extras."""
        folders = [self.request.format, "jury"]
        folders += [SOURCES] if self.request.sources or self.offer.retrieval else []
        folders += [AUDIENCE] if self.request.questions else []
        folders += [TRIAL] if self.request.protocol else []
        return self.templates.only(*folders)

    @property
    def names(self) -> dict[str, str]:
        """A neutral name for each contender, for jurors; none that its models or texts have."""
        request = self.request
        models = [model.name for model in request.sides.values() if not model.person]
        return draw_names(tuple(request.sides), self.seed, [*request.texts, *models])


def plan(order: Order, offer: Defaults, templates: Prompts, seed: int) -> list[Plan]:
    """Complete an order with defaults and draws, by its own seed or else this one.

    The second plan is of the mirror, if one is asked for. Raises UsageError if it is impossible,
    and NotAllowedError where it could not finish.
    """
    seed = seed if order.seed is None else order.seed
    options = (BUILT_IN if order.rematch else offer.usual) | order
    script = choose_format(order, options)
    options = options.model_copy(update={"options": script.complete(options)})
    roster = order.jurors or offer.jurors
    if not roster:
        raise UsageError(
            "No jurors are configured; name some with the debate.", hint="Or set ROSTRUM_JURORS."
        )
    # A rematch has the motion of the debate before, whatever the list says of it today.
    listed = offer.unblocked if order.listed is None else (order.listed,)
    names = (model.ref for model in (*offer.debaters, *offer.judges))
    sided = script.roles(options.options).contenders == tuple(OTHER)
    motion, topic = motion_of(options, () if order.rematch else listed, names, seed, sided=sided)
    check_words(offer.blocked_words, *motion.values(), *(topic.choices if topic else ()))
    may = order.capabilities
    if refusal := may.unfit or (may.no_files if script.files else ""):
        raise NotAllowedError(refusal)
    if may.no_removal and options.ballot is BallotKind.SECRET:
        raise UsageError(may.no_removal)
    request = request_of(order, offer, options, script, motion, roster, seed)
    requests = [request, mirror(request)] if order.mirror else [request]
    answer: Mapping[str, str | None] = {}
    if not order.rematch and (request.protocol or (topic and topic.answer)):
        from engine.run.trial import put_on_trial  # few answers are known

        tried = [put_on_trial(one, topic, offer.sources) for one in requests]
        requests, answer = [one for one, _ in tried], tried[0][1]
    return [
        Plan(order, offer, one, script, templates, seed, roster, answer=answer) for one in requests
    ]

"""The form of an answer, from the annotations of its type.

A field says its rules beside its type: `Annotated[str, OneOf(PATTERNS)]`. One function makes the
strict schema that a model is sent, one finds the faults of what it answers. What is only known when
the model is asked stands in a rule as a name, and is given to `form`. Of a list its length and of
an object its keys are rules of its own; all others are those of what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel

from engine.stage.shapes import (
    FLAG,
    TEXT,
    Fault,
    Node,
    Shape,
    accept,
    choice,
    is_whole,
    number,
    one_of,
    prose,
    record,
    several,
    whole,
)
from engine.values.ports import AnswerSchema

T = TypeVar("T", bound=BaseModel)
WRONG = "wrong_answer"
QUOTED = 40  # characters of what is wrong
FaultText = tuple[str, str]
"""A fault's kind, and what is wrong: `where` it is, its `key`, what that is `of`, its `value`."""


class OneOf(NamedTuple):
    """A word or a number is one of several."""

    values: Collection[Any] | str
    fault: FaultText = (WRONG, "{where} is none of {known}")


class Within(NamedTuple):
    """A number is in a range, and whole unless it is a float; `high` may differ by key."""

    low: int
    high: Mapping[str, float] | float | str
    fault: FaultText = (WRONG, "{where} is no {number} from {low} to {high:g}")


class Filled(NamedTuple):
    """A text, or one of a list's, has something in it; a text perhaps `least` characters."""

    fault: FaultText
    least: int | str | None = None


class Words(NamedTuple):
    """How many words a text should have; the schema says so, and no answer is refused for it."""

    least: int | str
    most: int | str


class Between(NamedTuple):
    """A list has so many entries; without texts for faults, the schema alone says so."""

    least: int | str
    most: int | str
    few: FaultText | None = None
    many: FaultText | None = None


class ByKey(NamedTuple):
    """An object has exactly these keys; without a text for `strange` ones, others are ignored."""

    names: Collection[str] | str
    missing: FaultText = (WRONG, "{where} is missing")
    strange: FaultText | None = None


def form(
    model: type[T],
    check: Callable[[T], Sequence[Fault]] = accept,
    *,
    optional: bool = False,
    without: Collection[str] = (),
    **given: Any,
) -> Shape[T]:
    """Return the form of an answer, `without` some of its fields; `check` finds further faults."""
    title = str(model.model_config.get("title") or model.__name__.lstrip("_"))
    schema = AnswerSchema(title, _record(model, given, without))

    def faults(value: T) -> tuple[Fault, ...]:
        return (*_faults(model, (), value, (), given), *check(value))

    return Shape(model, schema, faults, optional)


def _record(
    model: type[BaseModel], given: Mapping[str, Any], without: Collection[str] = ()
) -> Node:
    fields = {name: field for name, field in model.model_fields.items() if name not in without}
    return record(
        {name: _node(one.annotation, one.metadata, given) for name, one in fields.items()}
    )


def _node(kind: Any, rules: Sequence[Any], given: Mapping[str, Any]) -> Node:
    """Return the schema of a type with its rules."""
    if get_origin(kind) is dict:
        keys, inner = _divide(rules, ByKey)
        names = _value(keys.names, given)
        return record({name: _node(get_args(kind)[1], _of(inner, name), given) for name in names})
    if get_origin(kind) in (list, tuple):
        size, inner = _divide(rules, Between)
        limits = () if size is None else (_value(size.least, given), _value(size.most, given))
        return several(_node(get_args(kind)[0], inner, given), *limits)
    for rule in rules:
        match rule:
            case OneOf(values):
                known = tuple(_value(values, given))
                return one_of(known) if kind is int else choice(*known)
            case Within(low, high):
                most = _value(high, given)
                return number(low, most) if kind is float else whole(low, most)
            case Words(least, most):
                return prose(_value(least, given), _value(most, given))
    if _is_part(kind):
        return _record(kind, given)
    return FLAG if kind is bool else TEXT


def _faults(
    kind: Any, rules: Sequence[Any], value: Any, where: tuple[str, ...], given: Mapping[str, Any]
) -> Iterator[Fault]:
    """Yield what is wrong with a value of a type with its rules; None stands for a missing one."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            yield from _faults(field.annotation, field.metadata, inner, (*where, name), given)
    elif get_origin(kind) is dict:
        yield from _entry_faults(get_args(kind)[1], rules, value or {}, where, given)
    elif get_origin(kind) in (list, tuple):
        size, inner = _divide(rules, Between)
        if size is not None:
            yield from _size_faults(size, len(value), where, given)
        filled, inner = _divide(inner, Filled)
        if filled is not None and not any(text.strip() for text in value):
            yield _fault(filled.fault, where, value)
        for at, item in enumerate(value, 1):
            yield from _faults(get_args(kind)[0], inner, item, (*where, str(at)), given)
    else:
        for rule in rules:
            yield from _rule_faults(kind, rule, value, where, given)


def _entry_faults(
    kind: Any,
    rules: Sequence[Any],
    value: Mapping[str, Any],
    where: tuple[str, ...],
    given: Mapping[str, Any],
) -> Iterator[Fault]:
    """Yield what is wrong with an object's keys, and with the values of `kind` that it holds."""
    keys, inner = _divide(rules, ByKey)
    names, parts = _value(keys.names, given), _is_part(kind)
    if parts:
        yield from (_fault(keys.missing, (*where, name), "") for name in names if name not in value)
    for name in () if parts else names:
        yield from _faults(kind, _of(inner, name), value.get(name), (*where, name), given)
    if keys.strange:
        yield from (_fault(keys.strange, (*where, name), "") for name in value if name not in names)
    for name in value if parts else ():
        yield from _faults(kind, inner, value[name], (*where, name), given)


def _size_faults(
    size: Between, length: int, where: tuple[str, ...], given: Mapping[str, Any]
) -> Iterator[Fault]:
    least, most = _value(size.least, given), _value(size.most, given)
    if size.few and length < least:
        yield _fault(size.few, where, "", length, least)
    if size.many and length > most:
        yield _fault(size.many, where, "", length, most)


def _rule_faults(
    kind: Any, rule: Any, value: Any, where: tuple[str, ...], given: Mapping[str, Any]
) -> Iterator[Fault]:
    """Yield what is wrong with a text or a number by one rule."""
    match rule:
        case OneOf(values, fault):
            known = tuple(_value(values, given))
            if value not in known:
                yield _fault(fault, where, value, known=", ".join(map(str, known)))
        case Within(low, high, fault):
            most, floating = _value(high, given), kind is float
            fits = value is not None and low <= value <= most
            if not (fits if floating else is_whole(value, low, most)):
                called = "number" if floating else "whole number"
                yield _fault(fault, where, value, low=low, high=most, number=called)
        case Filled(fault, None):
            if not (value or "").strip():
                yield _fault(fault, where, value)
        case Filled(fault, least):
            fewest, length = _value(least, given), len(value.strip())
            if length < fewest:
                yield _fault(fault, where, value, length, fewest)


def _fault(
    fault: FaultText,
    where: tuple[str, ...],
    value: object,
    measured: float = 1,
    limit: float = 0,
    **facts: object,
) -> Fault:
    kind, what = fault
    facts |= {"where": ".".join(where), "key": where[-1][:QUOTED], "of": ".".join(where[-2:-1])}
    facts |= {"value": str(value)[:QUOTED], "limit": limit}
    filled = kind.format(**facts), what.format(**facts)
    return Fault(kind=filled[0], what=filled[1], measured=measured, limit=limit)


def _divide(rules: Sequence[Any], own: type[Any]) -> tuple[Any, Sequence[Any]]:
    """Return the first rule of a kind, None without one, and all others."""
    first = next((rule for rule in rules if isinstance(rule, own)), None)
    return first, [rule for rule in rules if rule is not first]


def _of(rules: Sequence[Any], key: str) -> Sequence[Any]:
    """Return the rules of what stands under a key."""
    return [
        rule._replace(high=rule.high[key])
        if isinstance(rule, Within) and isinstance(rule.high, Mapping)
        else rule
        for rule in rules
    ]


def _value(value: Any, given: Mapping[str, Any]) -> Any:
    """Return a rule's value, which may be the name of what was given."""
    return given[value] if isinstance(value, str) else value


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)

"""Secrets taken out of sessions as they are imported, counted by kind. The list of kinds is in docs/sessions.md.

A session is mostly code, so a rule that hides too much does harm: names, types and calls must stay. Each rule first
looks for a literal, which costs almost nothing where there is none.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ctxsift.redaction import HIDDEN
from ctxsift.sessions.importers.base import Aside, Event
from ctxsift.sessions.records import Compaction, JsonValue, SessionHead, Step

# What stands where a secret will be, and words that follow the name of one in code.
_PLACEHOLDER = re.compile(
    r"\*{3,}|x{3,}|\.{3}|[<$%{]|your|example|change_?me|placeholder|dummy|redacted|none|null|true|false|undefined"
    r"|str(?:ing)?\b|process\.|os\.|env\b|self\.|this\.|import",
    re.IGNORECASE,
)
_LETTER, _DIGIT = re.compile(r"[A-Za-z]"), re.compile(r"[0-9]")


def _is_no_placeholder(value: str) -> bool:
    # VAULT_TOKEN is the name of a variable.
    is_name = "_" in value and value.isupper() and value.replace("_", "").isalpha()
    return not is_name and not _PLACEHOLDER.match(value)


def _looks_random(value: str) -> bool:
    return bool(_DIGIT.search(value) and _LETTER.search(value)) and _is_no_placeholder(value)


def _always(value: str) -> bool:
    del value
    return True


@dataclass(frozen=True, slots=True)
class _Rule:
    """A kind of secret.

    Attributes:
        literals: one of them stands in every text that has such a secret.
        pattern: of the secret; what the group `kept` holds stays, the group `value` is judged.
        is_secret: decides on it.

    """

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool] = _always


_KEYS = ("sk-", "sk_", "pk_", "rk_", "hf_", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox")
_RULES = (
    _Rule(
        "private key",
        ("PRIVATE KEY",),
        re.compile(
            r"(?P<kept>-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----)"
            r"(?P<value>(?:(?!-----)[\s\S]){16,20000})(?:-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
    ),
    _Rule(
        "key of a service",
        _KEYS,
        re.compile(
            r"(?<![\w/-])(?P<value>(?:sk[-_]|[pr]k_|hf_|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-)"
            r"(?=[\w-]*[A-Z0-9])[\w-]{20,})"
        ),
    ),
    _Rule("key of a service", ("AKIA", "ASIA"), re.compile(r"(?<!\w)(?P<value>A[KS]IA[A-Z0-9]{16})(?!\w)")),
    _Rule("key of a service", ("AIza",), re.compile(r"(?<!\w)(?P<value>AIza[\w-]{35})(?![\w-])")),
    _Rule("JWT", ("eyJ",), re.compile(r"(?<![\w-])(?P<value>eyJ[\w-]{8,}\.eyJ[\w-]{4,}\.[\w-]*)")),
    _Rule(
        "password in an address",
        ("://",),
        re.compile(r"(?P<kept>://[^\s/:@'\"`<>]{0,100}:)(?P<value>[^\s/:@'\"`<>]{1,200})(?=@)"),
        _is_no_placeholder,
    ),
    _Rule(
        "credentials of a request",
        ("earer ", "asic ", "EARER ", "ASIC "),
        re.compile(r"(?P<kept>\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC) )(?P<value>[\w.~+/-]{16,}=*)"),
        _looks_random,
    ),
)
_ASSIGNED = "assigned secret"
_NAME = (
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|credentials?)"
)
# On lower-case text, where the search for one of several words is fast.
_BEFORE_VALUE = re.compile(rf"{_NAME}(?:\\?[\"'])?\s?[:=]")
# NAME=value, as environments and .env files have it; or a value in quotes, after a name in any case.
_BARE = re.compile(r"[\"']?(?P<value>[^\s\"'`;|&<>(){}$,\\]{6,200})")
_QUOTED = re.compile(r"\s?\\?(?P<quote>[\"'])(?P<value>[^\s\"'`\\]{8,200})\\?(?P=quote)")
_SECRET_KEY = re.compile(rf"{_NAME}\Z")
_DOMAIN = re.compile(r"(?!\d+x\.)[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![\w-])(?!\.\w|:[^\s/]+/)")
_LONGEST_LOCAL, _OTHERS_IN_LOCAL = 64, frozenset("._+-")
_E_MAIL = "e-mail address"
_LEAST = 8


class Redactor:
    """Takes secrets out of the events of a session.

    Attributes:
        counts: how many were taken out, by kind.

    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """Return a text without secrets; where one was, `***` stands."""
        if len(text) < _LEAST:
            return text
        for rule in _RULES:
            for literal in rule.literals:
                if literal in text:
                    text = self._applied(rule, text)
                    break
        text = self._without_assigned(text)
        return self._without_addresses(text) if "@" in text else text

    def _applied(self, rule: _Rule, text: str) -> str:
        def hidden(match: re.Match[str]) -> str:
            if not rule.is_secret(match["value"]):
                return match[0]
            self.counts[rule.kind] += 1
            return match.groupdict().get("kept", "") + HIDDEN

        return rule.pattern.sub(hidden, text)

    def _without_assigned(self, text: str) -> str:
        """Hide what is assigned to a name like PASSWORD."""
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = text
        parts, end = [], 0
        for name in _BEFORE_VALUE.finditer(lowered):
            value = _QUOTED.match(text, name.end())
            if value is None and text[name.end() - 1] == "=" and text[name.start() : name.end()].isupper():
                value = _BARE.match(text, name.end())
            if value and name.start() >= end and _is_no_placeholder(value["value"]) and value["value"] != HIDDEN:
                self.counts[_ASSIGNED] += 1
                parts += [text[end : value.start("value")], HIDDEN]
                end = value.end("value")
        return "".join((*parts, text[end:])) if parts else text

    def _without_addresses(self, text: str) -> str:
        """Hide e-mail addresses. `package@1.2.3`, `icon@2x.png` and `git@host:path` are none."""
        parts, end, at = [], 0, text.find("@")
        while at >= 0:
            start = at
            while start > max(end, at - _LONGEST_LOCAL) and (
                text[start - 1].isalnum() or text[start - 1] in _OTHERS_IN_LOCAL
            ):
                start -= 1
            # What marks a line of a diff (`+@cached.property`) is no part of an address.
            while start < at and not text[start].isalnum():
                start += 1
            domain = _DOMAIN.match(text, at + 1) if start < at else None
            if domain and text[start:at] != "git":
                self.counts[_E_MAIL] += 1
                parts += [text[end:start], HIDDEN]
                end = domain.end()
            at = text.find("@", domain.end() if domain else at + 1)
        return "".join((*parts, text[end:])) if parts else text

    def value(self, value: JsonValue) -> JsonValue:
        """Return a value of JSON without secrets; a string under a name like `password` is one."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {key: self._under(key, each) for key, each in value.items()}
        return value

    def _under(self, key: str, value: JsonValue) -> JsonValue:
        secret = isinstance(value, str) and len(value) >= _LEAST and _SECRET_KEY.search(key.lower())
        if isinstance(value, str) and secret and " " not in value and _is_no_placeholder(value):
            self.counts[_ASSIGNED] += 1
            return HIDDEN
        return self.value(value)

    def _arguments(self, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        return {key: self._under(key, each) for key, each in arguments.items()}

    def step(self, step: Step) -> Step:
        """Return a step without secrets."""
        return dataclasses.replace(
            step,
            message=self.text(step.message),
            reasoning=self.text(step.reasoning),
            calls=tuple(
                dataclasses.replace(
                    call, arguments={key: self._under(key, each) for key, each in call.arguments.items()}
                )
                for call in step.calls
            ),
            results=tuple(dataclasses.replace(result, text=self.text(result.text)) for result in step.results),
        )

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield events without secrets."""
        for event in events:
            if isinstance(event, Step):
                yield self.step(event)
            elif isinstance(event, Aside):
                yield dataclasses.replace(event, step=self.step(event.step))
            elif isinstance(event, Compaction):
                yield dataclasses.replace(event, summary=self.text(event.summary))
            elif isinstance(event, SessionHead):
                yield dataclasses.replace(event, title=self.text(event.title))
            else:
                yield event

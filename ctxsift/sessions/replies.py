"""What the user says in results of calls: answers to questions, words with a refusal, what was typed meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ctxsift import strict_json
from ctxsift.sessions.records import JsonValue, Step, ToolCall, ToolResult
from ctxsift.sessions.speakers import typed_meanwhile

# A tool whose result is what the user answered.
_ASKS = re.compile(
    r"(?:\w+__)?(?:vscode_)?(?:ask(?:_?the)?(?:_?(?:user|human|follow_?up))?(?:_?(?:questions?|input))?"
    r"|request_?user_?input|(?:user_?)?questions?)",
    re.IGNORECASE,
)
# `"Which port?"="8080"`, between commas or lines.
_ANSWER_END = r"(?=\s*(?:,|\.|\Z|\n|user notes:|selected preview:))"
_PAIR = re.compile(
    rf'"(?P<question>(?:[^"]|"(?!\s*[=→]))*?)"\s*[=→]\s*"(?P<answer>.*?)"{_ANSWER_END}'
    r'(?:\s*(?:selected preview:.*?)?user notes: (?P<notes>.*?)(?=, "|\.?\s+You can now|\n\s*"|\Z))?',
    re.DOTALL,
)
_CLARIFIED = re.compile(r'^- "(?P<question>.*?)"\s*\n\s*Answer: (?P<answer>.+)$', re.MULTILINE)
_NO_ANSWER = re.compile(
    r"\W*(?:unanswered|cancell?ed|dismissed|skipped|timed out\b.*"
    r"|no (?:answer|option|response|preference)(?: (?:was )?(?:provided|given|selected))?"
    r"|(?:the )?user (?:did not|didn't|has not|declined|dismissed|cancell?ed|skipped|submitted)\b.*)\W*",
    re.IGNORECASE | re.DOTALL,
)
_BOILERPLATE = re.compile(
    r"\A(?:The )?user(?:'s)? (?:has )?(?:answered|responded|replied|selected|answers?|response|said)[^:\n]{0,60}:\s*"
    r"|\A(?:Your questions have been answered|Answers?)\s*:\s*"
    r"|\.?\s{1,20}You can now continue with (?:the user's|these) answers in mind\.?\s*\Z",
    re.IGNORECASE,
)
# How a result begins where the user did not let a call, or a plan, pass as it was; what it says next may be theirs.
_NOT_LET_PASS = r"(?:rejected|denied|declined|refused|blocked|cancell?ed|stopped|interrupted)"
_REFUSED = re.compile(
    r"\s*(?:<tool_use_error>)?(?:Error: )?"
    rf"(?:(?:The )?user (?:has )?(?:(?:doesn't|does not) want|did(?:n't| not)|wants|chose|approved|{_NOT_LET_PASS})\b"
    rf"|[^\n]{{0,100}}\b{_NOT_LET_PASS} by (?:the )?user\b"
    r"|Permission (?:for|to)\b[^\n]{0,60}\bdenied\b(?=[^\n]*\bthe user\b))",
    re.IGNORECASE,
)
_SAYING = r"(?:said|says|replied|responded|answered|provided|gave|added|wrote|commented)"
_WORDS = r"(?:feedback|reason|comments?|message|notes?|instructions?|words)"
_IN_WORDS = re.compile(
    rf"(?:\bthe user (?:has |also )*{_SAYING}\b[^\n:]{{0,90}}|\bby (?:the )?user\b[^\n:.]{{0,30}}|\bfeedback|\breason"
    rf"|\b(?:with|their|user|user's) (?:(?:this|the|a|following) )*{_WORDS}\b[^\n:.]{{0,40}})\s*:\s*(?P<words>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_PLAN = re.compile(r"^(?:#+ )?(?:Approved|Rejected) plan\b", re.IGNORECASE | re.MULTILINE)
_EDITED = re.compile(r"^#+ Approved Plan \(edited by (?:the )?user\):?\n", re.MULTILINE)
_AFTER_WORDS = re.compile(r"\n\s*\nNote: The user's next message|</tool_use_error>")
_FRAMES = re.compile(r"</?(?:feedback|answer|user_message|user_feedback|message|response)>")
_REMINDER = re.compile(r"^<system-reminder>(.*?)</system-reminder>", re.DOTALL | re.MULTILINE)
_CLARIFIES = "The user wants to clarify these questions"
# No person types more, and the words stand near the beginning.
_MOST_CHARACTERS, _MOST_BEFORE = 20_000, 600


def replies_in(step: Step) -> Iterator[str]:
    """Yield what the user says in each result of a step's calls; an answer stands below its question."""
    calls = {call.call_id: call for call in step.calls}
    for result in step.results:
        if (call := calls.get(result.call_id)) and (said := "\n".join(_replies(call, result)).strip()):
            yield said


def _replies(call: ToolCall, result: ToolResult) -> Iterator[str]:
    text = result.text[:_MOST_CHARACTERS]
    asks = _ASKS.fullmatch(call.name) is not None
    refused = (asks or result.is_error is not False or "plan" in call.name.lower()) and _REFUSED.match(text)
    if refused and _CLARIFIES in text:
        yield from (_told(found["question"], found["answer"]) for found in _CLARIFIED.finditer(text))
    elif refused and (words := _words_with_refusal(text)):
        yield words
    elif asks and not result.is_error:
        yield from _answers(call.arguments, text)
    if edited := _EDITED.search(text):
        yield from _new_lines(call.arguments.get("plan"), text[edited.end() :])
    if "The user sent" in result.text:
        yield from (typed_meanwhile(inner) for inner in _REMINDER.findall(result.text))


def _words_with_refusal(text: str) -> str:
    if plan := _PLAN.search(text):
        text = text[: plan.start()]
    found = _IN_WORDS.search(text)
    if found is None or found.start() > _MOST_BEFORE:
        return ""
    words = found["words"]
    end = _AFTER_WORDS.search(words)
    return _FRAMES.sub("", words[: end.start()] if end else words).strip()


def _new_lines(proposed: JsonValue, edited: str) -> Iterator[str]:
    """Yield lines that the user wrote into a plan; none where what the agent proposed is not known."""
    if isinstance(proposed, str):
        known = {line.strip() for line in proposed.splitlines()}
        yield from (line for line in edited.splitlines() if line.strip() not in known)


def _answers(arguments: Mapping[str, JsonValue], text: str) -> Iterator[str]:
    questions = dict(_questions(arguments))
    try:
        decoded = strict_json.decode(text.encode())
    except ValueError:
        decoded = None
    if isinstance(decoded, dict):
        given = decoded.get("answers", decoded)
        for key, value in (given if isinstance(given, dict) else {"": given}).items():
            yield _told(questions.get(key, key), ", ".join(_texts(value)))
        return
    found = list(_PAIR.finditer(text))
    for pair in found:
        yield _told(pair["question"], ". ".join(filter(None, (pair["answer"], pair["notes"]))))
    if not found:
        only = next(iter(questions.values())) if len(questions) == 1 else ""
        yield _told(only, _FRAMES.sub("", _BOILERPLATE.sub("", text.strip())).strip())


def _questions(arguments: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield questions of a call by what their answers may be known by."""
    listed = arguments.get("questions")
    for each in listed if isinstance(listed, list) else [dict(arguments)]:
        if isinstance(each, dict) and isinstance(asked := each.get("question"), str):
            known = each.get("id")
            yield (known if isinstance(known, str) else asked), asked


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _told(question: str, answer: str) -> str:
    """Return an answer below its question, which ends in a colon; empty where there is no answer."""
    if not answer.strip() or _NO_ANSWER.fullmatch(answer):
        return ""
    asked = " ".join(question.split()).rstrip("?: ")
    return f"{asked}:\n{answer.strip()}" if asked else answer.strip()

"""Raw text -> recovered text, by removing wrappers and nothing else.

Every step only deletes, is named, and is recorded with what it deleted. Marks of the model go first, as
`ctxsift.answers.model_tokens` lists them. What then fulfils the contract is never edited. Otherwise something has to
show where the answer is: thought around it, a label, a fence, a box. Nothing goes that may be part of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ctxsift.answers.candidates import (
    ITEM,
    SHORTEST_LINE,
    Candidate,
    candidates,
    covers,
    fulfils,
    input_lines,
    is_grounded,
    rows,
)
from ctxsift.answers.envelope import Envelope, EnvelopePiece, Part, read_envelope, turn_start
from ctxsift.answers.grounding import Ground, content_words, fold, ground
from ctxsift.answers.marks import MODEL_TOKENS, MarkFinder
from ctxsift.answers.meta_language import ANSWER_LABEL, POLITE_WORDS, SMALL_TALK
from ctxsift.answers.payloads import outer_fence, parse_payload
from ctxsift.answers.prose import ALONE, BESIDE, Paragraph, Sentence, paragraphs, runs_of_answer
from ctxsift.answers.thought_density import MAX_PROSE_CHARS
from ctxsift.answers.validation import MAX_ANSWER_CHARS, echoed_lines, intro_end, outro_start
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent
from ctxsift.prompts import Request

RECOVERY_VERSION = "3"
_MAX_ROUNDS = 8
# An answer with more candidates repeats itself without end.
_MOST_CANDIDATES = 3
# A paragraph above a label with no more words of its own is a remark, not a fact.
_MOST_NEW_WORDS = 5
_PARTS: tuple[Part, ...] = ("reasoning_block", "role_header", "invented_turn", "control_token", "answer_box")

_ROLE_LINE = re.compile(r"\A\s*+(?:assistant|model)[ \t]*+:?[ \t\r]*+\n++", re.IGNORECASE)
_OPEN_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w+-]*[ \t]*\n")
_CLOSE_FENCE = re.compile(r"\n(?:```|~~~)[ \t]*\Z")
_BLANK_HEAD = re.compile(r"\A(?:[ \t\r]*\n)+")


# The steps by name, in the order in which they are tried.
STEPS = {
    "reasoning_block": "reasoning and tool calls between the markers of a model family, and these markers",
    "role_header": "the header of the model's turn or of its final channel",
    "invented_turn": "text after the end of the answer: turns of other speakers, further turns of the model",
    "control_token": "end markers and other control tokens",
    "answer_box": "the markers of a box around the answer, and any text outside the box",
    "prompt_scaffold": "lines of our own prompt above or below the answer",
    "payload_intro": "an introduction, such as Here is the list:",
    "closing_chatter": "an offer below the answer, such as Let me know if ...",
    "answer_label": "a label, such as Final answer:, and the thought above it",
    "outer_fence": "one fence around the whole answer",
    "thought_prose": "paragraphs of thought above and below plain text or a value",
    "around_payload": "text around a payload that a label, a fence, a box or leaked thought marks as the answer",
    "blank_edge": "blank lines above, white space below",
}
# Those that take away thought; the others take away wrappers.
THOUGHT_STEPS = frozenset({"reasoning_block", "thought_prose", "around_payload"})


@dataclass(frozen=True)
class RecoveryStep:
    """One deletion: the step's stable name and the text it took away."""

    name: str
    removed: str


@dataclass(frozen=True)
class Recovery:
    """The recovered text and how it came about; no steps when nothing was done."""

    text: str
    steps: tuple[RecoveryStep, ...]


def recover(text: str, request: Request, tokens: MarkFinder = MODEL_TOKENS) -> Recovery:
    """Remove wrappers from `text` where that is safe under the contract. Idempotent; never raises.

    Args:
        text: what a model said.
        request: what it was asked.
        tokens: its marks.

    """
    if not text.strip() or len(text) > MAX_ANSWER_CHARS:
        return Recovery(text, ())
    reader = _Recoverer(request, tokens)
    if read_envelope(text, reader.quotable, tokens, reader.structured).unterminated:
        # Reasoning that never ended: nothing here is known to be the answer.
        return Recovery(text, ())
    current = text
    for _ in range(_MAX_ROUNDS):
        before = current
        current = reader.round(current)
        if current == before:
            return Recovery(current, tuple(reader.steps))
    # Wrappers without end are no wrappers.
    return Recovery(text, ())


class _Recoverer:
    """One answer on its way; collects the steps."""

    def __init__(self, request: Request, tokens: MarkFinder) -> None:
        self.steps: list[RecoveryStep] = []
        self.quotable: Ground = ground(request.quotable)
        self._request, self._tokens = request, tokens
        self._kind = contract_of(request.intent).kind
        self.structured = request.intent if self._kind is ContractKind.STRUCTURED else None

    def round(self, text: str) -> str:
        text = self._envelope(text)
        if len(text) > MAX_PROSE_CHARS:
            return text
        for name, step in (
            ("role_header", self._role_line),
            ("invented_turn", self._invented_turn),
            ("prompt_scaffold", self._scaffold),
            ("payload_intro", self._intro),
            ("closing_chatter", self._outro),
            ("answer_label", self._label),
            ("outer_fence", self._fence),
            ("thought_prose", self._thought),
            ("around_payload", self._around_payload),
            ("blank_edge", self._blank_edges),
        ):
            text = self._apply(name, step, text)
        return text

    def _apply(self, name: str, step: Callable[[str], str], text: str) -> str:
        cut = step(text)
        if cut == text or not cut.strip():
            return text
        self.steps.append(RecoveryStep(name, _removed(text, cut)))
        return cut

    def _envelope(self, text: str) -> str:
        envelope = read_envelope(text, self.quotable, self._tokens, self.structured)
        if envelope.unterminated or not any(text[p.start : p.end].strip() for p in envelope.of("answer")):
            return text
        kept = list(envelope.pieces)
        box = self._answer_in_box(text, envelope)
        for part in _PARTS:
            left = [piece for piece in kept if piece.part != part or (box is None and _is_markup(text, piece))]
            if len(left) < len(kept):
                before, after = ("".join(text[p.start : p.end] for p in each) for each in (kept, left))
                self.steps.append(RecoveryStep(part, _removed(before, after)))
                kept = left
        bare = "".join(text[p.start : p.end] for p in kept)
        if box is not None and box != bare.strip() and box in bare:
            self.steps.append(RecoveryStep("answer_box", _removed(bare, box)))
            return box
        return bare

    def _answer_in_box(self, text: str, envelope: Envelope) -> str | None:
        """Return the content of the one box, or the last of several that say the same, if it is the answer."""
        contents = [text[start:end].strip() for start, end in envelope.boxes]
        if not contents or not all(covers(contents[-1], each, self._request) for each in contents):
            return None
        if not self._is_payload(contents[-1]):
            return None
        if self._kind is not ContractKind.PLAIN:
            return contents[-1]
        inside = envelope.boxes[-1]
        around = [p for p in envelope.of("answer") if not inside[0] <= p.start < inside[1]]
        return contents[-1] if self._all_thought([text[p.start : p.end] for p in around]) else None

    def _role_line(self, text: str) -> str:
        match = _ROLE_LINE.match(text)
        # `model:` is also a key.
        if match is None or self._is_document(text) or fold(match.group()) in self.quotable.lines:
            return text
        return text[match.end() :]

    def _invented_turn(self, text: str) -> str:
        if self._kind is not ContractKind.PLAIN and self._is_payload(text):
            return text
        return text[: turn_start(text, self.quotable)]

    def _scaffold(self, text: str) -> str:
        echoed = set(echoed_lines(text, self._request))
        lines = text.splitlines(keepends=True)
        while echoed and lines and (not lines[0].strip() or lines[0].rstrip("\r\n") in echoed):
            lines.pop(0)
        while echoed and lines and (not lines[-1].strip() or lines[-1].rstrip("\r\n") in echoed):
            lines.pop()
        return "".join(lines)

    def _intro(self, text: str) -> str:
        end = intro_end(text, self._request.quotable)
        rest = text[end:]
        if self._kind is ContractKind.PLAIN and self.quotable.lost(text[:end], rest) - POLITE_WORDS:
            return text
        return rest if self._is_payload(rest) or candidates(rest, self._request, self.quotable) else text

    def _outro(self, text: str) -> str:
        if self._is_document(text):
            return text
        start = outro_start(text, self._request.quotable)
        return text if self.quotable.lost(text[start:], text[:start]) - POLITE_WORDS else text[:start]

    def _label(self, text: str) -> str:
        """Cut to what stands behind the last label, if that is a payload."""
        labels = [] if self._is_document(text) else list(self._labels(text))
        # Several labelled values are candidates of equal standing.
        if self._request.intent is Intent.EXACT_FORMAT and len(labels) > 1:
            return text
        for start, label in labels[-1:]:
            before, rest = text[:start], text[label.end() :]
            if self._request.intent is not Intent.EXACT_LINES:
                rest = rest.lstrip(" \t")
            if rest.strip() and self._is_payload(rest) and self._may_go(before, rest):
                return rest
        return text

    def _labels(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        position = 0
        for line in text.splitlines(keepends=True):
            label = ANSWER_LABEL.match(text, position)
            # What the output calls an output, too, is a name of its own.
            known = label and content_words(label.group()) & self.quotable.words - {"answer", "final"}
            if label and not known and label.group().strip() not in ground(self._request.instruction):
                yield position, label
            position += len(line)

    def _may_go(self, before: str, rest: str) -> bool:
        """Say whether what stands above a label is no part of the answer."""
        if self._kind is ContractKind.PLAIN:
            return all(
                p.is_thought or self._says_again(before[p.start : p.end], rest) for p in self._paragraphs(before)
            )
        # The question may offer a value of its own: "or none".
        offered = (self.quotable, ground(self._request.instruction))
        if self._request.intent is Intent.EXACT_FORMAT and not any(is_grounded(rest, each) for each in offered):
            return False
        found = candidates(before, self._request, self.quotable)
        return not self._lines_lost(before, rest) and all(
            covers(rest, before[each.start : each.end], self._request) for each in found
        )

    def _says_again(self, removed: str, rest: str) -> bool:
        """Say whether prose says nothing that the rest does not say, or only what is polite."""
        new = content_words(removed) - content_words(rest)
        return not self.quotable.lost(removed, rest) and (
            SMALL_TALK.search(removed) is not None or len(new) <= _MOST_NEW_WORDS
        )

    def _lines_lost(self, removed: str, rest: str) -> set[str]:
        # Where lines are what was asked for, each may be one, however short.
        shortest = 1 if self._request.intent is Intent.EXACT_LINES else SHORTEST_LINE
        return input_lines(removed, self.quotable, shortest) - input_lines(rest, self.quotable, shortest)

    def _fence(self, text: str) -> str:
        inner = outer_fence(text)
        if inner is not None:
            return text if text in self.quotable and self._kind is not ContractKind.STRUCTURED else inner
        if self._is_document(text):
            return text
        opening = _OPEN_FENCE.match(text)
        if opening and text.count(opening.group().strip()[:3]) == 1 and opening.group() not in self.quotable:
            return text[opening.end() :]
        closing = _CLOSE_FENCE.search(text)
        if closing and text.count(closing.group().strip()) == 1 and closing.group() not in self.quotable:
            return text[: closing.start()]
        return text

    def _thought(self, text: str) -> str:
        """Plain text and values: cut paragraphs of thought above and below the answer."""
        if (
            self._kind is ContractKind.STRUCTURED
            or self._request.intent is Intent.EXACT_LINES
            or (self._kind is not ContractKind.PLAIN and self._is_payload(text))
        ):
            return text
        read = self._paragraphs(text)
        gone, runs = [p for p in read if p.is_thought], runs_of_answer(read)
        if not gone or not runs:
            return self._chatter(text, read)
        rest = text[runs[-1][0].start : runs[-1][-1].end]
        parted = any(self.quotable.lost(text[run[0].start : run[-1].end], rest) for run in runs[:-1])
        if parted or rest.endswith(":") or echoed_lines(text, self._request) or not self._is_payload(rest):
            return text
        return rest if all(self._goes(text[p.start : p.end], p, rest) for p in gone) else text

    def _goes(self, removed: str, paragraph: Paragraph, rest: str) -> bool:
        return paragraph.signals > 1 or not self.quotable.lost(removed, rest)

    def _chatter(self, text: str, read: Sequence[Paragraph]) -> str:
        """Cut whole sentences of chatter around those of the one answer, if no word of the input goes with them."""
        said = [p for p in read if any(not self._is_chatter(text, s) for s in p.sentences)]
        if len(said) != 1 or self._kind is not ContractKind.PLAIN:
            return text
        sentences = list(said[0].sentences)
        while self._is_chatter(text, sentences[0]):
            sentences.pop(0)
        while self._is_chatter(text, sentences[-1]):
            sentences.pop()
        rest = text[sentences[0].start : sentences[-1].end].strip()
        others = [p for p in read if p is not said[0]]
        around = text[said[0].start : said[0].end].replace(rest, "")
        may_go = all(self._goes(text[p.start : p.end], p, rest) for p in others) and not self.quotable.lost(
            around, rest
        )
        if any(s.is_thought(ALONE) for s in sentences) or not may_go or rest == text.strip():
            return text
        return rest

    def _is_chatter(self, text: str, sentence: Sentence) -> bool:
        return sentence.is_thought(ALONE) or SMALL_TALK.search(text[sentence.start : sentence.end]) is not None

    def _around_payload(self, text: str) -> str:
        """Exact and structured forms: cut to the payload, if something shows that it is the answer."""
        if self._kind is ContractKind.PLAIN or self._is_payload(text):
            return text
        found = candidates(text, self._request, self.quotable)
        if not 0 < len(found) <= _MOST_CANDIDATES or echoed_lines(text, self._request):
            # Who repeats itself that often is in a loop; who repeats the prompt may repeat its output, too.
            return text
        chosen = found[-1]
        payload, *drafts = (text[each.start : each.end] for each in reversed(found))
        outside = [text[: chosen.start], text[chosen.end :]]
        if (
            all(covers(payload, draft, self._request) for draft in drafts)
            and not self._is_lost(outside, payload, drafts)
            and self._shows(chosen, outside, payload)
        ):
            return payload
        return text

    def _shows(self, chosen: Candidate, outside: Sequence[str], payload: str) -> bool:
        """Say whether a fence, a box, a label or thought beside a payload shows that it is the answer."""
        if not self._is_thought(outside):
            # A fence alone does not say that facts beside it are no answer.
            return chosen.marked and not (
                self._kind is ContractKind.STRUCTURED and self.quotable.lost(" ".join(outside), payload)
            )
        alone = chosen.marked or not outside[1].strip() or self._request.intent is not Intent.EXACT_FORMAT
        return alone or self._all_thought(outside)

    def _is_lost(self, outside: Sequence[str], payload: str, drafts: Sequence[str]) -> bool:
        """Say whether lines, rows or items beside a payload and its drafts say what it does not."""
        if any(self._lines_lost(part, payload) for part in outside) or self._items_lost(outside, payload):
            return True
        known = {row for each in (payload, *drafts) for row in rows(each)}
        return self._request.intent is Intent.TABLE and any(rows(part) - known for part in outside)

    def _items_lost(self, parts: Sequence[str], payload: str) -> bool:
        """Say whether lines beside the payload look like further items of it, and say what it does not."""
        item = ITEM.get(self._request.intent)
        if item is None:
            return False
        for part in parts:
            for paragraph in self._paragraphs(part):
                lines = () if paragraph.is_thought else part[paragraph.start : paragraph.end].splitlines()
                if any(item.match(line) and self.quotable.lost(line, payload) for line in lines):
                    return True
        return False

    def _is_thought(self, parts: Sequence[str]) -> bool:
        """Say whether something in them shows that they are not the answer: thought or politeness."""
        read = [p for part in parts for p in self._paragraphs(part)]
        return any(SMALL_TALK.search(part) for part in parts) or any(
            s.is_thought(BESIDE) for p in read for s in p.sentences
        )

    def _all_thought(self, parts: Sequence[str]) -> bool:
        return all(p.is_thought for part in parts for p in self._paragraphs(part))

    def _paragraphs(self, text: str) -> Sequence[Paragraph]:
        threshold = ALONE if self._kind is ContractKind.PLAIN else BESIDE
        return paragraphs(text, 0, len(text), self.quotable, self._request.instruction, threshold)

    def _is_payload(self, text: str) -> bool:
        """Say whether a text, without a fence around it, fulfils the contract; any plain text does."""
        if self._kind is ContractKind.PLAIN:
            return True
        inner = outer_fence(text)
        return fulfils(inner if inner is not None else text, self._request, self.quotable)

    def _is_document(self, text: str) -> bool:
        return parse_payload(self._request.intent, text) is not None

    def _blank_edges(self, text: str) -> str:
        head = _BLANK_HEAD.match(text)
        rest = text[head.end() if head else 0 :].rstrip()
        # The first line of a document or of exact lines may be indented.
        indented = self._request.intent is Intent.YAML or rest.partition("\n")[0] in self._request.raw_input
        return rest if indented else rest.lstrip(" \t")


def _is_markup(text: str, piece: EnvelopePiece) -> bool:
    """Say whether a piece is a box in plain letters: markup, unless the whole answer is in it."""
    return piece.part == "answer_box" and text[piece.start : piece.end].strip().strip("</>").isidentifier()


def _removed(before: str, after: str) -> str:
    """Return what was deleted: exact for a cut at one or both ends, else all parts in order."""
    at = before.find(after)
    if at != -1:
        return before[:at] + before[at + len(after) :]
    removed, position = [], 0
    for character in before:
        if position < len(after) and character == after[position]:
            position += 1
        else:
            removed.append(character)
    return "".join(removed)

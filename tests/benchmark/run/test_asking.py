"""The asking loop, on models that fail as they are told: what is asked again, in which order, and when it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmark.run.asking import (
    AnsweredUnit,
    AskingStop,
    AttemptFailed,
    Event,
    Listed,
    OpenModel,
    Pace,
    Unanswered,
    Unit,
    UnitSource,
)
from benchmark.run.stop import Stop
from ctxsift.asking import Answer
from ctxsift.backends.base import GREEDY, Decoding, Generation, Limits, LoadInfo, ModelSpec
from ctxsift.backends.retry import LOCAL_RETRY, Retry
from ctxsift.errors import (
    BackendError,
    InstrumentError,
    LoadError,
    PromptTooLongError,
    RefusedError,
    TransientError,
)
from ctxsift.intents import Intent
from ctxsift.prompts import FixedPrompt, Message, Request, RequestPrompt, read_messages

LOCAL = Pace(chunk=1, in_flight=1, waits_for_recorder=True)
BATCHES = Pace(chunk=3, in_flight=1, waits_for_recorder=True)
SERVICE = Pace(chunk=1, in_flight=2, waits_for_recorder=False)
QUICK = Retry(2, 1.0, patient=False)


class Model:
    """Answers with what it was asked; `faults` are raised for a unit, one an attempt."""

    def __init__(self, **faults: Sequence[Exception]) -> None:
        self.faults = {unit: list(errors) for unit, errors in faults.items()}
        self.asked: list[tuple[str, ...]] = []
        self.batch_fault: BackendError | None = None
        self.closed = False
        self.recorder: TakenDown | None = None

    def load(self, spec: ModelSpec) -> LoadInfo:
        raise AssertionError

    async def aopen(self) -> None:
        """Nothing to open."""

    async def agenerate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        (reply,) = await self._reply([messages])
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def agenerate_batch(
        self, prompts: Sequence[Sequence[Message]], limits: Limits
    ) -> Sequence[Generation | BackendError]:
        if self.batch_fault:
            fault, self.batch_fault = self.batch_fault, None
            self.asked.append(tuple(read_messages(messages)[1] for messages in prompts))
            raise fault
        replies = await self._reply(prompts)
        return [reply for reply in replies if isinstance(reply, Generation | BackendError)]

    async def _reply(self, prompts: Sequence[Sequence[Message]]) -> list[Generation | Exception]:
        names = tuple(read_messages(messages)[1] for messages in prompts)
        assert not (self.recorder and self.recorder.busy), "asked while answers were being taken down"
        self.asked.append(names)
        await asyncio.sleep(0.001)
        return [
            self.faults[name].pop(0)
            if self.faults.get(name)
            else Generation(name, "stop", 1, 1, 1.0, 1.0, 2.0, "model")
            for name in names
        ]

    async def aclose(self) -> None:
        self.closed = True


class TakenDown:
    """A recorder that keeps what it hears, and has enough after so many units without an answer."""

    def __init__(self, most_failures: int = 99, slow_s: float = 0.0) -> None:
        self.events: list[Event] = []
        self.busy = False
        self._most_failures, self._slow_s = most_failures, slow_s

    def settle(self, events: Sequence[Event]) -> AskingStop | None:
        self.busy = True
        time.sleep(self._slow_s)
        self.events += events
        self.busy = False
        enough = sum(isinstance(event, Unanswered) for event in self.events) >= self._most_failures
        return AskingStop("enough") if enough else None

    def story(self) -> list[str]:
        """Return what happened, a word an event."""
        told = []
        for event in self.events:
            match event:
                case AttemptFailed():
                    told.append(f"{event.unit.unit_id}!{event.attempt}")
                case AnsweredUnit():
                    told.append(f"{event.unit.unit_id}={event.attempted.attempts}")
                case Unanswered():
                    told.append(f"{event.unit.unit_id}x{event.attempts}")
        return told


def units(names: str) -> list[Unit]:
    return [Unit(name, RequestPrompt(Request("output", name, Intent.SUMMARY))) for name in names]


def ask(
    model: Model, recorder: TakenDown, pace: Pace, retry: Retry, names: str, stop: Stop | None = None
) -> AskingStop | None:
    return ask_all(model, recorder, pace, retry, [Listed(units(names))], stop)


def ask_all(
    model: Model,
    recorder: TakenDown,
    pace: Pace,
    retry: Retry,
    sources: Sequence[UnitSource],
    stop: Stop | None = None,
) -> AskingStop | None:
    """Open a model, ask it for what each source has, and return how the last one ended."""

    async def run() -> AskingStop | None:
        ended = None
        async with OpenModel(model, Limits(8), pace, retry, stop or Stop()) as opened:
            for source in sources:
                assert not model.closed
                ended = await opened.ask(source, recorder)
        return ended

    try:
        return asyncio.run(run())
    finally:
        assert model.closed


def test_a_local_model_is_asked_once_more_whatever_happened() -> None:
    recorder = TakenDown()
    model = Model(b=[BackendError("a")], c=[InstrumentError("b"), InstrumentError("c")], d=[ValueError("a mistake")])
    assert ask(model, recorder, LOCAL, LOCAL_RETRY, "abcd") is None
    assert recorder.story() == ["a=1", "b!1", "b=2", "c!1", "c!2", "cx2", "d!1", "d=2"]


def test_who_got_no_answer_in_a_batch_is_asked_alone() -> None:
    recorder = TakenDown()
    model = Model(b=[BackendError("no")], e=[BackendError("no"), BackendError("no")])
    assert ask(model, recorder, BATCHES, LOCAL_RETRY, "abcdef") is None
    assert model.asked == [("a", "b", "c"), ("b",), ("d", "e", "f"), ("e",)]
    # All that came with a batch is told before anybody is asked again.
    assert recorder.story() == ["a=1", "b!1", "c=1", "b=2", "d=1", "e!1", "f=1", "e!2", "ex2"]
    elapsed = {e.unit.unit_id: e.attempted.elapsed_ms for e in recorder.events if isinstance(e, AnsweredUnit)}
    assert elapsed["b"] > elapsed["a"] == elapsed["c"] > 0


def test_a_batch_that_fails_as_a_whole_costs_one_attempt_each() -> None:
    recorder = TakenDown()
    model = Model()
    model.batch_fault = InstrumentError("died")
    assert ask(model, recorder, BATCHES, LOCAL_RETRY, "abc") is None
    assert recorder.story() == ["a!1", "b!1", "c!1", "a=2", "b=2", "c=2"]


@pytest.mark.parametrize("pace", [LOCAL, BATCHES])
def test_a_local_model_is_left_alone_while_answers_are_graded(pace: Pace) -> None:
    recorder = TakenDown(slow_s=0.01)
    model = Model(b=[BackendError("no")])
    model.recorder = recorder
    assert ask(model, recorder, pace, LOCAL_RETRY, "abcde") is None
    assert len(recorder.events) == 6


def test_a_service_is_asked_again_only_for_what_may_pass() -> None:
    recorder = TakenDown()
    model = Model(a=[TransientError("busy"), TransientError("busy")], b=[InstrumentError("nonsense")])
    assert ask(model, recorder, SERVICE, QUICK, "ab") is None
    assert sorted(recorder.story()) == ["a!1", "a!2", "a=3", "b!1", "bx1"]


def test_enough_failures_end_it() -> None:
    recorder = TakenDown(most_failures=2)
    model = Model(**{name: [BackendError("no")] * 2 for name in "abcdef"})
    assert ask(model, recorder, LOCAL, LOCAL_RETRY, "abcdef") == AskingStop("enough")
    assert recorder.story() == ["a!1", "a!2", "ax2", "b!1", "b!2", "bx2"]
    recorder, model = TakenDown(most_failures=2), Model(**{name: [BackendError("no")] * 2 for name in "abcdef"})
    assert ask(model, recorder, BATCHES, LOCAL_RETRY, "abcdef") == AskingStop("enough")
    assert model.asked == [("a", "b", "c"), ("a",), ("b",)]


def test_a_refusal_ends_it_and_is_told() -> None:
    recorder = TakenDown()
    with pytest.raises(RefusedError, match="wrong key"):
        ask(Model(b=[RefusedError("wrong key")]), recorder, SERVICE, QUICK, "abcdefgh")
    assert {"b!1", "bx1"} <= set(recorder.story())
    assert "h=1" not in recorder.story()


@pytest.mark.parametrize("pace", [LOCAL, BATCHES])
def test_a_model_that_cannot_be_loaded_again_ends_it(pace: Pace) -> None:
    recorder = TakenDown()
    model = Model(b=[InstrumentError("died"), LoadError("no memory")])
    with pytest.raises(LoadError, match="no memory"):
        ask(model, recorder, pace, LOCAL_RETRY, "abcd")
    # That it could not be loaded is not an attempt at a case.
    assert [event for event in recorder.story() if event.startswith("b")] == ["b!1"]


def test_what_cannot_be_taken_down_ends_it() -> None:
    class Full(TakenDown):
        def settle(self, events: Sequence[Event]) -> AskingStop | None:
            if len(self.events) == 2:
                raise OSError("disk full")
            return super().settle(events)

    model = Model()
    with pytest.raises(OSError, match="disk full"):
        ask(model, Full(), LOCAL, LOCAL_RETRY, "abcdef")
    assert model.asked == [("a",), ("b",), ("c",)]


def test_whoever_stops_it_keeps_what_was_answered() -> None:
    stop, recorder = Stop(), TakenDown()

    class Stopping(Model):
        async def agenerate(self, messages: Sequence[Message], limits: Limits) -> Generation:
            generation = await super().agenerate(messages, limits)
            if generation.text == "c":
                # As a worker does that is ended: it fails, and nobody wants to hear of it.
                stop.request()
                raise InstrumentError("killed")
            return generation

    with pytest.raises(asyncio.CancelledError):
        ask(Stopping(), recorder, LOCAL, LOCAL_RETRY, "abcdef", stop)
    assert recorder.story() == ["a=1", "b=1"]


def test_answers_on_their_way_are_waited_for_when_a_service_refuses() -> None:
    class Slow(Model):
        async def agenerate(self, messages: Sequence[Message], limits: Limits) -> Generation:
            answer = await super().agenerate(messages, limits)
            await asyncio.sleep(0.2)
            return answer

    recorder, model = TakenDown(), Slow(d=[RefusedError("no such key")])
    with pytest.raises(RefusedError):
        ask(model, recorder, Pace(chunk=1, in_flight=4, waits_for_recorder=False), QUICK, "abcdefgh")
    assert sorted(recorder.story()) == ["a=1", "b=1", "c=1", "d!1", "dx1"]
    assert len(model.asked) == 4


def test_a_model_that_is_open_is_asked_again() -> None:
    recorder, model = TakenDown(), Model(b=[BackendError("no")])
    assert ask_all(model, recorder, LOCAL, LOCAL_RETRY, [Listed(units("ab")), Listed(()), Listed(units("c"))]) is None
    assert recorder.story() == ["a=1", "b!1", "b=2", "c=1"]


class Chains:
    """Chains of questions, each of which holds the answer to the one before; a source."""

    def __init__(self, *names: str, steps: int) -> None:
        self._ready = [(name, "") for name in names]
        self._steps = steps

    def take(self, most: int) -> Sequence[Unit]:
        taken, self._ready = self._ready[:most], self._ready[most:]
        return [Unit(name, RequestPrompt(Request(before, f"{before}{name}", Intent.SUMMARY))) for name, before in taken]

    def told(self, unit: Unit, answer: Answer | None) -> None:
        if answer and len(answer.generation.text) < self._steps:
            self._ready.append((unit.unit_id, answer.generation.text))


@pytest.mark.parametrize("pace", [LOCAL, BATCHES, SERVICE])
def test_a_question_may_wait_for_the_answer_to_another(pace: Pace) -> None:
    recorder, model = TakenDown(slow_s=0.005), Model(yy=[BackendError("no")] * 3)
    assert ask_all(model, recorder, pace, LOCAL_RETRY, [Chains("x", "y", "z", steps=4)]) is None
    asked = [name for names in model.asked for name in names]
    # The chain of a question that got no answer ends there.
    assert sorted(asked) == ["x", "xx", "xxx", "xxxx", "y", "yy", "yy", "z", "zz", "zzz", "zzzz"]
    assert max(map(len, model.asked)) == pace.chunk


def test_a_question_decoded_in_its_own_way_is_not_read_with_others() -> None:
    recorder, drawn = TakenDown(), []

    class Drawing(Model):
        async def agenerate(
            self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY
        ) -> Generation:
            drawn.append(decoding)
            return await super().agenerate(messages, limits)

    model = Drawing()
    a, b, c = units("abc")
    warm = Decoding(1.0, 3)
    source = Listed([a, replace(b, decoding=warm), c, *units("de")])
    assert ask_all(model, recorder, BATCHES, LOCAL_RETRY, [source]) is None
    assert model.asked == [("a",), ("b",), ("c",), ("d", "e")]
    assert drawn == [GREEDY, warm, GREEDY]


def test_messages_of_which_nothing_may_be_cut_do_not_fit() -> None:
    recorder, unit = TakenDown(), units("a")[0]
    model = Model(a=[PromptTooLongError(100, 50)] * 4)
    fixed = Unit("a", FixedPrompt(unit.prompt.messages))
    assert ask_all(model, recorder, LOCAL, LOCAL_RETRY, [Listed([fixed])]) is None
    assert recorder.story() == ["a!1", "a!2", "ax2"]

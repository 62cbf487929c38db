"""A session of a coding agent in a small shop service, written for tests and documents of compaction.

It has what compaction is about: orders that hold to the end, decisions with reasons, values that are given anew, work
that is taken back, errors with their fixes, a to-do list, and outputs that nobody needs again.
"""

from __future__ import annotations

from ctxsift.sessions.records import JsonValue, Session, SessionHead, Source, Step, ToolCall, ToolResult

FOLDER = "/home/dev/shop"
SYSTEM = "You are a coding agent. Tools: bash, read, write, edit."
_MODELS = """\
from dataclasses import dataclass, field


@dataclass
class Item:
    sku: str
    name: str
    price_cents: int


@dataclass
class Cart:
    items: dict[str, int] = field(default_factory=dict)

    def add(self, sku: str, count: int = 1) -> None:
        self.items[sku] = self.items.get(sku, 0) + count
"""


class _Told:
    """Steps as they are told, with their ids."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def say(self, source: Source, message: str) -> None:
        self.steps.append(Step(len(self.steps) + 1, source, message))

    def call(self, message: str, name: str, output: str, code: int | None = None, **arguments: JsonValue) -> None:
        number = len(self.steps) + 1
        call = ToolCall(f"call-{number}", name, arguments)
        result = ToolResult(call.call_id, output, code)
        self.steps.append(Step(number, Source.AGENT, message, calls=(call,), results=(result,), folder=FOLDER))


def _listing(name: str, lines: int) -> str:
    """Return a long source file, as a tool shows it."""
    body = (f"    total = apply_rule_{at}(total, cart, rules[{at}])  # rule {at} of {lines}" for at in range(lines))
    return f"def {name}(cart, rules):\n    total = 0\n" + "\n".join(body) + "\n    return total\n"


def _tests(passed: int, failed: str = "") -> str:
    dots = "\n".join(f"tests/test_rules.py::test_rule_{at} PASSED" for at in range(passed))
    ending = f"1 failed, {passed} passed in 2.31s" if failed else f"{passed} passed in 2.04s"
    return f"{dots}\n{failed}\n==== {ending} ====\n"


def shop_session(rounds: int = 3) -> Session:
    """Return the session; every further round of `rounds` adds reading and checking, and nothing to remember."""
    told = _Told()
    told.say(Source.SYSTEM, SYSTEM)
    told.say(
        Source.USER,
        "Add discount codes to the checkout of the shop service.\n"
        "A code takes a percentage off the total. Never let the total go below zero.\n"
        "Don't touch src/legacy/, and use no new dependency.",
    )
    told.call("Let me look at the code first.", "bash", "README.md\nsrc\ntests\n", 0, command="ls")
    told.call("", "read", _listing("checkout", 60), path="src/checkout.py")
    told.call("", "read", _MODELS, path="src/models.py")
    told.say(
        Source.AGENT,
        "I looked at the checkout. Proposal:\n"
        "- Codes live in `src/discounts.py` as a frozen dataclass `Discount(code, percent)`\n"
        "- I chose integer cents instead of floats because rounding differed between `total()` and `receipt()`\n"
        "- The limit is 50 percent\n"
        "Shall I begin?",
    )
    told.say(Source.USER, "Yes. But the limit is 30 percent. And store codes in upper case only.")
    told.call("", "write", "Wrote 412 bytes to src/discounts.py", path="src/discounts.py", content=_MODELS)
    told.call(
        "",
        "edit",
        "Edited src/checkout.py",
        path="src/checkout.py",
        old_text="    return total\n",
        new_text="    return max(0, total - discount_cents(total, code))\n",
    )
    failure = (
        "tests/test_checkout.py::test_receipt FAILED\nE   TypeError: unsupported operand type(s) for -: 'float' and "
        "'Decimal'\nsrc/receipt.py:88: TypeError"
    )
    told.call("", "bash", _tests(40, failure), 1, command="pytest -q")
    told.call("", "read", _listing("receipt", 50), path="src/receipt.py")
    told.call(
        "The issue is that `src/receipt.py` still converts cents to float in `format_line`.",
        "edit",
        "Edited src/receipt.py",
        path="src/receipt.py",
        old_text="float(cents)",
        new_text="cents",
    )
    told.call("", "bash", _tests(41), 0, command="pytest -q")
    told.say(
        Source.AGENT,
        "Discount codes work and all 41 tests pass.\n"
        "The TypeError in `src/receipt.py` is fixed: `format_line` now keeps integer cents.\n"
        "Next steps: expiry dates for codes, and the admin page.",
    )
    told.say(Source.USER, "Cache the codes in Redis, on port 6379.")
    told.call("", "write", "Wrote 655 bytes to src/cache.py", path="src/cache.py", content="import socket\n" * 20)
    told.say(
        Source.AGENT, "Codes are cached in Redis now: `src/cache.py` talks to port 6379 with a TTL of 300 seconds."
    )
    told.say(Source.USER, "Hmm, undo that. No cache at all; a dict that is loaded at start is enough.")
    told.call("", "bash", "", 0, command="rm src/cache.py")
    told.call(
        "",
        "todo",
        "ok",
        todos=[
            {"content": "load codes from codes.toml at start", "status": "completed"},
            {"content": "expiry dates for codes", "status": "in_progress"},
            {"content": "admin page lists the codes", "status": "pending"},
        ],
    )
    told.say(
        Source.AGENT, "The cache is gone. Codes are loaded from `codes.toml` at start into a dict, by `load_codes()`."
    )
    for number in range(rounds):
        told.say(Source.USER, f"Please check rule set {number} again.")
        told.call("", "read", _listing(f"rules_{number}", 90), path=f"src/rules_{number}.py")
        told.call("", "bash", _tests(45), 0, command="pytest -q")
        told.say(Source.AGENT, f"Rule set {number} is fine; all 45 tests pass.")
    told.say(Source.USER, "Make the limit 25 percent, and set the limit to 25 in codes.toml, too.")
    told.call(
        "",
        "edit",
        "Edited codes.toml",
        path="codes.toml",
        old_text="limit = 30\n",
        new_text="limit = 25\n",
    )
    told.call("", "bash", _tests(46), 0, command="pytest -q")
    told.say(Source.AGENT, "The limit is 25 percent now, in `codes.toml` and in `src/discounts.py`. All 46 tests pass.")
    told.say(Source.USER, "Good. What is left?")
    told.say(Source.AGENT, "Left to do: expiry dates for codes, then the admin page.")
    return Session(SessionHead("messages", folder=FOLDER), tuple(told.steps))

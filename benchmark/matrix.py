"""The scenarios: loads and checks matrix.json."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmark.fields import Fields
from ctxsift.backends.cuda import QUANTIZATIONS
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import read_text

DEFAULT_MATRIX = Path("matrix.json")
DEFAULT_MAX_OUTPUT_TOKENS = 768
DEFAULT_REMOTE_CONCURRENCY = 8
_SAFE_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?\Z")


class Track(StrEnum):
    """Where a model runs."""

    CPU = "cpu"
    GPU = "gpu"
    REMOTE = "remote"
    CONTROL = "control"


_DEVICES = {Track.CPU: "cpu", Track.GPU: "cuda", Track.REMOTE: "remote", Track.CONTROL: "cpu"}
_FIELDS = (
    *("name", "track", "phase", "model", "quantization", "device", "gguf_filename", "dtype"),
    *(
        "attn_implementation",
        "max_output_tokens",
        "concurrency",
        "enabled",
        "backend",
        "trust_remote_code",
        "extra_body",
    ),
)


@dataclass(frozen=True)
class Scenario:
    """One row of the matrix; the fields are described in README, 'The matrix'.

    Attributes:
        concurrency: questions in flight to a service; prompts a local model reads together.
        trust_remote_code: run Python code that comes with the weights; gpu only.
        extra_body: what else a request says to a service, e.g. {"repeat_penalty": 1.0}; remote only.
        backend: registered name of a backend other than the track's own (third-party ones, tests).

    """

    name: str
    track: Track
    phase: str
    model: str
    quantization: str
    device: str
    gguf_filename: str | None = None
    dtype: str = "auto"
    attn_implementation: str = "auto"
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    concurrency: int = 1
    enabled: bool = True
    backend: str | None = None
    trust_remote_code: bool = False
    extra_body: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return {key: str(value) if isinstance(value, StrEnum) else value for key, value in asdict(self).items()}


def load_matrix(path: Path = DEFAULT_MATRIX) -> tuple[Scenario, ...]:
    """Return all rows, disabled ones included.

    Raises:
        InputError: naming the file, the place in it (line or JSON pointer) and the mend.

    """
    fields = Fields(_parse(path), str(path))
    fields.refuse_unknown(("scenarios",))
    rows = fields.raw("scenarios")
    if not isinstance(rows, list):
        raise InputError(fields.place("scenarios"), "is no list", 'write {"scenarios": [...]}')
    if not rows:
        raise InputError(fields.place("scenarios"), "is empty", "add a scenario")
    scenarios = []
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        scenario = _scenario(Fields(row, f"{fields.place('scenarios')}/{index}"))
        # Names become file names, and some file systems fold case.
        first = seen.setdefault(scenario.name.lower(), index)
        if first != index:
            raise InputError(
                f"{fields.place('scenarios')}/{index}/name",
                f"{scenario.name!r} is the name of /scenarios/{first} too",
                "give every scenario its own name",
            )
        scenarios.append(scenario)
    return tuple(scenarios)


def _parse(path: Path) -> object:
    text = read_text(path, "name a matrix with --matrix", most_mb=5)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        ((twice, times),) = Counter(key for key, _ in pairs).most_common(1) or [("", 0)]
        if times > 1:
            raise InputError(str(path), f"the field {twice!r} stands twice in one object", "remove one of them")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{error.lineno}:{error.colno}", f"no JSON: {error.msg}", "mend the syntax there"
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError(str(path), f"cannot be read ({error})", 'write {"scenarios": [...]}') from None


def _scenario(fields: Fields) -> Scenario:
    fields.refuse_unknown(_FIELDS)
    name = fields.text("name")
    if not _SAFE_NAME.match(name) or len(name) > 120:
        raise InputError(
            fields.place("name"),
            f"{name!r} is no safe file name",
            "use letters, digits, dots, dashes and underscores, and begin with a letter or digit",
        )
    track = fields.choice("track", Track)
    device = fields.text("device")
    wanted = _DEVICES[track]
    if device != wanted and not (track is Track.GPU and re.fullmatch(r"cuda:\d+", device)):
        raise InputError(fields.place("device"), f"{device!r} does not go with track {track}", f"write {wanted!r}")
    filename = fields.text("gguf_filename") if fields.has("gguf_filename") else None
    if track is Track.CPU and filename is None:
        raise InputError(
            fields.place("gguf_filename"), "required field is missing", "track cpu needs the name of a .gguf file"
        )
    if track is not Track.CPU and filename is not None:
        raise InputError(fields.place("gguf_filename"), f"does not go with track {track}", "remove it")
    quantization = fields.text("quantization")
    if track is Track.GPU and quantization not in QUANTIZATIONS:
        raise InputError(
            fields.place("quantization"), f"{quantization!r} is unknown", did_you_mean(quantization, QUANTIZATIONS)
        )
    trust_remote_code = fields.flag("trust_remote_code", False)
    if trust_remote_code and track is not Track.GPU:
        raise InputError(fields.place("trust_remote_code"), f"does not go with track {track}", "remove it")
    extra_body = fields.raw("extra_body") if fields.has("extra_body") else {}
    if not isinstance(extra_body, dict):
        raise InputError(fields.place("extra_body"), "is no object", 'write e.g. {"repeat_penalty": 1.0}')
    if extra_body and track is not Track.REMOTE:
        raise InputError(fields.place("extra_body"), f"does not go with track {track}", "remove it")
    concurrency = DEFAULT_REMOTE_CONCURRENCY if track is Track.REMOTE else 1
    return Scenario(
        name=name,
        track=track,
        phase=fields.text("phase"),
        model=fields.text("model"),
        quantization=quantization,
        device=device,
        gguf_filename=filename,
        dtype=fields.text("dtype", "auto"),
        attn_implementation=fields.text("attn_implementation", "auto"),
        max_output_tokens=fields.whole("max_output_tokens", least=1) or DEFAULT_MAX_OUTPUT_TOKENS,
        concurrency=fields.whole("concurrency", least=1) or concurrency,
        enabled=fields.flag("enabled", True),
        backend=fields.text("backend") if fields.has("backend") else None,
        trust_remote_code=trust_remote_code,
        extra_body=extra_body,
    )


def select_scenarios(
    scenarios: Iterable[Scenario], *, names: Iterable[str] = (), phases: Iterable[str] = ()
) -> tuple[Scenario, ...]:
    """Return the enabled scenarios that are named or belong to a named phase; all enabled ones without either.

    A scenario that is named outright is taken although it is disabled.

    Raises:
        InputError: an unknown name or phase, with the nearest known ones, or nothing selected.

    """
    scenarios, names, phases = tuple(scenarios), tuple(names), tuple(phases)
    for option, asked, known in (
        ("--scenario", names, [s.name for s in scenarios]),
        ("--phase", phases, [s.phase for s in scenarios]),
    ):
        for word in asked:
            if word not in known:
                raise InputError(f"{option} {word}", "is not in the matrix", did_you_mean(word, known))
    chosen = tuple(
        s for s in scenarios if s.name in names or (s.enabled and (s.phase in phases or not (names or phases)))
    )
    if not chosen:
        raise InputError("selection", "nothing is selected", "enable a scenario of it, or name one with --scenario")
    return chosen

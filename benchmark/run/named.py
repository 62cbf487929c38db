"""Who answers or judges, by name: what is built in, `recorded:FILE`, or a row of the matrix; and opening such a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmark.matrix import DEFAULT_MATRIX, Scenario, load_matrix
from benchmark.run.plan import RunSettings, answer_timeout_s, attempt_timeout_s, model_spec
from benchmark.run.preflight import NotReady, find_ready
from benchmark.run.scenario_run import LOAD_TIMEOUT_S
from ctxsift.backends.base import Limits, ModelSpec
from ctxsift.errors import InputError, did_you_mean
from ctxsift.models.choice import CONSENT
from ctxsift.models.opened import Opened, Patience

_FILE = "recorded:"
_RECORDED = f"{_FILE}FILE"


@dataclass(frozen=True)
class Role:
    """An option that takes such a name.

    Attributes:
        option: as it is typed.
        built_in: its own names, each with a line that says what it is.
        recorded: a line that says what a file holds.
        takes_folder: of such files as well.

    """

    option: str
    built_in: Mapping[str, str]
    recorded: str
    takes_folder: bool = False


@dataclass(frozen=True)
class BuiltIn:
    """One of the names that a role has itself."""

    name: str


@dataclass(frozen=True)
class RecordedReplies:
    """What was said before, in a file, or in those of a folder."""

    path: Path


class UnknownNameError(InputError):
    """A name is none that a role has, and no row of the matrix."""


def chosen(name: str, role: Role, matrix: Path = DEFAULT_MATRIX) -> BuiltIn | RecordedReplies | Scenario:
    """Return what a name stands for; nothing is loaded or asked.

    Raises:
        UnknownNameError: it stands for nothing; names what does.
        InputError: there is no such file, the matrix cannot be read, or the row is not one that can be asked.

    """
    if name in role.built_in:
        return BuiltIn(name)
    if name.startswith(_FILE):
        return RecordedReplies(_recorded(name, role))
    rows = {row.name: row for row in load_matrix(matrix, asked=lambda row: row.get("name") == name)}
    if name not in rows:
        problem = f"is not a row of {matrix}"
        raise UnknownNameError(f"{role.option} {name}", problem, did_you_mean(name, [*role.built_in, _RECORDED, *rows]))
    if rows[name].before is not None:
        problem = "has a program before its model, and that program would read the question instead of the model"
        raise InputError(f"{role.option} {name}", problem, "name a row without `before`")
    return rows[name]


def _recorded(name: str, role: Role) -> Path:
    path = Path(name.removeprefix(_FILE))
    # Nothing is no name of this folder.
    if path.is_file() or (role.takes_folder and name != _FILE and path.is_dir()):
        return path
    hint = f"name a file: {_RECORDED}{f', or a folder of such: {_FILE}DIR' if role.takes_folder else ''}"
    raise InputError(f"{role.option} {name}", "no such file", hint)


def names_of(role: Role, matrix: Path = DEFAULT_MATRIX) -> list[tuple[str, str, str]]:
    """Return each name that `chosen` knows, where it comes from, and what it is. Raises InputError as it does."""
    own = [*role.built_in.items(), (_RECORDED, role.recorded)]
    found = [(name, "built-in", meaning) for name, meaning in own]
    rows = [row for row in load_matrix(matrix) if row.before is None]
    return [*found, *((row.name, str(matrix), f"{row.track}: {row.model}") for row in rows)]


def check_consent(row: Scenario, role: Role, *, remote: bool) -> None:
    """Raise InputError where a row sends what it is asked elsewhere, and nobody said that it may."""
    if row.sends_away and not remote:
        problem = "sends its questions to a provider, which may cost money"
        raise InputError(f"{role.option} {row.name}", problem, CONSENT)


def opened_row(row: Scenario, role: Role, run: RunSettings, context_tokens: int, limits: Limits) -> Opened:
    """Return the model of a row, opened as the runner opens it, not loaded yet.

    Args:
        row: of the matrix.
        role: that it is opened for.
        run: settings, consent and the env file.
        context_tokens: that the longest prompt and its answer need.
        limits: of an answer.

    Raises:
        InputError: something that it needs is missing, or what it is asked must not leave this machine.

    """

    def spec(_: int, /, *, device: str | None = None, weights: Path | None = None) -> ModelSpec:
        return model_spec(row, run, context_tokens, device=device, weights=weights)

    check_consent(row, role, remote=run.remote)
    (ready,) = find_ready([row], run, spec)
    if isinstance(ready, NotReady):
        raise InputError(role.option, ready.problem)
    patience = Patience(
        load_s=LOAD_TIMEOUT_S,
        answer_s=answer_timeout_s(ready.spec, limits),
        attempt_s=attempt_timeout_s(row, None, run.settings),
        retries=run.settings.retries,
    )
    return Opened(row.backend_name, ready.spec, patience, gguf_filename=row.gguf_filename)

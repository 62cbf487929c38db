"""The options of the runner, each said once: the parser, the checks and the printed resume command follow from it."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from benchmark.cases import Split
from benchmark.matrix import DEFAULT_MATRIX, is_selected
from benchmark.run.run_plan import Workers
from benchmark.run.selection import CaseOrder
from benchmark.run.sharding import ShardName, read_shard
from ctxsift.errors import InputError

_META = "option"
_Choice = TypeVar("_Choice", bound=StrEnum)
# File systems allow 255, and the time of the run comes behind it.
MOST_NAME_BYTES = 200
MOST_WORKERS = 10_000
# A week.
MOST_CASE_TIMEOUT_S = 7 * 24 * 3600


def _one_of(kind: type[_Choice]) -> Callable[[str], _Choice]:
    def read(text: str) -> _Choice:
        try:
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {' or '.join(kind)}") from None

    return read


def _shard(text: str) -> ShardName:
    try:
        return read_shard(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


class OptionGroup(StrEnum):
    """Headings of --help."""

    WHAT = "what to run"
    WHERE = "where things are"
    HOW = "how"


@dataclass(frozen=True)
class _Option:
    """How a field is given on the command line.

    Attributes:
        read: turns what was typed into its value; None for a switch.
        many: may be given several times.
        with_resume: it may stand beside --resume.
        resumes: the printed resume command repeats it.
        bare: its value where it is given without one; None where it needs one.

    """

    group: OptionGroup
    help: str
    read: Callable[[str], Any] | None
    metavar: str | None = None
    many: bool = False
    with_resume: bool = True
    resumes: bool = False
    bare: str | None = None


def _given(
    group: OptionGroup,
    help_text: str,
    read: Callable[[str], Any] = str,
    metavar: str | None = None,
    *,
    with_resume: bool = True,
    resumes: bool = False,
    bare: str | None = None,
) -> dict[str, _Option]:
    return {_META: _Option(group, help_text, read, metavar, with_resume=with_resume, resumes=resumes, bare=bare)}


def _several(
    help_text: str, metavar: str | None = None, group: OptionGroup = OptionGroup.WHAT, *, resumes: bool = False
) -> dict[str, _Option]:
    option = _Option(group, f"{help_text} (repeatable)", str, metavar, many=True, with_resume=resumes, resumes=resumes)
    return {_META: option}


def _switch(group: OptionGroup, help_text: str, *, resumes: bool = False) -> dict[str, _Option]:
    return {_META: _Option(group, help_text, None, resumes=resumes)}


@dataclass(frozen=True)
class RunnerOptions:
    """What a person may ask of the runner; what each means, its help says.

    Attributes:
        devices: as it was typed; see `device_names`.

    """

    scenario: tuple[str, ...] = field(default=(), metadata=_several("run this scenario", "NAME"))
    phase: tuple[str, ...] = field(default=(), metadata=_several("run all enabled scenarios of this phase"))
    max_cases: int | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHAT, "run only the first N cases (the first 8 cover all intents)", int, "N", with_resume=False
        ),
    )
    order: CaseOrder = field(
        default=CaseOrder.EASY_FIRST,
        metadata=_given(
            OptionGroup.WHAT,
            "with --max-cases: easy-first (default) starts with the easy tier, mixed takes cases of any difficulty",
            _one_of(CaseOrder),
            "ORDER",
            with_resume=False,
        ),
    )
    split: Split | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHAT,
            "run only this part of the corpus: dev (two thirds of it) or test (one third)",
            _one_of(Split),
            "SPLIT",
            with_resume=False,
        ),
    )
    case_id: tuple[str, ...] = field(default=(), metadata=_several("run only this case", "ID"))
    shard: ShardName | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHAT,
            "run part I of N of the cases; benchmark.merge merges the parts. In a job array, set CTXSIFT_SHARDS=N "
            "instead. Rerun the same command to resume a shard",
            _shard,
            "I/N",
            with_resume=False,
        ),
    )
    race: int | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHAT,
            "find the K best scenarios, by mean case score, without running every case on every scenario",
            int,
            "K",
            with_resume=False,
        ),
    )
    tolerance: float = field(
        default=0.0,
        metadata=_given(
            OptionGroup.WHAT,
            "with --race: accept that a scenario that is left out may be up to POINTS (of 100) better than a chosen "
            "scenario; default: 0",
            float,
            "POINTS",
            with_resume=False,
        ),
    )
    budget: int | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHAT,
            "with --race: stop before a round that would exceed N answers in total",
            int,
            "N",
            with_resume=False,
        ),
    )
    plan: bool = field(
        default=False,
        metadata=_switch(
            OptionGroup.WHAT, "print the jobs for all shards (scenario, cases, seconds, memory) and exit", resumes=False
        ),
    )
    list_scenarios: bool = field(
        default=False, metadata=_switch(OptionGroup.WHAT, "list the scenarios in the matrix and exit")
    )
    status: Path | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHAT,
            "show which runs under PATH are in progress, complete or interrupted (default: results) and exit",
            Path,
            "PATH",
            with_resume=False,
            bare="results",
        ),
    )
    resume: Path | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHAT,
            "resume the unfinished runs below PATH (run folder or results tree), running only unanswered cases",
            Path,
            "PATH",
        ),
    )
    retry_failed: bool = field(
        default=False,
        metadata=_switch(
            OptionGroup.WHAT,
            "with --resume: also retry cases whose answer was empty or cut off",
            resumes=True,
        ),
    )
    matrix: Path = field(
        default=DEFAULT_MATRIX,
        metadata=_given(
            OptionGroup.WHERE,
            "file that lists the scenarios; default: %(default)s in this folder if there is one, otherwise the "
            "packaged one",
            Path,
            "FILE",
            resumes=True,
        ),
    )
    dataset: Path | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHERE,
            "corpus folder, .jsonl file, or variant:N (the corpus with different names and numbers); default: "
            "the packaged corpus",
            Path,
            "PATH",
            resumes=True,
        ),
    )
    output_dir: Path = field(
        default=Path("results"),
        metadata=_given(OptionGroup.WHERE, "write results below DIR; default: %(default)s", Path, "DIR"),
    )
    name: str | None = field(
        default=None,
        metadata=_given(
            OptionGroup.WHERE, "write all scenarios in this run to one folder, NAME-<UTC timestamp>", with_resume=False
        ),
    )
    remote: bool = field(
        default=False,
        metadata=_switch(
            OptionGroup.HOW,
            "allow remote scenarios, which send the corpus to a provider (or set CTXSIFT_REMOTE=1)",
            resumes=True,
        ),
    )
    allow_provider: tuple[str, ...] = field(
        default=(),
        metadata=_several(
            "allow the LiteLLM provider NAME to follow redirects and to call hosts other than the configured one",
            "NAME",
            OptionGroup.HOW,
            resumes=True,
        ),
    )
    env_file: Path | None = field(
        default=None,
        metadata=_given(
            OptionGroup.HOW,
            "file with CTXSIFT_* settings; environment variables take precedence",
            Path,
            "FILE",
            resumes=True,
        ),
    )
    devices: str | None = field(
        default=None,
        metadata=_given(
            OptionGroup.HOW,
            "GPUs to use, e.g. cuda:0,cuda:1; each GPU runs one scenario at a time; default: the first GPU",
            metavar="LIST",
            resumes=True,
        ),
    )
    ray: str | None = field(
        default=None,
        metadata=_given(
            OptionGroup.HOW,
            "run on the workers of the Ray cluster at ADDRESS (HOST:PORT, or auto for a cluster on this machine); "
            "without ADDRESS, start a cluster here",
            metavar="ADDRESS",
            resumes=True,
            bare="local",
        ),
    )
    workers: int | None = field(
        default=None,
        metadata=_given(
            OptionGroup.HOW,
            "with --ray: number of workers; default: as many as fit on the cluster",
            int,
            "N",
            resumes=True,
        ),
    )
    worker_cpus: int | None = field(
        default=None,
        metadata=_given(
            OptionGroup.HOW,
            "with --ray: cores per worker, and threads per model; default: 1",
            int,
            "N",
            resumes=True,
        ),
    )
    case_timeout: float | None = field(
        default=None,
        metadata=_given(
            OptionGroup.HOW,
            "time limit for each answer from a local model; default: 60 s plus the time that its tokens take on a "
            "slow machine",
            float,
            "SECONDS",
            resumes=True,
        ),
    )
    forgive_latency: bool = field(
        default=False,
        metadata=_switch(
            OptionGroup.HOW,
            "if the machine was busy, leave latency out of the score, and say so in reports",
            resumes=True,
        ),
    )
    no_prefix_caching: bool = field(
        default=False,
        metadata=_switch(
            OptionGroup.HOW,
            "do not reuse the prefix that a prompt shares with the previous prompt (slower; the answers are the same)",
            resumes=True,
        ),
    )
    show_output: bool = field(default=False, metadata=_switch(OptionGroup.HOW, "print every answer as it arrives"))

    @property
    def device_names(self) -> tuple[str, ...]:
        """The GPUs to use. Raises InputError for what is not one."""
        names = tuple(dict.fromkeys(self.devices.split(","))) if self.devices is not None else ()
        for name in names:
            if not re.fullmatch(r"cuda:[0-9]{1,3}", name):
                raise InputError(f"--devices {self.devices}", f"{name!r} is not a GPU", "write e.g. cuda:0,cuda:1")
        return names

    @property
    def ray_workers(self) -> Workers | None:
        """The workers of a Ray cluster that are to hold the models; None without --ray."""
        return None if self.ray is None else Workers(self.ray, self.workers, self.worker_cpus)

    def check(self) -> None:
        """Raise InputError for options that make no sense, alone or together."""
        for each, option in _options():
            if self.resume and not option.with_resume and getattr(self, each.name) != each.default:
                raise InputError(_flag(each), "cannot be used with --resume", "a resumed run keeps its own")
        if self.name is not None:
            _check_name(self.name)
        for flag, number in (("--workers", self.workers), ("--worker-cpus", self.worker_cpus)):
            if number is None:
                continue
            if self.ray is None:
                raise InputError(flag, "needs --ray", f"add --ray, or leave out {flag}")
            if not 1 <= number <= MOST_WORKERS:
                raise InputError(f"{flag} {number}", "is out of range", f"give 1 to {MOST_WORKERS}")
        self._check_race()
        if self.plan and self.resume:
            raise InputError("--plan", "cannot be used with --resume", "name scenarios, or phases")
        if self.retry_failed and not self.resume:
            raise InputError("--retry-failed", "needs --resume", "name the run with --resume PATH")
        if self.case_timeout is not None and not 0 < self.case_timeout <= MOST_CASE_TIMEOUT_S:
            hint = f"give a number of seconds above 0, up to {MOST_CASE_TIMEOUT_S}"
            raise InputError(f"--case-timeout {self.case_timeout}", "is not a valid time limit", hint)

    def _check_race(self) -> None:
        if self.race is None:
            for flag, value in (("--tolerance", self.tolerance), ("--budget", self.budget)):
                if value:
                    raise InputError(flag, "needs --race", f"add --race K, or leave out {flag}")
            return
        if self.race < 1:
            raise InputError(f"--race {self.race}", "is not a valid number of scenarios", "give 1 or more")
        if not 0 <= self.tolerance < 100:
            raise InputError(f"--tolerance {self.tolerance}", "is not a number of points", "give 0 or more, below 100")
        if self.budget is not None and self.budget < 1:
            raise InputError(f"--budget {self.budget}", "is not a number of answers", "give 1 or more")
        if self.shard is not None or self.plan:
            flag = "--plan" if self.plan else "--shard"
            raise InputError(
                flag, "cannot be used with --race", "leave it out; a race decides itself which cases to run"
            )

    def asks_for(self, row: Mapping[str, Any]) -> bool:
        """Return True if a row of the matrix, as it is written, would run if it were sound."""
        return not self.resume and is_selected(row, names=self.scenario, phases=self.phase)

    def resume_command(self, folder: Path) -> str:
        """Return the command that resumes what is in a folder."""
        words = ["python -m benchmark.runner --resume", shlex.quote(str(folder))]
        for each, option in _options():
            value = getattr(self, each.name)
            if option.resumes and value != each.default:
                for one in value if option.many else [value]:
                    words += [_flag(each)] if option.read is None else [_flag(each), shlex.quote(_typed(one))]
        return " ".join(words)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add every option of the runner, in its group."""
    groups = {group: parser.add_argument_group(group) for group in OptionGroup}
    for each, option in _options():
        add = groups[option.group].add_argument
        if option.read is None:
            add(_flag(each), action="store_true", help=option.help)
        elif option.many:
            add(_flag(each), action="append", default=[], metavar=option.metavar, help=option.help)
        else:
            once: dict[str, Any] = {} if option.bare is None else dict(nargs="?", const=option.bare)
            add(_flag(each), type=option.read, default=each.default, metavar=option.metavar, help=option.help, **once)


def options_of(parsed: argparse.Namespace) -> RunnerOptions:
    """Return the options of a parsed command line, unchecked."""
    values: dict[str, Any] = {each.name: getattr(parsed, each.name) for each, _ in _options()}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return RunnerOptions(**values)


def _options() -> Iterable[tuple[dataclasses.Field[Any], _Option]]:
    return ((each, each.metadata[_META]) for each in dataclasses.fields(RunnerOptions))


def _check_name(name: str) -> None:
    if not name or Path(name).name != name:
        raise InputError(f"--name {name}", "is not a folder name", "use a name without slashes")
    if len(os.fsencode(name)) > MOST_NAME_BYTES:
        what = f"is too long (limit: {MOST_NAME_BYTES} bytes)"
        raise InputError(f"--name {name[:20]}...", what, "use a shorter name")


def _flag(each: dataclasses.Field[Any]) -> str:
    return "--" + each.name.replace("_", "-")


def _typed(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

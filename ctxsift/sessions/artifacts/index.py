"""The artifact index: fed step by step, read at any time."""

from __future__ import annotations

from collections.abc import Iterable

from ctxsift.sessions.artifacts.command_log import CommandLog
from ctxsift.sessions.artifacts.git_state import Repository
from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.paths import is_windows, resolve
from ctxsift.sessions.artifacts.records import Artifacts, IndexLimits
from ctxsift.sessions.artifacts.shell_calls import ShellCalls
from ctxsift.sessions.artifacts.tools import Tools
from ctxsift.sessions.records import Session, SessionHead, Step

# Formats whose shell keeps its folder from call to call.
_KEEPING_FORMATS = ("claude", "swe-agent", "swe_agent", "openhands")


class ArtifactIndex:
    """What a session touched, kept by rules alone: the same steps give the same index.

    Args:
        folder: the session's; paths below it are shown relative to it. Empty: that of the first step that has one.
        keeps_folder: whether the agent's shell keeps its folder from call to call; None: judged by the tool's name.
        limits: how much is kept; what is dropped is counted.

    """

    def __init__(
        self, folder: str = "", *, keeps_folder: bool | None = None, limits: IndexLimits | None = None
    ) -> None:
        limits = limits or IndexLimits()
        self._folder = folder
        self._ledger = Ledger(limits, resolve(folder, "") if is_windows(folder) else folder)
        self._log = CommandLog(limits)
        shell = ShellCalls(self._ledger, Repository(self._ledger), self._log)
        self._tools = Tools(self._ledger, self._log, shell, keeps_folder)

    def add(self, step: Step) -> None:
        """Take down one step; steps come in their order.

        A call without a result is not counted: it may not have run.
        """
        given = step.folder or self._folder
        folder = resolve(given, "") if is_windows(given) else given
        if not self._ledger.folder:
            self._ledger.folder = folder
        self._ledger.step_id = self._log.step_id = step.step_id
        results = {result.call_id: result for result in step.results}
        for call in step.calls:
            if result := results.get(call.call_id):
                self._tools.read(call, result, folder)

    def artifacts(self) -> Artifacts:
        """Return what stands in the index now; later steps do not change it."""
        left_out = dict(self._log.left_out)
        if self._ledger.left_out:
            left_out["files"] = self._ledger.left_out
        return Artifacts(
            self._ledger.entries(), tuple(self._log.failed), self._log.checks(), tuple(self._log.commits), left_out
        )


def index_for(head: SessionHead, limits: IndexLimits | None = None) -> ArtifactIndex:
    """Return an empty index for the steps of a session."""
    keeps = True if head.format.casefold().startswith(_KEEPING_FORMATS) else None
    return ArtifactIndex(head.folder, keeps_folder=keeps, limits=limits)


def index_session(session: Session, limits: IndexLimits | None = None) -> Artifacts:
    """Return what a whole session touched; steps of its subagents are not among its own."""
    return index_events((session.head, *session.steps), limits)


def index_events(events: Iterable[object], limits: IndexLimits | None = None) -> Artifacts:
    """Return what a session touched that is read as a stream: of its events, the head and the steps matter."""
    head = SessionHead("")
    index: ArtifactIndex | None = None
    for event in events:
        if isinstance(event, SessionHead):
            head = event
        elif isinstance(event, Step):
            if index is None:
                index = index_for(head, limits)
            index.add(event)
    return index.artifacts() if index else Artifacts()

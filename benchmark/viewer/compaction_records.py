"""What the page is given of a run of probes. Scores are 0 to 5, shares in [0, 1]; see `page_records` for the rest."""

from __future__ import annotations

from msgspec import field

from benchmark.viewer.page_records import PageInterval, PageRecord, RankInfo

# Methods -----------------------------------------------------------------------------------------------------------


class ProbeFigure(PageRecord, frozen=True, kw_only=True):
    """A figure, the number of values that it is the mean of, and its interval; None below five sessions."""

    value: float
    count: int
    interval: PageInterval | None = None


class MethodGain(PageRecord, frozen=True, kw_only=True):
    """How far one method lies above another, on the same questions.

    Attributes:
        over: label of the other one.
        p: corrected for all pairs of the board.
        may_be_chance: the difference is not significant.

    """

    over: str
    value: float
    p: float
    interval: PageInterval | None = None
    may_be_chance: bool = False


class MethodRow(PageRecord, frozen=True, kw_only=True):
    """A method on the board of those who made its probes; see `benchmark.probes.figures.Row`.

    Attributes:
        methods: places of what was measured under this name: one, or several draws of random lines.
        rank: among the methods of the same budget.
        types: by type of probe; what is missing is unscored.
        left: share of the tokens that are left.
        tokens: that are left after a cut, in the mean; None in files that do not tell.
        kept: share of the full score, by age from 0; `kept_of_same`: of the probes that are asked at every age.
        is_end: the right answers, or all there is.
        is_control: understands nothing of what it keeps.

    """

    label: str
    methods: list[int]
    budget: int | None
    rank: RankInfo | None
    score: ProbeFigure
    types: dict[str, ProbeFigure]
    lift: MethodGain | None
    left: float
    ratio: float
    tokens: float | None
    kept: list[float | None]
    kept_of_same: list[float | None]
    is_end: bool = False
    is_control: bool = False


class MethodPair(PageRecord, frozen=True, kw_only=True):
    """Two methods of a board that both have a rank; the gain is that of the method over the other one."""

    method: str
    gain: MethodGain


class MethodDrift(PageRecord, frozen=True, kw_only=True):
    """What methods keep of the probes of a type that are asked at every age from 0 on; see `benchmark.probes.drift`.

    Attributes:
        ages: how many ages.
        probes: how many probes.
        kept: of each row of the board, share of the full score by age.

    """

    type: str
    ages: int
    probes: int
    kept: list[list[float | None]]


class MethodBoard(PageRecord, frozen=True, kw_only=True):
    """Methods on the probes that one kind of maker wrote, best first.

    Attributes:
        about: whose probes, how many, how often they are asked.
        findings: which methods keep the most, in sentences.
        ages: how many are asked at each age; `at_every_age`: how many probes are asked at each of these.
        drifts: fewest ages first; none for one session among several.
        apart: which methods share a rank though their intervals do not overlap.
        unasked: methods that have no summary at any cut.

    """

    maker: str
    about: str
    findings: list[str]
    ages: list[int]
    at_every_age: int
    rows: list[MethodRow]
    pairs: list[MethodPair]
    drifts: list[MethodDrift] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)


# Sessions ----------------------------------------------------------------------------------------------------------


class AskedAtCut(PageRecord, frozen=True, kw_only=True):
    """A probe at a cut.

    Attributes:
        at: the cut, counted from 0.
        age: cuts since its evidence was removed.
        scores: by method; None where it has no summary.
        states: by method, a place in `ProbePack.states`; -1 where it has no summary.
        uptakes: places of the methods whose context ends with a contradiction.

    """

    at: int
    age: int
    scores: list[float | None]
    states: list[int]
    uptakes: list[int] = field(default_factory=list)


class ProbeOfSession(PageRecord, frozen=True, kw_only=True):
    """A probe with what each method kept of it at each cut; `evidence` are ids of steps."""

    id: str
    type: str
    maker: str
    question: str
    evidence: list[int]
    asked: list[AskedAtCut]


class SessionOfProbes(PageRecord, frozen=True, kw_only=True):
    """A session that was probed.

    Attributes:
        cuts: the last steps that stood before each.
        boards: methods on this session alone.

    """

    name: str
    split: str
    steps: int
    cuts: list[int]
    probes: list[ProbeOfSession]
    boards: list[MethodBoard]


class ProbePack(PageRecord, frozen=True, kw_only=True):
    """A result of probes without its texts.

    Attributes:
        methods: labels of what was measured; all else names methods by their places here.
        states: what becomes of a probe, in words.
        sessions: none in files of version 1, which do not hold the probes.

    """

    methods: list[str]
    types: list[str]
    states: list[str]
    boards: list[MethodBoard]
    sessions: list[SessionOfProbes]


# Texts of a session ------------------------------------------------------------------------------------------------


class VerdictLine(PageRecord, frozen=True, kw_only=True):
    """What is said of a statement, or what wrong thing is said.

    Attributes:
        says: in words; of a wrong thing alone.
        index: of the statement in the right answer; of a statement alone.
        told: kept, in other words or lost; of answers, said, in part or not said; of a statement alone.
        line: of the context, from 1; 0 where that is not known.

    """

    told: str = ""
    index: int = -1
    says: str = ""
    place: str = ""
    line: int = 0
    why: str = ""


class ContextVerdict(PageRecord, frozen=True, kw_only=True):
    """What one method kept of a probe at a cut; `criteria` are those that are scored, 0 to 5."""

    statements: list[VerdictLine]
    wrong: list[VerdictLine] = field(default_factory=list)
    criteria: dict[str, float] = field(default_factory=dict)


class ProbeAnswer(PageRecord, frozen=True, kw_only=True):
    """What one answerer said under one method at a cut; `wrong` in words."""

    answerer: str
    method: str
    at: int
    score: float
    text: str
    abstains: bool = False
    statements: list[VerdictLine] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class RightStatement(PageRecord, frozen=True, kw_only=True):
    """A statement of a right answer."""

    says: str
    weight: str


class RightFrom(PageRecord, frozen=True, kw_only=True):
    """A right answer, from a cut on."""

    at: int
    text: str
    statements: list[RightStatement]


class ProbeTexts(PageRecord, frozen=True, kw_only=True):
    """The texts of a probe.

    Attributes:
        verdicts: for each cut at which it is asked, by method; None where a method has no summary.

    """

    gold: list[RightFrom]
    must_not: list[str]
    verdicts: list[list[ContextVerdict | None]]
    answers: list[ProbeAnswer] = field(default_factory=list)


class SessionTexts(PageRecord, frozen=True, kw_only=True):
    """The texts of a session: methods leave much the same lines, so that each stands here once.

    Attributes:
        lines: of all contexts.
        texts: each as begin and count of stretches of lines, one after the other.
        contexts: by method and cut, a place in `texts`; -1 where there is none.
        evidence: step id -> begin and count of its lines; empty where no context holds whole steps.
        probes: in the order of the session's.

    """

    lines: list[str]
    texts: list[list[int]]
    contexts: list[list[int]]
    evidence: dict[str, list[int]]
    probes: list[ProbeTexts]

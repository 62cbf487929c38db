"""What the page is given: Python writes these records, JavaScript reads them under the same names.

`static/page_records.d.ts` is made from them and from those of `chart_records`, and the page's scripts are checked
against it. Scores of cases and components are in [0, 1], scores of results in [0, 100], times in milliseconds unless a
name says otherwise. What a result file does not tell is left out.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field


class PageRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base: a field that has its default is not written."""


class PageInterval(PageRecord, frozen=True, kw_only=True):
    """A 95% interval, in the units of its figure."""

    low: float
    high: float


# The leaderboard, which is there at once ---------------------------------------------------------------------------


class FigureInfo(PageRecord, frozen=True, kw_only=True):
    """How a figure of a result is called and written; see `benchmark.analysis.leaderboard.Figure` and `Form`.

    Attributes:
        rounds_down: it is a share of cases: 279 of 280 are not 100%.
        doubted_by: the flag that makes it doubtful.
        needs_all: it is measured from a baseline on the result's own cases, so that it says nothing of a run that is
            not complete beside others that are.

    """

    key: str
    title: str
    hint: str
    digits: int
    scale: float
    signed: bool
    suffix: str
    rounds_down: bool = False
    doubted_by: str = ""
    needs_all: bool = False


class BoardColumn(PageRecord, frozen=True, kw_only=True):
    """A column of the leaderboard: one figure, or several with a slash between; it sorts by the first.

    Attributes:
        drawn: as a bar from 0 to 100, with the reference lines.

    """

    title: str
    figures: list[str]
    drawn: bool = False


class ComponentInfo(PageRecord, frozen=True, kw_only=True):
    """A component of the case score."""

    name: str
    hint: str


class RemarkInfo(PageRecord, frozen=True, kw_only=True):
    """How a reason begins that tells what an answer does with a statement; see `benchmark.scoring.remarks`."""

    kind: str
    prefix: str


class RankInfo(PageRecord, frozen=True, kw_only=True):
    """A place on the leaderboard, which others may share."""

    place: int
    tied: bool = False


class OwnLines(PageRecord, frozen=True, kw_only=True):
    """Scores of the best baseline and of gold on a result's own cases."""

    floor: float
    ceiling: float


class ModelInfo(PageRecord, frozen=True, kw_only=True):
    """What the model of a result is: figures to sort by and texts to show, by the titles of the overview."""

    quantization: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


class PageBoardRow(PageRecord, frozen=True, kw_only=True):
    """One result on the leaderboard.

    Attributes:
        key: names the result in everything else the page holds; negative for gold and baselines that are no results
            but what the results say of their own cases.
        id: of the run: what addresses name it by, whatever else is shown; empty for what is no result.
        label: tells it from the others that are shown.
        is_reference: it is gold or a baseline.
        is_yardstick: it is one of the reference rows that are always shown.
        rank: None for reference rows and for results without an answer.
        figures, intervals: by the figure's key.
        part: for an incomplete run, how many of its cases have a score, e.g. `7 of 16 cases`; otherwise empty.
        wording_note: how many of its cases have no statements; empty where it has none of them.
        about_model: None for reference rows.
        failures: how many answers failed, by how generation ended.

    """

    key: int
    id: str
    label: str
    scenario: str
    track: str
    phase: str
    model: str
    timestamp: str
    is_reference: bool
    is_yardstick: bool
    answered: int
    rank: RankInfo | None
    flags: list[str]
    notes: list[str]
    figures: dict[str, float]
    intervals: dict[str, PageInterval]
    lines: OwnLines | None
    part: str = ""
    wording_note: str = ""
    about_model: ModelInfo | None = None
    failures: list[ReasonCount] = []


class ReferenceLine(PageRecord, frozen=True, kw_only=True, omit_defaults=False):
    """Gold (the ceiling) or the best baseline as a line; `key` is that of its row on the leaderboard."""

    label: str
    score: float
    is_ceiling: bool
    key: int | None


class BoardInfo(PageRecord, frozen=True, kw_only=True):
    """Results over the same cases of one corpus, scored by one scorer.

    Attributes:
        about: what they have in common.
        results: their keys, best first.
        best: keys of those that lead it; where there are none, `headline` says why.
        beaten_by: key of a ranked result -> keys of those that are significantly better.
        references: gold and the best baselines, as far as no result is of them.
        reference_note: what reference rows are; empty where there are none.
        lines: gold and the best baseline as lines to measure by.
        notes: what makes these results hard to compare.
        is_old: another scorer than today's scored them.

    """

    about: str
    results: list[int]
    best: list[int]
    beaten_by: dict[str, list[int]]
    headline: str
    references: list[PageBoardRow]
    reference_note: str
    lines: list[ReferenceLine]
    notes: list[str]
    is_old: bool = False


class RetentionRow(PageRecord, frozen=True, kw_only=True):
    """What one result keeps of the output; see `benchmark.analysis.retention`.

    Attributes:
        id: of the result; empty for a row that is none.
        is_ceiling: it is gold.
        is_blind: it was not told the question.
        figures: by the column's key, each in the units of its record.
        net_saved: the interval of that figure.

    """

    label: str
    id: str
    is_reference: bool
    is_ceiling: bool
    is_blind: bool
    figures: dict[str, float]
    net_saved: PageInterval | None


class RetentionInfo(PageRecord, frozen=True, kw_only=True):
    """The results of one board by what they keep, most saved first."""

    about: str
    columns: list[FigureInfo]
    rows: list[RetentionRow]
    notes: list[str]


class PageJudgedAnswer(PageRecord, frozen=True, kw_only=True):
    """An answer of known truth that was scored, from 0 to 1; `half` says whether anybody tuned on its case."""

    score: float
    case_id: str
    kind: str
    half: str
    text: str


class ValidityInfo(PageRecord, frozen=True, kw_only=True):
    """How far scores can be trusted; its figures are a data set of the pictures.

    Attributes:
        mismatch: why the measurement says nothing of these results; nothing else is told then.
        other_versions: of the scorer, by which some of the results were scored; empty where there are none.
        figures: how many there are.
        missed: those that do not meet their bars.

    """

    scorer_version: str
    mismatch: str = ""
    other_versions: str = ""
    figures: int = 0
    missed: list[str] = field(default_factory=list)
    worst_right: list[PageJudgedAnswer] = field(default_factory=list)
    best_wrong: list[PageJudgedAnswer] = field(default_factory=list)


class ProbeRunInfo(PageRecord, frozen=True, kw_only=True):
    """A result of probes among those that the page shows; its packs have its place among them in their names.

    Attributes:
        id: what addresses name it by.
        about: sessions, judge and statements that do not count, in a sentence.

    """

    id: str
    about: str


class LadderRung(PageRecord, frozen=True, kw_only=True):
    """A result at one quantization of its model.

    Attributes:
        size: of its file of weights, as people read it.
        score: the quality core, 0 to 100.
        gain: this score minus that of the biggest, with its interval in `gain_interval`; None for the biggest.
        verdict: what the difference says of it.

    """

    key: int
    quantization: str
    size: str = ""
    score: float
    interval: PageInterval | None = None
    gain: float | None = None
    gain_interval: PageInterval | None = None
    verdict: str = ""


class LadderInfo(PageRecord, frozen=True, kw_only=True):
    """A model at several quantizations on one board, the biggest first.

    Attributes:
        about: the board.
        words: which quantizations lose, in a sentence.

    """

    about: str
    model: str
    words: str
    rungs: list[LadderRung]
    notes: list[str]


class Overview(PageRecord, frozen=True, kw_only=True):
    """What the leaderboard needs.

    Attributes:
        boards: that with most competitors first.
        flags: flag -> its meaning.
        marks: other marks on the board, e.g. `=` -> their meanings.
        difficulties: from easy to hard.
        skipped: files that were left out, and why.
        by_wording: what the mark of a case in prose without statements means.
        validity: None where nothing was measured.
        retention: what is kept of the output, by board; empty where no program is among the results.
        model_columns: what the board shows of models, as far as any file tells it; `model_hints` explain them.
        has_choosers: there is a result to choose.
        probed: results of probes.
        ladders: models that are here at several quantizations; `ladder_words` say how they are compared.
        stressed: there are files of stress experiments.

    """

    built: str
    figures: list[FigureInfo]
    columns: list[BoardColumn]
    components: list[ComponentInfo]
    remarks: list[RemarkInfo]
    by_wording: str
    difficulties: list[str]
    flags: dict[str, str]
    marks: dict[str, str]
    rank_hint: str
    results: list[PageBoardRow]
    boards: list[BoardInfo]
    skipped: list[str]
    validity: ValidityInfo | None = None
    retention: list[RetentionInfo] = field(default_factory=list)
    model_hints: dict[str, str] = {}
    model_columns: list[str] = field(default_factory=list)
    has_choosers: bool = False
    probed: list[ProbeRunInfo] = field(default_factory=list)
    ladders: list[LadderInfo] = field(default_factory=list)
    ladder_words: str = ""
    stressed: bool = False


# Choosing ----------------------------------------------------------------------------------------------------------


class ChoiceCandidate(PageRecord, frozen=True, kw_only=True):
    """A result that may be chosen for a use; see `benchmark.analysis.choosing.ModelCandidate`.

    Attributes:
        key: of the result.
        facts: what its card says, in the order of the titles.
        as_closest: how a sentence names it as the closest to a recommendation.
        memory_bytes: that an answer takes on this machine: 0 for a service, None where it is not known.
        seconds: a case; None where it is not known.

    """

    key: int
    facts: list[str]
    as_closest: str
    memory_bytes: int | None
    seconds: float | None
    is_local: bool


class ChoiceOption(PageRecord, frozen=True, kw_only=True):
    """A candidate that may be named best, and places of those as good as it, least memory or time first."""

    candidate: int
    smallest: list[int]
    fastest: list[int]


class ChoiceShelf(PageRecord, frozen=True, kw_only=True):
    """All that is needed to choose for one use; limits leave candidates out, and nothing else is decided by scripts.

    Attributes:
        cases: number of cases of the use.
        options: best first.
        chosen, none_above, none_fits: sentences, with {fitting} and {above} for two numbers and {closest} for a
            candidate.
        unknown: `memory`, `time` -> what is said where one result or, with {left_out}, several are left out, since
            that is not known of them.
        services: what is said where a limit of memory leaves services in.

    """

    use: str
    cases: int
    candidates: list[ChoiceCandidate]
    options: list[ChoiceOption]
    chosen: str
    none_above: str
    none_fits: str
    unknown: dict[str, list[str]]
    services: str


class ChooserInfo(PageRecord, frozen=True, kw_only=True):
    """The shelves of one board; `cards` and `titles` say what cards and their facts are called.

    Attributes:
        all_cards, only_card: the title of a card that is all of `cards`, of several candidates or as the only one.

    """

    about: str
    cards: list[str]
    all_cards: str
    only_card: str
    titles: list[str]
    shelves: list[ChoiceShelf]


# Slices, which are unpacked on demand ------------------------------------------------------------------------------


class SliceRow(PageRecord, frozen=True, kw_only=True):
    """One result on the cases of a slice.

    Attributes:
        key: of the result.
        cases: answers in it.
        core: quality core, 0 to 100.
        gain: its difference from that of the best baseline on these cases.

    """

    key: int
    cases: int
    core: float | None = None
    interval: PageInterval | None = None
    rank: RankInfo | None = None
    gain: float | None = None
    gain_interval: PageInterval | None = None


class SliceInfo(PageRecord, frozen=True, kw_only=True):
    """The cases of a board that have one value of a facet.

    Attributes:
        facet: e.g. `tool`.
        name: the value, e.g. `pytest`.
        captures: how many raw outputs its cases are about.
        floor: the best baseline on these cases and its quality core, as text; empty where it is unknown.
        rows: the results of the board, best first, as far as they are no reference rows.

    """

    facet: str
    name: str
    cases: int
    captures: int
    floor: str
    rows: list[SliceRow]


class BoardSlices(PageRecord, frozen=True, kw_only=True):
    """The slices of one board, by facet, the largest first; none where it has very many results."""

    about: str
    slices: list[SliceInfo]


class SlicePack(PageRecord, frozen=True, kw_only=True):
    """All slices; those of fewer than `fewest` captures are left out."""

    boards: list[BoardSlices]
    fewest: int


# Cases and models, which are unpacked on demand --------------------------------------------------------------------


class CaseItem(PageRecord, frozen=True, kw_only=True):
    """One case over the models of a board; see `benchmark.analysis.items.Item`.

    Attributes:
        question: its place in the catalog.
        discrimination: None where there are too few models.
        scores: of the models, in their order; None where one has no answer.
        passes: which of them passed, as places.

    """

    question: int
    mean: float
    spread: float
    passed: float
    scores: list[float | None]
    passes: list[int]
    discrimination: float | None = None


class OrderedItems(PageRecord, frozen=True, kw_only=True):
    """Which cases to look at, as places, and which of them first."""

    key: str
    words: str
    items: list[int]


class BoardItems(PageRecord, frozen=True, kw_only=True):
    """The cases of one board; none where it has very many results.

    Attributes:
        models: their keys, best first.
        unknown: why an order knows no case here; empty where it does.

    """

    about: str
    models: list[int]
    items: list[CaseItem]
    orders: list[OrderedItems]
    unknown: str = ""


# One result --------------------------------------------------------------------------------------------------------


class Tile(PageRecord, frozen=True, kw_only=True):
    """A figure at the head of a result, with what stands below it: its interval, more figures, or words."""

    figure: str
    interval: PageInterval | None = None
    below: list[str] = field(default_factory=list)
    note: str = ""


class ProfileRow(PageRecord, frozen=True, kw_only=True):
    """A mean over all cases, in both views; `is_component` ones are drawn as bars."""

    title: str
    hint: str
    recovered: float
    raw: float | None
    is_component: bool


class ReasonCount(PageRecord, frozen=True, kw_only=True):
    """How many answers were rejected for a reason, or ended badly when they were generated."""

    reason: str
    count: int
    of_generation: bool = False


class IdentityLine(PageRecord, frozen=True, kw_only=True):
    """One fact about a run, as words."""

    label: str
    content: str


class IdentityGroup(PageRecord, frozen=True, kw_only=True):
    """Facts about a run that belong together."""

    heading: str
    lines: list[IdentityLine]


class ViewFigures(PageRecord, frozen=True, kw_only=True):
    """The figures of one view of an answer.

    Attributes:
        parts: component -> its score.
        thought: share of the text that is leaked thought.

    """

    score: float
    parts: dict[str, float]
    verdict: str
    flags: list[str] = field(default_factory=list)
    thought: float = 0.0
    tokens: int | None = None


class CaseRow(PageRecord, frozen=True, kw_only=True):
    """The figures of one case of one result; neither view is there when nothing could be scored.

    Attributes:
        question: its place in the catalog.
        failure: how generation ended badly; of a case that is not scored, the beginning of what went wrong.
        ended: why generation ended.
        cut_chars: characters of the input that did not fit the context.

    """

    question: int
    verdict: str
    attempts: int
    recovered: ViewFigures | None = None
    raw: ViewFigures | None = None
    passed: bool = False
    failure: str = ""
    ended: str = ""
    total_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    elapsed_ms: float | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    reasoning_tokens: int | None = None
    input_tokens: int | None = None
    cut_chars: int = 0
    cost_usd: float | None = None
    memory_bytes: int | None = None
    gpu_bytes: int | None = None


class Detail(PageRecord, frozen=True, kw_only=True):
    """What the view of one result needs; `has_run` is False for the published layout, which tells nothing of it."""

    has_run: bool
    tiles: list[Tile]
    profile: list[ProfileRow]
    reasons: list[ReasonCount]
    identity: list[IdentityGroup]
    cases: list[CaseRow]


# Questions and answers ---------------------------------------------------------------------------------------------


class CatalogEntry(PageRecord, frozen=True, kw_only=True):
    """What tables of cases show of a question, and on which shelf, in which place, the rest of it is.

    Attributes:
        by_wording: it is prose without statements.

    """

    case_id: str
    title: str
    intent: str
    family: str
    domain: str
    tool: str
    difficulty: str
    output_mode: str
    shelf: int
    place: int
    by_wording: bool = False


class AnchorSpan(PageRecord, frozen=True, kw_only=True):
    """Where an anchor stands in the raw input, in UTF-16 units; `anchor` is its index."""

    start: int
    end: int
    anchor: int


class AnswerSpan(PageRecord, frozen=True, kw_only=True):
    """A part of an answer, in UTF-16 units, that is leaked thought or a wrapper.

    Attributes:
        removed_as: the steps of recovery that removed it; none when it is still there.

    """

    start: int
    end: int
    is_thought: bool = False
    removed_as: list[str] = field(default_factory=list)


class ViewTexts(PageRecord, frozen=True, kw_only=True):
    """The texts of one view. What the recovered view leaves out is empty, what the raw view leaves out is the same.

    Attributes:
        reasons: component -> what is missing from full marks.
        missing: anchors that did not survive.
        ungrounded: facts that are not in the input.

    """

    output: str | UnsetType = UNSET
    reasons: dict[str, list[str]] | UnsetType = UNSET
    missing: list[str] | UnsetType = UNSET
    ungrounded: list[str] | UnsetType = UNSET
    spans: list[AnswerSpan] | UnsetType = UNSET


class PageAnswer(PageRecord, frozen=True, kw_only=True):
    """What one result answered to a question.

    Attributes:
        served_by: what the engine or provider says the model is.
        unscored: an answer that the scorer failed on.

    """

    error: str = ""
    served_by: str = ""
    reasoning: str = ""
    unscored: str = ""
    recovered: ViewTexts = ViewTexts()
    raw: ViewTexts = ViewTexts()


class PageQuestion(PageRecord, frozen=True, kw_only=True):
    """What was asked in a case, and what all results answered, by their keys.

    Attributes:
        command: None where the model was not told it, as with exit_code.
        contract: what the model was told of the answer's form.
        says: its statements in words.
        places: where the anchors stand in the raw input.

    """

    instruction: str | None
    gold: str | None
    anchors: list[str] | None
    command: str | None = None
    exit_code: int | None = None
    contract: str = ""
    says: list[str] = field(default_factory=list)
    places: list[AnchorSpan] = field(default_factory=list)
    answers: dict[str, PageAnswer] = field(default_factory=dict)


class Shelf(PageRecord, frozen=True, kw_only=True):
    """All questions about one raw input; None where the files do not hold it."""

    raw_input: str | None
    questions: list[PageQuestion]


# Head to head ------------------------------------------------------------------------------------------------------


class PairFigure(PageRecord, frozen=True, kw_only=True):
    """A figure of two results on the cases they share; `gain` is b - a, and `verdict` what it says of b.

    The verdict is empty, and there is neither interval nor p, where the figure is not for one.
    """

    name: str
    cases: int
    a: float
    b: float
    gain: float
    interval: PageInterval | None
    p: float
    verdict: str = ""


class PairSpeed(PageRecord, frozen=True, kw_only=True):
    """Mean generation times of two results on one machine; `ratio` is b / a."""

    a: float
    b: float
    ratio: float
    interval: PageInterval | None
    verdict: str


class Pair(PageRecord, frozen=True, kw_only=True):
    """Result `b` against result `a`, by their keys; see `benchmark.analysis.comparison.Comparison`.

    Attributes:
        no_verdict: why there is none; empty where there is one.
        what_helps: what to do where there is none.
        words: all of it in one sentence, with {b} for the letter of B; empty where there is no verdict.
        turned_words: the same of A against B.
        speed: None where times do not tell.
        untimed: why they do not; empty where they do.
        corrected_for: of how many pairs the board asks; the quality core is corrected for them, as ranks are. None
            where the two have no ranks on one board.

    """

    a: int
    b: int
    shared: int
    only_a: int
    only_b: int
    wins: int
    losses: int
    ties: int
    figures: list[PairFigure]
    intents: list[PairFigure]
    no_verdict: str = ""
    what_helps: str = ""
    words: str = ""
    turned_words: str = ""
    speed: PairSpeed | None = None
    untimed: str = ""
    corrected_for: int | None = None


class Pairs(PageRecord, frozen=True, kw_only=True):
    """Each result against each; None when there are too many."""

    found: list[Pair] | None

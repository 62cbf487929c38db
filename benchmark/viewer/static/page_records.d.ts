// Made from the records of benchmark.viewer: python -m tests.benchmark.viewer.page_types

/** A 95% interval, in the units of its figure. */
export interface PageInterval {
  low: number;
  high: number;
}

/** How a figure of a result is called and written; see `benchmark.analysis.leaderboard.Figure` and `Form`. */
export interface FigureInfo {
  key: string;
  title: string;
  hint: string;
  digits: number;
  scale: number;
  signed: boolean;
  suffix: string;
  rounds_down?: boolean;
  doubted_by?: string;
  needs_all?: boolean;
}

/** A column of the leaderboard: one figure, or several with a slash between; it sorts by the first. */
export interface BoardColumn {
  title: string;
  figures: string[];
  drawn?: boolean;
}

/** A component of the case score. */
export interface ComponentInfo {
  name: string;
  hint: string;
}

/** How a reason begins that tells what an answer does with a statement; see `benchmark.scoring.remarks`. */
export interface RemarkInfo {
  kind: string;
  prefix: string;
}

/** A place on the leaderboard, which others may share. */
export interface RankInfo {
  place: number;
  tied?: boolean;
}

/** Scores of the best baseline and of gold on a result's own cases. */
export interface OwnLines {
  floor: number;
  ceiling: number;
}

/** What the model of a result is: figures to sort by and texts to show, by the titles of the overview. */
export interface ModelInfo {
  quantization?: string;
  figures?: Record<string, number>;
  texts?: Record<string, string>;
}

/** One result on the leaderboard. */
export interface PageBoardRow {
  key: number;
  id: string;
  label: string;
  scenario: string;
  track: string;
  phase: string;
  model: string;
  timestamp: string;
  is_reference: boolean;
  is_yardstick: boolean;
  answered: number;
  rank: RankInfo | null;
  flags: string[];
  notes: string[];
  figures: Record<string, number>;
  intervals: Record<string, PageInterval>;
  lines: OwnLines | null;
  part?: string;
  wording_note?: string;
  about_model?: ModelInfo;
  failures?: ReasonCount[];
}

/** Gold (the ceiling) or the best baseline as a line; `key` is that of its row on the leaderboard. */
export interface ReferenceLine {
  label: string;
  score: number;
  is_ceiling: boolean;
  key: number | null;
}

/** Results over the same cases of one corpus, scored by one scorer. */
export interface BoardInfo {
  about: string;
  results: number[];
  best: number[];
  beaten_by: Record<string, number[]>;
  headline: string;
  references: PageBoardRow[];
  reference_note: string;
  lines: ReferenceLine[];
  notes: string[];
  is_old?: boolean;
}

/** What one result keeps of the output; see `benchmark.analysis.retention`. */
export interface RetentionRow {
  label: string;
  id: string;
  is_reference: boolean;
  is_ceiling: boolean;
  is_blind: boolean;
  figures: Record<string, number>;
  net_saved: PageInterval | null;
}

/** The results of one board by what they keep, most saved first. */
export interface RetentionInfo {
  about: string;
  columns: FigureInfo[];
  rows: RetentionRow[];
  notes: string[];
}

/** An answer of known truth that was scored, from 0 to 1; `half` says whether anybody tuned on its case. */
export interface PageJudgedAnswer {
  score: number;
  case_id: string;
  kind: string;
  half: string;
  text: string;
}

/** How far scores can be trusted; its figures are a data set of the pictures. */
export interface ValidityInfo {
  scorer_version: string;
  mismatch?: string;
  other_versions?: string;
  figures?: number;
  missed?: string[];
  worst_right?: PageJudgedAnswer[];
  best_wrong?: PageJudgedAnswer[];
}

/** A result of probes among those that the page shows; its packs have its place among them in their names. */
export interface ProbeRunInfo {
  id: string;
  about: string;
}

/** A result at one quantization of its model. */
export interface LadderRung {
  key: number;
  quantization: string;
  size?: string;
  score: number;
  interval?: PageInterval;
  gain?: number;
  gain_interval?: PageInterval;
  verdict?: string;
}

/** A model at several quantizations on one board, the biggest first. */
export interface LadderInfo {
  about: string;
  model: string;
  words: string;
  rungs: LadderRung[];
  notes: string[];
}

/** What the leaderboard needs. */
export interface Overview {
  built: string;
  figures: FigureInfo[];
  columns: BoardColumn[];
  components: ComponentInfo[];
  remarks: RemarkInfo[];
  by_wording: string;
  difficulties: string[];
  flags: Record<string, string>;
  marks: Record<string, string>;
  rank_hint: string;
  results: PageBoardRow[];
  boards: BoardInfo[];
  skipped: string[];
  validity?: ValidityInfo;
  retention?: RetentionInfo[];
  model_hints?: Record<string, string>;
  model_columns?: string[];
  has_choosers?: boolean;
  probed?: ProbeRunInfo[];
  ladders?: LadderInfo[];
  ladder_words?: string;
  stressed?: boolean;
}

/** A result that may be chosen for a use; see `benchmark.analysis.choosing.ModelCandidate`. */
export interface ChoiceCandidate {
  key: number;
  facts: string[];
  as_closest: string;
  memory_bytes: number | null;
  seconds: number | null;
  is_local: boolean;
}

/** A candidate that may be named best, and places of those as good as it, least memory or time first. */
export interface ChoiceOption {
  candidate: number;
  smallest: number[];
  fastest: number[];
}

/** All that is needed to choose for one use; limits leave candidates out, and nothing else is decided by scripts. */
export interface ChoiceShelf {
  use: string;
  cases: number;
  candidates: ChoiceCandidate[];
  options: ChoiceOption[];
  chosen: string;
  none_above: string;
  none_fits: string;
  unknown: Record<string, string[]>;
  services: string;
}

/** The shelves of one board; `cards` and `titles` say what cards and their facts are called. */
export interface ChooserInfo {
  about: string;
  cards: string[];
  all_cards: string;
  only_card: string;
  titles: string[];
  shelves: ChoiceShelf[];
}

/** One result on the cases of a slice. */
export interface SliceRow {
  key: number;
  cases: number;
  core?: number;
  interval?: PageInterval;
  rank?: RankInfo;
  gain?: number;
  gain_interval?: PageInterval;
}

/** The cases of a board that have one value of a facet. */
export interface SliceInfo {
  facet: string;
  name: string;
  cases: number;
  captures: number;
  floor: string;
  rows: SliceRow[];
}

/** The slices of one board, by facet, the largest first; none where it has very many results. */
export interface BoardSlices {
  about: string;
  slices: SliceInfo[];
}

/** All slices; those of fewer than `fewest` captures are left out. */
export interface SlicePack {
  boards: BoardSlices[];
  fewest: number;
}

/** One case over the models of a board; see `benchmark.analysis.items.Item`. */
export interface CaseItem {
  question: number;
  mean: number;
  spread: number;
  passed: number;
  scores: (number | null)[];
  passes: number[];
  discrimination?: number;
}

/** Which cases to look at, as places, and which of them first. */
export interface OrderedItems {
  key: string;
  words: string;
  items: number[];
}

/** The cases of one board; none where it has very many results. */
export interface BoardItems {
  about: string;
  models: number[];
  items: CaseItem[];
  orders: OrderedItems[];
  unknown?: string;
}

/** A figure at the head of a result, with what stands below it: its interval, more figures, or words. */
export interface Tile {
  figure: string;
  interval?: PageInterval;
  below?: string[];
  note?: string;
}

/** A mean over all cases, in both views; `is_component` ones are drawn as bars. */
export interface ProfileRow {
  title: string;
  hint: string;
  recovered: number;
  raw: number | null;
  is_component: boolean;
}

/** How many answers were rejected for a reason, or ended badly when they were generated. */
export interface ReasonCount {
  reason: string;
  count: number;
  of_generation?: boolean;
}

/** One fact about a run, as words. */
export interface IdentityLine {
  label: string;
  content: string;
}

/** Facts about a run that belong together. */
export interface IdentityGroup {
  heading: string;
  lines: IdentityLine[];
}

/** The figures of one view of an answer. */
export interface ViewFigures {
  score: number;
  parts: Record<string, number>;
  verdict: string;
  flags?: string[];
  thought?: number;
  tokens?: number;
}

/** The figures of one case of one result; neither view is there when nothing could be scored. */
export interface CaseRow {
  question: number;
  verdict: string;
  attempts: number;
  recovered?: ViewFigures;
  raw?: ViewFigures;
  passed?: boolean;
  failure?: string;
  ended?: string;
  total_ms?: number;
  prefill_ms?: number;
  decode_ms?: number;
  elapsed_ms?: number;
  prompt_tokens?: number;
  answer_tokens?: number;
  reasoning_tokens?: number;
  input_tokens?: number;
  cut_chars?: number;
  cost_usd?: number;
  memory_bytes?: number;
  gpu_bytes?: number;
}

/** What the view of one result needs; `has_run` is False for the published layout, which tells nothing of it. */
export interface Detail {
  has_run: boolean;
  tiles: Tile[];
  profile: ProfileRow[];
  reasons: ReasonCount[];
  identity: IdentityGroup[];
  cases: CaseRow[];
}

/** What tables of cases show of a question, and on which shelf, in which place, the rest of it is. */
export interface CatalogEntry {
  case_id: string;
  title: string;
  intent: string;
  family: string;
  domain: string;
  tool: string;
  difficulty: string;
  output_mode: string;
  shelf: number;
  place: number;
  by_wording?: boolean;
}

/** Where an anchor stands in the raw input, in UTF-16 units; `anchor` is its index. */
export interface AnchorSpan {
  start: number;
  end: number;
  anchor: number;
}

/** A part of an answer, in UTF-16 units, that is leaked thought or a wrapper. */
export interface AnswerSpan {
  start: number;
  end: number;
  is_thought?: boolean;
  removed_as?: string[];
}

/** The texts of one view. What the recovered view leaves out is empty, what the raw view leaves out is the same. */
export interface ViewTexts {
  output?: string;
  reasons?: Record<string, string[]>;
  missing?: string[];
  ungrounded?: string[];
  spans?: AnswerSpan[];
}

/** What one result answered to a question. */
export interface PageAnswer {
  error?: string;
  served_by?: string;
  reasoning?: string;
  unscored?: string;
  recovered?: ViewTexts;
  raw?: ViewTexts;
}

/** What was asked in a case, and what all results answered, by their keys. */
export interface PageQuestion {
  instruction: string | null;
  gold: string | null;
  anchors: string[] | null;
  command?: string;
  exit_code?: number;
  contract?: string;
  says?: string[];
  places?: AnchorSpan[];
  answers?: Record<string, PageAnswer>;
}

/** All questions about one raw input; None where the files do not hold it. */
export interface Shelf {
  raw_input: string | null;
  questions: PageQuestion[];
}

/** A figure of two results on the cases they share; `gain` is b - a, and `verdict` what it says of b. */
export interface PairFigure {
  name: string;
  cases: number;
  a: number;
  b: number;
  gain: number;
  interval: PageInterval | null;
  p: number;
  verdict?: string;
}

/** Mean generation times of two results on one machine; `ratio` is b / a. */
export interface PairSpeed {
  a: number;
  b: number;
  ratio: number;
  interval: PageInterval | null;
  verdict: string;
}

/** Result `b` against result `a`, by their keys; see `benchmark.analysis.comparison.Comparison`. */
export interface Pair {
  a: number;
  b: number;
  shared: number;
  only_a: number;
  only_b: number;
  wins: number;
  losses: number;
  ties: number;
  figures: PairFigure[];
  intents: PairFigure[];
  no_verdict?: string;
  what_helps?: string;
  words?: string;
  turned_words?: string;
  speed?: PairSpeed;
  untimed?: string;
  corrected_for?: number;
}

/** Each result against each; None when there are too many. */
export interface Pairs {
  found: Pair[] | null;
}

/** A row of a data set; its fields are the columns of a table, too, under their names unless a title is given. */
export interface ChartRow {
  key: number;
  label: string;
  track: string;
}

/** A result. */
export interface Point {
  key: number;
  label: string;
  track: string;
  core: number | null;
  low: number | null;
  high: number | null;
  score: number | null;
  raw: number | null;
  lift: number | null;
  lift_low: number | null;
  lift_high: number | null;
  seconds: number | null;
  complete: boolean;
  latency: string;
  front: boolean;
  name: string;
}

/** The mean case score, 0 to 100, of a result in one group of cases; `row` and `column` say where it is drawn. */
export interface Cell {
  key: number;
  label: string;
  track: string;
  dimension: string;
  row: string;
  column: string;
  group: string;
  score: number;
  low: number | null;
  high: number | null;
  cases: number;
  captures: number;
}

/** How many cases of a result came to a verdict; `order` is the verdict's place. */
export interface VerdictCount {
  key: number;
  label: string;
  track: string;
  verdict: string;
  count: number;
  order: number;
}

/** How many case scores of a result lie in a range. */
export interface Bin {
  key: number;
  label: string;
  track: string;
  start: number;
  end: number;
  cases: number;
  share: number;
}

/** The 10th percentile of the case scores of a result. */
export interface Tail {
  key: number;
  label: string;
  track: string;
  p10: number;
}

/** Percentiles of the generation time of a result, in seconds; `latency` as in `Point`. */
export interface Times {
  key: number;
  label: string;
  track: string;
  p5: number;
  p25: number;
  p50: number;
  p75: number;
  p95: number;
  latency: string;
}

/** A figure of how far scores can be trusted, of no result. */
export interface Measured {
  label: string;
  half: string;
  value: number;
  bar: string;
  verdict: string;
  count: number;
  is_whole: boolean;
  share: number;
  good_from: number | null;
  good_to: number | null;
  text: string;
}

/** The data sets of the pictures, best result first; `cells` holds all dimensions, a picture shows one. */
export interface ChartRows {
  points: Point[];
  cells: Cell[];
  verdicts: VerdictCount[];
  bins: Bin[];
  tails: Tail[];
  times: Times[];
  measured: Measured[];
}

/** A column of the table of a data set's figures. */
export interface TableColumn {
  field: string;
  title: string;
}

/** Everything that pictures are drawn from. */
export interface ChartPack {
  specifications: Record<string, Record<string, unknown>>;
  themes: Record<string, Record<string, unknown>>;
  tables: Record<string, TableColumn[]>;
  rows: ChartRows;
}

/** A figure, the number of values that it is the mean of, and its interval; None below five sessions. */
export interface ProbeFigure {
  value: number;
  count: number;
  interval?: PageInterval;
}

/** How far one method lies above another, on the same questions. */
export interface MethodGain {
  over: string;
  value: number;
  p: number;
  interval?: PageInterval;
  may_be_chance?: boolean;
}

/** A method on the board of those who made its probes; see `benchmark.probes.figures.Row`. */
export interface MethodRow {
  label: string;
  methods: number[];
  budget: number | null;
  rank: RankInfo | null;
  score: ProbeFigure;
  types: Record<string, ProbeFigure>;
  lift: MethodGain | null;
  left: number;
  ratio: number;
  tokens: number | null;
  kept: (number | null)[];
  kept_of_same: (number | null)[];
  is_end?: boolean;
  is_control?: boolean;
}

/** Two methods of a board that both have a rank; the gain is that of the method over the other one. */
export interface MethodPair {
  method: string;
  gain: MethodGain;
}

/** What methods keep of the probes of a type that are asked at every age from 0 on; see `benchmark.probes.drift`. */
export interface MethodDrift {
  type: string;
  ages: number;
  probes: number;
  kept: (number | null)[][];
}

/** Methods on the probes that one kind of maker wrote, best first. */
export interface MethodBoard {
  maker: string;
  about: string;
  findings: string[];
  ages: number[];
  at_every_age: number;
  rows: MethodRow[];
  pairs: MethodPair[];
  drifts?: MethodDrift[];
  apart?: string[];
  unasked?: string[];
}

/** A probe at a cut. */
export interface AskedAtCut {
  at: number;
  age: number;
  scores: (number | null)[];
  states: number[];
  uptakes?: number[];
}

/** A probe with what each method kept of it at each cut; `evidence` are ids of steps. */
export interface ProbeOfSession {
  id: string;
  type: string;
  maker: string;
  question: string;
  evidence: number[];
  asked: AskedAtCut[];
}

/** A session that was probed. */
export interface SessionOfProbes {
  name: string;
  split: string;
  steps: number;
  cuts: number[];
  probes: ProbeOfSession[];
  boards: MethodBoard[];
}

/** A result of probes without its texts. */
export interface ProbePack {
  methods: string[];
  types: string[];
  states: string[];
  boards: MethodBoard[];
  sessions: SessionOfProbes[];
}

/** What is said of a statement, or what wrong thing is said. */
export interface VerdictLine {
  told?: string;
  index?: number;
  says?: string;
  place?: string;
  line?: number;
  why?: string;
}

/** What one method kept of a probe at a cut; `criteria` are those that are scored, 0 to 5. */
export interface ContextVerdict {
  statements: VerdictLine[];
  wrong?: VerdictLine[];
  criteria?: Record<string, number>;
}

/** What one answerer said under one method at a cut; `wrong` in words. */
export interface ProbeAnswer {
  answerer: string;
  method: string;
  at: number;
  score: number;
  text: string;
  abstains?: boolean;
  statements?: VerdictLine[];
  wrong?: string[];
}

/** A statement of a right answer. */
export interface RightStatement {
  says: string;
  weight: string;
}

/** A right answer, from a cut on. */
export interface RightFrom {
  at: number;
  text: string;
  statements: RightStatement[];
}

/** The texts of a probe. */
export interface ProbeTexts {
  gold: RightFrom[];
  must_not: string[];
  verdicts: (ContextVerdict | null)[][];
  answers?: ProbeAnswer[];
}

/** The texts of a session: methods leave much the same lines, so that each stands here once. */
export interface SessionTexts {
  lines: string[];
  texts: number[][];
  contexts: number[][];
  evidence: Record<string, number[]>;
  probes: ProbeTexts[];
}

/** A chart of an experiment. */
export interface StressChart {
  title: string;
  specification: Record<string, unknown>;
  data: Record<string, Record<string, unknown>[]>;
  columns: TableColumn[];
}

/** The file of an experiment. */
export interface StressSection {
  id: string;
  title: string;
  file: string;
  about: string;
  titles: string[];
  rows: string[][];
  lines: string[];
  charts: StressChart[];
}

/** All files of experiments that the page shows. */
export interface StressPack {
  sections: StressSection[];
}

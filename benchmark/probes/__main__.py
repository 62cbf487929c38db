"""`python -m benchmark.probes`: ask what is left of a session after it was made short."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.status import Status

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    BenchmarkParser,
    add_json,
    command_parser,
    positive,
    print_json,
    run_command,
    unwritten,
)
from benchmark.judges.commands import add_rows
from benchmark.probes.answer_figures import AnsweredBoard, answered_boards
from benchmark.probes.answered import (
    Put,
    PutAct,
    PutUnanswerable,
    acts_about,
    answering,
    published_answering,
    questions_about,
    unanswerable_about,
)
from benchmark.probes.answerers import EXTRACT, Answerer, AnswererOptions, answerers_of
from benchmark.probes.charts import check_chart, write_chart
from benchmark.probes.checking import ProbeCheck, check_probes
from benchmark.probes.costs import Prices, costs_of
from benchmark.probes.figures import boards
from benchmark.probes.joining import joined
from benchmark.probes.judge_commands import add_for_judging, add_judging, export_for_judging
from benchmark.probes.judged import judged_boards
from benchmark.probes.loading import WrittenProbes, written_probes
from benchmark.probes.measuring import ProbedSubject
from benchmark.probes.model import Maker, ProbeFile
from benchmark.probes.modelling import Models
from benchmark.probes.own import lost_by_methods, measured_own, own_subjects, shown_examples
from benchmark.probes.packets import check_folder, packets_of, write_packets
from benchmark.probes.printing import boards_csv, boards_json, boards_markdown, print_boards
from benchmark.probes.printing_acts import acts_csv_rows, acts_json, acts_markdown, print_acts
from benchmark.probes.printing_answers import (
    answered_csv_rows,
    answered_json,
    answered_markdown,
    print_answered,
    tell_unanswered,
)
from benchmark.probes.printing_costs import costs_csv_rows, costs_json, costs_markdown, print_costs
from benchmark.probes.printing_judges import judged_csv_rows, judged_json, judged_markdown, print_judged
from benchmark.probes.printing_models import (
    model_summaries,
    model_summaries_csv_rows,
    model_summaries_json,
    model_summaries_markdown,
    print_model_summaries,
)
from benchmark.probes.printing_own import SHOWN, fetched_json, lost_json, print_lost
from benchmark.probes.printing_probes import answers_json, method_json, print_answers, print_method
from benchmark.probes.questions import DEFAULT_WORDS
from benchmark.probes.recorded import RECORDED
from benchmark.probes.records import RESULT_FILE, ProbeResult, SessionShard, read_result
from benchmark.probes.running import result_of, run_scenarios
from benchmark.probes.scenarios import DEFAULT_SCENARIOS, ProbeScenario, read_scenarios, scenarios_of
from benchmark.probes.side_by_side import usable_cores
from benchmark.probes.subjects import recorded_subjects
from benchmark.render.figures import counted
from benchmark.run.sharding import ShardName, read_shard, shard_index, shard_of
from benchmark.sessions.loader import DEFAULT_SESSIONS, PROVENANCE
from ctxsift.errors import InputError
from ctxsift.files import read_text, refuse_input, write_atomically
from ctxsift.rich_text import plain_text
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET, DEFAULT_KEEP_LAST
from ctxsift.sessions.finding import newest_session
from ctxsift.terminal import one_line, show, tell

_EXAMPLES = """\
  python -m benchmark.probes run                                  all rule-based methods, all recorded sessions
  python -m benchmark.probes run ledgerline --methods anchored+index opaque --budget 1000 2000 4000
  python -m benchmark.probes run --shard 1/3 -o 1.json            one of three jobs; then: merge 1.json 2.json 3.json
  python -m benchmark.probes own                                  what would the newest session in this folder lose?
  python -m benchmark.probes own session.jsonl --compacted summary.md
  python -m benchmark.probes run --answerer cpu-qwen2.5-coder-1.5b-q4_k_m         a model answers the questions
  python -m benchmark.probes export --for-answering packets --readers 5 --methods anchored+index opaque text-cut
  python -m benchmark.probes calibrate --judge cpu-qwen2.5-coder-1.5b-q4_k_m     can this judge be trusted?
  python -m benchmark.probes judge results/probes.json --judge rules --judge recorded:verdicts.jsonl
  python -m benchmark.probes report results/probes.json --markdown
  python -m benchmark.probes report results/probes.json --method "anchored+index 2k"
  python -m benchmark.probes generate ledgerline
  python -m benchmark.probes check                                the probes of all recorded sessions
  python -m benchmark.probes check ledgerline --probes mine.yaml  your own file
"""
_RUN_EXAMPLES = """\
examples:
  python -m benchmark.probes run
  python -m benchmark.probes run ledgerline tidecast
  python -m benchmark.probes run ledgerline --methods anchored+index opaque --budget 1000 2000 4000
  python -m benchmark.probes run tidecast --methods anchored --model cpu-qwen2.5-coder-0.5b-q4_k_m
  python -m benchmark.probes run --answerer cpu-qwen2.5-coder-1.5b-q4_k_m

sessions: {sessions}

Without a model, a run takes one to two minutes. It sends nothing without --remote or CTXSIFT_REMOTE=1.

exit codes: {exit_codes}
"""
_EXIT_CODES = (
    "0 success, 1 there are problems (check) or stdout could not be written to, 2 bad usage or input, 130 interrupted"
)
_RESULT = Path("results/probes.json")
# Where rows keep what they answered about one's own sessions.
_OWN_ANSWERS = Path("results/own.answers")
_LINE_EVERY_S = 10.0
_RUN = "Compact recorded sessions with each method, and measure what is left. Rerun the command to resume."
_OWN = (
    "Show what each rule-based method would lose from your own sessions. Nothing leaves this machine, unless you "
    "name an --answerer that uses a service and allow it with --remote."
)
_EXPORT = (
    "Export questions about compacted sessions, for someone else to answer, or answers, for someone else to judge. "
    "`run --answerer recorded:FILE` (or recorded:DIR) reads the answers; `judge --judge recorded:FILE` reads the "
    "verdicts."
)
_MERGE = "Merge the results of all shards (`run --shard I/N`) into the result of one run."
_REPORT = "Print the tables for a result."
_GENERATE = "Generate probes for a recorded session by rules, and print them as JSON."
_CHECK = "Check probes for mistakes before you measure anything with them."


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "probes",
        "Measure what an agent can still answer after its session is compacted.",
        examples=_EXAMPLES,
        exit_codes=_EXIT_CODES,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="compact recorded sessions and measure what is left",
        description=_RUN,
        epilog=_run_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_run(run)
    _add_own(commands.add_parser("own", help="show what your own sessions would lose", description=_OWN))
    _add_export(
        commands.add_parser(
            "export", help="export questions for others to answer, or answers for others to judge", description=_EXPORT
        )
    )
    merge = commands.add_parser("merge", help="merge the shards of a run", description=_MERGE)
    merge.add_argument("results", nargs="+", type=Path, metavar="FILE", help="result files of `run --shard`")
    _add_output(merge)
    _add_forms(merge)
    merge.set_defaults(run=_merge)
    report = commands.add_parser("report", help="print the tables for a result", description=_REPORT)
    report.add_argument("result", type=Path, metavar="FILE", help="result file of `run`")
    report.add_argument(
        "--method", metavar="NAME", help="show the probes and answers of one method, e.g. 'anchored 2k'"
    )
    told = "also write a chart (.svg or .png) of the score against the tokens left, and of the scores by dimension"
    report.add_argument("--chart", type=Path, metavar="FILE", help=told)
    _add_forms(report)
    report.set_defaults(run=_report)
    add_judging(commands)
    generate = commands.add_parser("generate", help="generate probes by rules", description=_GENERATE)
    generate.add_argument("session", metavar="SESSION", help="a recorded session")
    generate.set_defaults(run=_generate)
    check = commands.add_parser("check", help="check probes for mistakes", description=_CHECK)
    check.add_argument("sessions", nargs="*", metavar="SESSION", help="a recorded session; default: all of them")
    check.add_argument(
        "--probes", type=Path, metavar="FILE", help="check this file instead of the session's probes.yaml"
    )
    check.set_defaults(run=_check)
    return parser


def _run_epilog() -> str:
    # By their folders: to open them is for who needs them.
    names = ", ".join(sorted(path.parent.name for path in DEFAULT_SESSIONS.glob(f"*/{PROVENANCE}")))
    codes = _EXIT_CODES.replace("problems (check) or ", "")
    return _RUN_EXAMPLES.format(sessions=names, exit_codes=codes)


def _add_run(run: BenchmarkParser) -> None:
    _add_what(run)
    told = "with --methods: the model (a row of the matrix) that writes the summaries"
    run.add_argument("--model", metavar="ROW", help=told)
    told = "measure part I of N of the sessions; `merge` merges the parts"
    run.add_argument(
        "--shard", type=_shard, metavar="I/N", help=f"{told}; default in a job array: the part of this job"
    )
    _add_output(run)
    _add_answering(run, default=[EXTRACT, RECORDED])
    _add_forms(run)
    run.set_defaults(run=_measure)


def _add_output(parser: BenchmarkParser) -> None:
    told = f"write the result to FILE; default: {_RESULT}"
    parser.add_argument("-o", "--output", type=Path, default=_RESULT, metavar="FILE", help=told)


def _shard(text: str) -> ShardName:
    try:
        return read_shard(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _add_export(export: BenchmarkParser) -> None:
    _add_what(export)
    what = export.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--for-answering", type=Path, metavar="DIR", help="write questions to DIR, which must be new or empty"
    )
    what.add_argument("--for-judging", type=Path, metavar="FILE", help="write the answers in a result to FILE")
    readers = "number of readers; each gets one file, and sees each session under only one method"
    export.add_argument("--readers", type=positive, metavar="N", help=readers)
    export.add_argument("--seed", type=int, default=0, metavar="N", help="seed for the order of questions; default: 0")
    _add_asked(export)
    add_for_judging(export)
    export.set_defaults(run=_export, model=None)


def _add_what(run: BenchmarkParser) -> None:
    run.add_argument("--acts", action="store_true", help="also ask answerers to act, that is, to make one tool call")
    run.add_argument("sessions", nargs="*", metavar="SESSION", help="a recorded session; default: all of them")
    where = f"{DEFAULT_SCENARIOS} in this folder if there is one, otherwise the packaged one"
    what = f"file that lists methods and budgets; default: {where}"
    run.add_argument("--scenarios", type=Path, default=DEFAULT_SCENARIOS, metavar="FILE", help=what)
    run.add_argument(
        "--methods", nargs="+", metavar="NAME", help="measure these methods instead of those in --scenarios"
    )
    run.add_argument(
        "--budget",
        nargs="+",
        type=positive,
        metavar="N",
        help=f"with --methods: maximum tokens in a summary; default: {DEFAULT_BUDGET}",
    )


def _add_answering(parser: BenchmarkParser, default: Sequence[str]) -> None:
    group = parser.add_argument_group("answering questions from the compacted session")
    who = f"{EXTRACT}, {RECORDED}, {RECORDED}:FILE or {RECORDED}:DIR, or a row of the matrix"
    told = f"{who}; default: {' '.join(default) or 'none'}"
    group.add_argument("--answerer", nargs="*", default=list(default), metavar="NAME", help=told)
    _add_asked(group)
    add_rows(group, "allow rows that send contexts to a service (or set CTXSIFT_REMOTE=1)")


def _add_asked(parser: argparse._ActionsContainer) -> None:
    words = f"maximum words in an answer; default: {DEFAULT_WORDS}"
    parser.add_argument("--answer-words", type=positive, default=DEFAULT_WORDS, metavar="N", help=words)
    parser.add_argument("--every-cut", action="store_true", help="ask at every cut instead of only at the last one")


def _add_own(own: BenchmarkParser) -> None:
    own.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="session files; default: the newest session in this folder"
    )
    own.add_argument(
        "--compacted",
        type=Path,
        metavar="FILE",
        help="also measure the summary in FILE, a text that a different program wrote",
    )
    own.add_argument(
        "--budget",
        type=positive,
        default=DEFAULT_BUDGET,
        metavar="N",
        help=f"maximum tokens in a summary; default: {DEFAULT_BUDGET}",
    )
    own.add_argument(
        "--keep-last",
        type=positive,
        default=DEFAULT_KEEP_LAST,
        metavar="N",
        help=f"keep the last steps, up to N tokens; default: {DEFAULT_KEEP_LAST}",
    )
    _add_answering(own, default=[])
    forms = own.add_mutually_exclusive_group()
    add_json(forms)
    forms.add_argument(
        "--all", action="store_true", help="list everything that is lost, and print every table of answers"
    )
    # Nobody wrote acts about them.
    own.set_defaults(run=_own, acts=False)


def _add_forms(parser: BenchmarkParser) -> None:
    prices = parser.add_argument_group("token prices, relative to a new input token")
    told = f"price of a cached input token; default: {Prices.cached:g}"
    prices.add_argument("--cached-price", type=_share, default=Prices.cached, metavar="X", help=told)
    told = f"price of an output token; default: {Prices.output:g}"
    prices.add_argument("--output-price", type=_price, default=Prices.output, metavar="X", help=told)
    forms = parser.add_argument_group("output").add_mutually_exclusive_group()
    add_json(forms)
    forms.add_argument(
        "--all", action="store_true", help="print every table, including costs, ages, dimensions and criteria"
    )
    forms.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    forms.add_argument("--csv", action="store_true", help="print CSV, one line per method and figure")


def _share(text: str) -> float:
    value = _price(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0 and at most 1")
    return value


def _price(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no price")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv, on_os_error=_cannot_write)


def _cannot_write(options: argparse.Namespace, error: OSError) -> tuple[str, int]:
    meant = [options.output] if getattr(options, "output", None) is not None else []
    return f"{unwritten(error, *meant)}; name another file with -o", EXIT_USAGE


def _run(options: argparse.Namespace) -> int:
    code: int = options.run(options)
    return code


def _measure(options: argparse.Namespace) -> int:
    journal = options.output.with_name(f"{options.output.name}.journal")
    progress = _Progress()
    refuse_input(options.output, (options.scenarios, options.matrix, options.env_file))
    scenarios = _scenarios(options)
    subjects, shard = _part(recorded_subjects(options.sessions), options)
    if shard and not subjects:
        tell(f"shard {shard} has none of these {counted(len(shard.sessions), 'session')}; nothing to run")
        return EXIT_OK
    summaries = options.output.with_name(f"{options.output.name}.summaries")
    models = Models(summaries, options.matrix, options.env_file, options.remote, progress.tell)
    # An answerer that cannot run is reported before anything is measured.
    answerers = _answerers(options, options.output.with_name(f"{options.output.name}.answers"), progress)
    try:
        result = run_scenarios(
            subjects, scenarios, journal=journal, processes=usable_cores(), models=models, told=progress.tell
        )
        # A row that answers has the memory for itself.
        models.close()
        result = _answered(result, subjects, answerers, options)
    except KeyboardInterrupt:
        models.close(at_once=True)
        progress.end()
        tell("interrupted; rerun the same command to resume")
        return EXIT_INTERRUPTED
    finally:
        models.close()
    result = replace(result, shard=shard)
    write_atomically(options.output, RESULT_FILE.text(result, str(options.output)))
    # Its entries are in the result.
    journal.unlink(missing_ok=True)
    progress.end()
    _print(result, options)
    tell(f"written: {options.output}")
    return EXIT_OK


def _part(
    subjects: Sequence[ProbedSubject], options: argparse.Namespace
) -> tuple[Sequence[ProbedSubject], SessionShard | None]:
    """Return the sessions of this job, which may be none; and which part they are, unless they are all."""
    name = options.shard or shard_of(os.environ)
    if name is None:
        return subjects, None
    if of_file := next((each for each in options.answerer if each.startswith(f"{RECORDED}:")), None):
        problem = "needs a whole run; in a shard, answers about the sessions of other shards would count as unknown"
        raise InputError(f"--answerer {of_file}", problem, "leave out --shard")
    shard = SessionShard(index=name.index, count=name.count, sessions=[each.name for each in subjects])
    return [each for each in subjects if shard_index(each.name, name.count) == name.index], shard


def _merge(options: argparse.Namespace) -> int:
    refuse_input(options.output, options.results)
    result = joined(options.results)
    write_atomically(options.output, RESULT_FILE.text(result, str(options.output)))
    _print(result, options)
    tell(f"written: {options.output}")
    return EXIT_OK


def _scenarios(options: argparse.Namespace) -> Sequence[ProbeScenario]:
    if options.methods is not None:
        return scenarios_of(options.methods, options.budget or [DEFAULT_BUDGET], options.model)
    if options.model is not None:
        raise InputError("--model", "needs --methods", f"add --methods, or write models into {options.scenarios}")
    if options.budget is not None:
        raise InputError("--budget", "needs --methods", f"add --methods, or write budgets into {options.scenarios}")
    return read_scenarios(options.scenarios)


def _answerers(options: argparse.Namespace, folder: Path, progress: _Progress) -> list[Answerer]:
    found = AnswererOptions(folder, options.matrix, options.env_file, options.remote, progress.tell)
    return answerers_of(options.answerer, found)


def _answered(
    result: ProbeResult, subjects: Sequence[ProbedSubject], answerers: Sequence[Answerer], options: argparse.Namespace
) -> ProbeResult:
    """Return a result with what answerers say, in the order in which they were named."""
    put = _put(result, subjects, options)
    found = {each.name: answering(result, put, each, options.answer_words) for each in answerers}
    texts: dict[str, str] = {}
    if RECORDED in options.answerer:
        published, texts = published_answering(subjects)
        found |= {RECORDED: published} if published else {}
    answered = [found[name] for name in dict.fromkeys(options.answerer) if name in found]
    return replace(result, answered=answered, contexts=result.contexts | texts)


def _put(
    result: ProbeResult, subjects: Sequence[ProbedSubject], options: argparse.Namespace
) -> Sequence[Put | PutUnanswerable | PutAct]:
    words, every_cut = options.answer_words, options.every_cut
    return [
        *(acts_about(result, subjects, every_cut=every_cut) if options.acts else ()),
        *questions_about(result, subjects, words, every_cut=every_cut),
        *unanswerable_about(result, subjects, words, every_cut=every_cut),
    ]


def _export(options: argparse.Namespace) -> int:
    if options.for_judging:
        return export_for_judging(options)
    if options.readers is None:
        raise InputError("--for-answering", "needs --readers", "give the number of readers")
    check_folder(options.for_answering)
    subjects = recorded_subjects(options.sessions)
    progress = _Progress()
    result = run_scenarios(subjects, _scenarios(options), processes=usable_cores(), told=progress.tell)
    progress.end()
    put = _put(result, subjects, options)
    packets = packets_of(put, options.readers, options.seed)
    for path, questions in zip(write_packets(options.for_answering, packets), packets, strict=True):
        show(one_line(f"{path}: {counted(len(questions), 'question')}"))
    tell(
        'answer each with a line {"id": ..., "answer": ...}, in files *.jsonl of a different folder; then: '
        "run --answerer recorded:FOLDER (or one FILE), with the same options"
    )
    return EXIT_OK


def _own(options: argparse.Namespace) -> int:
    files = options.files
    if not files:
        newest = newest_session(Path.cwd())
        tell(f"reading {newest.path} ({newest.agent})")
        files = [newest.path]
    if options.compacted and len(files) > 1:
        raise InputError(
            "--compacted", f"is the summary of one session, but you named {len(files)}", "name only that session"
        )
    summary = read_text(options.compacted, "name a file of text", most_mb=4) if options.compacted else None
    if RECORDED in options.answerer:
        raise InputError(
            f"--answerer {RECORDED}", "only has answers about the sessions that ship", "name a file, or a row"
        )
    progress = _Progress()
    answerers = _answerers(options, _OWN_ANSWERS, progress)
    subjects = own_subjects(files, options.keep_last, at_end=summary is not None)
    made = measured_own(subjects, options.budget, summary, progress.tell)
    rows = lost_by_methods(subjects, made)
    result = result_of(subjects, {ProbeScenario(method=name): parts for name, parts in made.items()})
    result = _answered(result, subjects, answerers, options)
    progress.end()
    answered = _answered_boards(result)
    if options.json:
        answers = {row.method: answers_json(result, row.method) for row in rows}
        print_json([*lost_json(rows, answers), *fetched_json(subjects), *answered_json(answered)])
    else:
        invented = () if summary is None else subjects[0].history.invention(summary).names
        print_lost(subjects, rows, invented, whole=options.all)
        print_answered(answered, whole=options.all)
        print_answers(result, shown_examples(rows).method, None if options.all else SHOWN)
    return EXIT_OK


def _report(options: argparse.Namespace) -> int:
    if options.chart is not None:
        refuse_input(check_chart(options.chart), (options.result,), option="--chart")
    result = read_result(options.result)
    if options.method is None:
        _print(result, options)
    elif options.csv or options.markdown:
        raise InputError("--method", "prints only text or JSON", "leave out --csv and --markdown")
    elif options.json:
        print_json(method_json(result, options.method))
    else:
        print_method(result, options.method)
    if options.chart is not None:
        write_chart(next(boards(result)), options.chart)
        tell(f"written: {options.chart}")
    return EXIT_OK


def _print(result: ProbeResult, options: argparse.Namespace) -> None:
    found, answered, judged = list(boards(result)), _answered_boards(result), list(judged_boards(result))
    prices = Prices(options.cached_price, options.output_price)
    costs, made = list(costs_of(result, prices)), list(model_summaries(result))
    if options.json:
        told = [*boards_json(found), *costs_json(costs, prices), *answered_json(answered), *judged_json(judged)]
        print_json([*told, *acts_json(result.answered), *model_summaries_json(made)])
    elif options.csv:
        further = [*costs_csv_rows(costs), *answered_csv_rows(answered), *judged_csv_rows(judged)]
        further += [*acts_csv_rows(result.answered), *model_summaries_csv_rows(made)]
        show(boards_csv(found, further).rstrip("\n"))
    elif options.markdown:
        parts = (
            boards_markdown(result, found),
            costs_markdown(costs, prices),
            model_summaries_markdown(made),
            answered_markdown(answered),
            judged_markdown(judged),
            acts_markdown(result.answered),
        )
        show("\n".join(filter(None, parts)).rstrip("\n"))
    else:
        print_boards(result, found, whole=options.all)
        if options.all:
            print_costs(costs, prices)
        print_model_summaries(made)
        print_answered(answered, whole=options.all)
        print_judged(judged, whole=options.all)
        print_acts(result.answered)


def _answered_boards(result: ProbeResult) -> list[AnsweredBoard]:
    """Return the boards of answers; whoever has none, is told of."""
    found = list(answered_boards(result))
    tell_unanswered(result.answered, found)
    return found


def _generate(options: argparse.Namespace) -> int:
    (subject,) = recorded_subjects([options.session])
    made = ProbeFile(probes=tuple(probe for probe in subject.probes if probe.made_by is Maker.RULE))
    print_json(msgspec.to_builtins(made))
    return EXIT_OK


def _check(options: argparse.Namespace) -> int:
    written = written_probes(options.sessions, options.probes)
    if not written:
        raise InputError(", ".join(options.sessions) or "recorded sessions", "no probes exist for it", "add --probes")
    checked = [
        (each, check_probes(each.recorded.session(), each.probes, str(each.path), each.unanswerable, each.acts))
        for each in written
    ]
    for each, found in checked:
        _tell(each, found)
    return EXIT_FAILED if any(found.problems for _, found in checked) else EXIT_OK


def _tell(written: WrittenProbes, found: ProbeCheck) -> None:
    for problem in found.problems:
        show(one_line(f"{problem.where}: {problem.text}"))
    cuts = ", ".join(f"{cut.after_step} (kept from {cut.first_kept})" for cut in found.cuts)
    asked = sum(map(len, found.asked.values()))
    show(f"{written.recorded.name}: {counted(len(found.asked), 'probe')}, asked {asked} times; cuts after steps {cuts}")
    for probe, at, index in found.leaks:
        show(one_line(f"  {probe}: kept steps say statements/{index} at cut {at + 1}; it does not count there"))
    show(f"  {counted(len(found.problems), 'problem')}, {counted(len(found.leaks), 'leak')} taken out")


class _Progress:
    """A line that says what was done last."""

    def __init__(self) -> None:
        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._status = Status("", console=console) if console.is_terminal else None
        self._last = time.monotonic()

    def tell(self, text: str) -> None:
        """Show it on a terminal; elsewhere, print it now and then: a model may take hours."""
        if self._status is not None:
            self._status.update(plain_text(text))
            self._status.start()
        elif time.monotonic() - self._last > _LINE_EVERY_S:
            self._last = time.monotonic()
            tell(text)

    def end(self) -> None:
        """Remove the line."""
        if self._status is not None:
            self._status.stop()


if __name__ == "__main__":
    sys.exit(main())

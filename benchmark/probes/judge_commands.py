"""`probes judge` and `probes calibrate`: stored answers judged again, and how far a judge may be believed."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    BenchmarkParser,
    add_json,
    print_json,
)
from benchmark.judges.calibrations import drawn, known_calibration
from benchmark.judges.commands import (
    INTERRUPTED,
    add_calibrate,
    add_who_judges,
    criteria_named,
    judge_options,
    run_calibrate,
)
from benchmark.judges.named_judges import judges_of, recorded_judge
from benchmark.judges.protocol import instructions
from benchmark.judges.records import JudgedAnswer, uses
from benchmark.judges.rubric import Criterion
from benchmark.probes.calibrating import KNOWN_CALIBRATIONS, rules_on
from benchmark.probes.judged import (
    Apart,
    JudgedBoard,
    ToJudge,
    agreements,
    furthest_apart,
    judged_answers,
    judged_boards,
    rules_of,
    to_judge,
)
from benchmark.probes.labelled import LabelledPart, labelled_answers
from benchmark.probes.printing import SHARE
from benchmark.probes.printing_judges import (
    WARN_UNSCORED,
    judged_json,
    judged_markdown,
    print_agreement,
    print_judged,
)
from benchmark.probes.records import RESULT_FILE, Answering, JudgedAnswers, ProbeResult, read_result
from benchmark.render.figures import counted, form_text
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import refuse_input, write_atomically
from ctxsift.terminal import one_line, show, tell

_JUDGE = "Judge stored answers without asking the answerers again. Rerun the command to resume."
_APART = 10
_RESULT = Path("results/probes.json")
_MOST_UNSCORED = 0.2


def add_judging(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    """Add both commands."""
    judge = commands.add_parser("judge", help="judge stored answers", description=_JUDGE)
    judge.add_argument("result", type=Path, metavar="FILE", help="result file of `run`")
    judge.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the result to FILE; default: overwrite the input file"
    )
    judge.add_argument("--answerer", metavar="NAME", help="judge only the answers from NAME; default: all answerers")
    who = judge.add_argument_group("judging")
    add_who_judges(who, "give it twice to compare two judges")
    _add_criteria(who)
    judge.add_argument(
        "--label",
        type=Path,
        metavar="LABELS",
        help=f"write the {_APART} answers on which two judges differ most to LABELS, for you to label; later runs "
        "use these labels",
    )
    judge.add_argument(
        "--fail-unscored",
        type=_share,
        default=_MOST_UNSCORED,
        metavar="SHARE",
        help=f"exit with status 1 if at least SHARE of the answers are unscored; default: {_MOST_UNSCORED}",
    )
    forms = judge.add_argument_group("output").add_mutually_exclusive_group()
    add_json(forms)
    forms.add_argument("--all", action="store_true", help="print every table, including single criteria")
    forms.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    judge.set_defaults(run=_judge)
    calibrate = add_calibrate(commands, 760)
    _add_criteria(calibrate)
    calibrate.add_argument(
        "--set",
        nargs="+",
        choices=list(LabelledPart),
        default=list(LabelledPart),
        metavar="NAME",
        help=f"labelled answers to use: {', '.join(LabelledPart)}",
    )
    calibrate.set_defaults(run=_calibrate)


def _add_criteria(parser: argparse._ActionsContainer) -> None:
    told = "score only these criteria; default: those for the type of each question (docs/judging.md)"
    parser.add_argument("--criteria", nargs="+", choices=list(Criterion), metavar="NAME", help=told)


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 1")
    return value


def _labelled(result: ProbeResult, added: Sequence[JudgedAnswer]) -> ProbeResult:
    """Return a result with more labels; of two for one answer, the later one counts."""
    labels = {each.input_id: each for each in (*result.labels, *added)}
    return replace(result, labels=list(labels.values()))


def _judge(options: argparse.Namespace) -> int:
    result = _with_answers(options.result)
    output = options.output or options.result
    refuse_input(options.label, (options.result, output), option="--label")
    criteria = criteria_named(options.criteria)
    chosen = _chosen(result, options)
    asked = judge_options(options, output.with_name(f"{output.name}.judges"))
    put = {each.answerer: to_judge(result, each, criteria, with_context=options.with_context) for each in chosen}
    judges = judges_of(options.judge, asked, lambda: rules_of(list(itertools.chain.from_iterable(put.values()))))
    if options.label and len(judges) != 2:
        raise InputError("--label", "needs two judges that differ", "name two with --judge")
    made = []
    try:
        for judge in judges:
            calibrated = uses(known_calibration(judge.identity, KNOWN_CALIBRATIONS))
            by_answerer = [(each, put[each.answerer]) for each in chosen]
            made += judged_answers(by_answerer, judge, calibrated, criteria, with_context=options.with_context)
    except KeyboardInterrupt:
        tell(INTERRUPTED)
        return EXIT_INTERRUPTED
    result = replace(result, judged=_joined(result.judged, made))
    if options.label and options.label.exists():
        result = _labelled(result, _labels(options.label, put))
    write_atomically(output, RESULT_FILE.text(result, str(output)))
    boards = list(judged_boards(replace(result, judged=made)))
    apart = [(first, second, furthest_apart(result, first, second, _APART)) for first, second in _pairs(made)]
    if options.label and not options.label.exists():
        _write_labels(options.label, [each for *_, some in apart for each in some])
    _print(result, boards, apart, options)
    tell(f"written: {output}")
    return _code(boards, made, options.fail_unscored)


def _with_answers(path: Path) -> ProbeResult:
    """Return the result in a file. Raises InputError, saying what makes one."""
    if not path.exists():
        hint = "name another file, or create one without a model: python -m benchmark.probes run --answerer recorded"
        raise InputError(str(path), "no such file", hint)
    return read_result(path)


def _chosen(result: ProbeResult, options: argparse.Namespace) -> list[Answering]:
    """Return whose answers are judged. Raises InputError where there are none, or none of that name."""
    with_answers = [each for each in result.answered if each.methods]
    if not with_answers:
        raise InputError(str(options.result), "contains no answers", "create some with `run --answerer NAME`")
    names = [each.answerer for each in with_answers]
    if options.answerer is not None and options.answerer not in names:
        raise InputError(
            f"--answerer {options.answerer}", "has no answers in this file", did_you_mean(options.answerer, names)
        )
    return [each for each in with_answers if options.answerer in (None, each.answerer)]


def _joined(before: Sequence[JudgedAnswers], made: Sequence[JudgedAnswers]) -> list[JudgedAnswers]:
    """Return verdicts of earlier judges and of these; a judge that judged again counts once."""

    def key(each: JudgedAnswers) -> tuple[object, ...]:
        return each.answerer, each.answerer_version, each.judge, each.with_context, tuple(each.criteria or ())

    new = {key(each) for each in made}
    return [*(each for each in before if key(each) not in new), *made]


def _labels(path: Path, put: dict[str, list[ToJudge]]) -> list[JudgedAnswer]:
    inputs = {each.judged.input_id: each.judged for some in put.values() for each in some}
    found = recorded_judge(f"recorded:{path}", path, tell).verdicts(list(inputs.values()))
    labels = [each for each in found.judged.values() if each.scored]
    tell(f"{path}: {counted(len(labels), 'answer')} labelled; results use these labels from now on")
    return labels


def _print(
    result: ProbeResult,
    boards: Sequence[JudgedBoard],
    apart: Sequence[tuple[JudgedAnswers, JudgedAnswers, Sequence[Apart]]],
    options: argparse.Namespace,
) -> None:
    if options.json:
        print_json(judged_json(boards))
    elif options.markdown:
        show(judged_markdown(boards).rstrip("\n"))
    else:
        print_judged(boards, whole=options.all)
        for first, second, differing in apart:
            print_agreement(first.judge, second.judge, agreements(result, first, second), differing)


def _pairs(made: Sequence[JudgedAnswers]) -> Iterator[tuple[JudgedAnswers, JudgedAnswers]]:
    """Yield each two judges of the same answers."""
    for number, first in enumerate(made):
        yield from ((first, second) for second in made[number + 1 :] if second.answerer == first.answerer)


def _write_labels(path: Path, apart: Sequence[Apart]) -> None:
    """Write answers for a person to label: scores are null until somebody writes them."""
    lines = []
    for each in apart:
        judged = each.put.judged
        results = [{"criterionId": name, "score": None, "reasoning": ""} for name in judged.rubric_criteria]
        lines.append(
            json.dumps({"id": judged.input_id, **judged.fields, "criterionResults": results}, ensure_ascii=False)
        )
    write_atomically(path, "".join(f"{line}\n" for line in lines))
    tell(f"{path}: {counted(len(lines), 'answer')} to label: write scores from 0 to 5, then rerun the same command")


def _code(boards: Sequence[JudgedBoard], made: Sequence[JudgedAnswers], most: float) -> int:
    """Return the exit code, and say on stderr why it is none of success."""
    code = EXIT_OK
    for each in made:
        if not any(board.judged is each for board in boards):
            tell(
                one_line(f"{each.judge} has scored none of the answers of {each.answerer}: {each.error or _why(each)}")
            )
            code = EXIT_FAILED
    for board in boards:
        share, judge = form_text(SHARE, board.unscored), board.judged.judge
        if board.unscored and board.unscored >= most:
            tell(one_line(f"{judge}: {share} of the answers are unscored (--fail-unscored {most:g})"))
            code = EXIT_FAILED
        elif board.unscored >= WARN_UNSCORED:
            tell(one_line(f"warning: {judge}: {share} of the answers are unscored"))
    return code


def _why(judged: JudgedAnswers) -> str:
    reasons = [score.reasoning for answer in judged.answers for score in answer.scores.values()]
    return max(set(reasons), key=reasons.count) if reasons else "it judged other answers"


def _calibrate(options: argparse.Namespace) -> int:
    criteria, parts = criteria_named(options.criteria), [LabelledPart(name) for name in options.set]
    answers = labelled_answers(parts, criteria=criteria, with_context=options.with_context)
    return run_calibrate(options, answers, rules_on)


def add_for_judging(export: BenchmarkParser) -> None:
    """Add the options of `export --for-judging`."""
    group = export.add_argument_group("with --for-judging")
    group.add_argument(
        "--result",
        type=Path,
        metavar="FILE",
        help=f"result file of `run` that contains answers; default: {_RESULT} (optional with --labelled)",
    )
    group.add_argument("--answerer", metavar="NAME", help="export only the answers from NAME; default: all answerers")
    labelled = "add N labelled answers, so that `calibrate --judge recorded:FILE` can measure the judge"
    group.add_argument("--labelled", type=int, default=0, metavar="N", help=labelled)
    group.add_argument("--with-context", action="store_true", help="include the context that the answerer saw")
    group.add_argument(
        "--criteria", nargs="+", choices=list(Criterion), metavar="NAME", help="score only these criteria"
    )


def export_for_judging(options: argparse.Namespace) -> int:
    """Write answers as the published format has them, an id beside each: a line is what a judge is told of one."""
    path: Path = options.for_judging
    if path.exists():
        raise InputError(f"--for-judging {path}", "already exists", "name a new file")
    criteria = criteria_named(options.criteria)
    put = []
    if options.result is not None or _RESULT.exists() or not options.labelled:
        result = _with_answers(options.result or _RESULT)
        put = [
            each.judged
            for answering in _chosen(result, options)
            for each in to_judge(result, answering, criteria, with_context=options.with_context)
        ]
    known = labelled_answers(criteria=criteria, with_context=options.with_context) if options.labelled else []
    put += [each.answer.judged for each in drawn(known, options.labelled)]
    # By id, which tells nothing of method, session or labels.
    distinct = dict(sorted((each.input_id, each) for each in put))
    lines = (json.dumps({"id": name, **each.fields}, ensure_ascii=False) for name, each in distinct.items())
    write_atomically(path, "".join(f"{line}\n" for line in lines))
    told = path.with_name(f"{path.name}.prompt.txt")
    write_atomically(told, f"{instructions()}\n")
    show(one_line(f"{path}: {counted(len(distinct), 'answer')}"))
    show(one_line(f"{told}: the instructions for a judge, with the meaning of each criterion"))
    tell(
        'judge each with a line {"id": ..., "criterionResults": [...]}; then: calibrate and judge --judge recorded:FILE'
    )
    return EXIT_OK

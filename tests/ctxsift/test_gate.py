"""The product's gate: weak claims against what is known are held back; gold and careful readers' answers pass."""

from __future__ import annotations

import pytest

from benchmark.cases import Corpus
from benchmark.corpus.answers import read_answers
from ctxsift.answers.validation import Status
from ctxsift.compression import examine
from ctxsift.gate import OBJECTIONS, objections
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from tests.support.results import blind_answers

FAILED = (
    "collected 3 items\ntests/test_cart.py::test_total FAILED\nE   AssertionError: 3 != 4\n1 failed, 2 passed in 0.2s\n"
)
PASSED = "collected 3 items\ntests/test_cart.py ...\n3 passed in 0.2s\nCoverage written to htmlcov/index.html\n"


def held_back(text: str, output: str = FAILED, exit_code: int | None = 1, intent: Intent = Intent.SUMMARY) -> list[str]:
    request = Request(output * 20, "What failed?", intent, "pytest -q", exit_code)
    _, recovered, _ = examine(text, request)
    return list(objections(recovered.text, request, recovered.validation).sure)


@pytest.mark.parametrize(
    "text", ["All tests pass.", "The build succeeded.", "ok", "Done!", "No errors were found.", "Everything is fine."]
)
def test_success_is_not_claimed_after_a_failure(text: str) -> None:
    assert held_back(text) == ["contradicts_exit_code"]
    assert held_back(text, PASSED, 0) == []
    # Who pipes output in may not tell.
    assert held_back(text, exit_code=None) == []


@pytest.mark.parametrize(
    "text",
    [
        "All 3 tests passed, and the suite as a whole took no longer than the fifth of a second that it always takes.",
        "The run took 0.2 seconds; every one of the 3 tests came to its end and passed without any trouble at all.",
        "Everything in tests/test_cart.py was collected and passed, and the whole of it came to an end in 0.2 seconds.",
        "There is no need to look further: the build is green.",
        "None of the tests in the suite failed.",
        "Failures: 0",
        "3/3",
        "✅",
        "The command exited with code 0.",
        "5 passed",
        "Looks good.",
        "Status: passed",
        "No action required.",
        "Alles ok.",
        "Alla tester godkända.",
        "Semua tes lulus.",
        "Alle drei Tests sind durchgelaufen, die Suite ist grün.",
        "Es gab keine Fehler.",
        "L'ensemble des tests a réussi.",
        "Aucun problème.",
        "Todas las pruebas pasaron.",
        "Sin errores.",
        "所有测试均已通过",
        "没有发现问题。",
        "テストはすべて合格です",
        "エラーはありませんでした。",
        "Все проверки пройдены.",
        "Ошибок не обнаружено",
        "모든 검사를 통과했습니다.",
        "Works as expected.",
        "It all went exactly as planned.",
        "Funktioniert wie erwartet.",
        "Tout marche comme prévu.",
        "符合预期。",
        "test_total passed.",
        "`test_total` is fine.",
        "Tutti i test sono passati.",
        "Todos os testes passaram.",
        "De build is geslaagd.",
    ],
)
def test_success_is_claimed_in_many_words_and_languages(text: str) -> None:
    assert "contradicts_exit_code" in held_back(text)
    assert "contradicts_exit_code" not in held_back(text, exit_code=None)


@pytest.mark.parametrize(
    "text",
    [
        "The suite is passing.",
        "3 tests passing",
        "tests/test_cart.py compiled cleanly.",
        "All assertions held.",
        "Tests ran smoothly.",
        "Build complete.",
        "All failures have been fixed.",
        "Nothing to report.",
        "No failures or errors.",
        "Nothing failed, crashed or timed out.",
    ],
)
def test_success_has_many_words(text: str) -> None:
    assert "contradicts_exit_code" in held_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "Kein Test ist fehlgeschlagen.",
        "Keiner der Tests schlug fehl.",
        "Nichts ist gescheitert.",
        "Aucun test n'a échoué.",
        "Rien n'a échoué.",
        "Il n'y a pas d'échec.",
        "Ninguna de las pruebas falló.",
        "No hubo fallos.",
        "Non ci sono errori.",
        "Nessuno dei test è fallito.",
        "Nenhum teste falhou.",
        "Não houve falhas.",
        "Geen enkele test is mislukt.",
        "Żaden test nie zawiódł.",
        "Nie ma błędów.",
        "Ни один тест не упал.",
        "Упавших тестов нет.",
        "没有一个测试失败。",
        "失败的测试：无",
        "0 个测试失败",
        "失敗したテストはありません。",
        "テストは失敗していません。",
        "실패한 테스트가 없습니다.",
        "테스트는 실패하지 않았습니다.",
    ],
)
def test_who_denies_a_failure_admits_none(text: str) -> None:
    assert held_back(text) == ["contradicts_exit_code"]
    assert held_back(text, PASSED, 0) == []


@pytest.mark.parametrize(
    "text",
    [
        "Kein Zugriff auf die Summe: test_total bricht ab.",
        "Der Test schlug fehl, keine weiteren Angaben.",
        "test_total n'a pas réussi.",
        "test_total a échoué, aucun autre détail.",
        "test_total falló y no hay más datos.",
        "test_total non è passato.",
        "test_total não passou.",
        "test_total is niet geslaagd.",
        "test_total nie przeszedł.",
        "Упал test_total, других сведений нет.",
        "test_total 失败，没有其他信息。",
        "没有测试通过。",
        "test_totalが失敗し、原因は書かれていません。",
        "test_total이 실패했고 원인은 없습니다.",
        "DID NOT RAISE ValueError: no error message says why test_total is red.",
        "Everything passed but test_total.",
    ],
)
def test_a_denial_of_something_else_is_an_admission(text: str) -> None:
    assert held_back(text) == []


TRACED = (
    "test_cart.py::test_total FAILED\ntest_cart.py::test_sum PASSED\n    def test_total():\n>     assert 3 == 4\n"
    "test_cart.py:17: AssertionError\nFAILED test_cart.py::test_total - assert 3 == 4\n1 failed, 1 passed\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "test_total passed.",
        "test_sum and test_total both passed.",
        "[PASS] test_total",
        "ok test_total",
        "test_total: PASSED, test_sum: FAILED",
        "test_total ... ok",
        "test_total passed and test_sum failed.",
        "test_total 通过了。",
    ],
)
def test_a_failed_test_is_not_called_passed(text: str) -> None:
    assert held_back(text, TRACED) == ["contradicts_exit_code"]


@pytest.mark.parametrize(
    "text",
    [
        "test_sum passed, test_total did not.",
        "test_total passes only if the sum is 4.",
        "To make test_total pass, the sum has to be 4.",
        "test_cart.py: 1 passed, 1 failed.",
        "test_total failed; test_sum is ok.",
    ],
)
def test_what_failed_may_be_told_beside_what_passed(text: str) -> None:
    assert held_back(text, TRACED) == []


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("- All tests passed", Intent.BULLET_LIST),
        ("- Every test passed\n- No failures", Intent.BULLET_LIST),
        ('{"status": "all passed"}', Intent.JSON),
        ('{"failed": 0, "all_passed": true}', Intent.JSON),
        ("status: all tests passed", Intent.YAML),
        ("| test |\n|---|\n| all passed |", Intent.TABLE),
        ("all passed", Intent.EXACT_FORMAT),
    ],
)
def test_no_shape_claims_success_after_a_failure(text: str, intent: Intent) -> None:
    assert held_back(text, intent=intent) == ["contradicts_exit_code"]
    assert held_back(text, intent=intent, exit_code=None) == []


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("- test_total\n" * 9, Intent.BULLET_LIST),
        ("| test | why |\n|---|---|\n" + "| test_total | 3 is not 4 |\n" * 9, Intent.TABLE),
        ("[" + ", ".join(['{"test": "test_total"}'] * 9) + "]", Intent.JSON),
        ('{"why": "' + "ha " * 90 + '"}', Intent.JSON),
        ("why: " + "see it " * 90, Intent.YAML),
    ],
)
def test_no_shape_says_the_same_over_and_over(text: str, intent: Intent) -> None:
    assert held_back(text, intent=intent) == ["repetition"]


def test_a_line_is_not_said_more_often_than_the_output_has_it() -> None:
    line = "1 failed, 2 passed in 0.2s\n"
    assert held_back(line * 20, intent=Intent.EXACT_LINES) == []
    assert held_back(line * 25, intent=Intent.EXACT_LINES) == ["repetition"]


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("- test_total", Intent.BULLET_LIST),
        ("[]", Intent.JSON),
        ('{"passed": 2, "failed": 1}', Intent.JSON),
        ('[{"line": 1}, {"line": 1}, {"line": 2}]', Intent.JSON),
        ("passed: 2\nfailed: 1", Intent.YAML),
        ("| test | state |\n|---|---|\n| test_sum | ok |\n| test_total | FAILED |", Intent.TABLE),
        ("passed", Intent.EXACT_FORMAT),
        ("0.2s", Intent.EXACT_FORMAT),
        ("collected 3 items", Intent.EXACT_LINES),
    ],
)
def test_right_shapes_pass(text: str, intent: Intent) -> None:
    assert held_back(text, intent=intent) == []


@pytest.mark.parametrize("text", ["\u200b", "\ufeff\u2060", "\u3164", "\u2800", "\xad", "\x1b[0m", "&nbsp;", "&#8203;"])
@pytest.mark.parametrize("intent", Intent)
def test_what_nobody_sees_is_empty(text: str, intent: Intent) -> None:
    request = Request(FAILED * 20, "What failed?", intent, "pytest -q", 1)
    _, recovered, _ = examine(text, request)
    assert "empty_output" in recovered.validation.reasons


@pytest.mark.parametrize(
    "text",
    [
        *("{}", "[]", "```", "...", "-", "**", "<br>", "()", '""', "[object Object]", "undefined", "🙂"),
        *("Internal server error", "Error: context length exceeded", "Rate limit exceeded, please retry"),
        *(
            "503 Service Unavailable",
            "As an AI language model, I cannot run pytest.",
            "I can't see tests/test_cart.py.",
        ),
        *("Es tut mir leid, dabei kann ich nicht helfen.", "Je suis désolé, je ne peux pas vous aider."),
        *("Lo siento, no puedo ayudar.", "Mi dispiace, non posso aiutarti.", "Desculpe, não posso ajudar."),
        *("Sorry, daar kan ik niet mee helpen.", "Извините, я не могу помочь.", "Przykro mi, nie mogę pomóc."),
        *("抱歉，我无法帮助你。", "申し訳ありませんが、お手伝いできません。", "죄송합니다. 도와드릴 수 없습니다."),
    ],
)
def test_an_empty_shell_or_a_refusal_is_no_answer(text: str) -> None:
    assert held_back(text) == ["nothing_of_the_output"]


def test_an_error_of_the_output_is_no_error_of_the_service() -> None:
    assert held_back("503 Service Unavailable", FAILED + "GET /cart: 503 Service Unavailable\n") == []
    assert held_back("I cannot say more than that test_total failed.") == []
    assert held_back("x.total is undefined", FAILED + "TypeError: x.total is undefined\n") == []


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"The test test_total failed {word} 3 is not 4." for word in ("because", "since", "as", "for")),
        "test_total 失败，test_total 失败，test_total 失败，test_total 失败",
        "失败，" * 4,
        "test_total failed " + "ha" * 500,
        "test_total failed " + "!" * 400,
        "failedfailedfailedfailedfailedfailed test_total" * 5,
        "test_total failed " + " ".join(map(str, range(200))),
        "\n".join(f"- test_total{number} failed" for number in range(3, 90)),
    ],
)
def test_a_loop_may_change_a_little_or_have_no_borders(text: str) -> None:
    assert "repetition" in held_back(text)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"{name} failed in the cart." for name in ("test_a1", "test_b2", "test_c3", "test_d4")),
        "The run was as follows: " + "=" * 70,
    ],
)
def test_what_the_output_has_as_often_is_no_loop(text: str) -> None:
    output = "test_a1 test_b2 test_c3 test_d4 FAILED in the cart " + "=" * 70 + "\n"
    assert "repetition" not in held_back(text, output)


@pytest.mark.parametrize(
    "text",
    [
        "1 of 3 tests failed: test_total.",
        "All tests passed apart from test_total.",
        "2/3 passed",
        "2 passed",
        "3",
        "yes",
        "Two files were run.",
        "test_cart passes.",
        "Alla tester utom test_total är godkända.",
        "Satu tes gagal.",
        "One of them: it came out one short.",
        "Alle Tests außer test_total sind durchgelaufen.",
        "Die Summe war um eins zu klein.",
        "Tous les tests passent sauf test_total.",
        "La somme est trop petite d'une unité.",
        "Todas las pruebas pasaron menos test_total.",
        "Quedó corta por uno.",
        "除test_total外全部通过",
        "总数少了一",
        "test_total以外は合格です",
        "合計が1つ足りません。",
        "Все тесты прошли, кроме test_total.",
        "Сумма на единицу меньше.",
        "test_total을 빼고 모두 통과했지만 하나는 실패",
        "합계가 하나 적습니다.",
    ],
)
def test_right_answers_of_any_language_pass(text: str) -> None:
    assert held_back(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "test_total failed: 3 is not 4.",
        "2 tests passed, but test_total failed.",
        "The run did not succeed.",
        "Only tests/test_cart.py::test_total is red; the other two of the three collected items are green.",
    ],
)
def test_what_tells_of_the_failure_passes(text: str) -> None:
    assert held_back(text) == []


def test_what_the_output_has_elsewhere_too_may_have_gone_well() -> None:
    assert held_back("test_total passed.", FAILED + "tests/test_all.py::test_total PASSED\n") == []
    assert held_back("test_sum passed.", FAILED + "tests/test_cart.py::test_sum PASSED\n") == []
    assert held_back("test_total did not pass.") == []


@pytest.mark.parametrize("text", ["No failures or errors.", "All passed; nothing failed, crashed or timed out."])
def test_a_denial_covers_a_list(text: str) -> None:
    assert held_back(text, PASSED, 0) == []


def test_a_failure_is_not_claimed_after_success() -> None:
    assert held_back("test_cart.py failed.", PASSED, 0) == ["no_failure_in_output"]
    assert held_back("test_cart.py failed.", PASSED + "0 errors, error: None\n", 0) == ["no_failure_in_output"]
    # A command may succeed and tell of failures.
    assert held_back("test_total failed.", FAILED, 0) == []


def test_repetition_is_held_back_unless_the_output_repeats_itself() -> None:
    line = "The tests were collected and the coverage was written.\n"
    assert "repetition" in held_back(line * 3 + "test_total failed.")
    assert "repetition" in held_back(" ".join(["one total is wrong in the cart of the shop"] * 3))
    assert held_back("E   AssertionError: 3 != 4\n" * 3) == []
    assert held_back("- total: 1\n- total: 1\n- total: 1", intent=Intent.YAML) == []


@pytest.mark.parametrize(
    "line",
    [
        "{}. See the log.",
        "{}) Read the output again",
        "- Step {}: see the log.",
        "See line {} of the log.",
        "**{}.** See the log.",
        "#{} See the log.",
        "{} - See the log.",
        "See the log ({}).",
        "Step {}: see the log.",
        "{}. see the log",
        "第{}步：查看日志。",
    ],
)
@pytest.mark.parametrize("between", ["\n", " "])
def test_a_line_under_running_numbers_is_one_line(line: str, between: str) -> None:
    said = [line.format(number) for number in range(1, 30)]
    assert "repetition" in held_back(between.join(said))
    assert "repetition" not in held_back(between.join(said[:2]))


@pytest.mark.parametrize("text", ["failed " * 12, "see the log " * 4, "- See it.\n* See it.\n+ See it."])
def test_what_is_said_over_and_over_is_held_back(text: str) -> None:
    assert "repetition" in held_back(text)
    assert "repetition" not in held_back(text, text.strip() * 3)


def test_numbers_of_the_output_make_other_lines() -> None:
    output = "".join(f"case {number} went wrong after {7 * number} ms\n" for number in range(1, 9))
    assert held_back("case 1 went wrong\ncase 2 went wrong\ncase 3 went wrong", output) == []
    assert held_back("1. case 1 went wrong\n2. case 4 went wrong\n3. case 6 went wrong", output) == []
    # Numbers that do not run name places.
    assert held_back("see line 3 of it\nsee line 9 of it\nsee line 14 of it", output) == []


@pytest.mark.parametrize(
    "text", ["tests/test_order.py failed.", "`OrderTotal` failed in src/order.rb:7", "E0308 in a.rs"]
)
def test_an_answer_that_names_nothing_of_the_output_is_held_back(text: str) -> None:
    assert held_back(text) == ["nothing_of_the_output"]
    assert held_back(f"{text} So did test_total.") == []


@pytest.mark.parametrize("text", ["Two AssertionErrors.", "TestTotal was wrong.", "cart_tests failed."])
def test_a_name_made_of_words_of_the_output_is_none_from_elsewhere(text: str) -> None:
    assert held_back(text) == []


def test_words_from_elsewhere_are_held_back() -> None:
    assert held_back("Polygons have sides, angles, corners.") == ["nothing_of_the_output"]
    assert held_back("None of these polygons have sides or angles.") == []


def test_an_answer_as_long_as_the_output_is_held_back() -> None:
    request = Request("exit 1", "What failed?", Intent.SUMMARY, "make", 1)
    _, recovered, _ = examine("make ended with exit 1", request)
    assert "not_shorter" in objections(recovered.text, request, recovered.validation).sure


def test_names_that_stand_nowhere_are_told() -> None:
    request = Request(FAILED * 20, "What failed?", Intent.SUMMARY, "pytest -q", 1)
    _, recovered, _ = examine("tests/test_order.py failed.", request)
    assert objections(recovered.text, request, recovered.validation).unfounded == ("tests/test_order.py",)


def test_every_objection_is_told_in_words() -> None:
    assert set(OBJECTIONS) == {
        *("contradicts_exit_code", "no_failure_in_output", "repetition", "nothing_of_the_output", "not_shorter")
    }


@pytest.mark.slow
def test_right_answers_pass(corpus: Corpus) -> None:
    """All golds, and of careful readers' answers and right ones of the validity set at most one in a hundred."""
    cases = {case.case_id: case for case in corpus.cases}
    readers = blind_answers().items()
    right = [(each.case_id, each.text) for each in read_answers().answers if each.is_right and not each.held_out]
    for answers, most in (([(c.case_id, c.expected_output) for c in corpus.cases], 0.0), ([*readers, *right], 0.01)):
        stopped = []
        for name, text in answers:
            _, recovered, _ = examine(text, cases[name].request)
            if recovered.validation.status is not Status.REJECTED:
                found = objections(recovered.text, cases[name].request, recovered.validation)
                stopped += [(name, found.sure)] * bool(found.sure)
        assert len(stopped) <= most * len(answers), stopped


@pytest.mark.parametrize("text", ["The answer is:", "What has failed in icers?", "Here is the answer to that:"])
def test_a_question_given_back_is_no_answer(text: str) -> None:
    assert held_back(text) == ["nothing_of_the_output"]


@pytest.mark.parametrize("text", ["None.", "test_total", "test_cart.py failed"])
def test_a_short_answer_may_be_all_there_is_to_say(text: str) -> None:
    assert held_back(text) == []

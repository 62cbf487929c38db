"""How a check ended where its exit code is hidden: what ran, what failed, and what filters may have cut away."""

from __future__ import annotations

import pytest

from ctxsift.sessions.artifacts.index import ArtifactIndex
from ctxsift.sessions.artifacts.records import CheckState
from ctxsift.sessions.records import Source, Step, ToolCall, ToolResult

_FOLDER = "/home/me/tool"
_PASSED, _FAILED, _NOT_SHOWN = CheckState.PASSED, CheckState.FAILED, CheckState.NOT_SHOWN


def state(command: str, output: str, code: int | None = 0) -> CheckState:
    found = ArtifactIndex(_FOLDER)
    call = ToolCall("c", "bash", {"command": command})
    result = ToolResult("c", output, code, bool(code) if code is not None else None)
    found.add(Step(1, Source.AGENT, "", calls=(call,), results=(result,), folder=_FOLDER))
    return found.artifacts().checks[-1].runs[-1].state


@pytest.mark.parametrize(
    ("command", "output"),
    [
        # Python
        ("pytest -q 2>&1 | tail -4", "218 passed, 2 errors in 8.41s"),
        ("python -m pytest | tail -2", "======== 1 failed, 30 passed, 2 warnings in 1.92s ========"),
        ("uv run pytest -q | tail -3", "FAILED tests/test_ship.py::test_weight - KeyError: 'kg'"),
        ("pytest tests/gone.py 2>&1 | tail -3", "ERROR: file or directory not found: tests/gone.py\n"),
        ("pytest | tail", "!!!!!!! Interrupted: 2 errors during collection !!!!!!!\n2 errors in 0.40s"),
        ("python -m unittest 2>&1 | tail -3", "Ran 9 tests in 0.020s\n\nFAILED (failures=1, errors=2)"),
        ("python -m pytest 2>&1 | tail", "/usr/bin/python: No module named pytest"),
        # JavaScript
        (
            "npx vitest run | tee log.txt",
            " Test Files  4 passed (4)\n      Tests  52 passed (52)\n     Errors  1 error",
        ),
        ("npx vitest run | tail -4", " Test Files  2 failed | 5 passed (7)\n      Tests  60 passed (60)"),
        ("pnpm vitest run | tail -9", "Vitest caught 3 unhandled errors during the test run.\n Tests  8 passed (8)"),
        ("npx jest 2>&1 | tail -6", "Test Suites: 2 failed, 7 passed, 9 total\nTests:       61 passed, 61 total"),
        ("yarn jest | tail -40", "  ● Test suite failed to run\n\n    Cannot find module './cart'"),
        ("npx mocha | tail -20", "  14 passing (31ms)\n  2 failing\n\n  1) cart adds:"),
        ("node --test --import tsx | tail -8", "# tests 31\n# pass 29\n# fail 2\n# cancelled 0"),
        ("node --test | tail -8", "ℹ tests 31\nℹ pass 30\nℹ fail 0\nℹ cancelled 1"),
        ("bun test | tail -4", " 12 pass\n 2 fail\n 40 expect() calls\nRan 14 tests across 3 files. [90.00ms]"),
        ("npx playwright test | tail -4", "  1 failed\n    [chromium] › cart.spec.ts:4:1 › total\n  8 passed (4.1s)"),
        ("npm test 2>&1 | tail -3", 'npm error Missing script: "test"'),
        ("npm test 2>&1 | tail -3", "sh: 1: vitest: not found"),
        ("npx playwright test | tail -3", "  2 interrupted\n  3 did not run\n  8 passed (3.2s)"),
        ("npm run build 2>&1 | tail -1", "webpack 5.90.0 compiled with 2 errors in 900 ms"),
        ("python manage.py test | tail -1", "FAILED (errors=1)"),
        ("pytest -v | head -2", "tests/test_a.py::test_one PASSED [ 50%]\ntests/test_a.py::test_two FAILED [100%]"),
        ("npx nyc mocha | tail -1", "ERROR: Coverage for lines (71%) does not meet global threshold (80%)"),
        (
            "npx vitest run --typecheck | tail -4",
            " Test Files  1 passed (1)\n      Tests  3 passed (3)\nType Errors  2 errors",
        ),
        ("prove -r t | tail -1", "t/cart.t .. Dubious, test returned 1 (wstat 256, 0x100)"),
        ("vendor/bin/phpunit | tail -3", "There was 1 failure:\n\n1) CartTest::testTotal"),
        # Coverage
        (
            "pytest --cov | tail -4",
            "FAIL Required test coverage of 90% not reached. Total coverage: 81.20%\n9 passed in 1s",
        ),
        ("npx vitest run --coverage | tail", "ERROR: Coverage for branches (61%) does not meet global threshold (80%)"),
        (
            "npx jest --coverage | tail -7",
            'Test Suites: 1 passed, 1 total\nTests:       5 passed, 5 total\nJest: "src/a.js" coverage threshold for '
            "branches (75%) not met: 50%",
        ),
        ("bundle exec rspec | tail -3", "Line coverage (64.1%) is below the expected minimum coverage (90.00%)."),
        ("mix test --cover | tail -4", "Coverage test failed, threshold not met:\n\n    Coverage:   64.10%"),
        # Others
        ("go test ./... | tail -3", "ok  \ttool/ship\t0.004s\nFAIL\ttool/mail [build failed]\nFAIL"),
        ("go test -v ./... | grep -E '^(ok|FAIL|---)'", "--- PASS: TestAdd (0.00s)\n--- FAIL: TestSub (0.00s)"),
        ("cargo test | tail -4", "test result: FAILED. 8 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out"),
        ("cargo test 2>&1 | tail -1", "error: test failed, to rerun pass `--test api`"),
        ("cargo nextest run 2>&1 | tail -3", "     Summary [   0.045s] 14 tests run: 13 passed, 1 failed, 2 skipped"),
        ("bundle exec rspec | tail -2", "31 examples, 2 failures, 1 pending"),
        ("bundle exec rspec | tee log", "31 examples, 0 failures, 2 errors occurred outside of examples"),
        ("mix test | tail -1", "3 tests, 0 failures, 1 invalid"),
        ("mix test 2>&1 | tail -1", "** (CompileError) lib/cart.ex:3: undefined function total/1"),
        ("cargo test | head -2", "running 2 tests\ntest adds ... FAILED"),
        ("go test ./... 2>&1 | tail -1", "mail/mail_test.go:3:8: package tool/zzz is not in std"),
        ("./gradlew test | tail -2", "CartTest > total FAILED\n    org.opentest4j.AssertionFailedError"),
        ("mix test | tail -2", "2 doctests, 40 tests, 3 failures"),
        ("bin/rails test | tail -1", "5 runs, 9 assertions, 0 failures, 1 errors, 0 skips"),
        ("ruby -Itest test/cart_test.rb | tail -1", "5 runs, 9 assertions, 1 failures, 0 errors, 0 skips"),
        ("vendor/bin/phpunit | tail -3", "FAILURES!\nTests: 8, Assertions: 20, Failures: 2."),
        ("mvn test | grep 'Tests run'", "[ERROR] Tests run: 9, Failures: 0, Errors: 2, Skipped: 1"),
        ("./gradlew test | tail -3", "14 tests completed, 2 failed\n\n> Task :core:test FAILED"),
        (
            "dotnet test | tail -1",
            "Failed!  - Failed:     3, Passed:    11, Skipped:     0, Total:    14 - A.dll (net8.0)",
        ),
        ("dotnet test | tail -1", "Test summary: total: 14, failed: 3, succeeded: 11, skipped: 0, duration: 2.1s"),
        ("ctest | tail -6", "93% tests passed, 1 tests failed out of 14\n"),
        ("ctest | grep -v Passed", " 9/14 Test  #9: mail ....***Timeout  10.02 sec"),
        ("bats tests | tail -3", "ok 7 keeps a backup\nnot ok 8 removes the old one\n"),
        ("bats --pretty tests | tail -2", "14 tests, 2 failures"),
        ("prove -r t | tail -2", "Files=4, Tests=31,  1 wallclock secs\nResult: FAIL"),
        ("swift test | tail -1", "Executed 31 tests, with 2 failures (1 unexpected) in 0.4 (0.5) seconds"),
        ("xcodebuild -scheme Tool test | tail -1", "** TEST FAILED **"),
        ("make test | tail -1", "make: *** [Makefile:9: test] Error 1"),
        # Linters, type checkers, builds
        ("go vet ./... | head", "# tool/mail\nmail/mail.go:12:3: unreachable code"),
        ("ruff check . | tail -1", "Found 4 errors."),
        ("flake8 | head -3", "lib/one.py:3:80: E501 line too long (91 > 79 characters)"),
        ("golangci-lint run | tail -2", "3 issues:\n* errcheck: 3"),
        ("npx eslint . | tail -4", "  4:7  error  'x' is never used  no-unused-vars\n"),
        ("npx eslint . | tail -2", "✖ 5 problems (2 errors, 3 warnings)"),
        ("bundle exec rubocop | tail -1", "12 files inspected, 3 offenses detected"),
        ("terraform validate | tail -4", "│ Error: Missing required argument\n│ "),
        ("pre-commit run -a | tail -2", "ruff.....Passed\nmypy (strict).....Failed"),
        ("dotnet build | tail -4", "    0 Warning(s)\n    2 Error(s)\n\nTime Elapsed 00:00:01.90"),
        ("ruff format --check . | tail -2", "error: Failed to parse lib/two.py:9:1: Unexpected indentation"),
        ("npx pyright | tail -1", "1 error, 0 warnings, 0 informations"),
        ("mypy src 2>&1 | tail -1", "mypy: can't read file 'src': No such file or directory"),
    ],
)
def test_what_failed_behind_a_filter_is_told_as_failed(command: str, output: str) -> None:
    assert state(command, output) is _FAILED
    assert state(command, output, None) is _FAILED


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q | tail -1", "no tests ran in 0.02s"),
        ("pytest -q | tail -1", "4 skipped in 0.02s"),
        ("pytest -q -k zzz | tail -1", "31 deselected in 0.05s"),
        ("python -m unittest | tail -4", "Ran 0 tests in 0.000s\n\nOK"),
        ("python -m unittest | tail -4", "Ran 3 tests in 0.000s\n\nOK (skipped=3)"),
        ("npx vitest run --passWithNoTests | tail -2", "No test files found, exiting with code 0"),
        ("npx vitest run | tail -4", " Test Files  1 skipped (1)\n      Tests  3 skipped (3)"),
        ("npx jest --passWithNoTests | tail -1", "No tests found, exiting with code 0"),
        ("npx jest -t zzz | tail -4", "Test Suites: 2 skipped, 0 of 2 total\nTests:       9 skipped, 9 total"),
        ("npx jest | tail -2", "Test Suites: 1 passed, 1 total\nTests:       3 todo, 3 total"),
        ("ctest | tail -1", "100% tests passed, 0 tests failed out of 0"),
        ("npx mocha | tail -3", "  0 passing (1ms)"),
        ("node --test | tail -8", "# tests 4\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 4"),
        ("bats empty.bats", "1..0"),
        ("prove t/all.t | tail -1", "Result: NOTESTS"),
        ("go test ./... | tail -2", "?   \ttool\t[no test files]\n?   \ttool/mail\t[no test files]"),
        (
            "go test -run Zzz . | tail -2",
            "testing: warning: no tests to run\nPASS\nok  \ttool\t0.002s [no tests to run]",
        ),
        ("cargo test zzz | grep 'test result'", "test result: ok. 0 passed; 0 failed; 0 ignored; 9 filtered out"),
        ("cargo nextest run zzz | tail -1", "     Summary [   0.001s] 0 tests run: 0 passed, 14 skipped"),
        ("bundle exec rspec | tail -1", "0 examples, 0 failures"),
        ("bundle exec rspec | tail -1", "12 examples, 0 failures, 12 pending"),
        ("mix test --only zzz | tail -1", "40 tests, 0 failures, 40 excluded"),
        ("mix test | tail -1", "There are no tests to run"),
        ("bin/rails test | tail -1", "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips"),
        ("vendor/bin/phpunit | tail -1", "No tests executed!"),
        ("vendor/bin/phpunit | tail -2", "OK, but incomplete, skipped, or risky tests!\nTests: 4, Skipped: 4."),
        ("mvn test | tail -3", "[INFO] No tests to run.\n[INFO] BUILD SUCCESS"),
        ("mvn test | grep 'Tests run'", "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 2"),
        ("./gradlew test | tail -3", "> Task :core:test NO-SOURCE\n\nBUILD SUCCESSFUL in 2s"),
        ("dotnet test | tail -1", "No test is available in /app/bin/A.dll."),
        ("dotnet test | tail -1", "Skipped! - Failed:     0, Passed:     0, Skipped:     2, Total:     2"),
        ("ctest | tail -1", "No tests were found!!!"),
        ("swift test | tail -1", "Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds"),
        ("make test", "make: 'test' is up to date."),
        ("ruff check src | tail -2", "warning: No Python files found under the given path(s)\nAll checks passed!"),
        ("npx biome check lib | tail -1", "Checked 0 files in 3ms. No fixes applied."),
        ("npx tsc --noEmit | tail -2", "        This is not the tsc command you are looking for"),
    ],
)
def test_where_nothing_ran_nothing_passed(command: str, output: str) -> None:
    assert state(command, output, None) is _NOT_SHOWN


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("go test ./...", "?   \ttool\t[no test files]"),
        ("mix test", "0 tests, 0 failures"),
        (
            "cargo test zzz",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out",
        ),
        ("dotnet test", "No test matches the given testcase filter `Zzz` in /app/bin/A.dll"),
    ],
)
def test_an_exit_code_of_0_is_no_test_that_ran(command: str, output: str) -> None:
    assert state(command, output) is _NOT_SHOWN


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q | tail -1", "31 passed, 2 skipped, 1 xfailed, 3 warnings in 0.80s"),
        ("pytest | grep passed", "==== 31 passed in 0.80s ===="),
        ("pytest --cov | tail -2", "Required test coverage of 80% reached. Total coverage: 95.00%\n31 passed in 0.80s"),
        ("python -m unittest | tail -3", "Ran 9 tests in 0.020s\n\nOK"),
        (
            "npx vitest run | tail -5",
            " Test Files  4 passed (4)\n      Tests  52 passed | 1 skipped (53)\n   Duration  1.2s",
        ),
        ("npx jest | tail -5", "Test Suites: 9 passed, 9 total\nTests:       1 skipped, 61 passed, 62 total"),
        ("npx jest | tail -9", "    Error: boom\n\nTest Suites: 9 passed, 9 total\nTests:       61 passed, 61 total"),
        ("npx mocha | grep -E 'passing|failing'", "  14 passing (31ms)"),
        ("npx mocha | tail -9", "    ✓ shows 2 errors when the form is empty\n\n  14 passing (31ms)"),
        ("node --test | tail -8", "# tests 31\n# suites 2\n# pass 31\n# fail 0\n# cancelled 0\n# skipped 0"),
        ("bun test | tail -4", " 12 pass\n 0 fail\n 40 expect() calls\nRan 12 tests across 3 files. [90.00ms]"),
        ("go test ./... | tail -3", "?   \ttool\t[no test files]\nok  \ttool/mail\t0.004s\nok  \ttool/ship\t(cached)"),
        (
            "cargo test | grep 'test result'",
            "test result: ok. 12 passed; 0 failed\ntest result: ok. 0 passed; 0 failed",
        ),
        ("npx jest | grep -E 'FAIL|Tests:'", "Tests:       61 passed, 61 total"),
        ("git diff --stat; npx mocha | tail -1", " src/a.js | 2 +-\n  14 passing (31ms)"),
        ("npx ava | tail -1", "  ✔ 12 tests passed"),
        ("deno test | tail -1", "ok | 12 passed | 0 failed (23ms)"),
        (
            "npx jest | tail -9",
            "Test Suites: 3 passed, 3 total\nTests:       9 passed, 9 total\n › 1 snapshot obsolete.",
        ),
        ("bundle exec rspec | tail -1", "31 examples, 0 failures, 1 pending"),
        ("mix test | tail -1", "2 doctests, 40 tests, 0 failures"),
        ("bin/rails test | tail -1", "5 runs, 9 assertions, 0 failures, 0 errors, 0 skips"),
        ("vendor/bin/phpunit | tail -1", "OK (12 tests, 30 assertions)"),
        ("mvn test | grep 'Tests run'", "[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 1"),
        ("./gradlew test | tail -3", "> Task :core:compileTestJava NO-SOURCE\n\nBUILD SUCCESSFUL in 3s"),
        ("dotnet test | tail -1", "Passed!  - Failed:     0, Passed:    14, Skipped:     0, Total:    14"),
        ("ctest | tail -3", "100% tests passed, 0 tests failed out of 14"),
        ("bats tests | cat", "1..3\nok 1 keeps\nok 2 moves # skip later\nok 3 removes"),
        ("bats --pretty tests | tail -1", "14 tests, 0 failures"),
        ("prove -r t | tail -2", "Files=4, Tests=31,  1 wallclock secs\nResult: PASS"),
        ("swift test | tail -1", "Executed 31 tests, with 0 failures (0 unexpected) in 0.4 (0.5) seconds"),
        ("xcodebuild test | tail -1", "** TEST SUCCEEDED **"),
        ("ruff format --check . | tail -1", "12 files already formatted"),
        ("npx pyright | tail -1", "0 errors, 0 warnings, 0 informations"),
        ("bundle exec rubocop | tail -1", "12 files inspected, no offenses detected"),
        ("terraform validate | tail -1", "Success! The configuration is valid."),
        ("ruff check . | head -1", "All checks passed!"),
        ("cargo build | tail -1", "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.30s"),
    ],
)
def test_what_ran_and_went_well_passed(command: str, output: str) -> None:
    assert state(command, output) is _PASSED


@pytest.mark.parametrize(
    ("command", "output"),
    [
        # A search for what passed
        ("npx mocha | grep passing", "  14 passing (31ms)"),
        ("go test ./... | grep -E '^ok'", "ok  \ttool/mail\t0.004s"),
        ("node --test | grep '# pass'", "# pass 29"),
        ("go test ./... | grep mail", "ok  \ttool/mail\t0.004s"),
        ("go test ./... | grep -v FAIL", "ok  \ttool/mail\t0.004s"),
        # A number of lines
        ("pytest | grep -c FAILED", "0"),
        # The beginning of an output
        ("go test ./... | head -2", "ok  \ttool/mail\t0.004s\nok  \ttool/ship\t0.004s"),
        ("cargo test | head -1", "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.30s"),
        # The end of one: files that did not load have no tests, points of TAP stand in front
        ("npx vitest run | tail -3", "      Tests  52 passed (52)\n   Duration  1.2s"),
        ("npx jest | tail -4", "Tests:       61 passed, 61 total\nSnapshots:   2 passed, 2 total\nTime:        1.2 s"),
        ("bats tests | tail -2", "ok 13 keeps\nok 14 removes"),
        ("pre-commit run -a | tail -2", "ruff.....Passed\nmypy.....Passed"),
        # What other commands print
        ("grep -n limit src; npx eslint . | tail -1; git status", "src/a.js:8: limit: error\n"),
        ("sed -n 1,9p notes.txt; npm test | tail -1", "Error: as it was last year\n"),
        ("git diff; go vet ./... | head", "+mail/mail.go:12:3: as a test has it\n"),
        # A part of many that failed in words of its own
        ("make check; git status", "tests     ok      119 passed in 2.41s\nreports   FAILED  2 differ\n M a.txt"),
        ("npx eslint . | grep -E 'error|problems'", "/srv/errors.js\n✖ 3 problems (0 errors, 3 warnings)"),
        # What is neither
        ("vendor/bin/phpunit | tail -2", "WARNINGS!\nTests: 8, Assertions: 20, Warnings: 2."),
        ("npx eslint . | tail -2", "✖ 3 problems (0 errors, 3 warnings)"),
        ("npx tsc --noEmit | head", ""),
        # Words of the command line itself
        ("ruff check . | tail -1; echo 'All checks passed!'", "All checks passed!"),
        ("npm test | tail -1 && echo OK", "done\nOK"),
    ],
)
def test_what_a_filter_may_have_cut_away_is_not_shown(command: str, output: str) -> None:
    assert state(command, output, None) is _NOT_SHOWN


@pytest.mark.parametrize(
    ("command", "is_check"),
    [
        ("mix credo --strict", True),
        ("mix dialyzer", True),
        ("mix format --check-formatted", True),
        ("mix format", False),
        ("cargo fmt --check", True),
        ("cargo fmt -- --check", True),
        ("cargo fmt", False),
        ("terraform fmt -check", True),
        ("rustfmt --check src/main.rs", True),
        ("ruff format .", False),
    ],
)
def test_linters_are_checks_and_formatters_only_where_they_change_nothing(command: str, is_check: bool) -> None:
    found = ArtifactIndex(_FOLDER)
    call = ToolCall("c", "bash", {"command": command})
    found.add(Step(1, Source.AGENT, "", calls=(call,), results=(ToolResult("c", "x", 1, True),), folder=_FOLDER))
    assert [run.state for check in found.artifacts().checks for run in check.runs] == [_FAILED] * is_check

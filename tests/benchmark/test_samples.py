"""What docs/runner.md shows of the packaged results is what the command prints."""

from tests.support.samples import RUNNER, SAMPLE, board


def test_the_sample_is_what_the_command_prints() -> None:
    (sample,) = SAMPLE.finditer(RUNNER.read_text(encoding="utf-8"))
    assert sample[0] == f"{sample[1]}{board()}{sample[2]}", "renew it: make samples"

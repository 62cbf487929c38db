"""Which proxy and which certificates the environment names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxsift.backends.proxies import certificates_for, is_loopback, proxy_for, without_network_variables
from ctxsift.errors import LoadError

HTTP, HTTPS = "http://service.invalid/v1", "https://service.invalid/v1"


@pytest.fixture(autouse=True)
def no_network_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.lower().endswith("_proxy") or name.startswith("SSL_CERT"):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("url", "variable", "used"),
    [
        (HTTP, "HTTP_PROXY", True),
        (HTTP, "http_proxy", True),
        (HTTP, "HTTPS_PROXY", False),
        (HTTPS, "HTTPS_PROXY", True),
        (HTTPS, "HTTP_PROXY", False),
        (HTTPS, "ALL_PROXY", True),
        ("http://localhost:8000/v1", "ALL_PROXY", False),
        ("http://127.1/v1", "HTTP_PROXY", False),
        ("http://[::1]:8000/v1", "HTTP_PROXY", False),
    ],
)
def test_a_variable_holds_for_its_scheme(url: str, variable: str, used: bool) -> None:
    found = proxy_for(url, {variable: "proxy.invalid:3128"})
    assert (found.url if found else None) == ("http://proxy.invalid:3128" if used else None)


@pytest.mark.parametrize(
    "excepted", ["service.invalid", ".invalid", "other, service.invalid", "*", "service.invalid:80"]
)
def test_exceptions(excepted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", excepted)
    assert proxy_for(HTTP, {"HTTP_PROXY": "http://proxy.invalid"}) is None


@pytest.mark.parametrize(
    "value",
    [
        "nonsense://u:h1dden@h",
        "http://[h1dden",
        "http://h:h1dden",
        "http://u:h1dden@h:99999",
        "http://",
        "http://u:h1dden@h\x1b",
        "http://h:0",
    ],
)
def test_what_is_no_proxy_is_named_without_its_value(value: str) -> None:
    with pytest.raises(LoadError, match=r"^HTTPS_PROXY is not a valid proxy address") as caught:
        proxy_for(HTTPS, {"HTTPS_PROXY": value})
    assert "h1dden" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.8.9.1", True), ("::ffff:127.0.0.1", True), ("0.0.0.0", True), ("a.localhost", True), ("10.0.0.1", False)],
)
def test_loopback(host: str, here: bool) -> None:
    assert is_loopback(host) is here


def test_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert certificates_for(HTTP, None) is None
    (tmp_path / "empty.pem").write_text("nothing\n")
    for file in (tmp_path / "none.pem", tmp_path / "empty.pem"):
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        with pytest.raises(LoadError, match=r"^SSL_CERT_FILE"):
            certificates_for(HTTPS, None)


def test_variables_are_hidden_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://h")
    with without_network_variables():
        assert "https_proxy" not in os.environ
    assert os.environ["https_proxy"] == "socks5://h"

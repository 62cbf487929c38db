"""What the environment says of the network: proxies and certificates, for one address."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import socket
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ctxsift.errors import LoadError

_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")
# What httpx, and so LiteLLM while it is imported, would read and could choke on.
_NETWORK_VARIABLES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"}


@dataclass(frozen=True)
class Proxy:
    """A proxy, and the variable that names it."""

    url: str
    variable: str


def proxy_for(base_url: str, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy that the environment names for an address; None for this machine itself.

    Raises:
        LoadError: it is no proxy that can be used; names the variable and nothing of its value.

    """
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if is_loopback(host) or urllib.request.proxy_bypass(f"{host}:{port}"):
        return None
    for kind in (parts.scheme, "all"):
        for variable in (f"{kind}_proxy", f"{kind}_PROXY".upper()):
            if url := environ.get(variable, "").strip():
                return _usable(Proxy(url if "://" in url else f"http://{url}", variable))
    return None


def _usable(proxy: Proxy) -> Proxy:
    """Return a proxy that can be used. Raises LoadError as `proxy_for` does."""
    name = proxy.variable
    try:
        there = urlsplit(proxy.url)
        usable = there.scheme in _PROXY_SCHEMES and there.hostname and there.port != 0 and proxy.url.isprintable()
    except ValueError:
        usable = False
    if not usable:
        raise LoadError(f"{name} is not a valid proxy address; write it like http://host:3128, or unset it")
    if there.scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        raise LoadError(f"{name} names a SOCKS proxy, for which a package is missing: pip install 'httpx[socks]'")
    return proxy


def is_loopback(host: str) -> bool:
    """Return whether a host name or address means this machine."""
    if host.rstrip(".").lower() in ("localhost", "ip6-localhost") or host.lower().endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            # Short forms, like 127.1.
            address = ipaddress.ip_address(socket.inet_aton(host))
        except (OSError, ValueError):
            return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def certificates_for(base_url: str, proxy: Proxy | None) -> ssl.SSLContext | None:
    """Return the certificates to trust; None where nothing is encrypted. Raises LoadError naming the variable."""
    if not base_url.startswith("https:") and not (proxy and proxy.url.startswith("https:")):
        return None
    named = os.environ.get("SSL_CERT_FILE")
    # Anything else there, a pipe for one, could keep us waiting.
    if named and not Path(named).is_file():
        raise LoadError("SSL_CERT_FILE does not name a file; correct or unset it")
    import httpx

    try:
        return httpx.create_ssl_context()
    except (OSError, ValueError) as error:
        raise LoadError(
            f"{'SSL_CERT_FILE' if named else 'SSL_CERT_DIR'} holds no certificates that can be read ({error}): "
            "correct or unset it"
        ) from error


@contextmanager
def without_network_variables() -> Iterator[None]:
    """Hide proxies and certificates of the environment from libraries that would read them, and fail, unasked."""
    hidden = {name: value for name, value in os.environ.items() if name.lower() in _NETWORK_VARIABLES}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)

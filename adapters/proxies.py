"""The proxy for an address, from the environment; for every adapter."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from engine.values.errors import SettingsError

SPOKEN = ("http", "https")  # the proxies that aiohttp can use
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class OtherProxy(NamedTuple):
    """A proxy of another kind than HTTP: its kind, its variable's name, and the host behind it.

    Connecting without it might reveal this machine's address, so nothing is sent.
    """

    kind: str
    name: str
    scheme: str
    host: str


def find_proxy(url: str) -> str | OtherProxy | None:
    """Return the proxy for an address, such as HTTPS_PROXY's; None: connect directly."""
    parts = urlsplit(url)
    host, scheme = parts.hostname or "", parts.scheme
    if host in LOOPBACK or proxy_bypass(host):
        return None
    proxies = getproxies()
    name = scheme if proxies.get(scheme) else "all"
    proxy = proxies.get(name)
    if not proxy or "://" not in proxy:
        return proxy and f"http://{proxy}"
    kind = urlsplit(proxy).scheme
    return proxy if kind in SPOKEN else OtherProxy(kind, name, scheme, host)


def proxy_of(url: str) -> str | None:
    """Return the proxy for an address. Raises SettingsError if it is not an HTTP proxy."""
    found = find_proxy(url)
    if isinstance(found, OtherProxy):
        kind, name, scheme, host = found
        said = {"kind": kind, "name": name.upper(), "scheme": scheme.upper(), "host": host}
        raise SettingsError(
            (
                "{host} is behind the {kind} proxy of {name}_PROXY, and only HTTP proxies can be "
                "used; set {scheme}_PROXY to an HTTP proxy, or add {host} to NO_PROXY."
            ).format(**said)
        )
    return found

"""Which proxy a chat platform is reached by: the one that the environment names, as for models."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from engine.errors import SettingsError

SPOKEN = ("http", "https")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OTHER_KIND = (
    "{host} is behind the {kind} proxy of {name}_PROXY, and only HTTP proxies can be used; set "
    "{scheme}_PROXY to an HTTP proxy, or add {host} to NO_PROXY."
)


def proxy_of(url: str) -> str | None:
    """Return the proxy for an address, None for a direct connection.

    Raises SettingsError for one that is no HTTP proxy: to go past it might show who asks.
    """
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
    if kind in SPOKEN:
        return proxy
    said = {"host": host, "kind": kind, "name": name.upper(), "scheme": scheme.upper()}
    raise SettingsError(OTHER_KIND.format(**said))

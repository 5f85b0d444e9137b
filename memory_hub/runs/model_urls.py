"""Which addresses a model connection may have: a guard against making the hub call what only it can reach (SSRF)."""

import ipaddress
import socket
from urllib.parse import urlsplit

from django.conf import settings

from memory_hub.common.errors import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Networks that the standard library does not call private, behind which the inside of a network may lie.
_EMBEDDED_IPV4 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
# Metadata services of clouds outside of the link-local range.
_METADATA = {ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")}


def require_allowed_url(url: str) -> None:
    """Raise InvalidInput (code model_url_refused) unless a model may be called at this address.

    Asked when a connection is saved and again right before each run, since a name may point elsewhere by then.
    Loopback and private networks are for operators who allow them (ALLOW_PRIVATE_MODEL_URLS); link-local addresses
    and metadata services are never allowed. A host name counts by every address it has.
    """
    parts = urlsplit(url.strip())
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _refused("The port in this address is not a number from 1 to 65535.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise _refused(
            "Give an address that begins with http:// or https://, such as http://127.0.0.1:11434/v1."
        )
    if parts.username or parts.password:
        raise _refused("Leave the key out of the address; it has a field of its own.")
    if parts.query or parts.fragment:
        raise _refused("Leave out what follows “?” or “#”: paths are added to this address.")
    for address in _addresses(host, port or (443 if parts.scheme == "https" else 80)):
        _require_allowed(host, address)


def _addresses(host: str, port: int) -> set[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _refused(f"The host {host} cannot be found. Is its name right?") from None
    return {ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found}


def _require_allowed(host: str, address: Address) -> None:
    inner = _unwrapped(address)
    if inner.is_link_local or inner in _METADATA or inner.is_multicast or inner.is_unspecified:
        raise _refused(f"{host} is an address ({address}) that no model is ever served at.")
    if settings.ALLOW_PRIVATE_MODEL_URLS:
        return
    if not inner.is_global:
        raise _refused(
            f"{host} lies in a private network ({address}). The operator of this hub can allow that with "
            "ALLOW_PRIVATE_MODEL_URLS."
        )


def _unwrapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address.sixtofour:
            return address.sixtofour
        if any(address in network for network in _EMBEDDED_IPV4):
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _refused(message: str) -> InvalidInput:
    return InvalidInput(message, code="model_url_refused", fields={"base_url": message})

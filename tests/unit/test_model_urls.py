"""Where a model may be called: the outside always, the inside with the operator's leave, metadata services never."""

import socket
from typing import Any

import pytest

from memory_hub.common.errors import InvalidInput
from memory_hub.runs.model_urls import require_allowed_url

NEVER = [
    "http://169.254.169.254/latest/meta-data",
    "http://[fe80::1]/v1",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://0.0.0.0:8000/",
    "http://[::]/",
    "http://224.0.0.1/",
    "http://2852039166/",  # 169.254.169.254 as one number
    "http://0xa9fea9fe/",
]
PRIVATE = [
    "http://127.0.0.1:11434/v1",
    "http://127.1/",
    "http://[::1]:8080/v1",
    "http://10.0.0.5/v1",
    "http://172.16.0.1/",
    "http://192.168.1.20:1234/v1",
    "http://100.64.0.1/",
    "http://[fd12::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[2002:7f00:1::]/",
]
MALFORMED = [
    "", "api.openai.com/v1", "ftp://example.org", "file:///etc/passwd", "http://", "https://user:key@8.8.8.8/v1",
    "http://8.8.8.8:99999/", "http://8.8.8.8/v1?key=1", "http://8.8.8.8/v1#x", "gopher://8.8.8.8",
]  # fmt: skip


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """What host names lead to, in place of the name servers; numbers are read as the system reads them."""
    known: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def look_up(host: str, port: int, **more: Any) -> Any:
        if host in known:
            return [entry for address in known[host] for entry in real(address, port, **more)]
        return real(host, port, **{**more, "flags": socket.AI_NUMERICHOST})

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("url", NEVER)
def test_metadata_and_link_local_addresses_are_never_called(
    url: str, allowed: bool, settings: Any, names: dict[str, list[str]]
) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = allowed
    with pytest.raises(InvalidInput) as refused:
        require_allowed_url(url)
    assert refused.value.code == "model_url_refused"


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_need_the_operators_leave(
    url: str, settings: Any, names: dict[str, list[str]]
) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = True
    require_allowed_url(url)
    settings.ALLOW_PRIVATE_MODEL_URLS = False
    with pytest.raises(InvalidInput, match="ALLOW_PRIVATE_MODEL_URLS"):
        require_allowed_url(url)


@pytest.mark.parametrize("url", MALFORMED)
def test_what_is_no_address_of_a_model_is_refused_with_a_hint(
    url: str, settings: Any, names: dict[str, list[str]]
) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = True
    with pytest.raises(InvalidInput) as refused:
        require_allowed_url(url)
    assert set(refused.value.extra["fields"]) == {"base_url"}


def test_a_public_address_is_allowed(settings: Any, names: dict[str, list[str]]) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = False
    names["models.example.org"] = ["93.184.216.34", "2606:2800:220:1::1"]
    require_allowed_url("https://models.example.org/v1")
    require_allowed_url("https://8.8.8.8:8443/v1/")


def test_a_name_counts_by_every_address_it_has(settings: Any, names: dict[str, list[str]]) -> None:
    settings.ALLOW_PRIVATE_MODEL_URLS = False
    names["sly.example.org"] = ["93.184.216.34", "10.0.0.1"]
    with pytest.raises(InvalidInput, match="private network"):
        require_allowed_url("https://sly.example.org/v1")
    settings.ALLOW_PRIVATE_MODEL_URLS = True
    names["sly.example.org"] = ["10.0.0.1", "169.254.169.254"]
    with pytest.raises(InvalidInput, match="no model is ever"):
        require_allowed_url("https://sly.example.org/v1")


def test_a_name_that_leads_nowhere_is_refused(settings: Any, names: dict[str, list[str]]) -> None:
    with pytest.raises(InvalidInput, match="cannot be found"):
        require_allowed_url("https://no-such-host.invalid/v1")

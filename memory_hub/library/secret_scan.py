"""Refuses to store secrets, and says which field and line holds one of which kind, never the secret itself."""

from collections.abc import Mapping
from typing import Any

from memory_hub.common.errors import SecretFound
from memory_hub.runs.masking import findings


def refuse_secrets(texts: Mapping[str, str]) -> None:
    """Raise SecretFound where a text holds a secret; `texts` is {field name: text}."""
    found = [
        {"field": field, "line": finding.line, "kind": finding.kind}
        for field, text in texts.items()
        if text
        for finding in findings(text)
    ]
    if not found:
        return
    first = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    fields = {
        str(item["field"]): f"Line {item['line']} seems to hold a secret ({item['kind']})."
        for item in reversed(found)
    }
    raise SecretFound(
        f"Line {first['line']} of {first['field']} seems to hold a secret ({first['kind']}){more}. "
        "Take it out and pass it in at run time.",
        findings=found,
        fields=fields,
    )


def text_of(value: Any) -> str:
    """Return the strings within a JSON value, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {text_of(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(text_of(item) for item in value)
    return "" if value is None else str(value)

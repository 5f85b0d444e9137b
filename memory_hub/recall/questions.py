"""A question without the words around the task: "How do I … in Python?" says nothing about the problem."""

import re

_LEAD = re.compile(
    r"^\s*(?:"
    r"\[?python(?: ?[23](?:\.\d+)?)?\]?\s*[:\-,]\s*"
    r"|(?:what(?:'s| is| are)?|is there|are there)\s+(?:the|a|an|any)?\s*(?:\w+\s+)?(?:way|method|approach)s?\s+"
    r"(?:to|of|for)\s+"
    r"|how (?:do|can|could|would|should|does|did) (?:i|you|we|one)\s+"
    r"|how to\s+"
    r"|can (?:i|you|someone|we)\s+"
    r"|i (?:want|need|would like) to\s+"
    r"|(?:write|create|publish)\s+an?\s+(?:python\s+)?(?:function|program|code)\s+(?:to|that|which|for)\s+"
    r"|best way to\s+"
    r"|(?:please|help me)\s+"
    r")",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s*(?:,|-|\()?\s*\b(?:in|with|using|for|on)\s+python(?:\s*[23](?:\.\d+)*)?\)?\s*(?=[?.!]*$)|[?.!]+\s*$",
    re.IGNORECASE,
)
_MAX_STRIPS = 4
# Longer texts are tasks with details, not questions; their expressions would only cost time.
_MAX_CHARACTERS = 400


def bare(text: str) -> str:
    """Return the task itself; a long text as it is."""
    if len(text) > _MAX_CHARACTERS:
        return text.strip()
    text = " ".join(text.split())  # the patterns are slow on long runs of spaces
    for _ in range(_MAX_STRIPS):
        shorter = _LEAD.sub("", _TAIL.sub("", text))
        if shorter == text:
            break
        text = shorter or text
    return text.strip()

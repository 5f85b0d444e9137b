"""Says to the rooms above that code is gone, so that no copy stays in a cache of theirs."""

from collections.abc import Iterable

from django.db import transaction
from django.dispatch import Signal

# Sent after the commit, with `code`: each text that was deleted.
code_deleted = Signal()


def tell_code_deleted(texts: Iterable[str]) -> None:
    """Send code_deleted for each of these texts once the transaction has committed; a listener cannot fail it."""
    gone = {text for text in texts if text}

    def send() -> None:
        for text in gone:
            code_deleted.send_robust(sender=None, code=text)

    transaction.on_commit(send)

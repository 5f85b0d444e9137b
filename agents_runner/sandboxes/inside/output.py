"""What the code printed: the beginning and the end are kept, the middle of too much is dropped."""

from __future__ import annotations


class Output:
    """Collects at most `limit` bytes: three quarters from the beginning, the rest from the end."""

    def __init__(self, limit: int) -> None:
        self.head_limit = limit * 3 // 4
        self.tail_limit = limit - self.head_limit
        self.clear()

    def clear(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self.head_limit - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if data:
            self.tail += data
            excess = len(self.tail) - self.tail_limit
            if excess > 0:
                del self.tail[:excess]
                self.dropped += excess

    def text(self) -> str:
        """Valid Unicode without NUL, so that it can be stored anywhere."""
        head = self.head.decode("utf-8", "replace")
        tail = self.tail.decode("utf-8", "replace")
        middle = f"\n... [{self.dropped} bytes of output left out] ...\n" if self.dropped else ""
        return (head + middle + tail).replace("\0", "\N{SYMBOL FOR NULL}")

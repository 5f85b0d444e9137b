"""Identifiers: UUID version 7 (RFC 9562, section 5.7), so that new rows sort by the time they were made."""

import os
import time
import uuid


def uuid7() -> uuid.UUID:
    """Return 48 bits of Unix milliseconds followed by 74 random bits, as RFC 9562 lays them out."""
    milliseconds = time.time_ns() // 1_000_000
    random_bits = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & ((1 << 48) - 1)) << 80
    value |= 0x7 << 76
    value |= ((random_bits >> 64) & 0xFFF) << 64
    value |= 0b10 << 62
    value |= random_bits & ((1 << 62) - 1)
    return uuid.UUID(int=value)

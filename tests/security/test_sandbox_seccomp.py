"""The system call filter, run instruction by instruction for both platforms, so that no jump is off by one."""

from __future__ import annotations

import errno
import struct

import pytest

from agents_runner.sandboxes import seccomp

ARCHITECTURES = {0: 0xC000003E, 1: 0xC00000B7}
BOTH = pytest.mark.parametrize("machine", [0, 1])


def run(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int = 0xC000003E) -> int:
    """A classic BPF machine. Returns the filter's verdict."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *padded)
    code = [struct.unpack_from("=HBBI", program, offset) for offset in range(0, len(program), 8)]
    position = accumulator = 0
    while True:
        operation, if_true, if_false, value = code[position]
        position += 1
        if operation == seccomp.LOAD:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif operation == seccomp.RETURN:
            return int(value)
        else:
            holds = {
                seccomp.JUMP_EQUAL: accumulator == value,
                seccomp.JUMP_ANY_BIT: bool(accumulator & value),
                seccomp.JUMP_GREATER_EQUAL: accumulator >= value,
            }[operation]
            position += if_true if holds else if_false


def verdict(machine: int, name: str, *arguments: int, **options: object) -> int:
    for table in (seccomp.OTHER, seccomp.CALLS, seccomp.UNCOVERED, seccomp.PRETENDED, seccomp.SIGNALLING):
        if name in table:
            number = table[name][machine]
            assert number is not None
            program = seccomp.program(machine=machine, **options)  # type: ignore[arg-type]
            return run(program, number, arguments, ARCHITECTURES[machine])
    raise KeyError(name)


REFUSED = seccomp.ERRNO | errno.EPERM
NO_FAMILY = seccomp.ERRNO | errno.EAFNOSUPPORT
NO_CALL = seccomp.ERRNO | errno.ENOSYS
ALONE = {"no_namespaces": True, "landlock_abi": 7}


@BOTH
def test_every_named_call_is_refused_and_everything_else_allowed(machine: int) -> None:
    program = seccomp.program(machine=machine)
    named = {numbers[machine] for numbers in seccomp.CALLS.values()}
    special = {numbers[machine] for numbers in seccomp.OTHER.values()}
    for number in range(470):
        if number not in special:
            expected = REFUSED if number in named else seccomp.ALLOW
            assert run(program, number, (), ARCHITECTURES[machine]) == expected, number


def test_another_architecture_is_killed_and_x32_does_not_exist() -> None:
    for machine in ARCHITECTURES:
        for architecture in (0x40000003, ARCHITECTURES[1 - machine]):
            assert run(seccomp.program(machine=machine), 0, (), architecture) == seccomp.KILL
    assert run(seccomp.program(machine=0), 0x40000000 + 101) == NO_CALL


@BOTH
def test_processes_may_be_started_but_no_namespaces(machine: int) -> None:
    assert verdict(machine, "clone", 0x11) == seccomp.ALLOW
    for bit in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(machine, "clone", bit | 0x11) == REFUSED
    assert verdict(machine, "clone3") == NO_CALL


@BOTH
def test_only_unix_sockets_and_in_landlock_none(machine: int) -> None:
    assert verdict(machine, "socket", 1, 1) == seccomp.ALLOW
    for family in (2, 10, 16, 17, 38, 40):
        assert verdict(machine, "socket", family, 1) == NO_FAMILY
    assert verdict(machine, "socket", 1, 1, **ALONE) == NO_FAMILY


@BOTH
def test_limits_of_other_processes_stay_theirs(machine: int) -> None:
    assert verdict(machine, "prlimit64", 0, 7) == seccomp.ALLOW
    assert verdict(machine, "prlimit64", 4242, 7) == REFUSED


@BOTH
def test_nothing_can_be_typed_into_a_terminal(machine: int) -> None:
    assert verdict(machine, "ioctl", 0, 0x5413) == seccomp.ALLOW
    assert verdict(machine, "ioctl", 0, 0x5412) == REFUSED
    assert verdict(machine, "ioctl", 0, 0x541C) == REFUSED


@BOTH
def test_what_landlock_does_not_govern_is_refused_or_pretended(machine: int) -> None:
    for table, expected in ((seccomp.UNCOVERED, REFUSED), (seccomp.PRETENDED, seccomp.ERRNO)):
        for name, numbers in table.items():
            if numbers[machine] is not None:
                assert verdict(machine, name, **ALONE) == expected
                assert verdict(machine, name) == seccomp.ALLOW
    assert verdict(machine, "prctl", 4, 0, **ALONE) == REFUSED
    assert verdict(machine, "prctl", 15, 0, **ALONE) == seccomp.ALLOW


@BOTH
def test_older_landlocks_leave_more_to_the_filter(machine: int) -> None:
    for name in seccomp.SIGNALLING:
        assert verdict(machine, name, no_namespaces=True, landlock_abi=5) == REFUSED
        assert verdict(machine, name, **ALONE) == seccomp.ALLOW
    for command in (8, 10, 15):
        assert verdict(machine, "fcntl", 0, command, no_namespaces=True, landlock_abi=5) == REFUSED
    assert verdict(machine, "fcntl", 0, 3, no_namespaces=True, landlock_abi=5) == seccomp.ALLOW
    assert verdict(machine, "ioctl", 0, 0x8901, no_namespaces=True, landlock_abi=5) == REFUSED
    old = {"no_namespaces": True, "landlock_abi": 2}
    assert verdict(machine, "truncate", **old) == REFUSED
    assert verdict(machine, "openat2", **old) == NO_CALL
    assert (
        verdict(machine, "openat", 0, 0, 0o1000, **old) == REFUSED
    )  # O_TRUNC alone truncates what can be read
    assert verdict(machine, "openat", 0, 0, 0o1001, **old) == seccomp.ALLOW
    assert verdict(machine, "openat", 0, 0, 0o0, **old) == seccomp.ALLOW
    assert verdict(machine, "truncate", **ALONE) == seccomp.ALLOW


@BOTH
def test_the_filter_is_small_and_every_jump_ends_inside(machine: int) -> None:
    for options in ({}, ALONE, {"no_namespaces": True, "landlock_abi": 1}):
        program = seccomp.program(machine=machine, **options)  # type: ignore[arg-type]
        count = len(program) // 8
        assert count < 400
        for position in range(count):
            operation, if_true, if_false, _ = struct.unpack_from("=HBBI", program, position * 8)
            if operation not in (seccomp.LOAD, seccomp.RETURN):
                assert position + 1 + max(if_true, if_false) < count

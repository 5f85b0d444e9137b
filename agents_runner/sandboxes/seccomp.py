"""The system calls agent code may not make, as a classic BPF program in pure Python (x86-64 and aarch64).

Everything is allowed but what is named here: what reaches other processes, the kernel's configuration, the network,
or memory that no limit counts. With `no_namespaces` (the Landlock sandbox) also what Landlock does not cover.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

ALLOW = 0x7FFF0000
KILL = 0x80000000
ERRNO = 0x00050000
LOAD, JUMP_EQUAL, JUMP_ANY_BIT, JUMP_GREATER_EQUAL, AND, RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data

# name: (x86-64, aarch64); None where the platform lacks it
CALLS: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183), "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_setup": (206, 0), "io_submit": (209, 2),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467), "statmount": (457, 457), "listmount": (458, 458),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "create_module": (174, None), "query_module": (178, None),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "nfsservctl": (180, 42), "personality": (135, 92), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None), "ustat": (136, None),
    "sysfs": (139, None), "lookup_dcookie": (212, 18), "vhangup": (153, 58), "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vmsplice": (278, 75), "mbind": (237, 235),
    "set_mempolicy": (238, 237), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "set_mempolicy_home_node": (450, 450), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    "remap_file_pages": (216, 234), "landlock_create_ruleset": (444, 444), "lsm_set_self_attr": (460, 460),
}  # fmt: skip

# Not covered by Landlock: it governs opening, not attributes, watching, or other processes of the same user.
UNCOVERED: dict[str, tuple[int | None, int | None]] = {
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466),
    "file_setattr": (469, 469), "inotify_init": (253, None), "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "setpriority": (141, 140), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "ioprio_set": (251, 30),
}  # fmt: skip
# Refusing these would break copying and unpacking of files, so they do nothing and say that all went well.
PRETENDED: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "utime": (132, None),
    "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}  # fmt: skip
SIGNALLING: dict[str, tuple[int | None, int | None]] = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
}  # fmt: skip
OTHER: dict[str, tuple[int | None, int | None]] = {
    "clone": (56, 220), "clone3": (435, 435), "socket": (41, 198), "ioctl": (16, 29), "prlimit64": (302, 261),
    "prctl": (157, 167), "fcntl": (72, 25), "truncate": (76, 45), "openat": (257, 56), "openat2": (437, 437),
    "open": (2, None),
}  # fmt: skip

NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET, -TIME
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
SET_OWNER = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP
FCNTL_OWNER = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
AF_UNIX = 1
PR_SET_DUMPABLE = 4
O_TRUNC, O_ACCMODE = 0o1000, 0o3


@dataclass(frozen=True, slots=True)
class Instruction:
    """One BPF instruction; jumps are counted from the next one."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0

    def pack(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.if_true, self.if_false, self.value)


def refuse(number: int = errno.EPERM) -> Instruction:
    return Instruction(RETURN, ERRNO | number)


def load(offset: int) -> Instruction:
    return Instruction(LOAD, offset)


def argument(position: int, *, high: bool = False) -> Instruction:
    """Load the lower (or upper) 32 bits of an argument, on a little-endian machine."""
    return load(ARGUMENT + 8 * position + (4 if high else 0))


def machine_index() -> int:
    """0 for x86-64, 1 for aarch64. Raises NotImplementedError elsewhere."""
    machine = platform.machine()
    if machine in ("x86_64", "AMD64"):
        return 0
    if machine in ("aarch64", "arm64"):
        return 1
    raise NotImplementedError(f"no system call table for {machine}")


def program(*, no_namespaces: bool = False, landlock_abi: int = 0, machine: int | None = None) -> bytes:
    """The filter as bytes.

    no_namespaces: for the Landlock sandbox; `landlock_abi` is the kernel's Landlock version, since older ones leave
    more to this filter. machine: index into the tables, by default this machine's. Raises NotImplementedError.
    """
    index = machine_index() if machine is None else machine
    arch = (0xC000003E, 0xC00000B7)[index]
    code = [load(ARCHITECTURE), Instruction(JUMP_EQUAL, arch, 1, 0), Instruction(RETURN, KILL), load(NUMBER)]
    if index == 0:  # the x32 call numbers would go round the table
        code += [Instruction(JUMP_GREATER_EQUAL, 0x40000000, 0, 1), refuse(errno.ENOSYS)]

    def on(name: str, *then: Instruction) -> None:
        """When it is call `name`, run `then`, whose last instruction returns."""
        number = OTHER[name][index]
        if number is not None:
            code.extend([Instruction(JUMP_EQUAL, number, 0, len(then)), *then])

    def unless(position: int, values: tuple[int, ...], number: int = errno.EPERM) -> list[Instruction]:
        """Refuse when the argument is one of `values`, else allow."""
        checks = [Instruction(JUMP_EQUAL, value, len(values) - step, 0) for step, value in enumerate(values)]
        return [argument(position), *checks, Instruction(RETURN, ALLOW), refuse(number)]

    def all_of(table: dict[str, tuple[int | None, int | None]], result: Instruction) -> None:
        for numbers in table.values():
            number = numbers[index]
            if number is not None:
                code.extend([Instruction(JUMP_EQUAL, number, 0, 1), result])

    all_of(CALLS, refuse())
    on(
        "clone",
        argument(0),
        Instruction(JUMP_ANY_BIT, NAMESPACE_FLAGS, 0, 1),
        refuse(),
        Instruction(RETURN, ALLOW),
    )
    on("clone3", refuse(errno.ENOSYS))  # its flags lie in memory; the C library then uses clone
    owner = () if not no_namespaces or landlock_abi >= 6 else SET_OWNER
    on("ioctl", *unless(1, TERMINAL_INPUT + owner))
    # Limits of other processes; 0 is oneself.
    on("prlimit64", argument(0), Instruction(JUMP_EQUAL, 0, 0, 1), Instruction(RETURN, ALLOW), refuse())
    if not no_namespaces:
        # A Unix socket reaches nothing: the sandbox has a network and files of its own.
        on("socket", argument(0), Instruction(JUMP_EQUAL, AF_UNIX, 0, 1), Instruction(RETURN, ALLOW),
           refuse(errno.EAFNOSUPPORT))  # fmt: skip
    else:
        on("socket", refuse(errno.EAFNOSUPPORT))
        all_of(UNCOVERED, refuse())
        all_of(PRETENDED, refuse(0))
        on("prctl", *unless(0, (PR_SET_DUMPABLE,)))
        if landlock_abi < 6:
            all_of(SIGNALLING, refuse())
            on("fcntl", *unless(1, FCNTL_OWNER))
        if landlock_abi < 3:
            on("truncate", refuse())
            on("openat2", refuse(errno.ENOSYS))
            for name, flags in (("openat", 2), ("open", 1)):
                on(name, argument(flags), Instruction(JUMP_ANY_BIT, O_TRUNC, 0, 2),
                   Instruction(JUMP_ANY_BIT, O_ACCMODE, 1, 0), refuse(), Instruction(RETURN, ALLOW))  # fmt: skip
    code.append(Instruction(RETURN, ALLOW))
    return b"".join(instruction.pack() for instruction in code)

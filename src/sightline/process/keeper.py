"""The keeper: a small program between Sightline and one child tree.

It is run (see child.py) with the number of the control socket. It waits for an order there, starts
the command in a process group of its own, without a terminal, adopts every descendant that is
orphaned, and ends the whole tree when the control socket closes, which happens however Sightline
dies. It also ends what the command leaves behind when the command ends by itself, and exits with
its status.

It answers ``started PID`` or ``failed ERRNO``, one line, and then reads nothing but the end of the
stream. At its own end it says ``took KIB``, the most memory that the command had. It needs only the
standard library and imports as little of it as possible, because it starts with every language
server.
"""

import errno
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # the names cost an import that every start would pay for
    import signal
    from collections.abc import Callable, Mapping, Sequence

    Order = tuple[list[bytes], bytes, dict[bytes, bytes], list[bytes]]
    Enclose = Callable[[list[bytes]], bool]
    Find = Callable[[], list[int]]
    Reap = Callable[[], None]
else:
    import _signal as signal  # all that is used of it, without a quarter of the start for enums

GRACE_S = 2.0
#: How soon it is looked whether something has ended: most things do at once.
_FIRST_POLL_S = 0.001
_POLL_S = 0.02
_KILL_ROUNDS = 50


def main(arguments: list[str], enclose: "Enclose") -> int:
    """``enclose`` puts walls around the process that calls it (see landlock.py)."""
    control = int(arguments[0])
    os.set_inheritable(control, False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)  # only the control socket decides
    leave_group_and_terminal()
    adopt_orphans()
    told = receive(control)
    if told is None:
        return 0  # there was nothing to keep
    try:
        pid = start(*told, enclose)
    except OSError as error:
        say(control, f"failed {error.errno or 0}\n")
        return 127
    say(control, f"started {pid}\n")
    release_standard_streams()
    status, peak = wait_for(pid, control)
    end(lambda: descendants(os.getpid()), reap)
    say(control, f"took {peak}\n")
    return exit_code(status)


def order(
    command: "Sequence[str]", cwd: str, env: "Mapping[str, str]", rules: "Sequence[str]" = ()
) -> bytes:
    """What a keeper is told: ten digits with the size of the rest; then, each followed by NUL,
    the folder, how many words the command has, the words, how many rules of its walls there are,
    the rules, and the environment.
    """
    words = [cwd, str(len(command)), *command, str(len(rules)), *rules]
    words += (f"{name}={value}" for name, value in env.items())
    body = b"".join(os.fsencode(word) + b"\0" for word in words)
    return b"%010d" % len(body) + body


def receive(control: int) -> "Order | None":
    """The order, once it is there whole; ``None`` if none comes any more."""
    size = _exactly(control, 10)
    body = _exactly(control, int(size)) if size else b""
    if not body:
        return None
    cwd, *rest = body.split(b"\0")[:-1]
    command, rest = _counted(rest)
    rules, pairs = _counted(rest)
    return command, cwd, dict(pair.split(b"=", 1) for pair in pairs), rules


def _counted(words: "list[bytes]") -> "tuple[list[bytes], list[bytes]]":
    """So many words as the first one says, and the rest."""
    end = 1 + int(words[0])
    return words[1:end], words[end:]


def _exactly(control: int, size: int) -> bytes:
    found = b""
    while len(found) < size:
        try:
            piece = os.read(control, size - len(found))
        except OSError:
            return b""
        if not piece:
            return b""
        found += piece
    return found


def say(control: int, line: str) -> None:
    try:
        os.write(control, line.encode())
    except OSError:
        pass  # nobody listens any more; the end of the stream will be seen next


def leave_group_and_terminal() -> None:
    """What is sent to Sightline's group or typed at its terminal reaches nothing from here on.

    A session of its own would do the same, but Linux shares a busy machine out by sessions: between
    two of them a question waits longer each way.
    """
    os.setpgid(0, 0)
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return  # there is none
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCNOTTY)
    os.close(terminal)


def start(
    command: list[bytes],
    cwd: bytes,
    env: dict[bytes, bytes],
    rules: list[bytes],
    enclose: "Enclose",
) -> int:
    """Forks and runs the command; an exec that fails is reported here as its error."""
    read_end, write_end = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read_end)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            os.setpgid(0, 0)
            die_with_parent(keeper)
            os.chdir(cwd)
            leave_no_core()
            walls = [rule for rule in rules if not rule.startswith(b"m")]
            if walls:
                enclose(walls)
            for rule in rules:
                if rule.startswith(b"m"):
                    limit_memory(int(rule[1:]))
            os.execvpe(command[0], command, env)
        except OSError as error:
            os.write(write_end, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(write_end)
    problem = os.read(read_end, 16)
    os.close(read_end)
    if problem:
        os.waitpid(pid, 0)
        raise OSError(int(problem), os.strerror(int(problem)))
    return pid


def release_standard_streams() -> None:
    """Lets go of the pipes, so that their ends mean what they say."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def wait_for(pid: int, control: int) -> "tuple[int, int]":
    """The command's wait status, once it has ended or the control socket has closed; and the most
    memory that it had, in KiB, if it ended.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    while True:
        try:
            reaped, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return 0, 0
        if reaped == pid:
            return status, usage.ru_maxrss
        if reaped == 0:
            ready, _, _ = select.select([control, read_end], [], [])
            if read_end in ready:
                os.read(read_end, 512)
            if control in ready and not _more(control):
                return signal.SIGTERM, 0


def _more(control: int) -> bool:
    try:
        return bool(os.read(control, 512))
    except OSError:
        return False


def end(find: "Find", reap: "Reap") -> bool:
    """TERM to everything that ``find`` finds, two seconds, then KILL until it finds nothing.

    Whether nothing is left. This is the one order of ending; whatever else has to be ended (see
    strays.py) is ended by this function too.
    """
    victims = find()
    for pid in victims:
        send(pid, signal.SIGTERM)
    deadline, pause = time.monotonic() + GRACE_S, _FIRST_POLL_S
    while victims and time.monotonic() < deadline:
        reap()
        victims = find()
        if victims:
            time.sleep(pause)
            pause = min(2 * pause, _POLL_S)
    for _ in range(_KILL_ROUNDS):
        reap()
        victims = find()
        if not victims:
            return True
        for pid in victims:
            send(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
    return False


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError as error:
        if error.errno not in (errno.ESRCH, errno.EPERM):
            raise


def descendants(top: int) -> list[int]:
    """Every living process below ``top``, deepest first."""
    children: dict[int, list[int]] = {}
    for pid, parent in process_table():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = [top]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found[::-1]


def process_table() -> list[tuple[int, int]]:
    """(pid, parent) of every process that is not a zombie."""
    if not os.path.isdir("/proc/self"):
        return _process_table_by_ps()
    table: list[tuple[int, int]] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except (OSError, ValueError):
                continue
            if state != b"Z":
                table.append((int(name), int(parent)))
    return table


def _process_table_by_ps() -> list[tuple[int, int]]:
    import subprocess

    listing = subprocess.run(
        ["/bin/ps", "-axo", "pid=,ppid=,stat="],
        capture_output=True,
        text=True,
        timeout=2,
        check=False,
    ).stdout
    rows = (line.split() for line in listing.splitlines())
    return [(int(row[0]), int(row[1])) for row in rows if len(row) == 3 and "Z" not in row[2]]


def adopt_orphans() -> None:
    """Linux: whoever loses its parent below us becomes our child, so that none gets away."""
    _prctl(36)  # PR_SET_CHILD_SUBREAPER


def die_with_parent(keeper: int) -> None:
    """Linux: if the keeper itself is killed, the command goes too."""
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != keeper:
        os._exit(127)


def leave_no_core() -> None:
    """A program that crashes would leave its memory in the folder it runs in."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(limit: int) -> None:
    """Each process below has at most so many bytes of its own. What it reserves without using it
    does not count, as it would for RLIMIT_AS: Node reserves 20 GB, and Go one.
    """
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _prctl(option: int, value: int = 1) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code

"""Binding: one address, and what is said when a port is taken."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.server.ports import PortTaken, bind, holders
from tests.support.http import HttpServer, free_port
from tests.support.program import run
from tests.support.watching import HANG_S

#: Two rows of the kernel's table as Linux prints it: a listener of user 1000, a connection of 0.
TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0F63 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1
   1: 0100007F:0F63 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4243 1
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 4244 1
"""
TABLE6 = """\
  sl  local_address                         remote_address                        st ...
   0: 00000000000000000000000000000000:0F63 00000000000000000000000000000000:0000 0A 0:0 00:0 0 33 0
"""


@pytest.mark.requirement("GA-bind")
def test_the_address() -> None:
    port = free_port()
    with bind(port) as listener:
        assert listener.getsockname() == ("127.0.0.1", port)


def test_who_listens() -> None:
    assert holders(3939, [TABLE]) == {1000}
    assert holders(3939, [TABLE, TABLE6]) == {1000, 33}
    assert holders(22, [TABLE]) == {7}
    assert holders(4000, [TABLE, TABLE6, "", "x\n1 2 3\n"]) == set()


def test_a_port_of_ones_own_program() -> None:
    port = free_port()
    with bind(port), pytest.raises(PortTaken) as taken:
        bind(port)
    assert str(port) in str(taken.value) and "--port" in str(taken.value)
    assert "rotate" not in str(taken.value)


def test_a_port_on_all_addresses_is_taken_too() -> None:
    with socket.socket() as other:
        other.bind(("0.0.0.0", 0))
        other.listen()
        with pytest.raises(PortTaken):
            bind(other.getsockname()[1])


_LISTEN = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True)
sys.stdin.read()
"""


@pytest.mark.requirement("GT-port-of-another")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a program of another user")
def test_a_port_of_another_user_s_program(home: Path, sample: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-I", "-c", _LISTEN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    assert other.stdin is not None and other.stdout is not None
    try:
        port = other.stdout.readline().strip()
        done = run(home, "serve", sample, "--port", port)
    finally:
        other.stdin.close()
        other.wait(HANG_S)
        other.stdout.close()
    assert done.returncode == 3
    assert "another user" in done.stderr and "sightline token rotate" in done.stderr


def test_a_second_server_on_the_same_port(server: HttpServer, place: Path) -> None:
    done = run(server.home, "serve", place / "ws", "--port", str(server.port))
    assert done.returncode == 3
    assert f"port {server.port} is taken" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.requirement("GA-bind")
@pytest.mark.parametrize("address", ["0.0.0.0", "::1", "localhost"])
def test_no_other_address(home: Path, sample: Path, address: str) -> None:
    done = run(home, "serve", sample, "--set", f"bind_address={address}")
    assert done.returncode == 3 and "127.0.0.1" in done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp6"), reason="the machine has no IPv6")
def test_nothing_but_the_loopback_listens(server: HttpServer) -> None:
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]
    ]
    port = f"{server.port:04X}"
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port}")]
    assert listening == [f"0100007F:{port}"]

"""Namespaces of our own for a measurement: an own loopback, and names from the DNS server at 127.0.0.1:53 alone.

So every program resolves names in its usual way, a dead name is NXDOMAIN for all of them, and no program reaches a network.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

INSIDE = "GANNET_WEB_INSIDE"


def enter():
    """Starts this program again inside, unless it is there."""
    if os.environ.get(INSIDE):
        return prepare()
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    words = ["unshare", *rights, "--mount", "--net", sys.executable, "-B", *sys.argv]
    # The limit is the real one's: inside a user namespace nobody may raise it.
    raise_open_files()
    try:
        os.execvpe("unshare", words, os.environ | {INSIDE: "yes"})
    except OSError as error:
        sys.exit(f"web: cannot start unshare, which comes with util-linux: {error}")


def raise_open_files():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in (1 << 17, most):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, max(limit, most)))
            return
        except (ValueError, OSError):
            continue


def prepare():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Resolvers that ask whether the machine has IPv4 at all (AI_ADDRCONFIG, aria2c) do not count 127.0.0.1. The address is one for documentation.
    subprocess.run(["ip", "address", "add", "192.0.2.1/32", "dev", "lo"], check=True)
    with tempfile.NamedTemporaryFile("w", prefix="resolv-", delete=False) as file:
        file.write("nameserver 127.0.0.1\n")
    # Programs that have dropped their rights read it too.
    pathlib.Path(file.name).chmod(0o644)
    subprocess.run(["mount", "--bind", file.name, os.path.realpath("/etc/resolv.conf")], check=True)
    # The mount holds the file.
    os.unlink(file.name)

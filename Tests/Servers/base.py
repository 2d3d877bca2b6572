"""Saying, waiting and ending, for all trials with real servers. No port is fixed."""

import os
import pathlib
import signal
import socket
import sys
import time

begun = time.monotonic()
# The folder of the program that runs, such as Tests/Cluster.
name = pathlib.Path(sys.argv[0]).resolve().parent.name.lower()


def say(text):
    print(f"{name}: {time.monotonic() - begun:6.1f} s  {text}", file=sys.stderr, flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, look, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = look()
        if answer:
            return answer
        time.sleep(0.05)
    sys.exit(f"{name}: waited in vain for this: {what}")


def end(*children):
    """Each is the first of a process group, and ends with all of it."""
    for child in children:
        try:
            os.killpg(child.pid, signal.SIGCONT)
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()

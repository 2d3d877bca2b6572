"""A network namespace with one wire to Redis and one to the origin, each of which can be cut.

A wire is two tun devices and a thread that carries packets between them, so no other kernel module is needed (some machines have no veth).
"""

import ctypes
import fcntl
import os
import select
import struct
import subprocess
import threading

CLONE_NEWNET, TUNSETIFF, TUN_WITHOUT_HEADER = 0x40000000, 0x400454CA, 0x1001


def ip(*words, before=()):
    done = subprocess.run([*before, "ip", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(map(str, words))}: {done.stderr.strip()}")


def missing():
    if os.geteuid() != 0:
        return "root"
    done = subprocess.run(["unshare", "--net", "ip", "tuntap", "add", "t0", "mode", "tun"], capture_output=True)
    return None if done.returncode == 0 else "network namespaces and /dev/net/tun"


def tun(name):
    """A device in the namespace of the thread that calls."""
    file = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), TUN_WITHOUT_HEADER))
    return file


class Wire:
    def __init__(self, outer, inner):
        self.is_cut = False
        self.pairs = {outer: inner, inner: outer}
        threading.Thread(target=self.carry, daemon=True).start()

    def carry(self):
        while True:
            for source in select.select(list(self.pairs), [], [])[0]:
                try:
                    packet = os.read(source, 65536)
                    if not self.is_cut:
                        os.write(self.pairs[source], packet)
                except OSError:
                    pass  # a device that is not up yet takes no packets


class Namespace:
    """It lives as long as the process that holds it. Its devices are this process', and end with it."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "100000"], start_new_session=True)
        self.number = os.getpid() % 250
        self.before = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        self.wires, self.network = {}, None
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            if self.holder.poll() is not None:
                raise RuntimeError("no network namespace could be made")
        ip("link", "set", "lo", "up", before=self.before)

    def tun_inside(self, name):
        """A thread of its own enters the namespace, because a thread cannot leave one without a right."""
        answer = []

        def enter():
            file = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY)
            if ctypes.CDLL(None, use_errno=True).setns(file, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
            os.close(file)
            answer.append(tun(name))

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        return answer[0]

    def wire(self, name, subnet):
        """The outside has the address .1 of a small network, and the inside .2."""
        device = f"gn{name}{os.getpid()}"
        self.wires[name] = Wire(tun(device), self.tun_inside(device))
        ip("addr", "add", f"10.{subnet}.{self.number}.1/30", "dev", device)
        ip("link", "set", device, "up")
        ip("addr", "add", f"10.{subnet}.{self.number}.2/30", "dev", device, before=self.before)
        ip("link", "set", device, "up", before=self.before)
        return f"10.{subnet}.{self.number}.1"

    def lead(self, name, network, gateway):
        """All addresses of a network are this machine's, and the namespace reaches them by this wire."""
        ip("route", "add", "local", network, "dev", "lo")
        self.network = network
        ip("route", "add", network, "via", gateway, before=self.before)

    def cut(self, name, is_cut):
        """Packets are lost in silence, as with a cable that was drawn beyond a switch."""
        self.wires[name].is_cut = is_cut

    def end(self):
        if self.network:
            subprocess.run(["ip", "route", "del", "local", self.network, "dev", "lo"], capture_output=True)
        self.holder.kill()
        self.holder.wait()

"""Small file systems that fill up, and one that forgets what was not flushed."""

import os
import shutil
import subprocess


def call(*words):
    subprocess.run([*map(str, words)], check=True, capture_output=True, text=True)


def missing():
    """Root, and a kernel that mounts."""
    if os.geteuid() != 0:
        return "root"
    done = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    return None if done.returncode == 0 else "the right to mount"


def missing_loop():
    if missing():
        return missing()
    if not shutil.which("mkfs.ext4"):
        return "mkfs.ext4"
    return None if os.path.exists("/dev/loop-control") else "loop devices"


class Small:
    """A file system in memory of so many bytes."""

    def __init__(self, folder, megabytes):
        self.folder = folder
        folder.mkdir()
        call("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "none", folder)

    def fill(self, left=0):
        """Leaves so many bytes."""
        file = os.open(self.folder / "filler", os.O_CREAT | os.O_WRONLY)
        try:
            while True:
                os.write(file, bytes(4096))
        except OSError:
            os.truncate(file, max(0, os.fstat(file).st_size - left))
        os.close(file)

    def free(self):
        (self.folder / "filler").unlink(missing_ok=True)

    def end(self):
        subprocess.run(["umount", "-l", self.folder], capture_output=True)


class Forgetful:
    """An ext4 in a file. A copy of the file has what the inner file system has handed to its device by then, which is what was flushed and more.

    That shows a program that waits for no flush, or for one of the wrong file. It shows neither writes that a device puts in
    another order nor sectors that are torn, because the copy is of the outer file's pages. Nobody may write during the copy.
    """

    def __init__(self, folder, megabytes):
        self.folder, self.image, self.number = folder, folder.with_suffix(".image0"), 0
        folder.mkdir()
        with self.image.open("wb") as file:
            file.truncate(megabytes << 20)
        # A journal that is written every five minutes, so that only flushes write it.
        call("mkfs.ext4", "-q", "-F", self.image)
        self.mount()

    def mount(self):
        call("mount", "-o", "loop,commit=300", self.image, self.folder)

    def copy(self):
        """A copy for `forget`, from a moment at which the writer is stopped."""
        self.number += 1
        self.next = self.image.with_suffix(f".image{self.number}")
        call("cp", "--sparse=always", "--reflink=never", self.image, self.next)

    def forget(self):
        """The writer has ended: the copy takes the place of its file system."""
        call("umount", self.folder)
        self.image.unlink()
        self.image = self.next
        self.mount()

    def end(self):
        subprocess.run(["umount", "-l", self.folder], capture_output=True)

"""The two programs with the same work, and a run with all processes that it starts."""

import contextlib
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

LISTED = pathlib.Path(sys.executable).parent
PLACES = 64
PROCESSES = os.cpu_count() or 1
# A process that outlives its parent becomes a child of this one. So none is lost, and its processor time counts.
ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)


def gannet(path, size, mode, per_shard):
    def command(rows, folder):
        words = [path, "run", "--output-format", "shards", "--samples-per-shard", per_shard, "--resize", size, "--resize-mode", mode]
        words += ["--picture-format", "jpg", "--picture-quality", 95, "--carry", "caption", "--manifest-format", "parquet"]
        words += ["--concurrency", PLACES, "--host-limit", PLACES, "--retries", 0, "--max-failures", "100%"]
        return [*words, "--robots", "ignore", "--allow-net", "127.0.0.0/8", "-i", rows, "-d", folder]

    return command


def img2dataset(size, mode, per_shard):
    def command(rows, folder):
        words = [LISTED / "img2dataset", "--url_list", rows, "--output_folder", folder, "--input_format", "parquet"]
        words += ["--url_col", "url", "--caption_col", "caption", "--output_format", "webdataset", "--number_sample_per_shard", per_shard]
        words += ["--image_size", size, "--resize_mode", mode.replace("-", "_"), "--encode_format", "jpg", "--encode_quality", 95]
        words += ["--processes_count", PROCESSES, "--thread_count", max(1, PLACES // PROCESSES), "--extract_exif", "False"]
        return [*words, "--enable_wandb", "False"]

    return command


def environment(home):
    """gannet finds python3 with pyarrow in PATH, and has its private Redis in GANNET_HOME. img2dataset's packages do not ask the network for news."""
    variables = {"PATH": f"{LISTED}:{os.environ['PATH']}", "GANNET_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    return os.environ | variables | {"NO_ALBUMENTATIONS_UPDATE": "1", "WANDB_MODE": "disabled"}


def parents():
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                text = pathlib.Path(f"/proc/{name}/stat").read_text()
                found[int(name)] = int(text[text.rindex(")") + 2 :].split()[1])
    return found


def descendants(spared=()):
    """All processes below this one, without those that are spared and their children."""
    found, tree = parents(), set()
    level = {pid for pid, parent in found.items() if parent == os.getpid()} - set(spared)
    while level:
        tree |= level
        level = {pid for pid, parent in found.items() if parent in level} - tree
    return tree


def proportional(pid):
    """Its memory in bytes. A page that several processes share counts in parts."""
    with contextlib.suppress(OSError, ValueError):
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def resident(pid):
    with contextlib.suppress(OSError, ValueError):
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    return 0


def spent():
    """Seconds of the processor of all processes below this one that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def sweep(spared=()):
    """Ends all processes below this one, and waits for them."""
    for pid in descendants(spared):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    while descendants(spared):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        time.sleep(0.01)


class Run:
    """A run with the first of its processes at the head of a group."""

    def __init__(self, command, folder, spared):
        self.spared, self.before, self.begun = spared, spent(), time.monotonic()
        self.log, self.home = folder.with_suffix(".log"), folder.with_suffix(".home")
        log = self.log
        with log.open("wb") as file:
            words = [str(word) for word in command]
            self.process = subprocess.Popen(words, stdout=file, stderr=file, stdin=subprocess.DEVNULL, env=environment(self.home), start_new_session=True)
        self.seconds = None

    def finish(self):
        """Waits for its end. Answers the most memory that its processes had together, looked at five times a second: shared pages in parts, and the
        largest process alone."""
        together = largest = 0
        while self.process.poll() is None:
            tree = descendants(self.spared)
            together = max(together, sum(map(proportional, tree)))
            largest = max([largest, *map(resident, tree)])
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.2)
        self.seconds = time.monotonic() - self.begun
        if self.process.returncode:
            sys.exit(f"datasets: a run ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")
        return together, largest

    def end(self):
        """Ends the private Redis of gannet, which would stay for ten minutes, and forgets it. Answers the processor time of the whole run."""
        sweep(self.spared)
        shutil.rmtree(self.home, ignore_errors=True)
        return spent() - self.before

    def kill(self, also_redis):
        """Kills its group. Answers the names of processes that are left after a second."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        time.sleep(1)
        left = [name for name in map(self.name, descendants(self.spared)) if name]
        if also_redis:
            sweep(self.spared)
        return left

    @staticmethod
    def name(pid):
        """None for a process that has ended."""
        with contextlib.suppress(OSError):
            text = pathlib.Path(f"/proc/{pid}/stat").read_text()
            if text[text.rindex(")") + 2] != "Z":
                return text[text.index("(") + 1 : text.rindex(")")]
        return None

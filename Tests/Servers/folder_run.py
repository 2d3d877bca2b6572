"""`gannet run` into a folder, which trials repeat and kill."""

import json
import signal
import subprocess


class FolderRun:
    """The command is the caller's. A run that does not end with 0 is a problem."""

    def __init__(self, folder, command, problem):
        self.folder, self.command, self.problem = folder, command, problem

    def run(self):
        result = subprocess.run(self.command, capture_output=True, text=True)
        if result.returncode:
            self.problem("gannet has ended with %d: %s" % (result.returncode, result.stderr[-1000:]))
        return result.stdout.strip()

    def start(self):
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill_after(self, seconds):
        """Whether the run was still at work."""
        process = self.start()
        try:
            process.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True

    def manifest(self):
        with open(self.folder + "/manifest.jsonl") as file:
            return [json.loads(line) for line in file]

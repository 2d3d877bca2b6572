"""The program with one address of Redis."""

import json
import os
import subprocess
import sys

from base import name

# Ledgers count the requests at origins.
os.environ.setdefault("GANNET_ROBOTS", "ignore")


class Gannet:
    def __init__(self, path, url):
        self.path, self.url = path, url

    def run(self, *words, check=True, seconds=None, environment=None):
        words = [self.path, *map(str, words), "--redis", self.url]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, env=environment)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(words, 124, "", f"it was ended after {seconds} s")
        if check and done.returncode:
            sys.exit(f"{name}: gannet {' '.join(words[1:])} ended with {done.returncode}: {done.stdout} {done.stderr}")
        return done

    def start(self, log, *words, before=(), environment=None):
        words = [*before, self.path, *map(str, words), "--redis", self.url]
        return subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, env=environment)

    def status(self, seconds=None):
        done = self.run("status", "--json", check=False, seconds=seconds)
        return json.loads(done.stdout) if done.returncode == 0 and done.stdout else None

    def totals(self):
        status = self.status()
        return status and status["totals"]

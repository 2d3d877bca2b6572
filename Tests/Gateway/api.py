"""schemathesis asks a gateway what its OpenAPI document allows and forbids, and compares each answer with the document.

  api.py GANNET SCHEMATHESIS SECONDS [SEED]

The gateway's namespace is a Redis of its own, and its requests may lead nowhere. Ends with 1 when an answer differs.
"""

import subprocess
import sys

from processes import here, trial

gannet, schemathesis, seconds = sys.argv[1:4]
seed = ["--seed", sys.argv[4]] if len(sys.argv) > 4 else []


def main(processes):
    processes.redis()
    # A URL that was made up is not to be fetched: port 9 of this machine takes nothing.
    process, port = processes.gateway("api", ["--proxy", "http://127.0.0.1:9", "--timeout", "1s"])
    command = [schemathesis, "--config-file", here / "schemathesis.toml", "run", f"http://127.0.0.1:{port}/v1/openapi.json"]
    command += ["--max-time", seconds, "--continue-on-failure", "--generation-database", "none"]
    try:
        outcome = subprocess.run(command + seed, cwd=processes.folder, timeout=float(seconds) + 240).returncode
    except subprocess.TimeoutExpired:
        processes.fail("schemathesis did not end in its time")
    if processes.end(process) != 0:
        processes.fail("the gateway ended badly")
    if outcome != 0:
        processes.fail("the gateway and its document differ; the output above says where")


trial("api", gannet, 300, main)

"""Faults that are planted on purpose: in the model by their number, and in the scripts by a change of their text."""

import json
import time

from server import ROOT, Scripts

FILE = ROOT / "Tests/Proof/faults.json"


def changes_of(fault):
    return [(change["file"], "\n".join(change["from"]), "\n".join(change["to"])) for change in fault["changes"]]


MOST = 400


def planted(search, replay, trace, program):
    result = 0
    for fault in json.loads(FILE.read_text()):
        model, changes = "is not in the model", changes_of(fault)
        if "model" in fault:
            configuration = fault["model"]["configuration"]
            holds, _, states, _, took = search(configuration, fault["model"]["fault"], quiet=True)
            model = f"the model ({configuration}) says nothing in {states:,} states" if holds else f"the model ({configuration}) finds it in {states:,} states, {took:.1f} s"
            result = result or int(holds)
        made, _, _, _, took, failure = replay(MOST, 1, Scripts(changes))
        found = f"the replay finds it in schedule {made}, {took:.1f} s" if failure else f"the replay says nothing in {made} schedules"
        result = result or int(not failure and fault.get("replay", True))
        if program:
            begun = time.monotonic()
            seen = trace(program, 200, changes, quiet=True)
            found += f"; the trace {'finds it' if seen else 'says nothing'}, {time.monotonic() - begun:.1f} s"
        print(f"planted: {fault['name']}: {model}; {found}", flush=True)
    return result

"""Faults that are planted on purpose: in the model by their number, and in the scripts by a change of their text."""

import time

from server import Scripts

# Words for people; the model's fault and the configuration that is searched, or nothing; a file, what stands there, and what is planted.
EARLY = """        if bytes and byte(bytes) == 76 and form <= FAIL then
            local early = Locks.read(bytes)
            Counts.count(early.queue, unpackBytes('>I4', early.job, 2), 'active', -1)
        end
        if not bytes or sub(bytes, 2, 17) ~= one.token then return fence(one, bytes) end"""
FAULTS = [
    ("the token of an outcome is not compared (a missing fence)", 1, "small", [
        ("ends.lua", "if not bytes or sub(bytes, 2, 17) ~= one.token then return fence(one, bytes) end", "if not bytes then return fence(one, bytes) end"),
    ]),
    ("a counter moves before it is known whether the outcome is accepted", 2, "small", [
        ("ends.lua", "        if not bytes or sub(bytes, 2, 17) ~= one.token then return fence(one, bytes) end", EARLY),
        ("ends.lua", "                Counts.count(lock.queue, number, 'active', -1)\n                if form == FAIL then", "                if form == FAIL then"),
    ]),
    ("a job that comes back is put last", 3, "caller", [
        ("locks.lua", "call('LPUSH', Blocks.followersOf(lock.queue, id), Blocks.flagged(lock.job, flag))",
         "call('RPUSH', Blocks.followersOf(lock.queue, id), Blocks.flagged(lock.job, flag))"),
    ]),
    ("a lock is released before its outcome is written", 4, "small", [
        ("settle.lua", "call('SET', outcomeKey .. id, (marks", "call('SET', outcomeKey .. id .. ':later', (marks"),
    ]),
    ("a lock does not learn of its follower", 5, "small", [
        ("locks.lua", "if isNoted then lock.interested[#lock.interested + 1] = {kind = 'q', name = priority .. queue} end", ""),
    ]),
    ("jobs that never ran go before those that came back", 6, "small", [
        ("handOut.lua", "if line.isDue then Returns.serveDue(priority, goal) else size = lookAtReady(line, priority, goal, size) end",
         "if line.isReady then size = lookAtReady(line, priority, goal, size) else Returns.serveDue(priority, goal) end"),
    ]),
    ("a request that ended keeps its place at the host", 7, "small", [
        ("locks.lua", "        return Hosts.leave(name)", "        return Hosts.of(name)"),
    ]),
    ("the same exchange is executed again", None, None, [("exchange.lua", "if number == lastNumber then", "if false then")]),
    ("a lower number is answered", None, None, [("exchange.lua", "if number < lastNumber then", "if false then")]),
    ("a lease that has ended is revived", None, None, [
        ("exchange.lua", "if ends and ends <= Clock.lived or not ends and number > 1 then return {'ended'} end", ""),
    ]),
    ("what a process does not know stays its own", None, None, [("exchange.lua", "if ARGV[14] == '1' then Returns.takeBackUnknown() end", "")]),
]
MOST = 400


def planted(search, replay, trace, program):
    result = 0
    for words, fault, configuration, changes in FAULTS:
        model = "is not in the model"
        if fault:
            holds, _, states, _, took = search(configuration, fault, quiet=True)
            model = f"the model ({configuration}) says nothing in {states:,} states" if holds else f"the model ({configuration}) finds it in {states:,} states, {took:.1f} s"
            result = result or int(holds)
        made, _, _, _, took, failure = replay(MOST, 1, Scripts(changes))
        found = f"the replay finds it in schedule {made}, {took:.1f} s" if failure else f"the replay says nothing in {made} schedules"
        result = result or int(not failure)
        if program:
            begun = time.monotonic()
            seen = trace(program, 200, changes, quiet=True)
            found += f"; the trace {'finds it' if seen else 'says nothing'}, {time.monotonic() - begun:.1f} s"
        print(f"planted: {words}: {model}; {found}", flush=True)
    return result

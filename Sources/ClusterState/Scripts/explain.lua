--@ clock blocks counts hosts locks
-- All that is known of a URL and its host. Changes nothing.
--
-- KEYS  1 '<tag>state'
-- ARGV  1 id   2 host
-- Answer: {queue time, outcome or nothing, what there is of the lock, followers, the host, the rule that holds}
--         the lock, or an empty list: {kind, began or next attempt, ms until its lease or its own deadline ends, queue, batch, failures, crashes,
--         whether it is a suspect, since when its host puts it off, the last failure, callers that wait}
--         followers: {queue, how many, …}   the host: {in flight, next start, end of its rest, failures to connect, how it is probed}
--         the rule, or an empty list: {limit, interval, paused until, pattern}, each may be nothing
local id, host, known, followers = ARGV[1], Hosts.of(ARGV[2]), {}, {}
local lock = Locks.read(call('HGET', Locks.key, id))
if lock then
    local ends, callers = call('ZSCORE', Locks.leases, sub(lock.token, 9)), 0
    for _, one in ipairs(lock.interested) do
        local queue = sub(one.name, 2)
        if one.kind == 'c' then
            callers = callers + 1
        else
            followers[#followers + 1], followers[#followers + 2] = queue, call('LLEN', Blocks.followersOf(queue, id))
        end
    end
    local batch = lock.kind == 'L' and unpackBytes('>I4', lock.job, 2) or 0
    known = {
        lock.kind, lock.began, max(0, min(lock.deadline, tonumber(ends or 0)) - Clock.lived), lock.queue, batch, lock.failures, lock.crashes,
        Locks.has(lock.flags, Locks.SUSPECT) and 1 or 0, lock.throttled, lock.failure, callers,
    }
end
local limit, interval, pausedUntil, pattern = Hosts.readRule(host.name)
local rule = pattern and {tostring(limit or ''), tostring(interval or ''), pausedUntil and string.format('%.0f', pausedUntil) or '', pattern} or {}
return {
    Clock.now, call('GET', Locks.outcomeOf(id)) or '', known, followers, {host.running, host.next, host.cool, host.failures, host.probing}, rule,
}

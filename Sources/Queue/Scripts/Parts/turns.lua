-- Whose turn it is at a host, and when each queue looks at what stands aside there. A part of hosts.lua, which runs it in its place.
-- Docs/REDIS.md describes the lists aside and the timers. The timers of hosts stand behind the others, at their times + BEHIND: of a long
-- list thousands of hosts are due at any time, and URLs that come back must be found among them.
-- Every list of jobs aside or delayed has its timer. So a turn that is missed, or a queue that dies, costs a pause and not a job.

-- Times in ms: of an answer, where it is not known, and the most that a host counts as needing. A look into a long list is no long one.
local USUAL_TIME, MOST_NEEDED, MOST_PASSED, MOST_WAITING, LOOK_AGAIN = 300, 3600000, 8, 16, 30000
Hosts.TURN_KEPT, Hosts.BEHIND = 250, 4398046511104

-- When jobs aside are looked at again, if their host opens then: an operator may end a pause before its time, and the host may be given up.
function Hosts.lookAgainAt(host, opens)
    if Hosts.isHopeless(host) then return Clock.now end
    local _, _, pausedUntil = Hosts.ruleOf(host)
    if opens == Hosts.NEVER or opens == pausedUntil then opens = min(opens, Clock.now + LOOK_AGAIN) end
    return Hosts.isGivenUp(host) and opens or min(opens, Hosts.endsAt(host))
end

-- The first timers of a priority: the first of URLs and delays, and in 'hosts' as many of hosts as are asked for.
function Hosts.firstTimers(timers, number)
    local found, first = call('ZRANGE', timers, 0, number - 1, 'WITHSCORES'), {hosts = {}}
    local function note(found)
        for i = 1, #found, 2 do
            local at = tonumber(found[i + 1])
            if at < Hosts.BEHIND then
                first[1] = first[1] or {member = found[i], at = at}
            elseif at < Hosts.NEVER then
                first.hosts[#first.hosts + 1] = {member = found[i], at = at - Hosts.BEHIND}
            end
        end
    end
    note(found)
    -- Others may stand before those of hosts.
    if first[1] and #found == 2 * number then
        first.hosts = {}
        note(call('ZRANGE', timers, Hosts.BEHIND, '(inf', 'BYSCORE', 'LIMIT', 0, number, 'WITHSCORES'))
    end
    return first
end

-- How long a host needs for what stands aside there, in ms, with one request at a time: as long as if all of it were like one of it and
-- like what has just been answered. Of the first block most may have gone, and the last may be small.
function Hosts.needsOf(key, name)
    local length = call('LLEN', key)
    local one = length > 0 and call('LINDEX', key, min(MOST_PASSED, floor(length / 2)))
    local jobs = one and #one ~= 16 and Blocks.isSound(one) and Blocks.jobsIn(one) or 1
    return min(MOST_NEEDED, jobs * length * (Hosts.took[name] or USUAL_TIME))
end

-- Has a queue look at the host. Of hosts that are due the one that needs the longest goes first, and a host that waits gains on the others.
local function lookAt(host, queue, at)
    if at <= Clock.now and (host.needs or 0) == 0 then
        host.needs = 0
        for _, priority in ipairs(Blocks.PRIORITIES) do
            local isGood, needs = pcall(Hosts.needsOf, Blocks.asideOf(queue, priority, host.name), host.name)
            host.needs = max(host.needs, isGood and needs or 0)
        end
    end
    if at <= Clock.now then at = at - host.needs end
    for _, priority in ipairs(Blocks.PRIORITIES) do
        redis.pcall('ZADD', Blocks.timersOf(queue, priority), 'XX', at + Hosts.BEHIND, 'h' .. host.name)
    end
end

-- Has the queues that wait look at the host when it opens, each in its turn. One that does not take its turn loses it after a moment.
local function offer(host)
    local opens = max(Clock.now, Hosts.lookAgainAt(host, Hosts.opensAt(host)))
    Hosts.changed(host).offered = opens + Hosts.TURN_KEPT
    for i, queue in ipairs(host.waiting) do lookAt(host, queue, opens + (i - 1) * Hosts.TURN_KEPT) end
    Counts.wake(host.waiting[1], 1)
end

-- The first queue did not come: it is full, paused or gone. It looks for itself, whenever it comes back.
local function passOver(host)
    lookAt(host, table.remove(Hosts.changed(host).waiting, 1), Clock.now)
    host.offered = 0
end

function Hosts.offerWhereFree(host)
    if host.offered > 0 and host.offered <= Clock.now and host.waiting[1] then passOver(host) end
    if host.waiting[1] and host.offered == 0 and (Hosts.isHopeless(host) or Hosts.opensAt(host) ~= Hosts.NEVER) then offer(host) end
end

-- How many requests a queue may start at a host now. Queues that wait for the same host take turns, and each leaves its share.
function Hosts.roomFor(host, queue)
    if Hosts.opensAt(host) > Clock.now then return 0 end
    while host.waiting[1] and host.waiting[1] ~= queue do
        if host.offered == 0 then
            offer(host)
            return 0
        end
        if host.offered > Clock.now then return 0 end
        passOver(host)
    end
    local limit, interval = Hosts.ruleOf(host)
    local room = (host.probing > 0 or interval > 0) and 1 or Hosts.placesOf(host, limit) - host.running
    local others = max(0, #host.waiting - 1)
    -- Requests that this call has begun are a part of the queue's share already. A queue is asked more than once in a call.
    local entered = host.entered or 0
    return others > 0 and max(0, max(1, floor((room + entered) / (others + 1))) - entered) or room
end

-- A queue has jobs that wait for the host: it stands behind those that wait already.
function Hosts.waitFor(host, queue)
    -- A turn at a host that is full is nobody's: the next place to be free is offered anew.
    if host.offered > 0 and Hosts.opensAt(host) == Hosts.NEVER then Hosts.changed(host).offered = 0 end
    for _, name in ipairs(host.waiting) do
        if name == queue then return end
    end
    if #host.waiting < MOST_WAITING then table.insert(Hosts.changed(host).waiting, queue) end
end

-- A queue has had its turn: it stands behind the others, while it has jobs aside there.
function Hosts.turnTaken(host, queue)
    if host.waiting[1] ~= queue then return end
    table.remove(Hosts.changed(host).waiting, 1)
    host.offered = 0
    for _, priority in ipairs(Blocks.PRIORITIES) do
        if call('EXISTS', Blocks.asideOf(queue, priority, host.name)) == 1 then return Hosts.waitFor(host, queue) end
    end
end

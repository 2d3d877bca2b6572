-- Hosts: how many requests each has in flight, when the next may start, and whose turn it is. All workers' politeness is decided here.
--
--   '<tag>hosts', a hash   host to running(2) earned(1) next(6) cool(6) failures(1) level(1) probing(1) down(6) offered(6) length(2) reason
--                          waiting; only while there is something to remember. A host has one place, and each answer doubles its places:
--                          'earned' counts the answers. A failure or a rest sets it back to 0, and so does a host without requests.
--                          'next' follows from a rate, 'cool' from a rest. 'failures' are requests without an answer, in a row, since
--                          'down', and 'reason' is the last of them; 'level' doubles the next rest; after a rest one request probes the
--                          host. 'down' of a host that answers and asks for rests is when it began to. A host that is down for too long
--                          is given up (probing 2, or 3 while a request from before that is under way): its jobs fail for that reason
--                          while it rests. After the rest it is probed, and they wait for that. Waiting are queues whose jobs met the host
--                          full, each length(1) name, in the order of their turns; a free place is kept for the first of them until
--                          'offered'. The upper six bits of 'probing' are the host's pace: the step of a scale from 62.5 ms to 80 s, which
--                          the site or its slow answers ask for
--   '<tag>answered:<hour>', a bitmap   a bit for each host that has answered in this hour. Hosts may share a bit: a dead host that does
--                          is taken for one that has answered, and waited for longer
--                          '=host' and '=*.domain' are rules: 'limit interval pause until', an operator's word before any worker's
--                          '?queue' is no host: until when the queue was in use, by Clock.useTime, for the sweep that finds abandoned ones
--   '<q>aside:<priority>:<host>', a list   blocks that a claim met while their host had no room; an id(16) is a URL to carry on
--   '<q>timers:<priority>', a sorted set   when to look at something: 'u' and the id of a URL with followers, 'd' and a delay, in ms,
--                                          and behind them, at that time + BEHIND, 'h' and a host with jobs aside: of a long list
--                                          thousands of hosts are due at any time, and URLs that come back must be found among them
--   '<q>delayed:<priority>:<delay>', a list   blocks that were enqueued with this delay: the first is due first. Their timer is due then
-- Every list of jobs aside or delayed has its timer. So a turn that is missed, or a queue that dies, costs a pause and not a job.
-- A script that starts no request knows no usual limit. A host with a free place tells the queues that wait, and their workers know
-- how much room there is.
--
-- Almost all hosts are plain: nothing is remembered of them but requests in flight and what they have earned. An exchange reads these
-- itself, into 'plain' and 'earned'. It calls functions of this part for the others, in 'known', and 'of' makes a plain host one of those.
-- 'took' has how long, ms, the last answers took that the call has brought.
local Hosts = setmetatable({known = {}, plain = {}, earned = {}, before = {}, changedOnes = {}, took = {}, limit = 10000, first = 1, interval = 0, patience = 0, restPatience = 0, began = 0, MOST_EARNED = 14}, Lazy)
local PLAIN = string.rep('\0', 29)

function Hosts.load(names)
    local found, isUsual = call('HMGET', tag .. 'hosts', unpack(names)), Clock.rules == 0 and Hosts.interval == 0
    for i = 1, #names do
        local name, bytes = names[i], found[i]
        if not Hosts.known[name] then
            if isUsual and (not bytes or #bytes == 32 and string.find(bytes, PLAIN, 4, true)) then
                local running, earned = 0, 0
                if bytes then running, earned = 256 * byte(bytes) + byte(bytes, 2), byte(bytes, 3) end
                Hosts.plain[name], Hosts.earned[name], Hosts.before[name] = running, earned, running + 65536 * earned
            else
                Hosts.read(name, bytes)
            end
        end
    end
end

-- Writes what changed. The first queue that waits for a host with room is told.
function Hosts.save()
    local set, gone, before, earned = {}, {}, Hosts.before, Hosts.earned
    if next(Hosts.changedOnes) then Hosts.describe(set, gone) end
    for name, running in pairs(Hosts.plain) do
        if running == 0 then earned[name] = 0 end
        local now = running + 65536 * earned[name]
        if now ~= before[name] then
            if running == 0 then
                gone[#gone + 1] = name
            else
                local last = #set
                set[last + 1], set[last + 2] = name, pack('>I2B', running, earned[name]) .. PLAIN
            end
            before[name] = now
        end
    end
    for i = 1, #set, 2000 do call('HSET', tag .. 'hosts', unpack(set, i, min(#set, i + 1999))) end
    if gone[1] then call('HDEL', tag .. 'hosts', unpack(gone)) end
end

function Hosts.make()
    local FAILURES_TO_COOL, FIRST_COOL, LONGEST_COOL, HOST_KEPT, QUEUE_KEPT, MOST_WAITING = 3, 1000, 600000, 3600000, 30 * 86400000, 16
    -- Times in ms: of an answer, where it is not known, and the most that a host counts as needing. A look into a long list is no long one.
    local USUAL_TIME, MOST_NEEDED, MOST_PASSED = 300, 3600000, 8
    local FIRST_PACE, PACES_IN_OCTAVE, HOUR, BITS, LONGEST_REASON = 62.5, 6, 3600000, 1048576, 1024
    Hosts.GIVEN_UP, Hosts.ENDING, Hosts.TURN_KEPT, Hosts.LOOK_AGAIN, Hosts.NEVER, Hosts.BEHIND = 2, 3, 250, 30000, math.huge, 4398046511104

    local function blank(name)
        return {name = name, running = 0, earned = 0, reason = '', next = 0, cool = 0, failures = 0, level = 0, probing = 0, down = 0, offered = 0, waiting = {}, pace = 0}
    end

    local function fill(host, bytes)
        local size, at
        host.running, host.earned, host.next, host.cool, host.failures, host.level, host.probing, host.down, host.offered, size, at =
            unpackBytes('>I2BI6I6BBBI6I6I2', bytes)
        if at + size > #bytes + 1 then error('cut') end
        host.probing, host.pace, host.reason, at = host.probing % 4, floor(host.probing / 4), sub(bytes, at, at + size - 1), at + size
        while at <= #bytes do
            local length = byte(bytes, at)
            if at + length > #bytes then error('cut') end
            host.waiting[#host.waiting + 1] = sub(bytes, at + 1, at + length)
            at = at + 1 + length
        end
    end

    -- A record that cannot be read counts as none.
    function Hosts.read(name, bytes)
        local host = blank(name)
        if bytes and not pcall(fill, host, bytes) then host = blank(name) end
        Hosts.known[name] = host
        if not Hosts.isGivenUp(host) and Hosts.endsAt(host) <= Clock.now then
            Hosts.changed(host).probing = host.running > 0 and Hosts.ENDING or Hosts.GIVEN_UP
        end
        return host
    end

    -- When a host is given up that neither answers nor gets another request. A caller without a patience waits for ever.
    function Hosts.endsAt(host)
        local patience = host.failures > 0 and Hosts.patience or Hosts.restPatience
        return host.down > 0 and patience > 0 and host.down + patience or Hosts.NEVER
    end

    -- When a URL is given up that something puts off, without a charge. The clock runs from the caller's beginning where that was later: what
    -- an earlier process left is asked for once more.
    function Hosts.putOffEnds(lock)
        local isPutOff = lock and lock.throttled > 0 and Hosts.restPatience > 0
        return isPutOff and max(lock.throttled, Hosts.began) + Hosts.restPatience or Hosts.NEVER
    end

    function Hosts.of(name)
        local running, host = Hosts.plain[name], Hosts.known[name]
        if not running then return host or Hosts.read(name, call('HGET', tag .. 'hosts', name)) end
        Hosts.plain[name], host = nil, Hosts.changed(Hosts.read(name))
        host.running, host.earned = running, Hosts.earned[name]
        return host
    end

    function Hosts.changed(host)
        Hosts.changedOnes[host.name] = host
        return host
    end

    -- An operator's word outranks a pace, as it does the settings of workers.
    local function ruleOf(host)
        local interval = host.pace > 0 and floor(FIRST_PACE * 2 ^ ((host.pace - 1) / PACES_IN_OCTAVE)) or 0
        interval = max(interval, Hosts.interval)
        if Clock.rules == 0 then return Hosts.limit, interval, 0 end
        if not host.limit then
            local limit, ruled, pausedUntil = Hosts.readRule(host.name)
            host.limit, host.interval, host.pausedUntil = limit or Hosts.limit, ruled or false, pausedUntil or 0
        end
        return host.limit, host.interval or interval, host.pausedUntil
    end

    -- How many of the places that a limit permits the host has earned.
    local function placesOf(host, limit) return host.probing > 0 and min(1, limit) or min(limit, Hosts.first * 2 ^ host.earned) end

    -- When a host may start another request; NEVER while all its places are taken.
    function Hosts.opensAt(host)
        local limit, _, pausedUntil = ruleOf(host)
        if host.running >= placesOf(host, limit) then return Hosts.NEVER end
        return max(host.cool, host.next, pausedUntil)
    end

    function Hosts.isGivenUp(host) return host.probing >= Hosts.GIVEN_UP end

    -- Whether the jobs of a host fail without a request. Jobs of a host that is given up wait for its next probe, once that may begin.
    function Hosts.isHopeless(host) return host.probing == Hosts.ENDING or host.probing == Hosts.GIVEN_UP and host.cool > Clock.now end

    -- Somebody wants the host asked again: its silence is forgotten. A rest that it asked for stays, if it is not to end, and its time begins anew.
    function Hosts.forgive(host, endsRest)
        if host.failures > 0 or endsRest then host.cool = 0 end
        local rests = host.cool > Clock.now
        host.failures, host.down, host.probing, host.offered = 0, rests and Clock.now or 0, rests and 1 or 0, 0
        if not rests then host.level, host.reason = 0, '' end
        Hosts.changed(host)
    end

    -- How many requests a queue may start at a host now. Queues that wait for the same host take turns, and each leaves its share.
    function Hosts.roomFor(host, queue)
        if Hosts.opensAt(host) > Clock.now then return 0 end
        while host.waiting[1] and host.waiting[1] ~= queue do
            if host.offered == 0 then
                Hosts.offer(host)
                return 0
            end
            if host.offered > Clock.now then return 0 end
            Hosts.passOver(host)
        end
        local limit, interval = ruleOf(host)
        local room, others = (host.probing > 0 or interval > 0) and 1 or placesOf(host, limit) - host.running, max(0, #host.waiting - 1)
        -- Requests that this call has begun are a part of the queue's share already. A queue is asked more than once in a call.
        local entered = host.entered or 0
        return others > 0 and max(0, max(1, floor((room + entered) / (others + 1))) - entered) or room
    end

    -- `taker` is the queue whose turn that was, if it is known that it has no more of it.
    function Hosts.enter(host, requests, taker)
        Hosts.changed(host).running = host.running + (requests or 1)
        host.entered = (host.entered or 0) + (requests or 1)
        local _, interval = ruleOf(host)
        if interval > 0 then host.next = Clock.now + interval end
        if taker then Hosts.turnTaken(host, taker) end
    end

    -- Sets the pace of a host. A host with a pace has a last start, by which it is forgotten in time. Answers the pace before.
    function Hosts.setPace(host, pace)
        local before = host.pace
        host.pace, host.next = pace, host.next > 0 and host.next or Clock.now
        Hosts.changed(host)
        return before
    end

    -- Requests have ended, with nothing learnt about the host.
    function Hosts.leave(name, requests)
        local host, ended = Hosts.changed(Hosts.of(name)), requests or 1
        host.running, host.left = max(0, host.running - ended), (host.left or 0) + ended
        return host
    end

    local function hasAnswered(name)
        local bit, hour = tonumber(sub(redis.sha1hex(name), 1, 8), 16) % BITS, floor(Clock.now / HOUR)
        return call('GETBIT', tag .. 'answered:' .. hour, bit) + call('GETBIT', tag .. 'answered:' .. hour - 1, bit) > 0
    end

    -- Remembers for an hour or two that a host has answered, whatever else is forgotten of it.
    function Hosts.noteAnswer(name)
        local bit, key = tonumber(sub(redis.sha1hex(name), 1, 8), 16) % BITS, tag .. 'answered:' .. floor(Clock.now / HOUR)
        call('SET', key, '', 'NX', 'PX', 2 * HOUR)
        call('SETBIT', key, bit, 1)
    end

    -- The host has answered, so often.
    function Hosts.noteSuccess(host, answers)
        if host.earned == 0 then Hosts.noteAnswer(host.name) end
        host.earned = min(Hosts.MOST_EARNED, host.earned + (answers or 1))
        Hosts.changed(host)
        if host.failures == 0 and host.level == 0 and host.probing == 0 then return end
        host.failures, host.down, host.probing = 0, 0, min(host.probing, 1)
        -- While the host rests, what is answered was asked before: it must start with one request all the same.
        if host.cool <= Clock.now then
            host.level, host.probing, host.reason = 0, 0, ''
        else
            host.earned, host.down = 0, Clock.now
        end
    end

    -- Adds the fields of the hosts that changed to those that are set, or to those that are gone because there is nothing to remember.
    function Hosts.describe(set, gone)
        for _, host in pairs(Hosts.changedOnes) do
            -- Not sooner: what a call has begun to end, it ends.
            if host.running == 0 and host.probing == Hosts.ENDING then host.probing = Hosts.GIVEN_UP end
            if host.offered > 0 and host.offered <= Clock.now and host.waiting[1] then Hosts.passOver(host) end
            if host.waiting[1] and host.offered == 0 and (Hosts.isHopeless(host) or Hosts.opensAt(host) ~= Hosts.NEVER) then Hosts.offer(host) end
            local isResting = host.failures > 0 or host.level > 0 or host.probing > 0
            if not isResting then
                if host.next <= Clock.now and host.pace == 0 then host.next = 0 end
                if host.cool <= Clock.now then host.cool = 0 end
            end
            if isResting or host.running + host.next + host.cool > 0 or host.waiting[1] then
                local bytes = pack('>I2BI6I6BBBI6I6I2', host.running, host.earned, host.next, host.cool, host.failures, host.level,
                    host.probing + 4 * host.pace, host.down, host.offered, #host.reason) .. host.reason
                for _, queue in ipairs(host.waiting) do bytes = bytes .. pack('>B', #queue) .. queue end
                set[#set + 1], set[#set + 2] = host.name, bytes
            else
                gone[#gone + 1] = host.name
            end
        end
        Hosts.changedOnes = {}
    end

    -- The rule of a host: its own, or that of the nearest domain above it. A rule whose pause has ended, and that has nothing else, is none.
    function Hosts.readRule(name)
        local fields, rest = {'=' .. name}, name
        while #fields < 16 do
            rest = rest:match('^[^.]*%.(.+)$')
            if not rest then break end
            fields[#fields + 1] = '=*.' .. rest
        end
        for i, found in ipairs(call('HMGET', tag .. 'hosts', unpack(fields))) do
            local limit, interval, pausedUntil = (found or ''):match('^(%d*) (%d*) (%d*)$')
            if limit and (limit ~= '' or interval ~= '' or (tonumber(pausedUntil) or 0) > Clock.now) then
                return tonumber(limit), tonumber(interval), tonumber(pausedUntil), fields[i]:sub(2)
            end
        end
    end

    -- When jobs aside are looked at again, if their host opens then: an operator may end a pause before its time, and the host may be given up.
    function Hosts.lookAgainAt(host, opens)
        if Hosts.isHopeless(host) then return Clock.now end
        local _, _, pausedUntil = ruleOf(host)
        if opens == Hosts.NEVER or opens == pausedUntil then opens = min(opens, Clock.now + Hosts.LOOK_AGAIN) end
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

    -- The host that needs the longest goes first among those that are due. A host that waits gains on the others.
    function Hosts.lookAt(host, queue, at)
        if at <= Clock.now and (host.needs or 0) == 0 then
            host.needs = 0
            for _, priority in ipairs(Blocks.PRIORITIES) do
                local isGood, needs = pcall(Hosts.needsOf, Blocks.ofQueue(queue, 'aside:' .. priority .. ':' .. host.name), host.name)
                host.needs = max(host.needs, isGood and needs or 0)
            end
        end
        if at <= Clock.now then at = at - host.needs end
        for _, priority in ipairs(Blocks.PRIORITIES) do redis.pcall('ZADD', Blocks.ofQueue(queue, 'timers:' .. priority), 'XX', at + Hosts.BEHIND, 'h' .. host.name) end
    end

    -- Has the queues that wait look at the host when it opens, each in its turn. One that does not take its turn loses it after a moment.
    function Hosts.offer(host)
        local opens = max(Clock.now, Hosts.lookAgainAt(host, Hosts.opensAt(host)))
        Hosts.changed(host).offered = opens + Hosts.TURN_KEPT
        for i, queue in ipairs(host.waiting) do Hosts.lookAt(host, queue, opens + (i - 1) * Hosts.TURN_KEPT) end
        Counts.wake(host.waiting[1], 1)
    end

    -- The first queue did not come: it is full, paused or gone. It looks for itself, whenever it comes back.
    function Hosts.passOver(host)
        Hosts.lookAt(host, table.remove(Hosts.changed(host).waiting, 1), Clock.now)
        host.offered = 0
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
            if call('EXISTS', Blocks.ofQueue(queue, 'aside:' .. priority .. ':' .. host.name)) == 1 then return Hosts.waitFor(host, queue) end
        end
    end

    -- No request starts for `pause` ms. Without one the pause doubles from rest to rest, and `random`, from 0 to 1, spreads it.
    function Hosts.coolDown(host, pause, random)
        local isCooling = host.cool > Clock.now
        if not pause then
            -- Requests that were in flight together fail together, and are one reason and not eight.
            if isCooling then return end
            pause = floor(min(LONGEST_COOL, FIRST_COOL * 2 ^ host.level) * (0.5 + random / 2))
        end
        if not isCooling then host.level = min(20, host.level + 1) end
        host.earned, host.cool, host.probing = 0, max(host.cool, Clock.now + pause), max(host.probing, 1)
        Hosts.changed(host)
    end

    -- The host answers, and asks for a rest. Where it has gone on with that for too long it is given up.
    function Hosts.noteRest(host, pause, random, reason)
        if host.down == 0 or host.failures > 0 then host.down, host.probing = Clock.now, min(host.probing, 1) end
        host.failures, host.reason = 0, #reason <= LONGEST_REASON and reason or ''
        Hosts.noteAnswer(host.name)
        if Hosts.endsAt(host) <= Clock.now then host.probing = Hosts.GIVEN_UP end
        Hosts.coolDown(host, pause, random)
    end

    -- A request got no answer, for this reason. A host that has answered lately rests after some of these in a row, and is given up after its
    -- patience. Any other host rests after each, and is given up after `probes` of them as well. 0 is for ever.
    function Hosts.noteFailure(host, random, probes, reason)
        if host.failures == 0 then host.down = Clock.now end
        host.earned, host.failures = 0, min(255, host.failures + 1)
        host.reason = #reason <= LONGEST_REASON and reason or ''
        Hosts.changed(host)
        local isNew = not hasAnswered(host.name)
        if not isNew and host.failures < FAILURES_TO_COOL then return end
        local isOver = Hosts.endsAt(host) <= Clock.now
        if isOver or isNew and probes > 0 and host.failures >= probes then host.probing = Hosts.GIVEN_UP end
        Hosts.coolDown(host, nil, random)
    end

    -- A host that nobody asked for again is forgotten in time: a few are looked at now and then. Answers an abandoned queue that was met,
    -- and where it was met.
    function Hosts.forgetIdle()
        local from, abandoned, useTime = string.format('%.0f', max(0, numberOf(call('HGET', KEYS[1], 'sweep')))), nil, Clock.useTime()
        local found = call('HSCAN', tag .. 'hosts', from, 'COUNT', 20)
        -- Redis answers a small hash whole.
        for i = 1, min(#found[2], 1024), 2 do
            local name, kind = found[2][i], byte(found[2][i])
            local host = kind ~= 61 and kind ~= 63 and not Hosts.plain[name] and (Hosts.known[name] or Hosts.read(name, found[2][i + 1]))
            if kind == 63 and numberOf(found[2][i + 1], useTime) + QUEUE_KEPT < useTime then abandoned = sub(name, 2) end
            if host and host.running == 0 and host.waiting[1] and host.offered == 0 then
                Hosts.changed(host)
            elseif host and host.running == 0 and max(host.cool, host.next, host.offered, host.down) + HOST_KEPT < Clock.now then
                host.failures, host.level, host.probing, host.down, host.waiting, host.pace, host.reason = 0, 0, 0, 0, {}, 0, ''
                Hosts.changed(host)
            end
        end
        call('HSET', KEYS[1], 'sweep', found[1])
        return abandoned, from
    end
end

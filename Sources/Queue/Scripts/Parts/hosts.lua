-- Hosts: how many requests each has in flight, and when the next may start. All workers' politeness is decided here.
--
--   '<tag>hosts', a hash   host to running(2) earned(1) next(6) cool(6) failures(1) level(1) probing(1) down(6) offered(6) length(2) reason
--                          waiting; only while there is something to remember.
--        running           requests in flight
--        earned            answers in a row: a host has one place, and each answer doubles its places. A failure or a rest sets it to 0,
--                          and so does a host without requests
--        next, cool        no request starts before: 'next' follows from a rate, 'cool' from a rest
--        failures, reason  requests without an answer, in a row, since 'down'; and the last of them
--        level             doubles the next rest
--        probing           1 after a rest, when one request probes the host; 2 for a host that is given up, 3 while a request from before
--                          that is under way. The upper six bits are its pace: the step of a scale from 62.5 ms to 80 s, which the site
--                          or its slow answers ask for
--        down              since when it does not answer; or since when it answers and asks for rests. A host that is down for too long
--                          is given up: its jobs fail for 'reason' while it rests. After the rest it is probed, and they wait for that
--        waiting           queues whose jobs met the host full, each length(1) name, in the order of their turns; a free place is kept
--                          for the first of them until 'offered' (turns.lua)
--   beside hosts           '=host' and '=*.domain', rules: 'limit interval pause until'; '?queue', until when a queue was in use, by Clock.useTime
--   '<tag>answered:<hour>', a bitmap   a bit for each host that has answered in this hour. Hosts may share a bit: a dead host that does
--                          is taken for one that has answered, and waited for longer
-- A script that starts no request knows neither the usual limit nor how many places a host has at first. A host with a free place tells the
-- queues that wait, and their workers know how much room there is.
--
-- Almost all hosts are plain: nothing is remembered of them but requests in flight and what they have earned. An exchange reads these
-- itself, into 'plain' and 'earned'. It calls functions of this part for the others, in 'known', and 'of' makes a plain host one of those.
-- 'took' has how long, ms, the last answers took that the call has brought.
local Hosts = setmetatable({
    known = {}, plain = {}, earned = {}, before = {}, changedOnes = {}, took = {}, MOST_EARNED = 14,
    -- What the caller asks for.
    limit = 10000, first = 10000, interval = 0, patience = 0, restPatience = 0, began = 0,
}, Lazy)
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
    local FIRST_PACE, PACES_IN_OCTAVE, HOST_KEPT, QUEUE_KEPT = 62.5, 6, 3600000, 30 * 86400000
    Hosts.GIVEN_UP, Hosts.ENDING, Hosts.NEVER = 2, 3, math.huge

    local function blank(name)
        return {
            name = name, running = 0, earned = 0, next = 0, cool = 0, failures = 0, level = 0, probing = 0, pace = 0, down = 0, offered = 0,
            reason = '', waiting = {},
        }
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

    -- Adds the fields of the hosts that changed to those that are set, or to those that are gone because there is nothing to remember.
    function Hosts.describe(set, gone)
        for _, host in pairs(Hosts.changedOnes) do
            -- Not sooner: what a call has begun to end, it ends.
            if host.running == 0 and host.probing == Hosts.ENDING then host.probing = Hosts.GIVEN_UP end
            Hosts.offerWhereFree(host)
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

    -- The rule of a host: its own, or that of the nearest domain above it, which holds for all ports. A rule whose pause has ended, and that
    -- has nothing else, is none.
    local function readRule(name)
        local fields, rest = {'=' .. name}, name:gsub(':%d+$', '')
        while #fields < 16 do
            rest = rest:match('^[^.]*%.(.+)$')
            if not rest then break end
            fields[#fields + 1] = '=*.' .. rest
        end
        for _, found in ipairs(call('HMGET', tag .. 'hosts', unpack(fields))) do
            local limit, interval, pausedUntil = (found or ''):match('^(%d*) (%d*) (%d*)$')
            if limit and (limit ~= '' or interval ~= '' or (tonumber(pausedUntil) or 0) > Clock.now) then
                return tonumber(limit), tonumber(interval), tonumber(pausedUntil)
            end
        end
    end

    -- How many requests a host may have in flight, ms between two starts, and until when it is paused. An operator's word outranks a pace,
    -- as it does the settings of workers.
    function Hosts.ruleOf(host)
        local interval = host.pace > 0 and floor(FIRST_PACE * 2 ^ ((host.pace - 1) / PACES_IN_OCTAVE)) or 0
        interval = max(interval, Hosts.interval)
        if Clock.rules == 0 then return Hosts.limit, interval, 0 end
        if not host.limit then
            local limit, ruled, pausedUntil = readRule(host.name)
            host.limit, host.interval, host.pausedUntil = limit or Hosts.limit, ruled or false, pausedUntil or 0
        end
        return host.limit, host.interval or interval, host.pausedUntil
    end

    -- How many of the places that a limit permits the host has earned.
    function Hosts.placesOf(host, limit) return host.probing > 0 and min(1, limit) or min(limit, Hosts.first * 2 ^ host.earned) end

    -- When a host may start another request; NEVER while all its places are taken.
    function Hosts.opensAt(host)
        local limit, _, pausedUntil = Hosts.ruleOf(host)
        if host.running >= Hosts.placesOf(host, limit) then return Hosts.NEVER end
        return max(host.cool, host.next, pausedUntil)
    end

    -- `taker` is the queue whose turn that was, if it is known that it has no more of it.
    function Hosts.enter(host, requests, taker)
        Hosts.changed(host).running = host.running + requests
        host.entered = (host.entered or 0) + requests
        local _, interval = Hosts.ruleOf(host)
        if interval > 0 then host.next = Clock.now + interval end
        if taker then Hosts.turnTaken(host, taker) end
    end

    -- Requests have ended, with nothing learnt about the host.
    function Hosts.leave(name, requests)
        local host, ended = Hosts.changed(Hosts.of(name)), requests or 1
        host.running, host.left = max(0, host.running - ended), (host.left or 0) + ended
        return host
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

    --@ rests turns
end

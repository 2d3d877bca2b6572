-- The clock of a partition, and the numbers that are given once. Part of every script.
--
-- KEYS[1] is '<tag>state', a hash. Every other key of the partition begins with the same tag. The store for bodies has its clock in
-- '{namespace:blob}count'.
--   'clock'           the numbers below in one field
--   'queue:<name>'    when a worker of that queue reported last
--   'fenced', 'doubleFetches'   counts of callers without a queue
--   'use'             queue time and use time, of the last look at the latter
--
-- Queue time is the server's TIME, shifted so that it never decreases. Delays, rests and the age of outcomes are told in it.
-- Lease time decides when a lease ends. A gap between two calls counts as one step, and then lease time stands still for as long: so
-- every worker has a fair time to come back after an outage of Redis. One step is a third of the shortest lease, or five seconds.
local call, floor, min, max = redis.call, math.floor, math.min, math.max
local pack, unpackBytes, byte, sub = struct.pack, struct.unpack, string.byte, string.sub
local tag = sub(KEYS[1], 1, -6)

-- Answers how many hear it. The channel of a partition of a cluster begins with the partition's tag, as its keys do.
local function publish(channel, text)
    return call(sub(channel, #tag + 1, #tag + 6) == 'shard:' and 'SPUBLISH' or 'PUBLISH', channel, text)
end

-- Another program may have written into our keys. Nil for a value that is no whole number as Redis writes it.
local function whole(text)
    local value = tonumber(text)
    if not value or not (value >= -9007199254740992 and value <= 9007199254740992) then return nil end
    return text ~= '-0' and string.format('%.0f', value) == text and value or nil
end

-- A value that is no number counts as the usual one, which is 0 where nothing is said.
local function numberOf(text, usual) return text and whole(text) or usual or 0 end

-- For counters without which a script cannot go on. Whether one of them is no number.
local function areDamaged(counters)
    for i = 1, #counters do
        if counters[i] and not whole(counters[i]) then return true end
    end
    return false
end

-- The error that names the key of such counters. The word before the key tells the caller which error this is.
local function damaged(key) return redis.error_reply('DAMAGED ' .. key) end

-- Making a function takes as long as a small command. So most functions of a part are made when the first of them is called.
local Lazy = {__index = function(part, name)
    setmetatable(part, nil)
    part.make()
    return part[name]
end}

local Clock
do
    local LONGEST_STEP, TOKENS_IN_MS = 5000, 1024
    local time, stored = call('TIME'), call('HGET', KEYS[1], 'clock')
    -- Every other number rests on these.
    if stored and #stored < 49 then return damaged(KEYS[1]) end
    local wall = time[1] * 1000 + floor(time[2] / 1000)
    local seen, shift, lived, still, shortest, tokens, turn, rules, firstEnd = wall, 0, 0, 0, 0, 0, 0, 0, 0
    if stored then seen, shift, lived, still, shortest, tokens, turn, rules, firstEnd = unpackBytes('>I6I6I6I6I5I8I4I2I6', stored) end
    if wall < seen then shift = shift + seen - wall end
    local step = shortest > 0 and min(LONGEST_STEP, max(1, floor(shortest / 3))) or LONGEST_STEP
    -- The server's clock may have been set back since the gap.
    still = min(still, wall + step)
    if wall - seen > step then
        lived, still = lived + step, wall + step
    elseif wall > seen then
        lived = lived + max(0, wall - max(seen, still))
    end
    Clock = setmetatable({
        wall = wall, shift = shift, now = wall + shift, lived = lived, still = still, step = step, shortest = shortest, turn = turn, rules = rules,
        -- The counter behind the tokens runs ahead of time, so that a failover which sets it back makes none twice.
        firstEnd = firstEnd, tokens = max(tokens, (wall + shift) * TOKENS_IN_MS),
    }, Lazy)
end

function Clock.save()
    call('HSET', KEYS[1], 'clock', pack('>I6I6I6I6I5I8I4I2I6', Clock.wall, Clock.shift, Clock.lived, Clock.still, Clock.shortest, Clock.tokens,
        Clock.turn % 4294967296, Clock.rules, Clock.firstEnd))
end

function Clock.make()
    local USE_NOTED, LONGEST_GAP = 600000, 86400000

    -- Redis refuses a script's writes when its memory is full, unless the script has written something that needs no memory before. So
    -- accepted jobs come to their end; only scripts that make a queue longer do without this.
    function Clock.writeAlsoWhenFull() call('DEL', tag .. 'none') end

    -- The time in which queues are abandoned. A gap between two looks counts for a day at most: a clock that is a month ahead for a moment
    -- removes no queue, nor does a server that was off.
    function Clock.useTime()
        local last, total = (call('HGET', KEYS[1], 'use') or ''):match('^(%d+) (%d+)$')
        local gap = max(0, Clock.now - (last or Clock.now))
        total = (total or Clock.now) + min(gap, LONGEST_GAP)
        if not last or gap >= USE_NOTED then call('HSET', KEYS[1], 'use', string.format('%.0f %.0f', Clock.now, total)) end
        return total
    end

    -- Notes that a queue is in use until a time, some times an hour at most, for the sweep that removes abandoned queues. Answers whether it
    -- was time for that.
    function Clock.use(queue, time)
        local known, at = numberOf(call('HGET', tag .. 'hosts', '?' .. queue)), Clock.useTime() + time - Clock.now
        if at - known < USE_NOTED then return false end
        call('HSET', tag .. 'hosts', '?' .. queue, string.format('%.0f', at))
        return true
    end

    -- Lease time goes in steps of the shortest lease in use.
    function Clock.noteLease(lease)
        local isFirst = #call('ZRANGE', tag .. 'leases', '(0', '+inf', 'BYSCORE', 'LIMIT', 0, 1) == 0
        if Clock.shortest == 0 or lease < Clock.shortest or isFirst then Clock.shortest = lease end
    end
end

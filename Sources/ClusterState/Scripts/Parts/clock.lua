-- The clock of a partition, and the numbers that are given once. Part of every script.
--
-- KEYS[1] is '<tag>state', a hash. Every other key of the partition begins with the same tag.
--   'clock'           the numbers below in one field
--   'queue:<name>'    when a worker of that queue reported last
--   'fenced', 'doubleFetches'   counts of callers without a queue
--
-- Queue time is the server's TIME, shifted so that it never decreases. Delays, rests and the age of outcomes are told in it.
-- Lease time decides when a lease ends. A gap between two calls counts as one step, and then lease time stands still for as long: so
-- every worker has a fair time to come back after an outage of Redis. One step is a third of the shortest lease, or five seconds.
local call, floor, min, max = redis.call, math.floor, math.min, math.max
local pack, unpackBytes = struct.pack, struct.unpack
local byte, sub = string.byte, string.sub
local tag = KEYS[1]:sub(1, -6)
local Clock = {LONGEST_STEP = 5000, TOKENS_IN_MS = 1024, USE_NOTED = 600000, turn = 0, rules = 0}

local time = call('TIME')
Clock.wall = time[1] * 1000 + floor(time[2] / 1000)
Clock.seen, Clock.shift, Clock.lived, Clock.still, Clock.shortest, Clock.tokens, Clock.turn, Clock.rules, Clock.firstEnd = Clock.wall, 0, 0, 0, 0, 0, 0, 0, 0
do
    local stored = call('HGET', KEYS[1], 'clock')
    if stored then Clock.seen, Clock.shift, Clock.lived, Clock.still, Clock.shortest, Clock.tokens, Clock.turn, Clock.rules, Clock.firstEnd = unpackBytes('>I6I6I6I6I5I8I4I2I6', stored) end
end
if Clock.wall < Clock.seen then Clock.shift = Clock.shift + Clock.seen - Clock.wall end
Clock.now = Clock.wall + Clock.shift

-- The counter behind the tokens runs ahead of time, so that a failover which sets it back makes none twice.
Clock.tokens = max(Clock.tokens, Clock.now * Clock.TOKENS_IN_MS)

Clock.step = Clock.shortest > 0 and min(Clock.LONGEST_STEP, max(1, floor(Clock.shortest / 3))) or Clock.LONGEST_STEP
-- The server's clock may have been set back since the gap.
Clock.still = min(Clock.still, Clock.wall + Clock.step)
if Clock.wall - Clock.seen > Clock.step then
    Clock.lived, Clock.still = Clock.lived + Clock.step, Clock.wall + Clock.step
elseif Clock.wall > Clock.seen then
    Clock.lived = Clock.lived + max(0, Clock.wall - max(Clock.seen, Clock.still))
end

-- Makes a part's rarer functions when the first of them is called: making a function takes as long as a small command.
local function rarely(part, make)
    setmetatable(part, {__index = function(_, name)
        setmetatable(part, nil)
        make()
        return part[name]
    end})
end

-- Redis refuses a script's writes when its memory is full, unless the script has written something that needs no memory before. So
-- accepted jobs come to their end; only scripts that make a queue longer do without this.
function Clock.writeAlsoWhenFull() call('DEL', tag .. 'none') end

function Clock.save()
    call('HSET', KEYS[1], 'clock',
        pack('>I6I6I6I6I5I8I4I2I6', Clock.wall, Clock.shift, Clock.lived, Clock.still, Clock.shortest, Clock.tokens, Clock.turn % 4294967296, Clock.rules, Clock.firstEnd))
end

-- Notes that a queue is in use until a time, some times an hour at most, for the sweep that removes abandoned queues. Answers whether it
-- was time for that.
function Clock.use(queue, time)
    local known = tonumber(call('HGET', tag .. 'hosts', '?' .. queue) or 0)
    if time - known < Clock.USE_NOTED then return false end
    call('HSET', tag .. 'hosts', '?' .. queue, string.format('%.0f', time))
    return true
end

-- Lease time goes in steps of the shortest lease in use.
function Clock.noteLease(lease)
    if Clock.shortest == 0 or lease < Clock.shortest or call('ZCARD', tag .. 'leases') == 0 then Clock.shortest = lease end
end

-- The namespace, its counters and its two clocks. Part of every script.
--
-- KEYS[1] is '{namespace}state', a hash; every other key is made from its hash tag.
--
-- Queue time is the server's TIME, shifted so that it never decreases: delays, cool-downs and the age of pages are told in it.
-- Lease time decides when a lease ends. It goes on only as far as somebody is seen to call: a gap between two calls, in which
-- nobody could have renewed (Redis away, the clock set forward), counts as a third of the shortest lease at most. So no living
-- worker loses a lease, or is charged a crash, to an outage or to a clock.
local call, floor, min, max = redis.call, math.floor, math.min, math.max
local pack, unpackBytes = struct.pack, struct.unpack
local byte, sub = string.byte, string.sub
local LONGEST_STEP = 5000
local namespace = KEYS[1]:sub(1, -6)

local stored = call('HMGET', KEYS[1], 'seen', 'shift', 'lived', 'shortest', 'tokens', 'batches', 'chains', 'turn')
local time = call('TIME')
local wall = time[1] * 1000 + floor(time[2] / 1000)
local seen, shift = tonumber(stored[1] or wall), tonumber(stored[2] or 0)
local lived, shortest = tonumber(stored[3] or 0), tonumber(stored[4] or 0)
local tokens, batchesMade, chains = tonumber(stored[5] or 0), tonumber(stored[6] or 0), tonumber(stored[7] or 0)
local turn = tonumber(stored[8] or 0)
if wall < seen then shift = shift + seen - wall end
local now = wall + shift

-- The counter behind the tokens runs ahead of time: one that a failover has set back gives no token twice, and a later token is
-- the greater one.
local TOKENS_IN_MS = 1024
tokens = max(tokens, now * TOKENS_IN_MS)

-- How far lease time may go between two calls; workers with nothing to do look this often while anything is leased.
local longestStep = shortest > 0 and min(LONGEST_STEP, floor(shortest / 3)) or LONGEST_STEP
lived = lived + max(0, min(wall - seen, longestStep))

-- Redis refuses a script's writes when its memory is full, unless the script has written something that needs none before. Jobs
-- that are under way come to their end also then; only what makes the queue longer is refused.
local function writeAlsoWhenFull() call('DEL', namespace .. 'none') end

local function saveClock()
    call('HSET', KEYS[1], 'seen', wall, 'shift', shift, 'lived', lived, 'shortest', shortest, 'tokens', tokens,
        'batches', batchesMade, 'chains', chains, 'turn', turn)
end

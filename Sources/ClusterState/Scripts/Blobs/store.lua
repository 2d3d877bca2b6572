-- Bodies by their SHA-256. Part of every script of the blob store, which shares no key with the rest of the state and may be on
-- another server.
--
--   '{namespace:blob}count', a hash        bytes: of all bodies; memory: what Redis needs for them, about; evicted: how many had to go;
--                                          seen, shift: the clock
--   '{namespace:blob}s', a sorted set      digest(32) size(5) to its last use, ms: who was not used for longest goes first. The size
--                                          stands here too, so that the counters are the sum of this index, whatever became of a body.
--   '{namespace:blob}:<digest>', a string  a body
-- A body without an entry gets one when it is met, an entry without a body goes when its turn comes. Last uses are told in the server's
-- TIME, shifted so that it never decreases: a clock that was set back spares nothing for ever.
local call, floor, max = redis.call, math.floor, math.max
local pack, unpackBytes = struct.pack, struct.unpack
local MOST_EVICTED = 100
local prefix = KEYS[1]:sub(1, -6)
local index = prefix .. 's'

local stored = call('HMGET', KEYS[1], 'memory', 'seen', 'shift')
call('ZCARD', index)
local memory, seen, shift = tonumber(stored[1] or 0), tonumber(stored[2] or 0), tonumber(stored[3] or 0)
local time = call('TIME')
local wall = time[1] * 1000 + floor(time[2] / 1000)
if wall < seen then shift = shift + seen - wall end
local now = wall + shift

local function keyOf(digest) return prefix .. ':' .. digest end
local function memberOf(digest, size) return digest .. pack('>I5', size) end

-- What a body of this size takes: the allocator has four sizes between a power of two and the next, and key and entry need their own.
local function memoryFor(size)
    local _, exponent = math.frexp(size + 24)
    local step = max(16, 2 ^ (exponent - 3))
    return math.ceil((size + 24) / step) * step + 280
end

local function countBlob(size, by)
    local change = memoryFor(size) * by
    memory = memory + change
    -- An empty body's change is no '-0'.
    call('HINCRBY', KEYS[1], 'bytes', by > 0 and size or 0 - size)
    call('HINCRBY', KEYS[1], 'memory', change)
end

-- A number and a use can be written also when Redis' memory is full, which then refuses only a script that has written nothing yet.
local function touch(digest, size)
    call('DEL', prefix .. 'none')
    if call('ZADD', index, now, memberOf(digest, size)) == 1 then countBlob(size, 1) end
    call('HSET', KEYS[1], 'seen', wall, 'shift', shift)
end

local function forget(digest, size)
    if call('ZREM', index, memberOf(digest, size)) == 1 then countBlob(size, -1) end
end

-- Drops bodies that were not used for longest until `room` is free below `limit`, within a bound, and none that was used within
-- `sparing` ms. Answers whether more may go.
local function evict(limit, room, sparing)
    if memory + room <= limit then return false end
    local oldest = call('ZRANGE', index, 0, MOST_EVICTED - 1, 'WITHSCORES')
    for i = 1, #oldest, 2 do
        if memory + room <= limit or tonumber(oldest[i + 1]) >= now - sparing then return false end
        local digest, size = oldest[i]:sub(1, 32), unpackBytes('>I5', oldest[i], 33)
        local hadBody = call('UNLINK', keyOf(digest)) == 1
        forget(digest, size)
        if hadBody then call('HINCRBY', KEYS[1], 'evicted', 1) end
    end
    return #oldest == 2 * MOST_EVICTED
end

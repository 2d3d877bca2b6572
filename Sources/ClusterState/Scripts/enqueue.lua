-- Accepts one chunk of a batch, once.
--
-- The batch remembers how far its input has been accepted, and that offset advances together with the entries: a chunk that
-- comes a second time, after a lost reply or from a restarted producer, is answered and not added.
--
-- KEYS  1 ready (list of entries)    2 known (set of the ids that wait or are in flight)
--       3 count (hash of counters)   4 batch (hash: offset, added, repeated)
-- ARGV  1 offset before the chunk    2 offset after it    3 channel on which idle workers listen
--       then for each URL: its 16-byte id, the URL
-- Answer: {offset, added, repeated}, the batch's totals so far
local ready, known, count, batch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local before, after = ARGV[1], ARGV[2]

local state = redis.call('HMGET', batch, 'offset', 'added', 'repeated')
local offset, added, repeated = state[1] or '0', tonumber(state[2] or 0), tonumber(state[3] or 0)
if offset ~= before then return {tonumber(offset), added, repeated} end

-- Everything that can fail is touched before anything is written: a script is not rolled back.
redis.call('LLEN', ready)
redis.call('SCARD', known)
local serial = tonumber(redis.call('HGET', count, 'serial') or 0)

local fresh = {}
for i = 4, #ARGV, 2 do
    local id, url = ARGV[i], ARGV[i + 1]
    if redis.call('SADD', known, id) == 1 then
        serial = serial + 1
        -- version 1, no crashes, serial, id, URL; JobEntry.swift reads the same
        fresh[#fresh + 1] = '\1\0' .. struct.pack('>I6', serial) .. id .. url
    else
        repeated = repeated + 1
    end
end

for i = 1, #fresh, 1000 do
    redis.call('RPUSH', ready, unpack(fresh, i, math.min(i + 999, #fresh)))
end
added = added + #fresh
redis.call('HSET', batch, 'offset', after, 'added', added, 'repeated', repeated)
redis.call('HSET', count, 'serial', string.format('%d', serial))
redis.call('HINCRBY', count, 'enqueued', #fresh)
if #fresh > 0 then redis.call('PUBLISH', ARGV[3], '') end
return {tonumber(after), added, repeated}

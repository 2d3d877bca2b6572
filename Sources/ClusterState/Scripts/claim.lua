-- Leases waiting jobs to a worker, after taking back those whose lease has ended.
--
-- Recovery is part of every claim and bounded in each: any live worker brings back what a dead one held, and there is no
-- separate process whose own death would stop that.
--
-- KEYS  1 ready (list of entries)    2 leases (hash: token to entry)   3 expiry (set of tokens by the lease's end, ms)
--       4 count (hash of counters)   5 known (set of the ids that wait or are in flight)
-- ARGV  1 how many jobs   2 the lease, ms   3 eight random bytes of the caller's
-- Entries that another version wrote are neither handed out nor charged with a crash: they go to the end of the line.
-- Answer: {ms until the next lease ends or -1, failed as poison, met of another version, waiting now, token, entry, token, entry, …}
local ready, leases, expiry, count, known = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local wanted, lease, nonce = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local MOST_RECOVERED, MOST_CRASHES = 100, 3

-- version 1, and the whole of the header with something after it; JobEntry.swift reads the same
local function isReadable(entry) return entry:byte(1) == 1 and #entry > 24 end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

redis.call('LLEN', ready)
redis.call('HLEN', leases)
redis.call('SCARD', known)
local tokens = tonumber(redis.call('HGET', count, 'tokens') or 0)
local tokensBefore = tokens

local ended = redis.call('ZRANGE', expiry, '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST_RECOVERED)
local poisoned = 0
for _, token in ipairs(ended) do
    local entry = redis.call('HGET', leases, token)
    redis.call('HDEL', leases, token)
    redis.call('ZREM', expiry, token)
    if entry and not isReadable(entry) then
        redis.call('RPUSH', ready, entry)
    elseif entry then
        redis.call('HINCRBY', count, 'crashed', 1)
        local crashes = entry:byte(2) + 1
        if crashes >= MOST_CRASHES then
            -- Three workers died holding it: whatever it does to them, it does not get a fourth.
            redis.call('SREM', known, entry:sub(9, 24))
            redis.call('HINCRBY', count, 'failed', 1)
            poisoned = poisoned + 1
        else
            redis.call('LPUSH', ready, entry:sub(1, 1) .. string.char(crashes) .. entry:sub(3))
        end
    end
end

local answer = {-1, poisoned, 0, 0}
local entries = wanted > 0 and redis.call('LPOP', ready, wanted) or {}
for _, entry in ipairs(entries or {}) do
    if isReadable(entry) then
        tokens = tokens + 1
        -- The counter alone would repeat after a failover to a replica that lagged behind; the random half does not.
        local token = struct.pack('>I8', tokens) .. nonce
        redis.call('HSET', leases, token, entry)
        redis.call('ZADD', expiry, now + lease, token)
        answer[#answer + 1] = token
        answer[#answer + 1] = entry
    else
        redis.call('RPUSH', ready, entry)
        answer[3] = answer[3] + 1
    end
end
answer[4] = redis.call('LLEN', ready)
-- A look that found nothing writes nothing: idle workers leave no trace in the append-only file.
if tokens ~= tokensBefore then redis.call('HSET', count, 'tokens', string.format('%d', tokens)) end

local first = redis.call('ZRANGE', expiry, 0, 0, 'WITHSCORES')
if first[2] then answer[1] = math.max(0, tonumber(first[2]) - now) end
return answer

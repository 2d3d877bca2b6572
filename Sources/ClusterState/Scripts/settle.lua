-- Ends a lease with its job's outcome. A token that is no lease any more changes nothing.
--
-- KEYS  1 leases (hash: token to entry)   2 expiry (set of tokens by the lease's end, ms)   3 ready (list of entries)
--       4 count (hash of counters)        5 known (set of the ids that wait or are in flight)
-- ARGV  1 token   2 outcome: done, failed or back   3 bytes fetched   4 channel on which idle workers listen
-- Answer: 1, or 0 when the lease was lost
local leases, expiry, ready, count, known = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local token, outcome = ARGV[1], ARGV[2]

local entry = redis.call('HGET', leases, token)
if not entry then return 0 end
redis.call('ZCARD', expiry)
redis.call('LLEN', ready)
redis.call('SCARD', known)
redis.call('HLEN', count)

redis.call('HDEL', leases, token)
redis.call('ZREM', expiry, token)
if outcome == 'back' then
    redis.call('LPUSH', ready, entry)
    redis.call('PUBLISH', ARGV[4], '')
else
    redis.call('SREM', known, entry:sub(9, 24))
    redis.call('HINCRBY', count, outcome, 1)
    redis.call('HINCRBY', count, 'bytes', ARGV[3])
    -- Workers that end with the last job wait to hear of it.
    if redis.call('HLEN', leases) == 0 and redis.call('LLEN', ready) == 0 then redis.call('PUBLISH', ARGV[4], '') end
end
return 1

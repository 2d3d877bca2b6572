-- Extends leases, all of a worker's in one call.
--
-- KEYS  1 leases (hash: token to entry)   2 expiry (set of tokens by the lease's end, ms)
-- ARGV  1 the lease, ms   then the tokens
-- Answer: the tokens among them that are no lease any more
local leases, expiry = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])

local lost = {}
for i = 2, #ARGV do
    if redis.call('HEXISTS', leases, ARGV[i]) == 1 then
        redis.call('ZADD', expiry, 'XX', ends, ARGV[i])
    else
        lost[#lost + 1] = ARGV[i]
    end
end
return lost

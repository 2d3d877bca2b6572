-- Takes leases back before they end, uncharged: only for a caller who knows that no worker holds them any more.
--
-- KEYS  1 ready (list of entries)   2 leases (hash: token to entry)   3 expiry (set of tokens by the lease's end, ms)
-- ARGV  1 how many at most
-- The entries come before all that waits, oldest first; those of another version, which nobody here can read, behind it.
-- Answer: how many leases are left
local ready, leases, expiry = KEYS[1], KEYS[2], KEYS[3]

redis.call('LLEN', ready)
redis.call('HLEN', leases)
-- The last first: what the next call takes back goes before it.
local tokens = redis.call('ZRANGE', expiry, 0, tonumber(ARGV[1]) - 1, 'REV')
local entries = {}
for _, token in ipairs(tokens) do
    local entry = redis.call('HGET', leases, token)
    redis.call('HDEL', leases, token)
    redis.call('ZREM', expiry, token)
    if entry and entry:byte(1) == 1 and #entry > 24 then
        entries[#entries + 1] = entry
    elseif entry then
        redis.call('RPUSH', ready, entry)
    end
end

-- By serial, which Lua's own comparison of strings would put in the order of the server's locale.
local function serial(entry) return struct.unpack('>I6', entry:sub(3, 8)) end
table.sort(entries, function(a, b) return serial(a) > serial(b) end)
for _, entry in ipairs(entries) do redis.call('LPUSH', ready, entry) end
return redis.call('ZCARD', expiry)

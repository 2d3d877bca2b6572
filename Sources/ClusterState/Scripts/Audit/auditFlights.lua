-- Looks over a part of the flights: each has an end to its lease, and its URL is locked until then.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 whether to mend   2 where to go on, 0 at first
-- Answer: {where to go on, 0 at the end, findings}
local SHORTEST_LEASE = 30000
local page = call('HSCAN', leases, ARGV[2], 'COUNT', 100)
call('ZCARD', expiry)
for i = 1, #page[2], 2 do
    local token, id = page[2][i], lockedBy(page[2][i + 1])
    local example = id and nameOf(id) or 'a flight without a lock'
    local ends = tonumber(call('ZSCORE', expiry, token) or nil)
    if not ends and finds('leaseWithoutExpiry', example) then
        -- Long enough for whoever has it to renew it, if anybody has.
        ends = lived + max(shortest, SHORTEST_LEASE)
        call('ZADD', expiry, string.format('%.0f', ends), token)
    end
    local lock = id and redis.pcall('GET', lockOf(id))
    if id and ends and ends > lived and type(lock) ~= 'table' and lock ~= token
        and (not lock or call('HEXISTS', leases, lock) == 0) then
        if finds('flightWithoutLock', nameOf(id)) then call('SET', lockOf(id), token) end
    end
end
return {page[1], report()}

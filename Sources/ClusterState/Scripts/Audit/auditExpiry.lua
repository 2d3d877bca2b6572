-- Looks over a part of the ends of leases: each is that of a flight.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 whether to mend   2 where to go on, 0 at first
-- Answer: {where to go on, 0 at the end, findings}
local page = call('ZSCAN', expiry, ARGV[2], 'COUNT', 100)
call('HLEN', leases)
for i = 1, #page[2], 2 do
    local token = page[2][i]
    if call('HEXISTS', leases, token) == 0 and finds('expiryWithoutLease', 'the end of a lease that is not there') then
        call('ZREM', expiry, token)
    end
end
return {page[1], report()}

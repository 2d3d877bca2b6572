-- Extends leases, and with each its URL's lock; all of a worker's in one call.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 the lease, ms   then the tokens
-- Answer: the tokens among them whose lease has ended
local most, ends = 1000, string.format('%.0f', lived + ARGV[1])
local lost, hasRenewed = {}, false

for from = 2, #ARGV, most do
    local to = min(from + most - 1, #ARGV)
    local flights, scores = call('HMGET', leases, unpack(ARGV, from, to)), call('ZMSCORE', expiry, unpack(ARGV, from, to))
    local renewed = {}
    for i = 1, to - from + 1 do
        local flight, token = flights[i], ARGV[from + i - 1]
        local kind = flight and flight:sub(1, 1)
        if flight and kind ~= 'W' and scores[i] and tonumber(scores[i]) > lived then
            renewed[#renewed + 1], renewed[#renewed + 2] = ends, token
        else
            lost[#lost + 1] = token
        end
    end
    if #renewed > 0 then
        if not hasRenewed then writeAlsoWhenFull() end
        hasRenewed = true
        call('ZADD', expiry, unpack(renewed))
    end
end
if hasRenewed then
    shortest = min(shortest, tonumber(ARGV[1]))
    saveClock()
end
return lost

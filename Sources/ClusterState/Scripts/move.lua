-- Moves a job's request to the host that a redirect has led it to: its place where it was is given up in the step that takes one
-- there. Where there is none, the request keeps the place it has.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 the token   2 the host   3 how many requests a host may have in flight   4 ms between two starts at one host
-- Answer: {1 it has its place there, also when it had it before, 2 there is none, 3 the host is given up, 0 its lease has ended;
--          ms until there may be one, or -1 where that is not known}
local LOST, THERE, FULL, HOPELESS = 0, 1, 2, 3
local token, name = ARGV[1], ARGV[2]
hostLimit, hostInterval = tonumber(ARGV[3]), tonumber(ARGV[4])
hasRules = call('HLEN', namespace .. 'rules') > 0
local flight = call('HGET', leases, token)
local job = flight and sub(flight, 1, 1) == 'J' and isLive(token) and read(flight, 8)
if not job then return {LOST, -1} end
local from = call('HGET', moved, token) or job.host
if from == name then return {THERE, -1} end
local target = hostOf(name)
local at = opensAt(target, 0)
if (at == NEVER or at > now) and isGivenUp(target) then return {HOPELESS, -1} end
if at == NEVER then return {FULL, -1} end
if at > now then return {FULL, at - now} end

writeAlsoWhenFull()
enterHost(target)
-- It has answered, if only by naming another.
local host = leaveHost(from)
noteSuccess(host)
if name == job.host then call('HDEL', moved, token) else call('HSET', moved, token, name) end
for _, queue in host.marks:gmatch('(%d)([^\n]*)\n') do wake(queue, 1) end
saveHosts()
saveClock()
return {THERE, -1}

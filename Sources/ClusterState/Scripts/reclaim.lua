-- Takes a queue's leases back before they end, uncharged: only for a caller who knows that no worker holds them any more.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 where to go on, 0 at first
-- Answer: {where to go on, 0 at the end, how many were taken back}
local queue = KEYS[2]:sub(#namespace + 3, -7)
local found = call('HSCAN', leases, ARGV[1], 'COUNT', 500)
call('LLEN', namespace .. 'freed')
call('ZCARD', expiry)
local mine = {}
for i = 1, #found[2], 2 do
    local token, flight = found[2][i], found[2][i + 1]
    local kind = flight:sub(1, 1)
    local job = (kind == 'J' or kind == 'C') and read(flight:sub(8)) or nil
    if job and job.queue == queue then
        checkEnd(queue, job.batch)
        if kind == 'J' then
            hostOf(call('HGET', moved, token) or job.host)
            look(job.id, token)
        end
        mine[#mine + 1] = {token = token, kind = kind, job = job, began = unpackBytes('>I6', flight, 2)}
    end
end
-- The last first: each goes before those that went before it.
local function isLater(a, b)
    if a.job.enqueued ~= b.job.enqueued then return a.job.enqueued > b.job.enqueued end
    return unpackBytes('>I8', a.token) > unpackBytes('>I8', b.token)
end
table.sort(mine, isLater)
writeAlsoWhenFull()
local taken = 0
for _, flight in ipairs(mine) do
    local job = flight.job
    forgetFlight(flight.token)
    if flight.kind == 'J' then
        leavePlace(flight.token, job)
        local isOwn, hasFollowers = look(job.id, flight.token)
        if isOwn then unlock(job.id, hasFollowers, ORPHANED, flight.began) end
    end
    if batchOf(queue, job.batch).state then
        count(job, 'active', -1)
        comeBack(job)
        taken = taken + 1
    end
end
saveHosts()
saveCounts()
saveClock()
if taken > 0 then wake(queue, taken) end
return {tonumber(found[1]), taken}

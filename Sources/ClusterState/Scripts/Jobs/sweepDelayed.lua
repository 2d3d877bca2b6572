-- Makes jobs that wait for a time due now, or deletes them, a part at a time. A deleted job ends as cancelled; where it is a retry, its URL
-- is free for those that followed it.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 where to go on, 0 at first   2 how many to look at, more or less   3 a host, or nothing for all   4 how many at most
--       5 'retry' or 'delete'
-- Answer: {where to go on or 0, how many}
local later, most, deletes = ofQueue(queue, 'later'), tonumber(ARGV[4]), ARGV[5] == 'delete'
local page = call('ZSCAN', later, ARGV[1], 'COUNT', ARGV[2])
local chosen, members = {}, {}
call('ZCARD', expiry)
call('LLEN', namespace .. 'freed')
for i = 1, #page[2], 2 do
    local member = page[2][i]
    local job = read(member, 17)
    if #chosen < most and job and isAsked(job, ARGV[3]) and (deletes or tonumber(page[2][i + 1]) > now) then
        if deletes then
            checkEnd(queue, job.batch)
            job.token = member:sub(1, 16)
            local flight = call('HGET', leases, job.token)
            job.isRetry = flight and flight:sub(1, 1) == 'W'
            if job.isRetry then job.isOwn = look(job.id, job.token) end
        end
        chosen[#chosen + 1], members[#members + 1] = job, member
    end
end
if #chosen == 0 then return {page[1], 0} end

writeAlsoWhenFull()
if deletes then
    for i, job in ipairs(chosen) do
        call('ZREM', later, members[i])
        if job.isRetry then
            forgetFlight(job.token)
            if job.isOwn then unlock(job.id, call('EXISTS', namespace .. 'parked:' .. job.id) == 1, ORPHANED, now) end
        end
        count(job, 'delayed', -1)
        finish(job, 'cancelled')
    end
    saveCounts()
    saveClock()
    if openJobs(queue) <= 0 then wake(queue, MOST_WOKEN) end
else
    for _, member in ipairs(members) do call('ZADD', later, 'XX', now, member) end
    saveClock()
    wake(queue, #members)
end
return {page[1], #chosen}

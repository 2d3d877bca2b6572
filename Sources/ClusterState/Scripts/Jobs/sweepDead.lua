-- Puts given-up jobs back in line as if they came now, or forgets them, a part at a time.
--
-- A job that is put back counts as failed no longer, and what was kept of its URL's failure is forgotten: it would be its outcome at once.
-- Its batch is under way again. One whose batch was cancelled, or is not remembered, stays where it is.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 where to go on, 0 at first   2 how many to look at, more or less   3 a host, or nothing for all   4 how many at most
--       5 'retry' or 'delete'   6 a class of errors, or nothing for all   7 only jobs given up until then, queue time
-- Answer: {where to go on or 0, how many, how many could not be put back}
local dead, most, until_ = ofQueue(queue, 'dead'), tonumber(ARGV[4]), tonumber(ARGV[7])
local page = call('ZSCAN', dead, ARGV[1], 'COUNT', ARGV[2])
local chosen, records, stuck = {}, {}, 0
call('ZCARD', ofQueue(queue, 'ended'))
for i = 1, #page[2], 2 do
    local record = page[2][i]
    local job, reason = readDead(record)
    if #records < most and job and tonumber(page[2][i + 1]) <= until_ and (ARGV[3] == '' or job.host == ARGV[3])
        and (ARGV[6] == '' or classOf(reason) == ARGV[6]) then
        if ARGV[5] == 'delete' then
            records[#records + 1] = record
        elseif checkEnd(queue, job.batch).isGone then
            stuck = stuck + 1
        else
            local known = readPage(call('GET', pageOf(job.id)))
            job.hasFailed = known and known.isNegative
            chosen[#chosen + 1], records[#records + 1] = job, record
        end
    end
end
if #records == 0 then return {page[1], 0, stuck} end

writeAlsoWhenFull()
for _, record in ipairs(records) do call('ZREM', dead, record) end
local lines = {}
for _, job in ipairs(chosen) do
    if job.hasFailed then call('DEL', pageOf(job.id)) end
    count(job, 'failed', -1)
    call('ZREM', ofQueue(queue, 'ended'), job.batch)
    job.heading = headingOf(job.batch, now, job.hasHeaders)
    local name = 'ready:' .. batchOf(queue, job.batch).priority
    lines[name] = lines[name] or {}
    table.insert(lines[name], job)
end
for name, jobs in pairs(lines) do
    table.sort(jobs, function(a, b) return a.heading < b.heading end)
    pushBack(ofQueue(queue, name), line(jobs))
end
saveCounts()
saveClock()
if #chosen > 0 then wake(queue, #chosen) end
return {page[1], #records, stuck}

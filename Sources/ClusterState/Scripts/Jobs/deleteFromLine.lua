-- Deletes jobs from a list, a part at a time, from its end on: claims take from the head, so what was looked at is not met again, and what
-- was not is not missed. Each job ends as cancelled in the step that takes it out.
--
-- Near the end the list is written anew without them. Further in that would move too much: there a job's place is marked, and the claim
-- that comes to it passes on. What a call does is bounded either way.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 the list   2 how many elements before its end are still to be looked at, -1 for all   3 how many to look at   4 a host, or
--       nothing for all   5 only jobs enqueued up to then, queue time   6 how many to delete at most   7 how many elements may stand
--       behind them for the list to be written anew
-- Answer: {how many elements are still to be looked at, how many jobs were deleted}
local MOST_STEPS = 50000000
local name, until_, most = ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[6])
local key, isShared = keyOf(name)
local length = call('LLEN', key)
local to = tonumber(ARGV[2]) < 0 and length or min(tonumber(ARGV[2]), length)
-- Headings and places without a job go with the jobs behind them: a list that holds nothing else would be nobody's.
local function withoutJobs(from)
    local elements = call('LRANGE', key, max(0, from - LOOK_BACK), from - 1)
    for i = #elements, 1, -1 do
        if from == 0 or (not isHeading(byte(elements[i])) and elements[i] ~= DROPPED) then return from end
        from = from - 1
    end
    return from
end

local from = max(0, to - ARGV[3])
if from > 0 then from = withoutJobs(from) end
local isNear = length - to <= tonumber(ARGV[7])
local elements = to > 0 and call('LRANGE', key, from, isNear and -1 or to - 1) or {}
local heading = headingAt(key, from)
local jobs = jobsAmong(elements, heading)

local chosen, number, steps, left = {}, 0, 0, from
for i = #jobs, 1, -1 do
    local job = jobs[i]
    if job.at <= to - from and job.enqueued <= until_ and isAsked(job, ARGV[4]) then
        if number == most or (not isNear and steps > MOST_STEPS) then
            left = from + job.at
            break
        end
        checkEnd(queue, job.batch)
        chosen[job.at], number = job, number + 1
        -- As many as Redis goes over to find the place.
        steps = steps + min(from + job.at, length - from - job.at)
    end
end
if number == 0 then return {left, 0} end

local heldPriority, heldHost = name:match('^held:(%a+):(.*)$')
local host = heldHost and hostOf(heldHost)
if host then call('ZCARD', ofQueue(queue, 'due:' .. heldPriority)) end
writeAlsoWhenFull()
if isNear then
    -- What nobody here can read keeps its place, between what it stood between.
    local rest, last = {}, nil
    for i, element in ipairs(elements) do
        if isHeading(byte(element)) then
            heading = element
        elseif element ~= DROPPED and not chosen[i] then
            if isJob(byte(element)) then
                last = nil
            elseif heading ~= last then
                rest[#rest + 1], last = heading, heading
            end
            rest[#rest + 1] = element
        end
    end
    -- A chain is named in `freed`, where claims look for it.
    if #rest == 0 and from == 0 and name:sub(1, 6) == 'chain:' then rest[1] = DROPPED end
    if from == 0 then call('DEL', key) else call('LTRIM', key, 0, from - 1) end
    pushBack(key, rest)
else
    for at in pairs(chosen) do call('LSET', key, from + at - 1, DROPPED) end
end
for _, job in pairs(chosen) do
    if isShared then count(job, 'parked', -1) end
    finish(job, 'cancelled')
end
if host and call('EXISTS', key) == 0 then
    call('ZREM', ofQueue(queue, 'due:' .. heldPriority), heldHost)
    for number, priority in ipairs(PRIORITIES) do
        if priority == heldPriority then unmark(host, number, queue) end
    end
    saveHosts()
end
saveCounts()
saveClock()
if openJobs(queue) <= 0 then wake(queue, MOST_WOKEN) end
return {left, number}

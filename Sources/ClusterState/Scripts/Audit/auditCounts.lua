-- Counts a queue's jobs anew, where they are few enough for one step, and compares its counters and those of its batches.
--
-- Jobs that wait are what was accepted and is nothing else. Where there are fewer, jobs are lost: they count as failed, so that what
-- waits for the end of their batch hears of it. Where there are more, they were accepted all the same.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 whether to mend   then keys of lists that nothing leads to: of followers, and of jobs held in this queue
-- Answer: {0, findings}
local queue = KEYS[2]:sub(#namespace + 3, -7)
local later, foreign = ofQueue(queue, 'later'), ofQueue(queue, 'foreign')
local left, there, followers, held = MOST_IN_ONE_STEP, {}, {}, {}
local PARTS = {'active', 'parked', 'delayed'}

local function isTooMany(number, what)
    left = left - number
    if left < 0 then note('notChecked', what .. ' of the queue ' .. queue) end
    return left < 0
end

local function isUnreadable(what)
    note('notChecked', what .. ' of the queue ' .. queue .. ': some cannot be read')
    return {'0', report()}
end

local function found(number, part)
    local batch = there[number]
    if not batch then
        batch = {active = 0, parked = 0, delayed = 0, waiting = 0}
        there[number] = batch
    end
    if part then batch[part] = batch[part] + 1 end
end

-- Where followers and held jobs are ------------------------------------------------------------------------------------------------

for i = 2, #ARGV do
    local isHeld = ARGV[i]:sub(1, #namespace + 2) == namespace .. 'q:'
    if isHeld then held[ARGV[i]] = true else followers[ARGV[i]] = true end
end
if isTooMany(call('HLEN', leases) + call('LLEN', namespace .. 'freed'), 'flights') then return {'0', report()} end
for _, flight in ipairs(call('HVALS', leases)) do
    local kind = flight:sub(1, 1)
    local id = lockedBy(flight)
    if id then followers[namespace .. 'parked:' .. id] = true elseif kind ~= 'C' then return isUnreadable('flights') end
    if kind == 'J' or kind == 'C' then
        local job = readBriefly(flight, 8)
        if not job then return isUnreadable('flights') end
        if job.queue == queue then found(job.batch, 'active') end
    end
end
for _, record in ipairs(call('LRANGE', namespace .. 'freed', 0, -1)) do
    if #record >= 6 then followers[namespace .. 'chain:' .. unpackBytes('>I6', record)] = true end
end

-- What there is --------------------------------------------------------------------------------------------------------------------

for key in pairs(followers) do
    local length = redis.pcall('LLEN', key)
    if type(length) == 'table' then return isUnreadable('parked jobs') end
    if isTooMany(length, 'parked jobs') then return {'0', report()} end
    for _, entry in ipairs(call('LRANGE', key, 0, -1)) do
        local job = read(entry)
        if not job and entry ~= DROPPED then return isUnreadable('parked jobs') end
        if job and job.queue == queue then found(job.batch, 'parked') end
    end
end
if isTooMany(call('ZCARD', later), 'delayed jobs') then return {'0', report()} end
for _, member in ipairs(call('ZRANGE', later, 0, -1)) do
    local job = read(member, 17)
    if not job then return isUnreadable('delayed jobs') end
    found(job.batch, 'delayed')
end
local numbers = ofQueue(queue, 'batches')
if isTooMany(call('HLEN', numbers), 'batches') then return {'0', report()} end
for _, number in ipairs(call('HVALS', numbers)) do found(tonumber(number)) end

-- Answers whether all that waits could be read.
local function countWaiting()
    local lines = {}
    for key in pairs(held) do lines[#lines + 1] = key end
    for _, name in ipairs(PRIORITIES) do
        lines[#lines + 1] = ofQueue(queue, 'ready:' .. name)
        local due = ofQueue(queue, 'due:' .. name)
        if isTooMany(call('ZCARD', due), 'hosts that are waited for') then return false end
        for _, host in ipairs(call('ZRANGE', due, 0, -1)) do
            local key = ofQueue(queue, 'held:' .. name .. ':' .. host)
            if not held[key] then lines[#lines + 1] = key end
        end
    end
    for _, key in ipairs(lines) do
        if isTooMany(call('LLEN', key), 'waiting jobs') then return false end
    end
    if call('LLEN', foreign) > 0 then return not isUnreadable('waiting jobs') end
    for _, key in ipairs(lines) do
        local jobs, _, strange = readLine(queue, call('LRANGE', key, 0, -1))
        if #strange > 0 then return not isUnreadable('waiting jobs') end
        for _, job in ipairs(jobs) do found(job.batch, 'waiting') end
    end
    return true
end

-- What is counted ------------------------------------------------------------------------------------------------------------------

local function numbersAt(key, names)
    local fields = call('HMGET', key, unpack(names))
    local values = {}
    for i, name in ipairs(names) do values[name] = tonumber(fields[i] or 0) or 0 end
    return values
end

local function compare(key, whose, counted, is)
    for _, part in ipairs(PARTS) do
        if counted[part] ~= is[part] then
            local example = part .. ' of ' .. whose .. ': ' .. is[part] .. ' where ' .. counted[part] .. ' are counted'
            if finds('counter', example) then call('HSET', key, part, is[part]) end
        end
    end
end

-- Answers how many are missing. Those that batches miss are missing from their queue as well, and told of once.
local function compareWaiting(key, whose, total, counted, is, told)
    local waiting = counted[total] - counted.done - counted.failed - counted.cancelled - is.active - is.parked - is.delayed
    local lost = waiting - is.waiting
    if lost > 0 and finds('jobsLost', 'of ' .. whose .. ': ' .. lost, max(0, lost - max(0, told))) then
        call('HINCRBY', key, 'failed', lost)
    elseif lost < 0 and finds('jobsUncounted', 'of ' .. whose .. ': ' .. -lost, max(0, min(0, told) - lost)) then
        call('HINCRBY', key, total, -lost)
    end
    return lost
end

local knowsWaiting = countWaiting()
local all, lost = {active = 0, parked = 0, delayed = 0, waiting = 0}, 0
local uses = call('HGET', KEYS[2], 'priorities') or ''
for number, is in pairs(there) do
    local batch, key = batchOf(queue, number), ofQueue(queue, 'batch:' .. number)
    -- One that was cleared away has no counters, and one that was cancelled counts only what is still in flight.
    if batch.state then
        local whose = 'batch ' .. number .. ' of the queue ' .. queue
        if batch.isGone then is.parked, is.delayed, is.waiting = 0, 0, 0 end
        local counted = numbersAt(key, {'total', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed'})
        compare(key, whose, counted, is)
        if knowsWaiting and not batch.isGone then
            local missing = compareWaiting(key, whose, 'total', counted, is, 0)
            if missing > 0 and mends then endBatchWhereComplete(queue, number) end
            lost = lost + missing
        end
        local priority = batch.priority == 'high' and '1' or batch.priority == 'normal' and '2' or '3'
        if not batch.isGone and not uses:find(priority, 1, true) then
            uses = uses .. priority
            if finds('counter', 'the priority of ' .. whose) then call('HSET', KEYS[2], 'priorities', uses) end
        end
        for part, value in pairs(is) do all[part] = all[part] + value end
    end
end
local whose = 'the queue ' .. queue
local counted = numbersAt(KEYS[2], {'enqueued', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed'})
compare(KEYS[2], whose, counted, all)
if knowsWaiting then compareWaiting(KEYS[2], whose, 'enqueued', counted, all, lost) end
if #kinds > 0 and mends then wake(queue, MOST_WOKEN) end
return {'0', report()}

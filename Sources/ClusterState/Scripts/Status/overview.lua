-- What a queue looks like, at the same cost for ten jobs and ten million. Writes nothing.
--
-- The oldest job is looked for at the heads of the lines, and of the lines of some of the hosts that are waited for: those that are due
-- next and those that have no time. Jobs that came back stand in front of a line, whatever their age; some of them are looked at. Where
-- jobs were deleted, what is left of them may hide the oldest or be taken for it, until a claim comes by.
--
-- Other queues of the namespace are named where a worker of theirs was heard of lately and they are not empty, or have workers still.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 how many workers at most   2 for how long a worker may have been silent, ms   then the counters that are asked for
-- Answer: {queue time, counters, dead jobs, when the oldest job that waits was enqueued or -1, history, workers, other queues,
--          jobs held for hosts, how many hosts}
--         workers: {name, when it was heard, what it said, …}, the last that was heard first
--         other queues: {name, jobs that have not ended, living workers, …}, the last that was heard of first
local MOST_HEADS, MOST_HOSTS, MOST_OTHERS, MOST_COUNTED = 8, 8, 8, 100
-- Three heartbeats.
local LIVING = 15000
local FIRST = 3
local queue = KEYS[2]:sub(#namespace + 3, -7)
local mostWorkers, silence = tonumber(ARGV[1]), tonumber(ARGV[2])
local oldest = -1

local function lookAt(elements)
    for _, element in ipairs(elements) do
        local kind = byte(element)
        if (isHeading(kind) and #element >= SHORTEST_HEADING) or (isJob(kind) and #element >= SHORTEST_JOB) then
            local enqueued = unpackBytes('>I6', element, 6)
            if oldest < 0 or enqueued < oldest then oldest = enqueued end
        end
    end
end

local uses = call('HGET', KEYS[2], 'priorities') or ''
for priority, name in ipairs(PRIORITIES) do
    if uses:find(priority, 1, true) then
        lookAt(call('LRANGE', ofQueue(queue, 'ready:' .. name), 0, MOST_HEADS - 1))
        local due, seen = ofQueue(queue, 'due:' .. name), {}
        for _, range in ipairs({{0, MOST_HOSTS - 1}, {-MOST_HOSTS, -1}}) do
            for _, host in ipairs(call('ZRANGE', due, range[1], range[2])) do
                if not seen[host] then
                    seen[host] = true
                    lookAt(call('LRANGE', ofQueue(queue, 'held:' .. name .. ':' .. host), 0, MOST_HEADS - 1))
                end
            end
        end
    end
end

local ready = 0
for i, number in ipairs(call('HMGET', KEYS[2], 'enqueued', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed')) do
    ready = ready + (i == 1 and 1 or -1) * tonumber(number or 0)
end

local workers = {}
local names = call('ZRANGE', ofQueue(queue, 'beats'), '+inf', now - silence, 'BYSCORE', 'REV', 'LIMIT', 0, mostWorkers, 'WITHSCORES')
for i = 1, #names, 2 do
    workers[#workers + 1], workers[#workers + 2] = names[i], tonumber(names[i + 1])
    workers[#workers + 1] = call('HGET', ofQueue(queue, 'workers'), names[i]) or ''
end

-- Whatever is wrong with another queue's keys, this one can be looked at.
local others = {}
local heard = redis.pcall('ZRANGE', namespace .. 'queues', '+inf', now - silence, 'BYSCORE', 'REV', 'LIMIT', 0, MOST_OTHERS + 1)
for _, name in ipairs(heard) do
    if name ~= queue and #others < 3 * MOST_OTHERS then
        local counted = redis.pcall('HMGET', ofQueue(name, 'count'), 'enqueued', 'done', 'failed', 'cancelled')
        local living = redis.pcall('ZRANGE', ofQueue(name, 'beats'), now - LIVING, '+inf', 'BYSCORE', 'LIMIT', 0, MOST_COUNTED)
        for i = 1, 4 do counted[i] = tonumber(counted[i] or 0) or 0 end
        local open = max(0, counted[1] - counted[2] - counted[3] - counted[4])
        if open > 0 or #living > 0 then
            others[#others + 1], others[#others + 2], others[#others + 3] = name, open, #living
        end
    end
end
return {
    now, call('HMGET', KEYS[2], unpack(ARGV, FIRST)), call('ZCARD', ofQueue(queue, 'dead')), oldest,
    call('LRANGE', ofQueue(queue, 'history'), 0, -1), workers, others,
    heldIn(queue, ready),
}

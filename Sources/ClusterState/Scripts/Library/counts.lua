-- Counters, of queues and of batches. They move with the state they count: noted while a script decides, written at its end.
--
--   '<queue>count', a hash   enqueued done failed cancelled, of which fetched revalidated cached; active parked delayed now;
--                            retried crashed fenced doubleFetches bytes; foreign; paused, turn
--   '<queue>batch:<number>', a hash   id source state(open, closed, cancelled) priority refresh maxAge deliver; offset total;
--                            done failed cancelled; active parked delayed now
--   '<queue>finished:<number>', a list   ids of the URLs whose jobs ended, in order
--   '<queue>ended', a sorted set   closed batches all of whose jobs have ended, by when
-- What waits is what was accepted and is nothing else: ready = enqueued - done - failed - cancelled - active - parked - delayed.
local MOST_ENDED_BATCHES = 1000
local tallies, batches = {}, {}

local function tallyOf(queue)
    local tally = tallies[queue]
    if not tally then
        tally = {counts = {}, batches = {}, finished = {}}
        tallies[queue] = tally
    end
    return tally
end

local function countInQueue(queue, field, by)
    local counts = tallyOf(queue).counts
    counts[field] = (counts[field] or 0) + by
end

-- What was asked for with a batch; `isGone` when it was cancelled, or cleared away with its queue.
local function batchOf(queue, number)
    local known = batches[queue]
    if not known then
        known = {}
        batches[queue] = known
    end
    local batch = known[number]
    if not batch then
        local key = ofQueue(queue, 'batch:' .. number)
        local fields = call('HMGET', key, 'state', 'priority', 'refresh', 'maxAge', 'deliver')
        local priority = PRIORITIES[tonumber(fields[2] or 2)]
        -- Redis does not roll a script back. What the end or the return of a job writes to is looked at before anything is written.
        call('LLEN', ofQueue(queue, 'finished:' .. number))
        call('LLEN', ofQueue(queue, 'ready:' .. priority))
        call('HLEN', ofQueue(queue, 'count'))
        call('ZCARD', ofQueue(queue, 'ended'))
        call('ZCARD', ofQueue(queue, 'dead'))
        batch = {
            state = fields[1], priority = priority, refresh = fields[3] == '1',
            maxAge = tonumber(fields[4] or -1), deliver = fields[5] == '1', isGone = not fields[1] or fields[1] == 'cancelled',
        }
        known[number] = batch
    end
    return batch
end

-- Counts for the queue and for the batch; not at all when the batch was cleared away, for its counters are gone with it.
local function count(job, field, by)
    local batch = batchOf(job.queue, job.batch)
    if not batch.state then return end
    local counts = batch.tally
    if not counts then
        counts = {}
        batch.tally, tallyOf(job.queue).batches[job.batch] = counts, counts
    end
    counts[field] = (counts[field] or 0) + by
end

-- A total of the queue to which a job adds; nothing either when its batch was cleared away.
local function countTotal(job, field, by)
    if batchOf(job.queue, job.batch).state then countInQueue(job.queue, field, by) end
end

-- A job's end: done, failed or cancelled.
local function finish(job, how)
    count(job, how, 1)
    if how == 'cancelled' or not batchOf(job.queue, job.batch).state then return end
    local finished = tallyOf(job.queue).finished
    local ids = finished[job.batch]
    if not ids then
        ids = {}
        finished[job.batch] = ids
    end
    ids[#ids + 1] = job.id
end

-- Batches that have ended are kept for a while, so that they can be looked at, and not for ever.
local function dropOldBatches(queue)
    local ended = ofQueue(queue, 'ended')
    local excess = call('ZCARD', ended) - MOST_ENDED_BATCHES
    if excess <= 0 then return end
    for _, number in ipairs(call('ZRANGE', ended, 0, min(excess, 10) - 1)) do
        local key = ofQueue(queue, 'batch:' .. number)
        local id = call('HGET', key, 'id')
        if id then call('HDEL', ofQueue(queue, 'batches'), id) end
        call('UNLINK', key, ofQueue(queue, 'finished:' .. number))
        call('ZREM', ended, number)
    end
end

local function endBatchWhereComplete(queue, number)
    local key = ofQueue(queue, 'batch:' .. number)
    local fields = call('HMGET', key, 'state', 'total', 'done', 'failed', 'cancelled')
    if not fields[1] or fields[1] == 'open' then return end
    local open = (fields[2] or 0) - (fields[3] or 0) - (fields[4] or 0) - (fields[5] or 0)
    if open > 0 then return end
    call('ZADD', ofQueue(queue, 'ended'), now, number)
    dropOldBatches(queue)
end

-- Writes what was counted. Answers the queues in which something ended.
local function saveCounts()
    local ended = {}
    for queue, tally in pairs(tallies) do
        local counts = ofQueue(queue, 'count')
        for number, fields in pairs(tally.batches) do
            local key, mayEnd = ofQueue(queue, 'batch:' .. number), false
            for field, by in pairs(fields) do
                if by ~= 0 then call('HINCRBY', key, field, by) end
                tally.counts[field] = (tally.counts[field] or 0) + by
                if field == 'done' or field == 'failed' or field == 'cancelled' then mayEnd = true end
            end
            local ids = tally.finished[number]
            if ids then pushBack(ofQueue(queue, 'finished:' .. number), ids) end
            if mayEnd then
                ended[queue] = true
                endBatchWhereComplete(queue, number)
            end
        end
        for field, by in pairs(tally.counts) do
            if by ~= 0 then call('HINCRBY', counts, field, by) end
        end
    end
    tallies = {}
    return ended
end

-- Jobs of a queue that have not ended.
local function openJobs(queue)
    local fields = call('HMGET', ofQueue(queue, 'count'), 'enqueued', 'done', 'failed', 'cancelled')
    return (fields[1] or 0) - (fields[2] or 0) - (fields[3] or 0) - (fields[4] or 0)
end

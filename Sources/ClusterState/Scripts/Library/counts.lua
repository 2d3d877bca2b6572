-- Counters, of queues and of batches. They move with the state they count: noted while a script decides, written at its end.
--
--   '<queue>count', a hash   enqueued done failed cancelled, of which fetched revalidated cached; active parked delayed now;
--                            retried crashed fenced doubleFetches bytes; paused, turn
--   '<queue>batch:<number>', a hash   id source state(open, closed, cancelled) priority refresh maxAge deliver headers trace began;
--                            offset total; done failed cancelled; active parked delayed now
--   '<queue>finished:<number>', a list   ids of the URLs whose jobs ended, in order
--   '<queue>ended', a sorted set   closed batches all of whose jobs have ended, by when
-- What waits is what was accepted and is nothing else: ready = enqueued - done - failed - cancelled - active - parked - delayed.
-- That includes jobs of a newer version that were set aside, wherever they were found.
local MOST_ENDED_BATCHES = 1000
local batches, totals = {}, {}

-- What was asked for with a batch; `isGone` when it was cancelled, or cleared away with its queue.
local function batchOf(queue, number)
    local known = batches[queue]
    if not known then
        known = {}
        batches[queue], totals[queue] = known, {}
    end
    local batch = known[number]
    if not batch then
        local fields = call('HMGET', ofQueue(queue, 'batch:' .. number), 'state', 'priority', 'refresh', 'maxAge', 'deliver')
        batch = {
            state = fields[1], priority = PRIORITIES[tonumber(fields[2] or 2)], refresh = fields[3] == '1',
            maxAge = tonumber(fields[4] or -1), deliver = fields[5] == '1', isGone = not fields[1] or fields[1] == 'cancelled',
            counts = {}, totals = totals[queue], finished = {},
        }
        known[number] = batch
    end
    return batch
end

-- Redis does not roll a script back: what the end or the return of a job writes to is looked at before anything is written.
local function checkEnd(queue, number)
    local batch = batchOf(queue, number)
    if batch.isChecked then return batch end
    call('LLEN', ofQueue(queue, 'finished:' .. number))
    call('LLEN', ofQueue(queue, 'ready:' .. batch.priority))
    call('HLEN', ofQueue(queue, 'count'))
    call('ZCARD', ofQueue(queue, 'ended'))
    call('ZCARD', ofQueue(queue, 'dead'))
    batch.isChecked = true
    return batch
end

-- Counts for the queue and for the batch; not at all when the batch was cleared away, for its counters are gone with it.
local function count(job, field, by)
    local batch = batchOf(job.queue, job.batch)
    if batch.state then batch.counts[field] = (batch.counts[field] or 0) + by end
end

-- Counts for the job's queue alone.
local function countTotal(job, field, by)
    local batch = batchOf(job.queue, job.batch)
    if batch.state then batch.totals[field] = (batch.totals[field] or 0) + by end
end

-- A job's end: done, failed or cancelled.
local function finish(job, how)
    local batch = batchOf(job.queue, job.batch)
    if not batch.state then return end
    batch.counts[how] = (batch.counts[how] or 0) + 1
    if how ~= 'cancelled' then batch.finished[#batch.finished + 1] = job.id end
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
    for queue, known in pairs(batches) do
        local sums = totals[queue]
        for number, batch in pairs(known) do
            local key, counts = ofQueue(queue, 'batch:' .. number), batch.counts
            for field, by in pairs(counts) do
                if by ~= 0 then call('HINCRBY', key, field, by) end
                sums[field] = (sums[field] or 0) + by
            end
            if #batch.finished > 0 then pushBack(ofQueue(queue, 'finished:' .. number), batch.finished) end
            if counts.done or counts.failed or counts.cancelled then
                ended[queue] = true
                if batch.state ~= 'open' then endBatchWhereComplete(queue, number) end
            end
            batch.counts, batch.finished = {}, {}
        end
        for field, by in pairs(sums) do
            if by ~= 0 then call('HINCRBY', ofQueue(queue, 'count'), field, by) end
            sums[field] = nil
        end
    end
    return ended
end

-- Jobs of a queue that have not ended.
local function openJobs(queue)
    local fields = call('HMGET', ofQueue(queue, 'count'), 'enqueued', 'done', 'failed', 'cancelled')
    return (fields[1] or 0) - (fields[2] or 0) - (fields[3] or 0) - (fields[4] or 0)
end

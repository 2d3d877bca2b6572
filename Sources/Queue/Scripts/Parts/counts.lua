-- Counters of queues and of batches. They move with the state they count: noted while a script decides, written at its end.
--
--   '<q>queue', a hash              enqueued done failed cancelled, of which fetched revalidated cached; active parked delayed now; retried
--                                   crashed fenced doubleFetches bytes; failed:<class>, disallowed; paused priorities turn; kept, keptIds:
--                                   ended batches, and their finished ids; mended: changes when an audit mends counters; alone: the
--                                   worker that takes no more jobs, until it has nothing and may take a URL that two workers died with
--   '<q>batch:<number>', a hash     id source state(open, closed, cancelled) priority refresh maxAge headers trace manners keeps began touched;
--                                   offset total; done failed cancelled; active parked delayed now; disallowed, of the failed; ended, ids:
--                                   when it did, and how many finished ids it has; again, again:<id>: ends that count no more
--   '<q>batches', '<q>finished:<number>', '<q>idle'   as Docs/REDIS.md says
-- Jobs that are ready are counted nowhere: ready = enqueued - done - failed - cancelled - active - parked - delayed.
local Counts = setmetatable({batches = {}, totals = {}, areKeysKnown = false}, Lazy)

-- What was asked for with a batch; `isGone` when it was cancelled, or removed with its queue.
function Counts.batchOf(queue, number)
    local known = Counts.batches[queue]
    if not known then
        known = {}
        Counts.batches[queue], Counts.totals[queue] = known, Counts.totals[queue] or {}
    end
    local batch = known[number]
    if not batch then
        local prefix, text = tag .. 'q:' .. queue .. ':', tostring(number)
        local key = prefix .. 'batch:' .. text
        local fields = call('HMGET', key, 'state', 'priority', 'id', 'headers', 'trace', 'manners', 'keeps')
        local state, priority = fields[1], numberOf(fields[2], 2)
        if not Blocks.PRIORITIES[priority] then priority = 2 end
        batch = {
            key = key, finishedKey = prefix .. 'finished:' .. text, index = number, state = state, isGone = not state or state == 'cancelled',
            number = priority, priority = Blocks.PRIORITIES[priority], name = fields[3], headers = fields[4], trace = fields[5], manners = fields[6], keeps = fields[7],
            isTold = false, counts = {}, finished = {},
        }
        known[number] = batch
        -- Redis does not roll a script back: keys that hold something else stop it before it writes.
        if not batch.isGone and not Counts.areKeysKnown then
            Lists.check(batch.finishedKey)
            call('ZCARD', prefix .. 'timers:' .. batch.priority)
        end
    end
    return batch
end

-- A counter that is no number stays so, until somebody sets it. It stops nobody.
local function addTo(key, field, by)
    local answer = redis.pcall('HINCRBY', key, field, by)
    if type(answer) == 'table' and not answer.err:find('integer', 1, true) and not answer.err:find('overflow', 1, true) then
        call('HINCRBY', key, field, by)
    end
end

-- Writes what was counted. Answers for each queue how many of its jobs ended. A queue that was removed stays so, whatever ends of it.
function Counts.save()
    local ended = {}
    for queue, known in pairs(Counts.batches) do
        local key, sums, ends, isThere = tag .. 'q:' .. queue .. ':queue', Counts.totals[queue], 0, next(known) == nil
        for _, batch in pairs(known) do
            local counts = batch.counts
            isThere = isThere or batch.state
            if batch.finished[1] then Lists.push(batch.finishedKey, batch.finished) end
            for field, by in pairs(counts) do
                if by ~= 0 then addTo(batch.key, field, by) end
                sums[field] = (sums[field] or 0) + by
            end
            ends = ends + (counts.done or 0) + (counts.failed or 0) + (counts.cancelled or 0)
            batch.counts, batch.finished = {}, {}
        end
        for field, by in pairs(sums) do
            if isThere and by ~= 0 then addTo(key, field, by) end
        end
        Counts.totals[queue] = {}
        if ends > 0 then ended[queue] = ends end
    end
    return ended
end

function Counts.make()
    local MOST_KEPT, MOST_KEPT_IDS, KEPT_FOR, UNFED_FOR, MOST_FORGOTTEN = 1000, 50000000, 30 * 86400000, 7 * 86400000, 8
    Counts.MOST_WOKEN = 1000

    function Counts.batchOfJob(queue, job) return Counts.batchOf(queue, Blocks.batchOf(job)) end

    -- Counts for the queue and for the batch; not at all when the batch was removed, for its counters are gone with it.
    function Counts.count(batch, field, by)
        if batch.state then batch.counts[field] = (batch.counts[field] or 0) + by end
    end

    -- Counts for the queue alone.
    function Counts.countTotal(queue, field, by)
        if not Counts.totals[queue] then Counts.totals[queue], Counts.batches[queue] = {}, {} end
        Counts.totals[queue][field] = (Counts.totals[queue][field] or 0) + by
    end

    -- A job's end: done, failed or cancelled. The mark stands behind the id where the site did not permit the URL.
    function Counts.finish(batch, id, how, mark)
        if not batch.state then return end
        batch.counts[how] = (batch.counts[how] or 0) + 1
        if how ~= 'cancelled' then batch.finished[#batch.finished + 1] = id .. (mark or '') end
    end

    -- Jobs that have not ended, by all that were accepted and the three ends. A value that is no number tells nothing: there may be some.
    local function openOf(accepted, done, failed, cancelled)
        if areDamaged({accepted, done, failed, cancelled}) then return 1 end
        return numberOf(accepted) - numberOf(done) - numberOf(failed) - numberOf(cancelled)
    end

    local function endBatch(queue, number, state)
        local key, ids = Blocks.ofQueue(queue, 'queue'), Lists.length(Blocks.ofQueue(queue, 'finished:' .. number))
        call('HSET', Blocks.ofQueue(queue, 'batch:' .. number), 'state', state == 'open' and 'closed' or state, 'ended', Clock.now, 'ids', ids)
        addTo(key, 'kept', 1)
        addTo(key, 'keptIds', ids)
    end

    -- Forgets the oldest of the ended batches, a few at a time: above a number, above a number of their ids, or after a month. A batch
    -- whose producer fed it no more for a week, and whose jobs have ended, counts as complete.
    function Counts.forgetBatches(queue)
        local key = Blocks.ofQueue(queue, 'queue')
        local kept = call('HMGET', key, 'kept', 'keptIds', 'walk')
        local number, ids, walk = numberOf(kept[1]), numberOf(kept[2]), max(0, numberOf(kept[3]))
        local function isOver() return number > MOST_KEPT or ids > MOST_KEPT_IDS end
        -- Looks at a few batches from one on. Answers behind which of them to go on, and 0 at the end.
        local function look(from)
            local found = call('ZRANGE', Blocks.ofQueue(queue, 'batches'), from, from + MOST_FORGOTTEN - 1, 'WITHSCORES')
            local passed = 0
            for i = 1, #found, 2 do
                local name, batchKey = found[i], Blocks.ofQueue(queue, 'batch:' .. found[i + 1])
                local fields = call('HMGET', batchKey, 'state', 'ended', 'touched', 'total', 'done', 'failed', 'cancelled', 'ids')
                local open = openOf(fields[4], fields[5], fields[6], fields[7])
                local ended = fields[2] and whole(fields[2])
                if not fields[1] then
                    call('ZREM', Blocks.ofQueue(queue, 'batches'), name)
                elseif ended and (isOver() or ended + KEPT_FOR < Clock.now) then
                    number, ids = number - 1, ids - numberOf(fields[8])
                    if fields[8] then
                        addTo(key, 'kept', -1)
                        addTo(key, 'keptIds', 0 - numberOf(fields[8]))
                    end
                    call('UNLINK', batchKey)
                    Lists.drop(Blocks.ofQueue(queue, 'finished:' .. found[i + 1]))
                    call('ZREM', Blocks.ofQueue(queue, 'batches'), name)
                else
                    if not ended and open <= 0 and (fields[1] ~= 'open' or numberOf(fields[3]) + UNFED_FOR < Clock.now) then
                        endBatch(queue, found[i + 1], fields[1])
                    end
                    passed = passed + 1
                end
            end
            return #found < 2 * MOST_FORGOTTEN and 0 or from + passed
        end
        -- The oldest stand first, behind batches that have not ended.
        local from, looks = 0, 0
        while isOver() and looks < MOST_FORGOTTEN and (from > 0 or looks == 0) do from, looks = look(from), looks + 1 end
        call('HSET', key, 'walk', look(walk))
    end

    function Counts.endBatchWhereComplete(queue, number)
        local key = Blocks.ofQueue(queue, 'batch:' .. number)
        local fields = call('HMGET', key, 'state', 'total', 'done', 'failed', 'cancelled', 'ended')
        if not fields[1] or fields[1] == 'open' or fields[6] then return end
        if openOf(fields[2], fields[3], fields[4], fields[5]) > 0 then return end
        endBatch(queue, number, fields[1])
        Counts.forgetBatches(queue)
    end

    -- Jobs of a queue that have not ended.
    function Counts.openJobs(queue)
        local fields = call('HMGET', Blocks.ofQueue(queue, 'queue'), 'enqueued', 'done', 'failed', 'cancelled')
        return openOf(fields[1], fields[2], fields[3], fields[4])
    end

    -- Tells up to `most` of a queue's idle workers that there is something for them. Those that are gone tell nobody.
    function Counts.wake(queue, most)
        local idle = Blocks.ofQueue(queue, 'idle')
        for _ = 1, Counts.MOST_WOKEN do
            if most <= 0 then return end
            local popped = redis.pcall('ZPOPMIN', idle)
            if popped.err or not popped[1] then return end
            if publish(popped[1], 'q' .. queue) > 0 then most = most - 1 end
        end
    end
end

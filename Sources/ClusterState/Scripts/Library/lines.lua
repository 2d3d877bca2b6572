-- The line of jobs that wait, its idle workers, and the jobs that nobody tries again.
--
--   '<queue>ready:<priority>', a list   jobs in the order they came; those that come back are the first
--   '<queue>idle', a sorted set         channels of the workers that found nothing, by when
--   '<queue>dead', a sorted set         given-up jobs by when: a token(16), job length(4), job, last error
local MOST_CRASHES, MOST_WOKEN = 3, 1000

-- Tells up to `most` of a queue's idle workers that there is something for them. Those that are gone tell nobody.
local function wake(queue, most)
    local idle = ofQueue(queue, 'idle')
    for _ = 1, MOST_WOKEN do
        if most <= 0 then return end
        local popped = redis.pcall('ZPOPMIN', idle)
        if popped.err or not popped[1] then return end
        local channel = popped[1]
        if call('PUBLISH', channel, 'q' .. queue) > 0 then most = most - 1 end
    end
end

-- Puts a job at the head of its line; a job of a batch that was cancelled meanwhile ends here.
local function comeBack(job)
    local batch = batchOf(job.queue, job.batch)
    if batch.isGone then
        finish(job, 'cancelled')
        return false
    end
    call('LPUSH', ofQueue(job.queue, 'ready:' .. batch.priority), written(job))
    return true
end

-- Gives a job up, unless its queue was cleared. The token makes its record differ from any other's.
local function bury(job, token, reason, most)
    if not batchOf(job.queue, job.batch).state then return end
    local dead, bytes = ofQueue(job.queue, 'dead'), written(job)
    call('ZADD', dead, now, token .. pack('>I4', #bytes) .. bytes .. reason)
    local excess = call('ZCARD', dead) - most
    if excess > 0 then call('ZREMRANGEBYRANK', dead, 0, min(excess, 100) - 1) end
    finish(job, 'failed')
end

-- Accepts one chunk of a batch, once.
--
-- The batch is a ledger: how far its input has been accepted moves together with the jobs. A chunk that comes a second time, after
-- a lost reply or from a producer that was started again, is answered and not added. A URL that comes twice is two jobs; the
-- second finds the first one's page.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 the batch's number   2 offset before the chunk   3 offset after it   4 whether the batch ends with it   5 delay, ms
--       then a lean entry for each job
-- Answer: {offset, total of the batch, jobs of the queue that have not ended, the batch's state}; state 'none' for a batch that is not known
local queue = KEYS[2]:sub(#namespace + 3, -7)
local number, before, after, closes, delay = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4] == '1', tonumber(ARGV[5])
local FIRST = 6
local key = ofQueue(queue, 'batch:' .. ARGV[1])
local fields = call('HMGET', key, 'state', 'offset', 'total', 'headers')
local state, offset, total, hasHeaders = fields[1], fields[2], tonumber(fields[3] or 0), fields[4] and true
if not state then return {0, 0, 0, 'none'} end
if offset ~= before or state ~= 'open' then return {tonumber(offset), total, openJobs(queue), state} end

local batch, jobs = checkEnd(queue, number), #ARGV - FIRST + 1
local ready, later = ofQueue(queue, 'ready:' .. batch.priority), ofQueue(queue, 'later')
call('ZCARD', later)
call('HSET', key, 'offset', after, 'total', total + jobs)
if closes then call('HSET', key, 'state', 'closed') end
call('HINCRBY', KEYS[2], 'enqueued', jobs)
if jobs > 0 and delay > 0 then
    for i = FIRST, #ARGV do
        local job = {batch = number, enqueued = now, crashes = 0, failures = 0, throttled = 0, queue = queue, hasHeaders = hasHeaders}
        withLean(job, ARGV[i])
        call('ZADD', later, now + delay, newToken('\0\0\0\0\0\0\0\0') .. written(job))
        count(job, 'delayed', 1)
    end
elseif jobs > 0 then
    call('RPUSH', ready, headingOf(number, now, hasHeaders), unpack(ARGV, FIRST, min(#ARGV, FIRST + MOST_AT_ONCE - 1)))
    for i = FIRST + MOST_AT_ONCE, #ARGV, MOST_AT_ONCE do
        call('RPUSH', ready, unpack(ARGV, i, min(i + MOST_AT_ONCE - 1, #ARGV)))
    end
end
saveCounts()
if closes then endBatchWhereComplete(queue, number) end
saveClock()
if jobs > 0 then wake(queue, jobs) end
return {tonumber(after), total + jobs, openJobs(queue), closes and 'closed' or 'open'}

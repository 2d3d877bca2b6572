--@ clock lists blocks counts
-- Accepts one chunk of a batch, once.
--
-- The batch is a ledger: how far its input has been accepted moves together with the jobs. A chunk names the exact offset that its
-- partition had before it. So a chunk that comes a second time is answered and not added, and a gap is told from it. It names the batch too:
-- after a loss of data a number may be another batch's.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 the batch's number   2 its name   3 offset before the chunk   4 offset after it   5 whether the batch ends with it   6 delay, ms
--       7 how many jobs, then their blocks, in which the time is still 0
-- Answer: {offset, total of the batch, jobs of the queue that have not ended, the batch's state}; state 'none' for a batch that is not known
local queue = KEYS[2]:sub(#tag + 3, -7)
local number, before, after, closes, delay = tonumber(ARGV[1]), ARGV[3], ARGV[4], ARGV[5] == '1', tonumber(ARGV[6])
local jobs, FIRST = tonumber(ARGV[7]), 8
local key = Blocks.ofQueue(queue, 'batch:' .. ARGV[1])
local fields = call('HMGET', key, 'state', 'offset', 'total', 'id')
local state, offset, total = fields[1], fields[2], numberOf(fields[3])
if areDamaged({fields[2], fields[3]}) then return damaged(key) end
if not state or fields[4] ~= ARGV[2] then return {0, 0, 0, 'none'} end
if offset ~= before or state ~= 'open' then return {tonumber(offset), total, Counts.openJobs(queue), state} end

local batch = Counts.batchOf(queue, number)
local list = delay == 0 and Blocks.ofQueue(queue, 'ready:' .. batch.priority) or Blocks.delayedOf(queue, batch.priority, delay)
-- Redis does not roll a script back: keys that hold something else stop it before it writes.
if areDamaged(call('HMGET', KEYS[2], 'enqueued', 'done', 'failed', 'cancelled')) then return damaged(KEYS[2]) end
Lists.check(list)
Clock.use(queue, Clock.now + delay)
call('HSET', key, 'offset', after, 'total', total + jobs, 'touched', Clock.now)
if closes then call('HSET', key, 'state', 'closed') end
call('HINCRBY', KEYS[2], 'enqueued', jobs)
local time, blocks = pack('>I5', Clock.now - Blocks.EPOCH), {}
for i = FIRST, #ARGV do blocks[i - FIRST + 1] = sub(ARGV[i], 1, 5) .. time .. sub(ARGV[i], 11) end
local isFirst = blocks[1] and Lists.push(list, blocks)
if delay > 0 then
    if isFirst then call('ZADD', Blocks.ofQueue(queue, 'timers:' .. batch.priority), Clock.now + delay, 'd' .. delay) end
    Counts.count(batch, 'delayed', jobs)
end
Counts.save()
if closes then Counts.endBatchWhereComplete(queue, number) end
Clock.save()
if jobs > 0 then Counts.wake(queue, jobs) end
return {tonumber(after), total + jobs, Counts.openJobs(queue), closes and 'closed' or 'open'}

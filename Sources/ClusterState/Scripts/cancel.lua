-- Cancels a batch: what waits of it ends here and now in the counters, and is dropped where it lies when a claim meets it.
-- What is in flight is finished, and is not tried again.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 the batch's number
-- Answer: how many jobs ended, or -1 for a batch that is not known
local queue = KEYS[2]:sub(#namespace + 3, -7)
local number = tonumber(ARGV[1])
local key = ofQueue(queue, 'batch:' .. ARGV[1])
local fields = call('HMGET', key, 'state', 'total', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed')
if not fields[1] then return -1 end
if fields[1] == 'cancelled' then return 0 end
local function field(i) return tonumber(fields[i] or 0) end
local ends = field(2) - field(3) - field(4) - field(5) - field(6)
checkEnd(queue, number)
writeAlsoWhenFull()
call('HSET', key, 'state', 'cancelled', 'parked', 0, 'delayed', 0)
call('HINCRBY', key, 'cancelled', ends)
call('HINCRBY', KEYS[2], 'cancelled', ends)
-- Not a minus in front: Lua writes the opposite of zero as "-0", which Redis takes for no number.
call('HINCRBY', KEYS[2], 'parked', 0 - field(7))
call('HINCRBY', KEYS[2], 'delayed', 0 - field(8))
endBatchWhereComplete(queue, number)
saveClock()
if openJobs(queue) <= 0 then wake(queue, MOST_WOKEN) end
return ends

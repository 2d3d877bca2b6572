--@ clock blocks counts hosts locks
-- Removes a queue with all it holds in a partition, a part in each call. What is in flight of it counts for nothing when it ends.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 whether a queue that is paused stays paused
-- Answer: whether something is left
local queue = KEYS[2]:sub(#tag + 3, -7)
call('HLEN', Locks.key)
call('HLEN', tag .. 'hosts')
call('ZCARD', Blocks.ofQueue(queue, 'batches'))
local keepsPause = ARGV[1] == '1' and call('HGET', KEYS[2], 'paused') == '1'
Clock.writeAlsoWhenFull()
local isLeft = Locks.removeQueue(queue, 500)
if not isLeft and keepsPause then
    call('HSET', KEYS[2], 'paused', 1)
    Clock.use(queue, Clock.now)
end
return isLeft and 1 or 0

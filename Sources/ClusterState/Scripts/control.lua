--@ clock blocks counts hosts locks
-- Pauses a queue or lets it go on, ends the waiting jobs of a batch, or takes back what workers hold.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 'pause', 'resume': answers whether the queue was paused before
--         'cancel': answers how many jobs ended, or -1 for a batch that is not known; jobs in flight are finished and not tried again
--         'takeBack': takes back, uncharged, some of what a process holds; answers how much it had of that. Without fields all goes that
--         a process without a lease holds, a part in each call
--       2 the batch's number, or the incarnation   3 … the fields
-- Answer: as the action says
local queue, action = KEYS[2]:sub(#tag + 3, -7), ARGV[1]
call('HLEN', KEYS[2])
Clock.writeAlsoWhenFull()
if action ~= 'takeBack' then Clock.use(queue, Clock.now) end

local function cancel(number)
    local key = Blocks.ofQueue(queue, 'batch:' .. number)
    local fields = call('HMGET', key, 'state', 'total', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed')
    if not fields[1] then return -1 end
    if fields[1] == 'cancelled' then return 0 end
    local function field(i) return tonumber(fields[i] or 0) end
    local ends = field(2) - field(3) - field(4) - field(5) - field(6)
    call('HSET', key, 'state', 'cancelled', 'parked', 0, 'delayed', 0)
    call('HINCRBY', key, 'cancelled', ends)
    call('HINCRBY', KEYS[2], 'cancelled', ends)
    -- Not a minus in front: Lua writes the opposite of zero as "-0", which Redis takes for no number.
    call('HINCRBY', KEYS[2], 'parked', 0 - field(7))
    call('HINCRBY', KEYS[2], 'delayed', 0 - field(8))
    Counts.endBatchWhereComplete(queue, number)
    if Counts.openJobs(queue) <= 0 then Counts.wake(queue, Counts.MOST_WOKEN) end
    return ends
end

local function takeBack(incarnation)
    local holder, taken = Locks.holderOf(incarnation), 0
    if #ARGV == 2 then return call('ZSCORE', Locks.leases, incarnation) and 0 or Locks.takeBackFrom(incarnation, false) end
    for i = 3, #ARGV do
        local value = call('HGET', holder, ARGV[i])
        -- A lock may be its process' without the process knowing of it.
        if value or #ARGV[i] == 16 then Locks.takeBackField(ARGV[i], value, holder, incarnation, false) end
        if value then taken = taken + 1 end
    end
    return taken
end

local result
if action == 'cancel' then
    result = cancel(ARGV[2])
elseif action == 'takeBack' then
    result = takeBack(ARGV[2])
else
    result = call('HGET', KEYS[2], 'paused') == '1' and 1 or 0
    if action == 'pause' then
        call('HSET', KEYS[2], 'paused', 1)
    else
        call('HDEL', KEYS[2], 'paused')
        Counts.wake(queue, Counts.MOST_WOKEN)
    end
end
Locks.finish()
return result

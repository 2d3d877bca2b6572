--@ clock blocks counts hosts locks
-- Pauses a queue or lets it go on, ends the waiting jobs of a batch, or takes back what a queue's workers hold.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 'pause', 'resume': answers whether the queue was paused before
--         'cancel': answers how many jobs ended, or -1 for a batch that is not known; jobs in flight are finished and not tried again
--         'reclaim': for a caller who knows that nobody holds anything any more; answers how many jobs came back, uncharged
--       2 the batch's number
-- Answer: {whether more is left to do, the answer}
local queue, action = KEYS[2]:sub(#tag + 3, -7), ARGV[1]
local MOST_LOOKED_AT = 500
call('HLEN', KEYS[2])
Clock.writeAlsoWhenFull()
Clock.use(queue, Clock.now)

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

-- The locks of a queue and its deliveries, wherever they lie: one incarnation in a call.
local function reclaim()
    local taken = 0
    for _, incarnation in ipairs(call('ZRANGE', Locks.leases, 0, -1)) do
        local holder = Locks.holderOf(incarnation)
        local held = call('HGETALL', holder)
        for i = 1, #held, 2 do
            local field, value = held[i], held[i + 1]
            local lock = #field == 16 and Locks.read(call('HGET', Locks.key, field))
            local isOurs = lock and lock.kind == 'L' and lock.queue == queue
                or #field == 17 and byte(field) == 100 and sub(value, 2, 1 + byte(value)) == queue
            if isOurs then
                if taken == MOST_LOOKED_AT then return 1, taken end
                Locks.takeBackField(field, value, holder, incarnation, false)
                taken = taken + 1
            end
        end
    end
    return 0, taken
end

local isMore, result = 0, 0
if action == 'cancel' then
    result = cancel(ARGV[2])
elseif action == 'reclaim' then
    isMore, result = reclaim()
else
    result = call('HGET', KEYS[2], 'paused') == '1' and 1 or 0
    if action == 'pause' then
        call('HSET', KEYS[2], 'paused', 1)
    else
        call('HDEL', KEYS[2], 'paused')
        Counts.wake(queue, Counts.MOST_WOKEN)
    end
end
Hosts.save()
Counts.save()
Clock.save()
for name, by in pairs(Locks.returned) do Counts.wake(name, by) end
return {isMore, result}

--@ clock lists blocks counts hosts locks
-- Carries out what an operator asks for.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'; a rule is no queue's, and then the name is empty
-- ARGV  1 'cancel'     2 a batch's number. Its waiting jobs end; jobs in flight are finished and not tried again. Answers how many ended
--         'clear'      2 whether a queue that is paused stays paused. Removes a part of the queue with all it holds. What is in flight of it
--                      counts for nothing when it ends. Answers whether something is left
--         'takeBack'   2 an incarnation   3 … fields of what it holds, which come back uncharged. Answers how many it had. Without fields
--                      all comes back that a process without a lease holds, a part in each call
--         'rule'       2 a host, or '*.' and a domain: each host of the domain by itself   3 'limit interval pausedUntil', each of which may
--                      be empty, or nothing to clear the rule. It outranks every worker's settings. Answers 1 where it is set or cleared,
--                      0 where there was none to clear, -1 where there are too many
--         'forgive'    2 whether rests end that hosts asked for, and all is forgotten   3 … hosts that are asked again. Answers how many
--                      were in trouble
local MOST_RULES, MOST_REMOVED = 1000, 500
local queue, actions = KEYS[2]:sub(#tag + 3, -7), {}

function actions.cancel(number)
    local key = Blocks.ofQueue(queue, 'batch:' .. number)
    local fields = call('HMGET', key, 'state', 'total', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed')
    if areDamaged({unpack(fields, 2, 8)}) then return damaged(key) end
    if areDamaged(call('HMGET', KEYS[2], 'enqueued', 'done', 'failed', 'cancelled', 'parked', 'delayed')) then return damaged(KEYS[2]) end
    Clock.use(queue, Clock.now)
    if not fields[1] or fields[1] == 'cancelled' then return 0 end
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

function actions.clear(keepsPause)
    call('ZCARD', Blocks.ofQueue(queue, 'batches'))
    local staysPaused = keepsPause == '1' and call('HEXISTS', KEYS[2], 'paused') == 1
    if Locks.removeQueue(queue, MOST_REMOVED) then return 1 end
    if staysPaused then
        call('HSET', KEYS[2], 'paused', 1)
        Clock.use(queue, Clock.now)
    end
    return 0
end

function actions.takeBack(incarnation)
    local holder, taken = Locks.holderOf(incarnation), 0
    if #ARGV == 2 then return tonumber(call('ZSCORE', Locks.leases, incarnation) or 0) > 0 and 0 or Locks.takeBackFrom(incarnation, false) end
    for i = 3, #ARGV do
        local value = call('HGET', holder, ARGV[i])
        -- A lock may be its process' without the process knowing of it.
        if value or #ARGV[i] == 16 then Locks.takeBackField(ARGV[i], value, holder, incarnation, false) end
        if value then taken = taken + 1 end
    end
    return taken
end

function actions.rule(pattern, text)
    local key, field, isSet = tag .. 'hosts', '=' .. pattern, text ~= '' and 1 or 0
    local isKnown = call('HEXISTS', key, field)
    if isSet > isKnown and Clock.rules >= MOST_RULES then return -1 end
    if isSet == 1 then call('HSET', key, field, text) else call('HDEL', key, field) end
    Clock.rules = Clock.rules + isSet - isKnown
    -- Jobs that wait for the host are looked at under the new rule. Those of a domain's hosts are within half a minute.
    Hosts.limit = Hosts.NEVER
    local host = Hosts.of(pattern)
    if host.waiting[1] then Hosts.changed(host).offered = 0 end
    return max(isSet, isKnown)
end

function actions.forgive(endsRests)
    local troubled = 0
    Hosts.limit = Hosts.NEVER
    for i = 3, #ARGV do
        local host = Hosts.of(ARGV[i])
        if host.down + host.level + host.probing > 0 or host.cool > Clock.now then
            if endsRests == '1' then Hosts.forgive(host, true) else Hosts.askAnew(host) end
            troubled = troubled + 1
        end
    end
    return troubled
end

-- Redis does not roll a script back: keys that hold something else stop it before it writes.
call('HLEN', Locks.key)
call('HLEN', tag .. 'hosts')
Clock.writeAlsoWhenFull()
local answer = actions[ARGV[1]](ARGV[2], ARGV[3])
Locks.finish()
return answer

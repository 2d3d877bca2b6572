--@ clock blocks counts hosts locks
-- Compares what a partition counts with what is there, and mends it when asked: the requests in flight of its hosts, or the jobs of a queue.
-- It sees and mends in one step, within a bound: on a live system nothing can come in between. Audit.swift looks for other drift. Examples
-- name hosts and queues: URLs and tokens may be secrets.
--
-- KEYS  1 '<tag>state'   2 '<q>queue', for its counters
-- ARGV  1 whether to mend   2 'hosts' or 'counts'
-- Answer: findings, each its kind, how many, and an example
local mends, part = ARGV[1] == '1', ARGV[2]
local AT_ONCE, MOST_IN_ONE_STEP = 500, 50000
local findings, left, hasMended = {}, MOST_IN_ONE_STEP, false
-- A host that has room again tells the queues that wait for it; how much room, their workers know.
Hosts.limit = MOST_IN_ONE_STEP

local function note(kind, example, number)
    findings[#findings + 1], findings[#findings + 2], findings[#findings + 3] = kind, number or 1, example
end

-- Notes a finding. Answers whether it is to be mended.
local function finds(kind, example, number)
    if mends then Clock.writeAlsoWhenFull() end
    hasMended = mends
    note(kind, example, number)
    return mends
end

local function isTooMany(number, what)
    if left >= 0 and left < number then note('notChecked', what) end
    left = left - number
    return left < 0
end

-- Calls a function for all that is held: with the field, its value, and the lock where a job has it.
local function forAllHeld(body)
    for _, incarnation in ipairs(call('ZRANGE', Locks.leases, 0, MOST_IN_ONE_STEP)) do
        local holder = Locks.holderOf(incarnation)
        if isTooMany(1 + call('HLEN', holder), 'URLs that are being fetched') then return end
        local held = call('HGETALL', holder)
        for i = 1, #held, 2 do
            local lock = #held[i] == 16 and Locks.read(call('HGET', Locks.key, held[i]))
            body(held[i], held[i + 1], lock and lock.kind == 'L' and lock)
        end
    end
end

local function checkHosts()
    local running = {}
    local function add(name) running[name] = (running[name] or 0) + 1 end
    forAllHeld(function(field, value, lock)
        if #field == 17 and byte(field) == 112 then add(value) end
        local isHere = lock and not Locks.has(lock.flags, Locks.MOVED) and not Locks.has(lock.flags, Locks.NO_PLACE)
        if isHere then add(sub(lock.job, 12, 11 + byte(lock.job, 11))) end
    end)
    if left < 0 or isTooMany(call('HLEN', tag .. 'hosts'), 'hosts') then return end
    for _, name in ipairs(call('HKEYS', tag .. 'hosts')) do
        if byte(name) ~= 61 and byte(name) ~= 63 then running[name] = running[name] or 0 end
    end
    for name, number in pairs(running) do
        local host = Hosts.of(name)
        local example = 'the host ' .. name .. ': ' .. number .. ' where ' .. host.running .. ' are counted'
        if host.running ~= number and finds('hostCount', example) then Hosts.changed(host).running = number end
    end
end

-- Counts a queue's jobs anew, and compares its counters and those of its batches. Jobs that are ready are what was accepted and is nothing
-- else. Where there are fewer, jobs are lost: they count as failed, so that what waits for the end of their batch hears of it. Where there
-- are more, they were accepted all the same.
local PARTS = {'active', 'parked', 'delayed'}
local function checkCounts()
    local queue, there, isReadable = KEYS[2]:sub(#tag + 3, -7), {}, true
    local what = 'the queue ' .. queue
    local function found(number, part, by)
        local is = there[number] or {active = 0, parked = 0, delayed = 0, ready = 0}
        there[number] = is
        if part then is[part] = is[part] + by end
    end
    local function add(element, part)
        local block = Blocks.read(element)
        if block then found(block.batch, part, block.count) end
        if not block and element ~= Blocks.GONE and #element ~= 16 then isReadable = false end
    end
    local function addList(key, isFollowers)
        local length = call('LLEN', key)
        if isTooMany(1 + length, 'jobs of ' .. what) then return end
        for from = 0, length - 1, AT_ONCE do
            for _, element in ipairs(call('LRANGE', key, from, from + AT_ONCE - 1)) do
                add(element, isFollowers and Blocks.stateOf(element) or 'ready')
            end
        end
    end
    forAllHeld(function(field, value, lock)
        local isDelivery = #field == 17 and byte(field) == 100 and sub(value, 2, 1 + byte(value)) == queue
        local job = isDelivery and sub(value, 2 + byte(value)) or lock and lock.queue == queue and lock.job
        if job then add(job, 'active') end
    end)
    for _, priority in ipairs(Blocks.PRIORITIES) do
        local timers = Blocks.ofQueue(queue, 'timers:' .. priority)
        addList(Blocks.ofQueue(queue, 'ready:' .. priority))
        if isTooMany(call('ZCARD', timers), 'jobs of ' .. what) then return end
        for _, member in ipairs(call('ZRANGE', timers, 0, -1)) do
            local kind, name = sub(member, 1, 1), sub(member, 2)
            if kind == 'd' then add(sub(member, 10), 'delayed') end
            if kind == 'u' then addList(Blocks.followersOf(queue, name), true) end
            if kind == 'h' then addList(Blocks.ofQueue(queue, 'aside:' .. priority .. ':' .. name)) end
        end
    end
    if call('LLEN', Blocks.ofQueue(queue, 'aside:newer')) > 0 or not isReadable then note('notChecked', what .. ': some jobs cannot be read') end
    if #findings > 0 then return end
    local known = call('ZRANGE', Blocks.ofQueue(queue, 'batches'), 0, -1, 'WITHSCORES')
    for i = 2, #known, 2 do found(tonumber(known[i])) end

    -- Compares the counters of a key with what is there. Answers how many jobs are missing there.
    local function compare(key, whose, total, is, told)
        local names, counted = {total, 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed'}, {}
        for i, value in ipairs(call('HMGET', key, unpack(names))) do counted[names[i]] = tonumber(value or 0) or 0 end
        for _, part in ipairs(PARTS) do
            local example = part .. ' of ' .. whose .. ': ' .. is[part] .. ' where ' .. counted[part] .. ' are counted'
            if counted[part] ~= is[part] and finds('counter', example) then call('HSET', key, part, is[part]) end
        end
        local lost = counted[total] - counted.done - counted.failed - counted.cancelled - is.active - is.parked - is.delayed - is.ready
        -- Those that batches miss are missing from their queue as well, and told of once.
        if lost > 0 and finds('jobsLost', 'of ' .. whose .. ': ' .. lost, max(0, lost - max(0, told))) then
            call('HINCRBY', key, 'failed', lost)
        elseif lost < 0 and finds('jobsUncounted', 'of ' .. whose .. ': ' .. 0 - lost, max(0, min(0, told) - lost)) then
            call('HINCRBY', key, total, 0 - lost)
        end
        return lost
    end
    local all, lost, uses = {active = 0, parked = 0, delayed = 0, ready = 0}, 0, call('HGET', KEYS[2], 'priorities') or ''
    for number, is in pairs(there) do
        local batch = Counts.batchOf(queue, number)
        -- One that was cleared away has no counters, and one that was cancelled counts only what is in flight.
        if batch.state then
            if batch.isGone then is.parked, is.delayed, is.ready = 0, 0, 0 end
            local whose = 'batch ' .. number .. ' of ' .. what
            local missing = compare(Blocks.ofQueue(queue, 'batch:' .. number), whose, 'total', is, 0)
            lost = lost + missing
            -- Exchanges look only where there can be something.
            if not batch.isGone and not uses:find(batch.number, 1, true) and finds('counter', 'the priority of ' .. whose) then
                uses = uses .. batch.number
                call('HSET', KEYS[2], 'priorities', uses)
            end
            if missing > 0 and mends then Counts.endBatchWhereComplete(queue, number) end
            for part, value in pairs(is) do all[part] = all[part] + value end
        end
    end
    compare(KEYS[2], what, 'enqueued', all, lost)
    if #findings > 0 and mends then Counts.wake(queue, Counts.MOST_WOKEN) end
end

if part == 'hosts' then checkHosts() else checkCounts() end
Hosts.save()
Counts.save()
if hasMended then Clock.save() end
return findings

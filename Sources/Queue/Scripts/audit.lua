--@ clock lists blocks counts hosts locks
-- Compares the requests in flight of a partition's hosts with their counts, and mends these when asked; or counts the jobs of a queue. It
-- does so in one step, within a bound: on a live system nothing can come in between. Audit+Counters.swift compares what jobs are counted.
--
-- KEYS  1 '<tag>state'   2 '<q>queue', for its jobs
-- ARGV  1 'hosts' or 'jobs'   2 whether to mend the hosts
-- Answer: what there was too much of, or '', and then
--         for each host with a wrong count: {name, requests in flight, those that are counted}
--         or how many elements of lists are damaged, the list of the first or '', the fields of the queue, and for each batch: {number,
--         active, parked, delayed and ready jobs, the fields of the batch}
local AT_ONCE, MOST_IN_ONE_STEP = 500, 50000
-- How jobs are counted in the list of a timer; followers say so themselves.
local PARTS = {h = 'ready', d = 'delayed'}
local answer, left = {''}, MOST_IN_ONE_STEP
-- A host that has room again tells the queues that wait for it; how much room, their workers know.
Hosts.limit = MOST_IN_ONE_STEP

local function isTooMany(number, what)
    left = left - number
    if left < 0 then answer[1] = what end
    return left < 0
end

-- Calls a function for all that is held: with the field, its value, the lock where a job has it, and the key of the holder.
local function forAllHeld(body)
    for _, incarnation in ipairs(call('ZRANGE', Locks.leases, '(0', '+inf', 'BYSCORE', 'LIMIT', 0, MOST_IN_ONE_STEP + 1)) do
        local holder = Locks.holderOf(incarnation)
        if isTooMany(1 + call('HLEN', holder), 'URLs that are being fetched') then return end
        local held = call('HGETALL', holder)
        for i = 1, #held, 2 do
            local lock = #held[i] == 16 and Locks.get(held[i])
            body(held[i], held[i + 1], lock and lock.kind == 'L' and lock, holder)
        end
    end
end

local function checkHosts()
    local running = {}
    local function add(name, by) running[name] = (running[name] or 0) + by end
    forAllHeld(function(field, value, lock)
        if #field == 17 and byte(field) == 112 then add(value, 1) end
        local isHere = lock and not Locks.has(lock, Locks.MOVED) and not Locks.has(lock, Locks.NO_PLACE)
        if isHere then add(Blocks.hostOf(lock.job), 1) end
    end)
    if left < 0 or isTooMany(call('HLEN', tag .. 'hosts'), 'hosts') then return end
    for _, name in ipairs(call('HKEYS', tag .. 'hosts')) do
        if byte(name) ~= 61 and byte(name) ~= 63 then add(name, 0) end
    end
    if ARGV[2] == '1' then Clock.writeAlsoWhenFull() end
    for name, number in pairs(running) do
        local host = Hosts.of(name)
        if host.running ~= number then
            answer[#answer + 1] = {name, number, host.running}
            if ARGV[2] == '1' then Hosts.changed(host).running = number end
        end
    end
    Hosts.save()
end

local function countJobs()
    local queue, there, damaged, damagedList = KEYS[2]:sub(#tag + 3, -7), {}, 0, ''
    local function partsOf(number)
        there[number] = there[number] or {active = 0, parked = 0, delayed = 0, ready = 0}
        return there[number]
    end
    local function add(element, part, list)
        local block = Blocks.read(element)
        if block then
            local parts = partsOf(block.batch)
            parts[part] = parts[part] + block.count
        elseif element ~= Blocks.GONE and #element ~= 16 then
            if damaged == 0 then damagedList = list end
            damaged = damaged + 1
        end
    end
    local function addList(key, part)
        for _, list in ipairs(Lists.partsOf(key)) do
            local length = call('LLEN', list)
            if isTooMany(1 + length, 'jobs') then return end
            for from = 0, length - 1, AT_ONCE do
                for _, element in ipairs(call('LRANGE', list, from, from + AT_ONCE - 1)) do
                    add(element, part or Blocks.stateOf(element), list)
                end
            end
        end
    end
    forAllHeld(function(field, value, lock, holder)
        local length = byte(value) or 0
        local isDelivery = #field == 17 and byte(field) == 100 and sub(value, 2, 1 + length) == queue
        local job = isDelivery and sub(value, 2 + length) or lock and lock.queue == queue and lock.job
        if job then add(job, 'active', holder) end
    end)
    for _, priority in ipairs(Blocks.PRIORITIES) do
        local timers = Blocks.timersOf(queue, priority)
        addList(Blocks.ofQueue(queue, 'ready:' .. priority), 'ready')
        if isTooMany(call('ZCARD', timers), 'jobs') then return end
        for _, member in ipairs(call('ZRANGE', timers, 0, -1)) do
            local list, kind = Blocks.listOf(queue, priority, member)
            if list then addList(list, PARTS[kind]) end
        end
    end
    local known = call('ZRANGE', Blocks.ofQueue(queue, 'batches'), 0, -1, 'WITHSCORES')
    for i = 2, #known, 2 do partsOf(tonumber(known[i])) end
    local COUNTERS = {'done', 'failed', 'cancelled', 'active', 'parked', 'delayed'}
    answer[2], answer[3] = damaged, damagedList
    answer[4] = call('HMGET', KEYS[2], 'priorities', 'mended', 'enqueued', unpack(COUNTERS))
    for number, is in pairs(there) do
        local fields = call('HMGET', Blocks.ofQueue(queue, 'batch:' .. number), 'state', 'priority', 'total', unpack(COUNTERS))
        answer[#answer + 1] = {number, is.active, is.parked, is.delayed, is.ready, unpack(fields)}
    end
end

if ARGV[1] == 'hosts' then checkHosts() else countJobs() end
return answer

-- What is due: delayed jobs, URLs that come back, and hosts at which something stands aside. A part of returns.lua, which runs it in its
-- place.
local MOST_TIMERS, MOST_SEARCHED, MOST_PASSED_OVER = 64, 1000, 8

-- Delayed jobs that are due are handed out like jobs that no worker has seen, and before these. Each list is in the order in which it
-- is due. Notes such lists among the first timers that are due, the earliest first. Answers the other timers, and whether there may be more.
local function dueOthers(line, most)
    local due, lists, others = call('ZRANGE', line.timers, '-inf', now, 'BYSCORE', 'LIMIT', 0, most), {}, {}
    for _, member in ipairs(due) do
        local delay = member:match('^d(%d+)$')
        if delay then
            lists[#lists + 1] = {member = member, key = Blocks.delayedOf(queue, line.name, delay), delay = tonumber(delay)}
        elseif byte(member) == 100 then
            call('ZREM', line.timers, member)
        else
            others[#others + 1] = member
        end
    end
    line.delayed = lists[1] and lists
    line.isReady = line.isReady or lists[1] ~= nil
    return others, #due == most
end

-- For a priority whose first timer is one of delayed jobs. Answers whether timers of another kind are due, as far as one look shows.
function Returns.findDelayed(line)
    local others, isFull = dueOthers(line, MOST_TIMERS)
    return others[1] or isFull
end

local function dueAt(list, element) return Blocks.isSound(element) and Blocks.enqueued(element) + list.delay or now end

-- The first elements of a delayed list, as far as they are due.
function Returns.dueOf(list, elements)
    for i = 1, #elements do
        if dueAt(list, elements[i]) > now then return {unpack(elements, 1, i - 1)} end
    end
    return elements
end

-- The list of delayed jobs that is served is looked at again when its first jobs are due. Where that is not yet, the next list comes.
function Returns.leaveDelayed(line)
    local list = line.delayed[1]
    local first = Lists.first(list.key)
    local at = first and dueAt(list, first)
    if first then call('ZADD', line.timers, at, list.member) else call('ZREM', line.timers, list.member) end
    if at and at <= now then return end
    table.remove(line.delayed, 1)
    if not line.delayed[1] then line.delayed = nil end
end

-- How many timers are due but those of delayed jobs.
local function othersDue(line)
    local urls, hosts = call('ZCOUNT', line.timers, '-inf', now), call('ZCOUNT', line.timers, Hosts.BEHIND, Hosts.BEHIND + now)
    return urls + hosts - (line.delayed and #line.delayed or 0)
end

-- Hosts with jobs aside whose requests have ended in this call are due now. Redis has those that are due in the order in which they go.
local function noteFreed(priority, line)
    local times = {}
    for name in pairs(line.freed) do
        local key = asideOf(priority, name)
        if not Lists.isEmpty(key) then
            local host, last = Hosts.of(name), #times
            host.needs = Hosts.needsOf(key, name)
            times[last + 1], times[last + 2] = now - host.needs + Hosts.BEHIND, 'h' .. name
        end
    end
    if times[1] then call('ZADD', line.timers, 'XX', 'LT', unpack(times)) end
    line.freed = {}
end

-- Serves what is due of a priority, until so many jobs are handed out: URLs that come back, and then the jobs that stand aside at hosts.
function Returns.serveDue(priority, goal)
    local line, before, served, passedOver = Ask.open[priority], Ask.count, 0, 0
    local function isOver() return Ask.count >= goal or Ask.budget <= 0 end
    local urls, isFull = dueOthers(line, MOST_TIMERS)
    if isFull and not urls[1] then urls = dueOthers(line, MOST_SEARCHED) end
    for _, member in ipairs(urls) do
        if isOver() then break end
        Ask.budget, served = Ask.budget - 1, served + 1
        -- Deliveries may leave followers of the URL, and these have come back too.
        repeat local isDone = byte(member) ~= 117 or carryOn(priority, sub(member, 2), 'timers') until isDone or isOver()
    end
    -- There may be more of them than one look shows.
    if served > 0 and isFull then return end

    line.isDue = false
    noteFreed(priority, line)
    local mostHosts = min(MOST_TIMERS, 2 * (MOST_PASSED_OVER + max(0, Ask.wanted - before)))
    local hosts = call('ZRANGE', line.timers, Hosts.BEHIND, Hosts.BEHIND + now, 'BYSCORE', 'LIMIT', 0, mostHosts)
    local isMore = isFull or #hosts == mostHosts
    local waiting = isMore and othersDue(line) or 0
    for _, member in ipairs(hosts) do
        if isOver() or passedOver >= MOST_PASSED_OVER then break end
        local name = sub(member, 2)
        -- A host that has room, and none for jobs that start later, stays due for the next call that wants jobs at once.
        if Ask.count >= Ask.wanted and #member > 2 and Hosts.roomFor(Hosts.of(name), queue) > 0 and Ask.roomOrMost(name, 1) <= 0 then
            passedOver = passedOver + 1
        else
            Ask.budget = Ask.budget - 1
            if name == SUSPECTS then serveSuspects(priority, goal) elseif name ~= LONE then serveHost(priority, name, goal) end
        end
    end
    if isOver() then line.isDue = true end
    if isOver() or passedOver > 0 then return end
    local left = othersDue(line)
    -- A look that only put off what it found may have left what can run.
    if left > 0 and (Ask.count > before or left < waiting) then line.isDue = true end
    if left > 0 and isMore then Ask.isMore = true end
end

-- How many of the next `number` turns fall to each priority, six to three to one; the turn of one that has nothing to serve is the
-- next one's. Each queue goes round by itself: queues that claim one after the other could else leave one of them no turn of its low
-- jobs.
function Returns.sharesOf(number, turn)
    local WHEEL, shares, isAny = {1, 1, 2, 1, 2, 1, 1, 2, 1, 3}, {0, 0, 0}, false
    for place = 0, #WHEEL - 1 do
        local turns = floor(number / #WHEEL) + (place < number % #WHEEL and 1 or 0)
        local priority = WHEEL[(turn + place) % #WHEEL + 1]
        for i = 0, 2 do
            local next = (priority + i - 1) % 3 + 1
            if Ask.open[next] and (Ask.open[next].isReady or Ask.open[next].isDue) then
                shares[next], isAny = shares[next] + turns, true
                break
            end
        end
    end
    return isAny and shares
end

-- When the partition wants the next visit of a worker with free places, given when a lease may end. Notes what is left in the queue.
function Returns.nextVisit(visit, ended)
    local hasTimer = false
    for _, line in pairs(isPaused and {} or Ask.open) do
        local timers = Hosts.firstTimers(line.timers, 3)
        local at = timers[1] and timers[1].at - now
        for _, host in ipairs(timers.hosts) do
            -- Suspects wait for a worker that has fewer of them, or nothing.
            local isSuspects = host.member == 'h' .. SUSPECTS or host.member == 'h' .. LONE
            at = min(at or Hosts.NEVER, isSuspects and 1000 or host.at - now)
            if not isSuspects then break end
        end
        if at and Ask.isHeldBack then at = Hosts.TURN_KEPT end
        if at then visit, hasTimer = max(0, min(visit, at)), true end
    end
    if Counts.openJobs(queue) <= 0 then
        Ask.answer[5] = 1
        if ended[queue] then
            Counts.forgetBatches(queue)
            Counts.wake(queue, Counts.MOST_WOKEN)
        end
    elseif Ask.count == 0 and not (hasTimer or isPaused or Ask.isHeldBack) then
        local isMissing = numberOf(call('HGET', KEYS[2], 'active')) == 0
        for _, line in pairs(Ask.open) do isMissing = isMissing and Lists.isEmpty(line.ready) end
        if isMissing then Ask.answer[5] = 2 end
    end
    return visit
end

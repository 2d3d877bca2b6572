-- Where a claim finds jobs: among those that are due, those held for hosts, and in the lines. A part of claim.lua.
-- In a block: a Lua function has room for 200 locals, and a script is one function.
local serveLater, serveByTurns
do
    local budget = MOST_LOOKED_AT

    function serveLater()
        local most = min(wanted - givenCount, LARGEST_LOOK)
        if most <= 0 then return end
        local members = call('ZRANGE', later, '-inf', now, 'BYSCORE', 'LIMIT', 0, most)
        if #members == 0 then return end
        local jobs, gone = {}, {}
        call('LLEN', foreign)
        for _, member in ipairs(members) do
            local job = read(member:sub(17))
            if job then
                job.lock = member:sub(1, 16)
                if not call('HGET', leases, job.lock) then job.lock = nil end
                job.member = member
                jobs[#jobs + 1] = job
            else
                gone[#gone + 1] = member
            end
        end
        local dealt = serve(jobs, wanted - givenCount)
        for i = 1, dealt do
            local job = jobs[i]
            gone[#gone + 1] = job.member
            if not batchOf(queue, job.batch).isGone then count(job, 'delayed', -1) end
        end
        writing()
        for _, member in ipairs(gone) do call('ZREM', later, member) end
        for i = 1, #members - #jobs do
            call('RPUSH', foreign, gone[i]:sub(17))
            countUnread('delayed', -1)
        end
        budget = budget - #members
        if #members == most then isMore = true end
    end

    -- Serves from the head of one list. Answers how many of its elements are gone for good, or nil when it is empty.
    local function serveLine(key, size, quota, heldFor)
        local elements = call('LRANGE', key, 0, size - 1)
        if #elements == 0 then return nil end
        local jobs, heading, strange, isStrange = readLine(queue, elements)
        local dealt = serve(jobs, quota, heldFor)
        if dealt == 0 and #strange == 0 and #jobs > 0 then return 0 end
        if #strange > 0 then call('LLEN', foreign) end
        writing()
        call('LTRIM', key, #elements, -1)
        local next = call('LINDEX', key, 0)
        while isStrange and next and isUnderHeading(next) do
            -- It belongs to a heading that nobody here can read, and must not come under another.
            strange[#strange + 1] = call('LPOP', key)
            next = call('LINDEX', key, 0)
        end
        if #strange > 0 then pushBack(foreign, strange) end
        local rest = {}
        for i = dealt + 1, #jobs do rest[#rest + 1] = jobs[i] end
        local back = line(rest)
        if next and isUnderHeading(next) and (#rest == 0 or rest[#rest].heading ~= heading) then
            back[#back + 1] = heading
        end
        if #back > 0 then pushFront(key, back) end
        return #elements - #rest
    end

    local function serveDue(priority, quota)
        local name = PRIORITIES[priority]
        local due = ofQueue(queue, 'due:' .. name)
        local before = givenCount
        for _, hostName in ipairs(call('ZRANGE', due, '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST_HOSTS)) do
            local left = quota - (givenCount - before)
            if left <= 0 or budget <= 0 then return end
            local key = held .. name .. ':' .. hostName
            local host = hostOf(hostName)
            if isOpen(host, 0) or isGivenUp(host) then
                serveLine(key, min(left + 1, LARGEST_LOOK), left, hostName)
                budget = budget - left - 1
            end
            writing()
            if call('LLEN', key) == 0 then
                call('ZREM', due, hostName)
                unmark(host, priority, queue)
            else
                call('ZADD', due, isGivenUp(host) and now or opensAt(host, 0), hostName)
            end
        end
        local first = call('ZRANGE', due, '-inf', now, 'BYSCORE', 'LIMIT', 0, 1)
        if #first == 0 then open[priority].due = false end
    end

    -- Six to three to one.
    local WHEEL = {1, 1, 2, 1, 2, 1, 1, 2, 1, 3}
    local looks = {}

    local function serveReady(priority, quota)
        looks[priority] = looks[priority] or quota + 1
        local before, size = givenCount, max(2, min(looks[priority], budget, LARGEST_LOOK))
        local used = serveLine(ofQueue(queue, 'ready:' .. PRIORITIES[priority]), size, quota)
        if not used then
            open[priority].ready = false
            return
        end
        budget = budget - max(1, used)
        -- Where nothing can start, the next look is wider: a blocked host may have a million jobs here.
        looks[priority] = givenCount == before and size * 4 or quota + 1
    end

    -- How many of the next `number` turns fall to each priority; the turn of one that has nothing to serve is the next one's.
    local function sharesOf(number)
        local shares, isAny = {0, 0, 0}, false
        for slot = 0, #WHEEL - 1 do
            local turns = floor(number / #WHEEL) + (slot < number % #WHEEL and 1 or 0)
            local priority = WHEEL[(turn + slot) % #WHEEL + 1]
            for i = 0, 2 do
                local next = (priority + i - 1) % 3 + 1
                if open[next].ready or open[next].due then
                    shares[next], isAny = shares[next] + turns, true
                    break
                end
            end
        end
        return isAny and shares
    end

    -- Half of it from the jobs that were held, while there is something of both.
    local function servePriority(priority, quota)
        local line, before = open[priority], givenCount
        local fromDue = line.due and (line.ready and floor((quota + 1 - turn % 2) / 2) or quota) or 0
        if fromDue > 0 then
            serveDue(priority, fromDue)
            budget = budget - 1
        end
        local rest = quota - (givenCount - before)
        if line.ready and rest > 0 and budget > 0 then serveReady(priority, rest) end
    end

    function serveByTurns()
        while givenCount < wanted do
            local shares, before = sharesOf(wanted - givenCount), givenCount
            if not shares then return end
            for priority = 1, 3 do
                if shares[priority] > 0 then
                    if budget <= 0 then
                        isMore = true
                        return
                    end
                    servePriority(priority, shares[priority])
                end
            end
            turn = turn + max(1, givenCount - before)
        end
    end
end

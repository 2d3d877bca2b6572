-- What a claim does for all: it takes back what dead workers held, takes on the followers of flights that have ended, and forgets
-- hosts. A part of claim.lua; each transition reads what it needs before it writes.
local function urlOf(lean) return byte(lean) == LEAN and sub(lean, 20) or sub(lean, 19 + byte(lean, 18)) end

-- The lease ended: its worker is dead, or was away for too long.
local function takeBack(token)
    local flight = call('HGET', leases, token)
    if not flight then
        writing()
        call('ZREM', expiry, token)
        return
    end
    local kind, body = flight:sub(1, 1), flight:sub(8)
    local job = (kind == 'J' or kind == 'C') and read(body) or nil
    if not job and kind ~= 'A' and kind ~= 'W' then
        -- A newer version's; its own workers know what to do.
        writing()
        call('ZADD', expiry, lived + lease, token)
        return
    end
    local began = unpackBytes('>I6', flight, 2)
    local id, isOwn, hasFollowers, hasLock = job and job.id or body:sub(1, 16), false, false, false
    if kind ~= 'C' then isOwn, hasFollowers, hasLock = look(id, token) end
    if kind == 'J' then hostOf(call('HGET', moved, token) or job.host) end
    local isVoid = job and not batchOf(job.queue, job.batch).state
    if job then checkEnd(job.queue, job.batch) end
    writing()
    forgetFlight(token)
    if kind == 'J' then leavePlace(token, job) end
    local verdict = ORPHANED
    if job and not isVoid then
        count(job, 'active', -1)
        countTotal(job, 'crashed', 1)
        job.crashes = job.crashes + 1
        if job.crashes < MOST_CRASHES then
            if comeBack(job) then returned[job.queue] = (returned[job.queue] or 0) + 1 end
        else
            -- Whatever it does to those that hold it, it does not get a fourth, nor do the jobs that follow it.
            if job.queue == queue then failedHere = failedHere + 1 end
            if kind == 'J' and hasLock then
                verdict = FAILED
                writePage(pageOf(id), token, NEGATIVE, began, POISON_KEPT, POISON_KEPT, ARGV[9] .. urlOf(job.lean))
            end
            bury(job, token, ARGV[9], mostDead)
        end
    end
    if isOwn then unlock(id, hasFollowers, verdict, began) end
end

local function takeBackEnded()
    local ended = call('ZRANGE', expiry, '-inf', lived, 'BYSCORE', 'LIMIT', 0, MOST_RECOVERED)
    -- The last first: each goes before those that went before it.
    for i = #ended, 1, -1 do takeBack(ended[i]) end
    if #ended == MOST_RECOVERED then isMore = true end
end

-- A page is an outcome for a job: it ends here.
local function endWith(job, isNegative)
    if isNegative then
        if job.queue == queue then failedHere = failedHere + 1 end
        bury(job, newToken(nonce), '', mostDead)
    else
        finish(job, 'done')
        countTotal(job, 'cached', 1)
    end
end

local freedBudget, chainsBefore = MOST_FREED, chains

-- Takes on followers of one ended flight. Answers whether the next may be looked at.
local function takeOn(record)
    local number, verdict, began, ended = unpackBytes('>I6BI6I6', record)
    local id, chain = record:sub(20), namespace .. 'chain:' .. number
    if verdict == ORPHANED then
        local lock = call('GET', lockOf(id))
        local page = readPage(call('GET', pageOf(id)))
        local parked = namespace .. 'parked:' .. id
        if lock and isLive(lock) then
            -- Somebody has it again: they follow that flight.
            local most = call('LLEN', parked) == 0 and -1 or freedBudget - 1
            local entries = most < 0 and {} or call('LRANGE', chain, 0, most)
            local length = call('LLEN', chain)
            writing()
            if most < 0 then
                if length > 0 then call('RENAME', chain, parked) end
            else
                pushBack(parked, entries)
                call('LTRIM', chain, #entries, -1)
                freedBudget = freedBudget - #entries
                if length > #entries then
                    isMore = true
                    return false
                end
            end
            call('LPOP', namespace .. 'freed')
            return true
        elseif page and not page.isForeign then
            verdict, began, ended = page.isNegative and FAILED or SUCCEEDED, page.began, page.ended
        end
    end
    -- An orphaned chain gives one job to its queue in each claim, until one of them has the URL locked.
    local entries = call('LRANGE', chain, 0, min(freedBudget, verdict == ORPHANED and LARGEST_LOOK or freedBudget) - 1)
    local length = call('LLEN', chain)
    local jobs, strange, taken = {}, {}, 0
    call('LLEN', foreign)
    for i, entry in ipairs(entries) do
        local job = read(entry)
        taken = i
        if job then
            jobs[#jobs + 1] = job
            if not checkEnd(job.queue, job.batch).isGone and verdict == ORPHANED then break end
        elseif entry ~= DROPPED then
            strange[#strange + 1] = entry
        end
    end
    writing()
    call('LTRIM', chain, taken, -1)
    freedBudget = freedBudget - taken
    if #strange > 0 then
        -- It cannot be told whose they are; this queue has them now.
        pushBack(foreign, strange)
        countUnread('parked', -#strange)
    end
    local outcome = {began = began, ended = ended, isStored = false}
    local back, lines = {}, {}
    for _, job in ipairs(jobs) do
        local batch = batchOf(job.queue, job.batch)
        -- One of a cancelled batch was counted when that was cancelled.
        if not batch.isGone then
            count(job, 'parked', -1)
            if verdict ~= ORPHANED and not batch.deliver and satisfies(outcome, job, batch) then
                endWith(job, verdict == FAILED)
            else
                local key = ofQueue(job.queue, 'ready:' .. batch.priority)
                if not back[key] then back[key], lines[#lines + 1] = {queue = job.queue}, key end
                table.insert(back[key], job)
            end
        end
    end
    for _, key in ipairs(lines) do
        pushFront(key, line(back[key]))
        returned[back[key].queue] = (returned[back[key].queue] or 0) + #back[key]
    end
    call('LPOP', namespace .. 'freed')
    if length > taken then
        -- The rest: an outcome's at once, an orphaned chain's behind the others.
        call(verdict == ORPHANED and 'RPUSH' or 'LPUSH', namespace .. 'freed', record)
        isMore = isMore or verdict ~= ORPHANED
        return verdict == ORPHANED
    end
    return true
end

local function takeOnFreed()
    -- Each is looked at once: what is left of an orphaned chain stands behind the others.
    for _ = 1, min(MOST_FLIGHTS, freedNow + chains - chainsBefore) do
        local record = call('LINDEX', namespace .. 'freed', 0)
        if not record or freedBudget <= 0 or not takeOn(record) then return end
    end
end

-- What an older version could not read and set aside, and this one can, goes back in line. A job whose page a newer version wrote stays, and
-- so does what nobody here can read; behind the rest, where there is more than one look takes.
local function takeOnForeign()
    local elements = call('LRANGE', foreign, 0, LARGEST_LOOK - 1)
    if #elements == 0 then return end
    local jobs, heading, strange, isStrange = readLine(queue, elements)
    local back, lines = {}, {}
    for _, job in ipairs(jobs) do
        local page = readPage(call('GET', pageOf(job.id)))
        if page and page.isForeign then
            strange[#strange + 1] = written(job)
        else
            local key = ofQueue(job.queue, 'ready:' .. checkEnd(job.queue, job.batch).priority)
            if not back[key] then back[key], lines[#lines + 1] = {queue = job.queue}, key end
            table.insert(back[key], job)
        end
    end
    local next = call('LINDEX', foreign, #elements)
    if #lines == 0 and not next then return end
    writing()
    call('LTRIM', foreign, #elements, -1)
    while next and isStrange and isUnderHeading(next) do
        strange[#strange + 1] = call('LPOP', foreign)
        next = call('LINDEX', foreign, 0)
    end
    if next and heading and isUnderHeading(next) then call('LPUSH', foreign, heading) end
    if #strange > 0 then pushBack(foreign, strange) end
    for _, key in ipairs(lines) do
        pushFront(key, line(back[key]))
        returned[back[key].queue] = (returned[back[key].queue] or 0) + #back[key]
        isMore = true
    end
end

-- A host that nobody asked for again is forgotten in time: a few are looked at now and then.
local function forgetIdleHosts()
    local cursor = call('HGET', KEYS[1], 'sweep') or '0'
    local found = call('HSCAN', namespace .. 'hosts', cursor, 'COUNT', 20)
    for i = 1, min(#found[2], 200), 2 do
        local host = hosts[found[2][i]] or readHost(found[2][i], found[2][i + 1])
        if host.running == 0 and host.marks == '' and max(host.cool, host.next) + HOST_KEPT < now then
            host.next, host.cool, host.failures, host.level, host.probing, host.down = 0, 0, 0, 0, 0, 0
            changed(host)
        end
    end
    call('HSET', KEYS[1], 'sweep', found[1])
end

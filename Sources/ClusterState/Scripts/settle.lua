-- Ends flights with their outcomes. A token whose lease has ended, or that was superseded, changes nothing.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count', or '{namespace}count' for callers without a queue: where what is
--       not a job's own is counted
-- ARGV  1 whether the caller claims again at once (1) or somebody else has to be told of places that are free now (0)
--       2 a random number from 0 to 1 for cool-downs   3 how many dead jobs are kept
--       4 for how long, ms, a host may take no connection before it is given up, 0 for ever
--       then for each flight: token, id, form, content
--       The form is outcome(1) marks(1) keep(6) fresh(6) pause(6) bytes(6):
--         1 fetched, 2 revalidated   a page with this content for 'keep' ms, fresh for 'fresh'
--         3 failed                   the same, negative; the job is dead
--         4 retry                    another attempt after 'pause' ms, charged to the job
--         5 throttled                another attempt, uncharged; the host starts nothing for 'pause' - 1 ms, or where that is 0 for
--                                    as long as the engine finds fit
--         6 back                     given up without prejudice
--         7 delivered                a job whose page was there and whose body is where it belongs
--         8 missing                  a job whose page was there and whose body, of the digest 'content', was not
--         9 put off                  another attempt after 'pause' ms, uncharged: the host it was led to had no room
--       The marks are 1 where the host could not be reached, 2 where nothing was learnt about it, 4 where the page is only for this
--       flight's followers and for jobs enqueued before it ended.
-- Answer: for each 1 settled, also when it was so before, 0 lost, 2 fenced: it was fetched, and by somebody else as well
local claimsAgain, random, mostDead, patience = ARGV[1] == '1', tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local FIELDS, FIRST, RETRY_GRACE = 4, 5, 30000
local LOST, SETTLED, FENCED = 0, 1, 2
local FETCHED, REVALIDATED, FAIL, RETRY, THROTTLED, DELIVERED, MISSING, PUT_OFF = 1, 2, 3, 4, 5, 7, 8, 9
local LATER = {[RETRY] = true, [THROTTLED] = true, [PUT_OFF] = true}
local TOTALS = {'fetched', 'revalidated'}
local number = (#ARGV - FIRST + 1) / FIELDS

-- First everything is read that may be of another type than it should: after that nothing can fail in the middle. -------------------

local names, ids, outcomes, locks, pages, looked = {}, {}, {}, {}, {}, {}
local lockPrefix, pagePrefix, parkedPrefix, waitersPrefix = lockOf(''), pageOf(''), namespace .. 'parked:', namespace .. 'waiters:'
for i = 1, number do
    local at = FIRST + (i - 1) * FIELDS
    local id = ARGV[at + 1]
    names[i], ids[i], outcomes[i] = ARGV[at], id, byte(ARGV[at + 2])
    local page = pagePrefix .. id
    locks[i], pages[i] = lockPrefix .. id, page
    looked[3 * i - 2], looked[3 * i - 1], looked[3 * i] = page, parkedPrefix .. id, waitersPrefix .. id
end
local flights, isEnded = call('HMGET', leases, unpack(names)), {}
-- Most often no lease of anyone has ended, which one look tells.
if #call('ZRANGE', expiry, '-inf', lived, 'BYSCORE', 'LIMIT', 0, 1) > 0 then
    for i, ends in ipairs(call('ZMSCORE', expiry, unpack(names))) do isEnded[i] = not ends or tonumber(ends) <= lived end
end
local holders = call('MGET', unpack(locks))
for i = 1, number do
    if not holders[i] then call('GET', locks[i]) end
end
-- Most often there is neither an older page nor anybody who waits.
local isAlone = call('EXISTS', unpack(looked)) == 0
local known = isAlone and {} or strings(pages) or {}
call('LLEN', namespace .. 'freed')
call('HLEN', KEYS[2])

local settling, jobs, isSeen = {}, {}, {}
for i = 1, number do
    local flight, token = flights[i], names[i]
    -- Not one that ended, nor one that waits for its next attempt, nor the same twice in one call.
    if flight and not isEnded[i] and not isSeen[token] then
        local kind, outcome, job = sub(flight, 1, 1), outcomes[i], nil
        if kind == 'J' or kind == 'C' then
            if outcome == FETCHED or outcome == REVALIDATED or outcome == DELIVERED then
                job = readBriefly(flight, 8)
            else
                job = read(flight, 8)
            end
        end
        if (kind == 'C' or holders[i] == token) and (job or kind == 'A') then
            isSeen[token] = true
            local ending = {kind = kind, job = job}
            settling[i] = ending
            if job then
                job.id = ids[i]
                if kind == 'J' then jobs[#jobs + 1] = job end
                ending.batch = checkEnd(job.queue, job.batch)
                if LATER[outcome] then call('ZCARD', ofQueue(job.queue, 'later')) end
            end
            if not isAlone then ending.hasFollowers = call('LLEN', parkedPrefix .. ids[i]) > 0 end
        end
    end
end
loadHosts(jobs)
local placeOf = hostsMovedTo(names)

-- Then what follows from it. -------------------------------------------------------------------------------------------------------

local returned, gone, unlocked, places, landed = {}, {}, {}, {}, {}

local function isAfter(other, token) return other and unpackBytes('>I8', other) > unpackBytes('>I8', token) end

-- What an ended lease's token may still be told.
local function answerLate(i, outcome)
    local page, token = readPage(known[i] or nil), names[i]
    if isSeen[token] then return SETTLED end
    if page and page.token == token and page.isNegative == (outcome == FAIL) then return SETTLED end
    if flights[i] and flights[i]:sub(1, 1) == 'W' and LATER[outcome] then return SETTLED end
    if outcome ~= FETCHED and outcome ~= REVALIDATED then return LOST end
    -- Another's lock or page is a second fetch's only if it came after; a page from before says nothing.
    if not isAfter(holders[i], token) and not isAfter(page and page.token, token) then return LOST end
    call('HINCRBY', KEYS[2], 'fenced', 1)
    call('HINCRBY', KEYS[2], 'doubleFetches', 1)
    return FENCED
end

local function tryLater(job, token, began, id, pause)
    if began then
        -- The URL stays locked until its next attempt, so that its followers do not make one of their own before.
        call('HSET', leases, token, 'W' .. pack('>I6', began) .. id)
        call('ZADD', expiry, lived + pause + RETRY_GRACE, token)
    end
    count(job, 'delayed', 1)
    countTotal(job, 'retried', 1)
    job.prefix = nil
    call('ZADD', ofQueue(job.queue, 'later'), now + pause, token .. written(job))
end

local function settle(i, ending, outcome)
    local at = FIRST + (i - 1) * FIELDS
    local token, id, content = names[i], ids[i], ARGV[at + 3]
    local marks, keep, fresh, pause, bytes = unpackBytes('>BI6I6I6I6', ARGV[at + 2], 2)
    local kind, job, began = ending.kind, ending.job, unpackBytes('>I6', flights[i], 2)
    local notStored = marks >= 4 and NOT_STORED or 0
    local batch = ending.batch
    if job and batch.state then batch.counts.active = (batch.counts.active or 0) - 1 end
    if kind == 'J' then
        local place = placeOf[token]
        if place then landed[#landed + 1] = token end
        local host = leaveHost(place or job.host)
        places[host] = (places[host] or 0) + 1
        if outcome == THROTTLED then
            coolDown(host, pause > 0 and pause - 1 or nil, random)
            pause = max(0, host.cool - now)
        elseif marks % 2 == 1 then
            noteFailure(host, random, patience)
        elseif marks % 4 == 0 then
            noteSuccess(host)
        end
    end

    local verdict = ORPHANED
    if outcome == FETCHED or outcome == REVALIDATED then
        verdict = SUCCEEDED
        writePage(pages[i], token, notStored, began, fresh, keep, content)
        if job then
            finish(job, 'done')
            countTotal(job, TOTALS[outcome], 1)
            countTotal(job, 'bytes', bytes)
        end
    elseif outcome == FAIL then
        verdict = FAILED
        if kind ~= 'C' then writePage(pages[i], token, NEGATIVE + notStored, began, fresh, keep, content) end
        if job then
            if kind == 'J' then
                job.failures, job.prefix = min(255, job.failures + 1), nil
            end
            bury(job, token, content, mostDead)
        end
    elseif outcome == DELIVERED and job then
        finish(job, 'done')
        countTotal(job, 'cached', 1)
    elseif LATER[outcome] and job then
        if outcome == RETRY then job.failures = min(255, job.failures + 1) end
        job.throttled = outcome ~= RETRY and (job.throttled > 0 and job.throttled or now) or 0
        if batch.isGone then
            finish(job, 'cancelled')
        else
            tryLater(job, token, kind == 'J' and began, id, pause)
            if kind == 'J' then return end
        end
    elseif job then
        if outcome == MISSING then
            -- Not as it was read at first: another of these may have written it since.
            local page = call('GET', pages[i])
            if page and sub(page, PAGE_HEADER + 1, PAGE_HEADER + #content) == content then call('DEL', pages[i]) end
        end
        if comeBack(job) then returned[job.queue] = (returned[job.queue] or 0) + 1 end
    end
    gone[#gone + 1] = token
    if kind ~= 'C' then
        unlocked[#unlocked + 1] = locks[i]
        if not isAlone then unlock(id, ending.hasFollowers, verdict, began) end
    end
end

local answer = {}
if next(settling) then writeAlsoWhenFull() end
for i = 1, number do
    local outcome = outcomes[i]
    if settling[i] then
        settle(i, settling[i], outcome)
        answer[i] = SETTLED
    else
        answer[i] = answerLate(i, outcome)
    end
end

if next(settling) then
    if #gone > 0 then
        call('HDEL', leases, unpack(gone))
        call('ZREM', expiry, unpack(gone))
    end
    if #landed > 0 then call('HDEL', moved, unpack(landed)) end
    if #unlocked > 0 then call('DEL', unpack(unlocked)) end
    local free = {}
    if not claimsAgain then
        for host, many in pairs(places) do
            for _, name in host.marks:gmatch('(%d)([^\n]*)\n') do free[name] = (free[name] or 0) + many end
        end
    end
    saveHosts()
    for name in pairs(saveCounts()) do
        if openJobs(name) <= 0 then free[name] = MOST_WOKEN end
    end
    saveClock()
    for name, many in pairs(returned) do free[name] = (free[name] or 0) + many end
    for name, many in pairs(free) do wake(name, many) end
end
return answer

-- Ends flights with their outcomes. A token whose lease has ended, or that was superseded, changes nothing.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count', or '{namespace}count' for callers without a queue: where what is
--       not a job's own is counted
-- ARGV  1 whether the caller claims again at once (1) or somebody else has to be told of places that are free now (0)
--       2 a random number from 0 to 1 for cool-downs   3 how many dead jobs are kept
--       then for each flight:
--       token, id, outcome, content, keep, fresh, pause, bytes, marks
--         fetched, revalidated   a page with this content for `keep` ms, fresh for `fresh`
--         failed                 the same, negative; the job is dead
--         retry                  another attempt after `pause` ms, charged to the job
--         throttled              another attempt, uncharged; the host starts nothing for `pause` ms, or as long as it finds fit (-1)
--         back                   given up without prejudice
--         cached                 a job whose page was delivered
--         missing                a job whose page was there and whose body, of the digest `content`, was not
--       marks: 'h' the host could not be reached, 'n' the page is for this flight's followers and for jobs enqueued before it ended,
--       'o' nothing was learnt about the host
-- Answer: for each 1 settled, also when it was so before, 0 lost, 2 fenced: it was fetched, and by somebody else as well
local claimsAgain, random, mostDead = ARGV[1] == '1', tonumber(ARGV[2]), tonumber(ARGV[3])
local FIELDS, FIRST, RETRY_GRACE = 9, 4, 30000
local LOST, SETTLED, FENCED = 0, 1, 2
local number = (#ARGV - FIRST + 1) / FIELDS

-- First everything is read that may be of another type than it should: after that nothing can fail in the middle. -------------------

local names, locks, pages, followed = {}, {}, {}, {}
local parkedPrefix, waitersPrefix = namespace .. 'parked:', namespace .. 'waiters:'
for i = 1, number do
    local at = FIRST + (i - 1) * FIELDS
    local id = ARGV[at + 1]
    names[i], locks[i], pages[i] = ARGV[at], lockOf(id), pageOf(id)
    followed[2 * i - 1], followed[2 * i] = parkedPrefix .. id, waitersPrefix .. id
end
local flights, ends = call('HMGET', leases, unpack(names)), call('ZMSCORE', expiry, unpack(names))
local holders, known = strings(locks) or {}, strings(pages) or {}
local areFollowed = call('EXISTS', unpack(followed)) > 0
call('LLEN', namespace .. 'freed')
call('HLEN', KEYS[2])

local settling, jobs, seenBefore = {}, {}, {}
for i = 1, number do
    local flight = flights[i]
    -- Not one that ended, nor one that waits for its next attempt, nor the same twice in one call.
    if flight and ends[i] and tonumber(ends[i]) > lived and not seenBefore[names[i]] then
        local kind = flight:sub(1, 1)
        local outcome = ARGV[FIRST + (i - 1) * FIELDS + 2]
        local isBrief = outcome == 'fetched' or outcome == 'revalidated' or outcome == 'cached'
        local job = (kind == 'J' or kind == 'C') and (isBrief and readBriefly or read)(flight, 8) or nil
        if job then job.id = ARGV[FIRST + (i - 1) * FIELDS + 1] end
        local isOwn = kind == 'C' or holders[i] == names[i]
        if isOwn and (job or kind == 'A') then
            seenBefore[names[i]] = true
            settling[i] = {kind = kind, job = job}
            if kind == 'J' then jobs[#jobs + 1] = job end
            if job then
                batchOf(job.queue, job.batch)
                if outcome == 'retry' or outcome == 'throttled' then call('ZCARD', ofQueue(job.queue, 'later')) end
            end
            if areFollowed then settling[i].hasFollowers = call('LLEN', parkedPrefix .. ARGV[FIRST + (i - 1) * FIELDS + 1]) > 0 end
        end
    end
end
loadHosts(jobs)

-- Then what follows from it. -------------------------------------------------------------------------------------------------------

local returned, gone, unlocked = {}, {}, {}

local function isAfter(other, token) return other and unpackBytes('>I8', other) > unpackBytes('>I8', token) end

-- What an ended lease's token may still be told.
local function answerLate(i, outcome)
    local page, token = readPage(known[i] or nil), names[i]
    if seenBefore[token] then return SETTLED end
    if page and page.token == token and page.isNegative == (outcome == 'failed') then return SETTLED end
    if flights[i] and flights[i]:sub(1, 1) == 'W' and (outcome == 'retry' or outcome == 'throttled') then return SETTLED end
    if outcome ~= 'fetched' and outcome ~= 'revalidated' then return LOST end
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

local function settle(i, flight, outcome)
    local at = FIRST + (i - 1) * FIELDS
    local token, id, content, marks = names[i], ARGV[at + 1], ARGV[at + 3], ARGV[at + 8]
    local kind, job, began = flight.kind, flight.job, unpackBytes('>I6', flights[i], 2)
    local isRetry = outcome == 'retry' or outcome == 'throttled'
    local pause = tonumber(ARGV[at + 6])
    if job then count(job, 'active', -1) end
    if kind == 'J' then
        local host = leaveHost(job.host)
        -- An answer of any kind shows that the host is there.
        if outcome == 'throttled' then
            coolDown(host, pause >= 0 and pause or nil, random)
            pause = max(0, host.cool - now)
        elseif marks == '' or marks == 'n' then
            noteSuccess(host)
        elseif marks:find('h', 1, true) then
            noteFailure(host, random)
        end
    end

    local verdict = ORPHANED
    if outcome == 'fetched' or outcome == 'revalidated' then
        verdict = SUCCEEDED
        local flags = marks:find('n', 1, true) and NOT_STORED or 0
        writePage(id, token, flags, began, tonumber(ARGV[at + 5]), ARGV[at + 4], content)
        if job then
            finish(job, 'done')
            countTotal(job, outcome, 1)
            countTotal(job, 'bytes', tonumber(ARGV[at + 7]))
        end
    elseif outcome == 'failed' then
        verdict = FAILED
        if kind ~= 'C' then
            local flags = NEGATIVE + (marks:find('n', 1, true) and NOT_STORED or 0)
            writePage(id, token, flags, began, tonumber(ARGV[at + 5]), ARGV[at + 4], content)
        end
        if job then bury(job, token, content, mostDead) end
    elseif outcome == 'cached' and job then
        finish(job, 'done')
        countTotal(job, 'cached', 1)
    elseif isRetry and job then
        if outcome == 'retry' then job.failures = min(255, job.failures + 1) end
        job.throttled = outcome == 'throttled' and (job.throttled > 0 and job.throttled or now) or 0
        if batchOf(job.queue, job.batch).isGone then
            finish(job, 'cancelled')
        else
            tryLater(job, token, kind == 'J' and began, id, pause)
            if kind == 'J' then return end
        end
    elseif job then
        if outcome == 'missing' then
            -- Not as it was read at first: another of these may have written it since.
            local page = call('GET', pageOf(id))
            if page and page:sub(PAGE_HEADER + 1, PAGE_HEADER + #content) == content then call('DEL', pageOf(id)) end
        end
        if comeBack(job) then returned[job.queue] = (returned[job.queue] or 0) + 1 end
    end
    gone[#gone + 1] = token
    if kind ~= 'C' then
        unlocked[#unlocked + 1] = locks[i]
        if areFollowed then unlock(id, flight.hasFollowers, verdict, began) end
    end
end

local answer = {}
if next(settling) then writeAlsoWhenFull() end
for i = 1, number do
    local outcome = ARGV[FIRST + (i - 1) * FIELDS + 2]
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
    if #unlocked > 0 then call('DEL', unpack(unlocked)) end
    local free = {}
    if not claimsAgain then
        for _, host in pairs(changedHosts) do
            for _, name in host.marks:gmatch('(%d)([^\n]*)\n') do free[name] = (free[name] or 0) + 1 end
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

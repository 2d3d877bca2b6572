-- Leases jobs to a worker.
--
-- First it does, within a bound, what is nobody's in particular: it takes back what dead workers held, and takes on the followers of
-- flights that have ended. Any live worker thus mends what another left; there is no separate process whose own death would stop that.
-- Then it serves, by turns, retries and delayed jobs that are due, jobs held for hosts that have room again, and the lines. A job
-- whose page is there ends here and now, or is handed out to be delivered; one whose URL is locked is parked; one whose host has
-- no room is held; any other is leased, its URL locked and its host's place taken in the same step.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 how many jobs   2 the lease, ms   3 eight random bytes; the same again is the same claim again, its answer having been lost
--       4 the worker   5 the channel on which it hears, or nothing   6 how many requests a host may have in flight
--       7 ms between two starts at one host   8 how many dead jobs are kept
--       9 the page of a URL that killed its workers, without the URL   10 how long that is kept, ms
-- Answer: {queue time, what is left (0 jobs, 1 nothing, 2 only jobs of a newer version), whether to ask again at once, ms until
--          something falls due or -1, jobs failed here, whether the queue is paused, then for each job: token, job, page or nothing}
local queue = KEYS[2]:sub(#namespace + 3, -7)
local wanted, lease, nonce, worker, channel = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local hostLimit, hostInterval, mostDead = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local MOST_RECOVERED, MOST_FREED, MOST_FLIGHTS, MOST_LOOKED_AT, MOST_HOSTS, LARGEST_LOOK = 100, 500, 16, 1000, 16, 256
local HOST_KEPT, JOBS_TO_SWEEP = 3600000, 4096
local POISON_KEPT = tonumber(ARGV[10])

local settings = call('HMGET', KEYS[2], 'paused', 'priorities')
local isPaused, turnBefore = settings[1] == '1', turn
local workerKey = namespace .. 'worker:' .. worker
local lastClaim = call('GET', workerKey)
local hasRules = call('HLEN', namespace .. 'rules') > 0
local held, later, foreign = ofQueue(queue, 'held:'), ofQueue(queue, 'later'), ofQueue(queue, 'foreign')
local freedNow = call('LLEN', namespace .. 'freed')
call('ZCARD', ofQueue(queue, 'idle'))
call('HLEN', leases)
-- What there is in the lines of each priority that was ever used in this queue.
local open, uses = {}, settings[2] or ''
local function lookAtLines()
    for priority, name in ipairs(PRIORITIES) do
        local isUsed = uses:find(priority, 1, true) ~= nil
        open[priority] = {
            isUsed = isUsed,
            ready = isUsed and call('LLEN', ofQueue(queue, 'ready:' .. name)) > 0,
            due = isUsed and #call('ZRANGE', ofQueue(queue, 'due:' .. name), '-inf', now, 'BYSCORE', 'LIMIT', 0, 1) > 0,
        }
    end
end
lookAtLines()

local returned = {}
-- The first six are known at the end.
local answer, givenCount, failedHere, isMore, trouble = {0, 0, 0, 0, 0, 0}, 0, 0, false, nil
local hasWritten = false
local function writing()
    if not hasWritten then writeAlsoWhenFull() end
    hasWritten = true
end

local function give(token, job, page)
    local at = 6 + givenCount * 3
    answer[at + 1], answer[at + 2], answer[at + 3] = token, job, page
    givenCount = givenCount + 1
end

-- Counts what nobody here can read, and whose batch is therefore not known.
local function countUnread(field, by)
    writing()
    call('HINCRBY', KEYS[2], field, by)
end

-- What is there to mend ----------------------------------------------------------------------------------------------------------

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
    local id, isOwn, hasFollowers = job and job.id or body:sub(1, 16), false, false
    if kind ~= 'C' then isOwn, hasFollowers = look(id, token) end
    if kind == 'J' then hostOf(job.host) end
    local isVoid = job and not batchOf(job.queue, job.batch).state
    if job then checkEnd(job.queue, job.batch) end
    writing()
    forgetFlight(token)
    if kind == 'J' then leaveHost(job.host) end
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
            if kind == 'J' and isOwn then
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
        else
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

-- What becomes of jobs ------------------------------------------------------------------------------------------------------------

-- Below this a host has room, where there is neither a rule nor a rate.
local usualLimit = (hasRules or hostInterval > 0) and 0 or hostLimit
local rules, pagePrefix, lockPrefix = {}, pageOf(''), lockOf('')
local flightHead = 'J' .. pack('>I6', now)
local function ruleOf(name)
    if not hasRules then return hostLimit, hostInterval end
    if not rules[name] then
        local limit, interval = (call('HGET', namespace .. 'rules', name) or ''):match('^(%d+) (%d+)$')
        rules[name] = {tonumber(limit) or hostLimit, tonumber(interval) or hostInterval}
    end
    return rules[name][1], rules[name][2]
end

-- When a host may start another request, while `taken` more than it knows of are about to start.
local function opensAt(host, taken)
    local limit, interval = ruleOf(host.name)
    if host.probing == 1 then limit = 1 end
    if host.running + taken >= limit then return NEVER end
    local next = (taken > 0 and interval > 0) and now + interval or host.next
    return max(host.cool, next)
end

local function isOpen(host, taken)
    local at = opensAt(host, taken)
    return at ~= NEVER and at <= now
end

local NUMBERS = {high = 1, normal = 2, low = 3}

-- The line in which a host's jobs of one priority wait for it to have room.
local function groupOf(host, priority)
    local groups = host.groups
    if not groups then
        groups = {}
        host.groups = groups
    end
    local group = groups[priority]
    if not group then
        group = {
            host = host, jobs = {}, key = held .. priority .. ':' .. host.name, due = ofQueue(queue, 'due:' .. priority),
            mark = NUMBERS[priority] .. queue .. '\n',
        }
        call('LLEN', group.key)
        call('ZCARD', group.due)
        groups[priority] = group
    end
    return group
end

-- Decides what becomes of each job, up to `quota` handed out, and then does it. Answers how many were dealt with: the others go back
-- where they came from. Jobs of `heldFor`, a host, stay in its line when it has no room.
local function serve(jobs, quota, heldFor)
    if #jobs == 0 then return 0 end
    loadHosts(jobs)
    local keys, number = {}, #jobs
    for i = 1, number do
        local id = jobs[i].id
        keys[i], keys[number + i] = pagePrefix .. id, lockPrefix .. id
    end
    local values = strings(keys)

    local fates, groups, taken, lockedHere, unlockedHere, dealt, handed = {}, {}, {}, {}, {}, 0, 0
    local lastNumber, batch
    for i = 1, number do
        local job = jobs[i]
        if handed >= quota then break end
        if job.batch ~= lastNumber then lastNumber, batch = job.batch, batchOf(queue, job.batch) end
        local page, lock, fate = values and readPage(values[i]), values and values[number + i], nil
        local name = job.host
        local host = hosts[name]
        if batch.isGone then
            fate = 'drop'
        elseif page and page.isForeign then
            call('LLEN', foreign)
            fate = 'foreign'
        elseif page and satisfies(page, job, batch) then
            fate = (batch.deliver and not page.isNegative) and 'deliver' or 'end'
            checkEnd(queue, job.batch)
        elseif lockedHere[job.id] or (lock and lock ~= job.lock and lock ~= unlockedHere[job.id] and isLive(lock)) then
            call('LLEN', namespace .. 'parked:' .. job.id)
            fate = 'park'
        elseif not (host.running + (taken[name] or 0) < usualLimit and host.cool <= now and host.probing == 0)
            and not isOpen(host, taken[name] or 0) then
            if heldFor then break end
            groups[i], fate = groupOf(host, batch.priority), 'hold'
        else
            fate = 'give'
            taken[name] = (taken[name] or 0) + 1
            lockedHere[job.id] = true
        end
        if fate == 'give' or fate == 'deliver' then handed = handed + 1 end
        -- A retry that does not start now gives its URL up: nobody may be parked behind it any more.
        if job.lock and fate ~= 'give' and fate ~= 'park' then unlockedHere[job.id] = job.lock end
        fates[i], dealt = fate, i
    end
    if dealt == 0 then return 0 end

    writing()
    local holding, locks, begun, ends = {}, {}, {leases}, {expiry}
    local endsAt = string.format('%.0f', lived + lease)
    for i = 1, dealt do
        local job, fate = jobs[i], fates[i]
        if job.lock and fate ~= 'give' then
            -- The retry does not start now, or not any more: those that follow it must not depend on it.
            local isOwn, hasFollowers = look(job.id, job.lock)
            if isOwn and fate ~= 'park' then unlock(job.id, hasFollowers, ORPHANED, now) end
        end
        if job.lock then forgetFlight(job.lock) end
        if fate == 'give' then
            local token, name = newToken(nonce), job.host
            local host, bytes = hosts[name], written(job)
            changedHosts[name] = host
            host.running = host.running + 1
            if usualLimit == 0 then
                local _, interval = ruleOf(name)
                if interval > 0 then host.next = now + interval end
            end
            locks[#locks + 1], locks[#locks + 2] = keys[number + i], token
            begun[#begun + 1], begun[#begun + 2] = token, flightHead .. bytes
            ends[#ends + 1], ends[#ends + 2] = endsAt, token
            give(token, bytes, '')
            count(job, 'active', 1)
        elseif fate == 'deliver' then
            local token = newToken(nonce)
            local bytes = written(job)
            begun[#begun + 1], begun[#begun + 2] = token, 'C' .. flightHead:sub(2) .. bytes
            ends[#ends + 1], ends[#ends + 2] = endsAt, token
            give(token, bytes, values[i])
            count(job, 'active', 1)
        elseif fate == 'end' then
            endWith(job, readPage(values[i]).isNegative)
        elseif fate == 'park' then
            call('RPUSH', namespace .. 'parked:' .. job.id, written(job))
            count(job, 'parked', 1)
        elseif fate == 'foreign' then
            call('RPUSH', foreign, written(job))
        elseif fate == 'hold' then
            local group = groups[i]
            local number = #group.jobs
            if number == 0 then holding[#holding + 1] = group end
            group.jobs[number + 1] = job
        end
    end
    if #begun > 1 then
        -- A lock that is there has outlived its lease, or is the job's own from its last attempt.
        if #locks > 0 and call('MSETNX', unpack(locks)) == 0 then call('MSET', unpack(locks)) end
        call('HSET', unpack(begun))
        call('ZADD', unpack(ends))
    end
    for _, group in ipairs(holding) do
        local host = group.host
        pushBack(group.key, line(group.jobs))
        group.jobs = {}
        if not ('\n' .. host.marks):find('\n' .. group.mark, 1, true) then
            changed(host).marks = host.marks .. group.mark
            call('ZADD', group.due, opensAt(host, 0), host.name)
        end
    end
    return dealt
end

-- Where jobs come from ------------------------------------------------------------------------------------------------------------

local budget = MOST_LOOKED_AT

local function serveLater()
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
    while isStrange and next and (next:byte(1) == LEAN or next:byte(1) == LEAN_WITH_HOST) do
        -- It belongs to a heading that nobody here can read, and must not come under another.
        strange[#strange + 1] = call('LPOP', key)
        next = call('LINDEX', key, 0)
    end
    if #strange > 0 then pushBack(foreign, strange) end
    local rest = {}
    for i = dealt + 1, #jobs do rest[#rest + 1] = jobs[i] end
    local back = line(rest)
    if next and (next:byte(1) == LEAN or next:byte(1) == LEAN_WITH_HOST)
        and (#rest == 0 or rest[#rest].heading ~= heading) then
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
        if isOpen(host, 0) then
            serveLine(key, min(left + 1, LARGEST_LOOK), left, hostName)
            budget = budget - left - 1
        end
        writing()
        if call('LLEN', key) == 0 then
            call('ZREM', due, hostName)
            local mark = priority .. queue .. '\n'
            local from, to = ('\n' .. host.marks):find('\n' .. mark, 1, true)
            if from then changed(host).marks = host.marks:sub(1, from - 1) .. host.marks:sub(to) end
        else
            call('ZADD', due, opensAt(host, 0), hostName)
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

local function serveByTurns()
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

-- A host that nobody asked for again is forgotten in time: a few are looked at now and then.
local function forgetIdleHosts()
    local cursor = call('HGET', KEYS[1], 'sweep') or '0'
    local found = call('HSCAN', namespace .. 'hosts', cursor, 'COUNT', 20)
    for i = 1, min(#found[2], 200), 2 do
        local host = hosts[found[2][i]] or readHost(found[2][i], found[2][i + 1])
        if host.running == 0 and host.marks == '' and max(host.cool, host.next) + HOST_KEPT < now then
            host.next, host.cool, host.failures, host.level, host.probing = 0, 0, 0, 0, 0
            changed(host)
        end
    end
    call('HSET', KEYS[1], 'sweep', found[1])
end

-- ---------------------------------------------------------------------------------------------------------------------------------

local function isRepeated()
    if not lastClaim or lastClaim:sub(1, 8) ~= nonce then return false end
    local first, number = unpackBytes('>I8I2', lastClaim, 9)
    local names = {}
    for i = first + 1, first + number do names[#names + 1] = pack('>I8', i) .. nonce end
    for i, flight in ipairs(#names > 0 and call('HMGET', leases, unpack(names)) or {}) do
        -- What has ended since, or waits for another attempt, is the worker's no more; nor is there anything to deliver without a page.
        local kind = flight and isLive(names[i]) and flight:sub(1, 1)
        local page = kind == 'C' and call('GET', pageOf(read(flight, 8).id))
        if kind == 'J' or page then give(names[i], flight:sub(8), page or '') end
    end
    return true
end

local function attempt(phase)
    if trouble then return end
    local isFine, problem = pcall(phase)
    if not isFine then trouble = problem end
end

local tokensAtFirst
if wanted > 0 and isRepeated() then
    isMore = true
else
    if lease ~= shortest and (shortest == 0 or lease < shortest or call('ZCARD', expiry) == 0) then shortest = lease end
    attempt(takeBackEnded)
    attempt(takeOnFreed)
    tokensAtFirst = tokens
    -- What came back stands at the head of its line, and hosts have room again.
    if hasWritten then attempt(lookAtLines) end
    if not isPaused and wanted > 0 then
        attempt(serveLater)
        attempt(serveByTurns)
    end
end

-- Followers that are still to be taken on may be what the caller is looking for.
if not isPaused and givenCount < wanted and (freedNow > 0 or chains > chainsBefore) and call('LLEN', namespace .. 'freed') > 0 then isMore = true end

local ended = {}
if hasWritten then
    if floor(turn / JOBS_TO_SWEEP) > floor(turnBefore / JOBS_TO_SWEEP) then forgetIdleHosts() end
    saveHosts()
    ended = saveCounts()
    if givenCount > 0 then
        call('SET', workerKey, nonce .. pack('>I8I2', tokensAtFirst, tokens - tokensAtFirst), 'PX', DAY)
    end
end
-- What was begun is whole, and what was handed out is answered; what is wrong with a key shows in the next claim.
if trouble and givenCount == 0 then
    if hasWritten then saveClock() end
    return type(trouble) == 'table' and trouble or redis.error_reply(tostring(trouble))
end

local isFull = wanted > 0 and givenCount == wanted
local first = not isFull and call('ZRANGE', expiry, 0, 0, 'WITHSCORES')[2]
-- Lease time goes on only while somebody calls: a worker with nothing to do must look now and then.
if hasWritten or first then saveClock() end

-- A worker that got all it asked for has no time to wait, nor any use for what is left.
local next, left = -1, 0
local function nextAt(ms) if next < 0 or ms < next then next = max(0, ms) end end
if not isFull then
    if first then nextAt(min(tonumber(first) - lived, floor(shortest / 3), LONGEST_STEP)) end
    local due = not isPaused and call('ZRANGE', later, 0, 0, 'WITHSCORES')[2]
    if due then nextAt(due - now) end
    for priority, name in ipairs(PRIORITIES) do
        local host = not isPaused and open[priority].isUsed and call('ZRANGE', ofQueue(queue, 'due:' .. name), 0, 0, 'WITHSCORES')[2]
        if host and host ~= NEVER then nextAt(host - now) end
    end
    if openJobs(queue) <= 0 then
        left = 1
    elseif givenCount == 0 and call('LLEN', foreign) > 0 then
        local counts = call('HMGET', KEYS[2], 'active', 'parked', 'delayed')
        local waiting = call('ZCARD', later) + (counts[1] or 0) + (counts[2] or 0)
        for _, name in ipairs(PRIORITIES) do
            waiting = waiting + call('LLEN', ofQueue(queue, 'ready:' .. name)) + call('ZCARD', ofQueue(queue, 'due:' .. name))
        end
        if waiting == 0 then left = 2 end
    end
end

for name, number in pairs(returned) do wake(name, number) end
for name in pairs(ended) do
    if openJobs(name) <= 0 then wake(name, MOST_WOKEN) end
end
if channel ~= '' then
    if givenCount > 0 then
        call('ZREM', ofQueue(queue, 'idle'), channel)
    elseif not isMore then
        call('ZADD', ofQueue(queue, 'idle'), 'NX', now, channel)
    end
end

answer[1], answer[2], answer[3], answer[4] = now, left, isMore and 1 or 0, next
answer[5], answer[6] = failedHere, isPaused and 1 or 0
return answer

-- All ends of requests but the most frequent one, which settle.lua has. A part of exchange.lua.
local Ends = setmetatable({}, Lazy)

function Ends.make()
    local FETCHED, REVALIDATED, FAIL, RETRY, THROTTLED, BACK, DELIVERED, MISSING, PLACE, ANSWERED = 1, 2, 3, 4, 5, 6, 7, 8, 10, 11
    local LOST, SETTLED, FENCED, MALFORMED = 0, 1, 2, 3
    local SHORTEST, LARGEST_FAILURE, SHORTEST_PAUSE, LONGEST_PAUSE = 58, 2048, 1000, 600000

    local function read(bytes)
        if #bytes < SHORTEST then return nil end
        local one = {}
        one.token, one.id, one.form, one.marks, one.keep, one.fresh, one.pause, one.bytes = unpackBytes('>c16c16BBI6I6I6I6', bytes)
        if one.form < FETCHED or one.form > ANSWERED or (one.form <= FAIL and one.keep == 0) then return nil end
        one.content, one.notStored = sub(bytes, SHORTEST + 1), floor(one.marks / 4) % 2 * Locks.NOT_STORED
        return one
    end

    -- The class of a failure, under which it is counted: a short word, in the field that comes behind the head of the content.
    local function classOf(content)
        local at = 42
        for _ = 1, (byte(content, 41) or 0) % 64 do
            local field, length = byte(content, at), byte(content, at + 2) and unpackBytes('>I2', content, at + 1)
            if not length then return '' end
            if field == 4 then return string.match(sub(content, at + 3, at + 2 + length), '^[a-z0-9-]+$') or '' end
            at = at + 3 + length
        end
        return ''
    end

    local function bury(name, id, job, reason, lock)
        local batch = Counts.batchOfJob(name, job)
        Counts.count(batch, 'active', -1)
        if not batch.state then return end
        local dead, bytes = Blocks.ofQueue(name, 'dead'), Blocks.flagged(job, 0)
        local known = pack('>BBI2', lock and lock.crashes or 0, lock and lock.failures or 0, #bytes)
        call('ZADD', dead, now, Locks.newToken(incarnation) .. known .. bytes .. reason)
        local excess = call('ZCARD', dead) - ARGV[12]
        if excess > 0 then call('ZREMRANGEBYRANK', dead, 0, min(excess, 100) - 1) end
        local class = classOf(reason)
        Counts.finish(batch, id, 'failed', class == 'disallowed' and '\1')
        if class == 'disallowed' then Counts.count(batch, 'disallowed', 1) end
        Counts.countTotal(name, 'failed:' .. sub(class, 1, 32), 1)
    end

    -- A URL that its host puts off again, while the host serves others, is put off alone.
    local function isAlone(host, lock)
        return lock and Locks.has(lock, Locks.PUT_OFF_BY_HOST) and host.level == 0 and host.probing == 0 and host.cool <= Clock.now
    end

    local function noteHost(host, one, lock)
        -- What asks for a rest of the host, and for how long; 0 is as long as the engine finds fit.
        local rest = one.form == THROTTLED and one.pause or one.form == PLACE and one.pause > 0 and one.pause - 1
        if rest and isAlone(host, lock) then
            -- It comes back the later, the longer it has been put off.
            local pause = min(LONGEST_PAUSE, max(SHORTEST_PAUSE, (now - lock.throttled) / 2)) * (0.5 + ARGV[10] / 2)
            one.pause = one.pause > 0 and one.pause - 1 or floor(pause)
        elseif rest then
            Hosts.noteRest(host, rest > 0 and rest - 1 or nil, ARGV[10], one.content)
            one.pause = Hosts.isHopeless(host) and 0 or max(0, host.cool - Clock.now)
        elseif one.marks % 2 == 1 then
            Hosts.noteFailure(host, ARGV[10], tonumber(ARGV[16]), one.content)
            -- Its jobs fail now, and none of them waits for that.
            if Hosts.isHopeless(host) then one.pause = 0 end
        elseif one.marks % 4 == 0 then
            Hosts.noteSuccess(host)
        end
    end

    -- A job whose outcome was known, and which was not delivered. It has no lock, and lay in what its worker holds.
    local function endDelivery(one, name, job, holder)
        if one.form == FAIL then
            bury(name, one.id, job, one.content)
        else
            local outcome = one.form == MISSING and call('GET', Locks.outcomeOf(one.id))
            if outcome and sub(outcome, Locks.OUTCOME_HEADER + 1, Locks.OUTCOME_HEADER + #one.content) == one.content then
                call('DEL', Locks.outcomeOf(one.id))
            end
            Locks.takeBackDelivery('d' .. one.token, holder, name, job)
        end
    end

    -- Settles the deliveries among the outcomes, those of one holder at once. Answers their verdicts. Almost all were delivered, so these
    -- are not read whole.
    local deliveries
    local function settleDeliveries()
        local byHolder, verdicts = {}, {}
        for i = 1, outcomes do
            local bytes = ARGV[OPTIONS + i]
            local form = #bytes >= SHORTEST and byte(bytes, 34) >= 8 and byte(bytes, 33)
            local one = form and (form == DELIVERED or form < PLACE and read(bytes))
            if one then
                local name = Locks.holderOf(sub(bytes, 9, 16))
                local list = byHolder[name] or {fields = {}, ends = {}, places = {}}
                local number = #list.fields + 1
                byHolder[name], list.fields[number], list.ends[number], list.places[number] = list, 'd' .. sub(bytes, 1, 16), one, i
            end
        end
        for name, list in pairs(byHolder) do
            local values, batches, isSeen = call('HMGET', name, unpack(list.fields)), {}, {}
            for i, value in ipairs(values) do
                local size = value and byte(value)
                batches[i] = value and Counts.batchOf(sub(value, 2, 1 + size), (unpackBytes('>I4', value, 3 + size)))
            end
            call('HDEL', name, unpack(list.fields))
            for i, one in ipairs(list.ends) do
                local value, batch, field, place = values[i], batches[i], list.fields[i], list.places[i]
                verdicts[place] = value and '\1' or '\0'
                if value and not isSeen[field] then
                    local owner = sub(value, 2, 1 + byte(value))
                    if one == true then
                        local counts, totals = batch.counts, Counts.totals[owner]
                        totals.cached = (totals.cached or 0) + 1
                        if batch.state then
                            counts.active, counts.done = (counts.active or 0) - 1, (counts.done or 0) + 1
                            batch.finished[#batch.finished + 1] = sub(ARGV[OPTIONS + place], 17, 32)
                        end
                    else
                        endDelivery(one, owner, sub(value, 2 + byte(value)), name)
                    end
                end
                isSeen[field] = true
            end
        end
        return verdicts
    end

    -- A job's end with the outcome of its URL.
    local function endJob(one, name, batch)
        Counts.finish(batch, one.id, 'done')
        Counts.countTotal(name, one.form == FETCHED and 'fetched' or one.form == DELIVERED and 'cached' or 'revalidated', 1)
        Counts.countTotal(name, 'bytes', one.bytes)
    end

    -- The lease had ended, and no other worker has begun. The first of the URL's followers ends, where nobody has taken it on since.
    local function settleLate(one, lock)
        if one.form ~= FETCHED and one.form ~= REVALIDATED then return LOST end
        Locks.writeOutcome(one.id, one.token, one.notStored, now, one.fresh, one.keep, one.content)
        for _, other in ipairs(lock.interested) do
            local name = other.queue
            local first = name and call('LINDEX', Blocks.followersOf(name, one.id), 0)
            local job = first and Blocks.read(first)
            if job and job.kind >= 64 + Blocks.BACK_FLAG then
                call('LPOP', Blocks.followersOf(name, one.id))
                local batch = Counts.batchOf(name, job.batch)
                if not batch.isGone then endJob(one, name, batch) end
                break
            end
        end
        call('HDEL', Locks.key, one.id)
        Locks.release(one.id, lock, now)
        return SETTLED
    end

    local function fence(one, bytes)
        if one.form ~= FETCHED and one.form ~= REVALIDATED then return LOST end
        local lock = Locks.read(bytes)
        if lock and lock.kind == 'W' then lock = nil end
        local outcome = not lock and Locks.readOutcome(call('GET', Locks.outcomeOf(one.id)))
        -- Another's lock or outcome is a second fetch's only if it came after; one from before says nothing.
        local other = lock and lock.token or outcome and outcome.token
        if not other or unpackBytes('>I8', other) <= unpackBytes('>I8', one.token) then return LOST end
        for _, field in ipairs({'fenced', 'doubleFetches'}) do
            if queue == '' then call('HINCRBY', KEYS[1], field, 1) else Counts.countTotal(queue, field, 1) end
        end
        return FENCED
    end

    -- A request gives its place back while its URL stays locked. Answers the host, or nil where the request has no place.
    local function leaveEarly(one, bytes)
        local holder, lock = Locks.holderOf(sub(one.token, 9)), nil
        local name = call('HGET', holder, 'p' .. one.id)
        if name then
            call('HDEL', holder, 'p' .. one.id)
            return Hosts.leave(name)
        end
        if bytes and sub(bytes, 2, 17) == one.token then lock = Locks.read(bytes) end
        local host = lock and Locks.leavePlace(one.id, lock, holder)
        if host then
            Locks.set(lock, Locks.MOVED, true)
            Locks.write(one.id, lock)
        end
        return host
    end

    -- The host has answered for its robots.txt, and the job keeps its place. A job that a redirect has led elsewhere has no place there.
    local function noteNews(one, bytes)
        local lock = bytes and sub(bytes, 2, 17) == one.token and Locks.read(bytes)
        if not lock or lock.kind ~= 'L' or Locks.has(lock, Locks.NO_PLACE) or Locks.has(lock, Locks.MOVED) then return LOST end
        Hosts.noteSuccess(Hosts.of(Blocks.hostOf(lock.job)))
        return SETTLED
    end

    -- A site that does not permit a URL to one job says nothing against the body that another job was given.
    local function keepsOutcome(one)
        if one.form ~= FAIL or classOf(one.content) ~= 'disallowed' then return false end
        local known = Locks.readOutcome(call('GET', Locks.outcomeOf(one.id)))
        return known and not known.isNegative
    end

    -- The fetch of a URL has ended, and so has the job for which it was locked.
    local function endURL(one, lock)
        local form, id, job = one.form, one.id, lock.job
        -- A body that was there without an outcome leaves none.
        if form ~= DELIVERED and not keepsOutcome(one) then
            -- An outcome that ended jobs is kept for as long as their worker wanted, whoever fetches the URL again.
            if lock.kind == 'A' then one.keep = max(one.keep, call('PTTL', Locks.outcomeOf(id))) end
            local flags = one.notStored + (form == FAIL and Locks.NEGATIVE or 0)
            Locks.writeOutcome(id, one.token, flags, lock.began, one.fresh, one.keep, one.content)
        end
        call('HDEL', Locks.key, id)
        if lock.kind == 'L' and form == FAIL then
            -- Nobody made an attempt for a host or a URL that was given up.
            local isCharged = lock.crashes < Locks.MOST_CRASHES and not Locks.has(lock, Locks.NO_PLACE)
            if isCharged then lock.failures = min(255, lock.failures + 1) end
            bury(lock.queue, id, job, one.content, lock)
        elseif lock.kind == 'L' then
            local batch = Counts.batchOfJob(lock.queue, job)
            Counts.count(batch, 'active', -1)
            endJob(one, lock.queue, batch)
        end
        Locks.release(id, lock, now)
    end

    -- The URL is tried again.
    local function tryAgain(one, lock)
        local form = one.form
        if form == BACK or lock.kind == 'A' then return Locks.comeBack(one.id, lock, now, Blocks.BACK_FLAG) end
        if form == RETRY then lock.failures = min(255, lock.failures + 1) end
        lock.throttled = form ~= RETRY and (lock.throttled > 0 and lock.throttled or now) or 0
        Locks.set(lock, Locks.PUT_OFF_BY_HOST, form == THROTTLED)
        lock.failure = sub(one.content, 1, LARGEST_FAILURE)
        Counts.countTotal(lock.queue, 'retried', 1)
        Locks.comeBack(one.id, lock, min(now + one.pause, max(now, Hosts.putOffEnds(lock))), Blocks.RETRY_FLAG)
    end

    local function settle(one, bytes)
        local form, id = one.form, one.id
        if form == ANSWERED then return noteNews(one, bytes) end
        if form == PLACE then
            local host = leaveEarly(one, bytes)
            if host then noteHost(host, one) end
            return host and SETTLED or LOST
        end
        if not bytes or sub(bytes, 2, 17) ~= one.token then return fence(one, bytes) end
        local lock, holder = Locks.read(bytes), Locks.holderOf(sub(one.token, 9))
        if lock.kind == 'W' then return settleLate(one, lock) end
        if lock.queue ~= '' then call('LLEN', Blocks.followersOf(lock.queue, id)) end
        if lock.kind == 'L' then Locks.noteSuspect(holder, 0 - Locks.weightOf(lock)) end
        -- A worker that hands a URL back says nothing about it.
        if form ~= BACK then Locks.set(lock, Locks.SUSPECT, false) end
        local host = Locks.leavePlace(id, lock, holder)
        if host then noteHost(host, one, lock) end
        if form <= FAIL or form == DELIVERED then endURL(one, lock) else tryAgain(one, lock) end
        call('HDEL', holder, id)
        return SETTLED
    end

    -- Answers the verdict on the outcome at a place. What is wrong with it must not stop the others.
    function Ends.settle(i, lock)
        local one = read(ARGV[OPTIONS + i])
        if not one then return string.char(MALFORMED) end
        if one.marks >= 8 and one.form < PLACE then
            deliveries = deliveries or settleDeliveries()
            return deliveries[i]
        end
        local isGood, verdict = pcall(settle, one, lock)
        return string.char(isGood and verdict or MALFORMED)
    end

    -- Requests have ended at a host that answered.
    function Ends.leaveHost(name, requests)
        local host = Hosts.leave(name, requests)
        if requests > 0 then Hosts.noteSuccess(host, requests) end
    end
end

-- Ends requests with their outcomes. A part of exchange.lua.
--
-- Each outcome is token(16) id(16) form(1) marks(1) keep(6) fresh(6) pause(6) bytes(6) content:
--   1 fetched, 2 revalidated   an outcome with this content for 'keep' ms, fresh for 'fresh'
--   3 failed                   the same, negative; the job is dead
--   4 retry                    another attempt after 'pause' ms, charged to the URL; the content is its failure
--   5 throttled                another attempt, uncharged; the host starts nothing for 'pause' - 1 ms, or where that is 0 for as long
--                              as the engine finds fit
--   6 back                     given up without prejudice
--   7 delivered                a job whose body is where it belongs: its outcome was there, or its body was there without one
--   8 missing                  a job whose outcome was there and whose body, of the digest 'content', was not
--   9 put off                  another attempt after 'pause' ms, uncharged: the host it was led to had no room
--  10 place                    the place of a URL of another partition is free
-- The marks are 1 where the host could not be reached, 2 where nothing was learnt about it, 4 where the outcome is only for jobs
-- enqueued before it ended, 8 where the job was only to be delivered.
-- The verdicts are 1 settled, 0 lost, 2 fenced: it was fetched, and by somebody else as well, 3 malformed.
local settleAll = (function()
    local FETCHED, REVALIDATED, FAIL, RETRY, THROTTLED, BACK, DELIVERED, MISSING, PUT_OFF, PLACE = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    local LOST, SETTLED, FENCED, MALFORMED = 0, 1, 2, 3
    local SHORTEST_OUTCOME, MOST_CRASHES = 58, 3
    local unlocked, unheld, outcomes = {}, {}, nil

    -- All ends but the most frequent one. Made when the first of them comes.
    local settle, read
    local function makeSettle()
        local function bury(name, number, id, job, reason, lock)
            if not Counts.batchOf(name, number).state then return end
            local dead, bytes = Blocks.ofQueue(name, 'dead'), Blocks.flagged(job, 0)
            local known = pack('>BBI2', lock and lock.crashes or 0, lock and lock.failures or 0, #bytes)
            call('ZADD', dead, Clock.now, Locks.newToken(Ask.incarnation) .. known .. bytes .. reason)
            local excess = call('ZCARD', dead) - Ask.mostDead
            if excess > 0 then call('ZREMRANGEBYRANK', dead, 0, min(excess, 100) - 1) end
            Counts.finish(name, number, id, 'failed')
        end

        local function noteHost(host, one)
            if one.form == THROTTLED then
                Hosts.coolDown(host, one.pause > 0 and one.pause - 1 or nil, Ask.random)
                one.pause = max(0, host.cool - Clock.now)
            elseif one.marks % 2 == 1 then
                Hosts.noteFailure(host, Ask.random, Ask.patience)
            elseif one.marks % 4 == 0 then
                Hosts.noteSuccess(host)
            end
            -- A place is free: the first of the queues that wait is served, this one in this very call.
            if host.waiting[1] == Ask.queue then Ask.freed[host.name] = true end
        end

        -- A job whose outcome was known: it has no lock, and lies in what its worker holds.
        local function settleDelivery(one)
            local holder = Locks.holderOf(sub(one.token, 9))
            local field = 'd' .. one.token
            local value = call('HGET', holder, field)
            if not value then return LOST end
            call('HDEL', holder, field)
            local size = byte(value)
            local name, job = sub(value, 2, 1 + size), sub(value, 2 + size)
            local number = unpackBytes('>I4', job, 2)
            if one.form == DELIVERED then
                Counts.count(name, number, 'active', -1)
                Counts.finish(name, number, one.id, 'done')
                Counts.countTotal(name, 'cached', 1)
            elseif one.form == FAIL then
                Counts.count(name, number, 'active', -1)
                bury(name, number, one.id, job, one.content)
            else
                if one.form == MISSING then
                    local outcome = call('GET', Locks.outcomeOf(one.id))
                    if outcome and sub(outcome, Locks.OUTCOME_HEADER + 1, Locks.OUTCOME_HEADER + #one.content) == one.content then
                        call('DEL', Locks.outcomeOf(one.id))
                    end
                end
                Locks.takeBackDelivery(field, holder, name, job)
            end
            return SETTLED
        end

        -- Ends the first of a URL's followers, whose lease had ended and which nobody has taken on since.
        local function settleLate(one, lock)
            for _, other in ipairs(lock.interested) do
                local name = sub(other.name, 2)
                local first = other.kind == 'q' and call('LINDEX', Blocks.followersOf(name, one.id), 0)
                local job = first and Blocks.read(first)
                if job and job.kind >= 64 + Blocks.BACK_FLAG then
                    call('LPOP', Blocks.followersOf(name, one.id))
                    if not Counts.batchOf(name, job.batch).isGone then
                        Counts.finish(name, job.batch, one.id, 'done')
                        Counts.countTotal(name, one.form == FETCHED and 'fetched' or 'revalidated', 1)
                        Counts.countTotal(name, 'bytes', one.bytes)
                    end
                    return
                end
            end
        end

        local function fence(one, bytes)
            if one.form ~= FETCHED and one.form ~= REVALIDATED then return LOST end
            local lock = Locks.read(bytes)
            if lock and (lock.kind == 'W' or lock.isForeign) then lock = nil end
            local outcome = not lock and Locks.readOutcome(call('GET', Locks.outcomeOf(one.id)))
            -- Another's lock or outcome is a second fetch's only if it came after; one from before says nothing.
            local other = lock and lock.token or outcome and not outcome.isForeign and outcome.token
            if not other or unpackBytes('>I8', other) <= unpackBytes('>I8', one.token) then return LOST end
            if Ask.queue == '' then
                call('HINCRBY', KEYS[1], 'fenced', 1)
                call('HINCRBY', KEYS[1], 'doubleFetches', 1)
            else
                Counts.countTotal(Ask.queue, 'fenced', 1)
                Counts.countTotal(Ask.queue, 'doubleFetches', 1)
            end
            return FENCED
        end

        function settle(one, bytes)
            local form, id = one.form, one.id
            if form == PLACE then
                local name = call('HGET', Locks.holderOf(sub(one.token, 9)), 'p' .. id)
                if not name then return LOST end
                call('HDEL', Locks.holderOf(sub(one.token, 9)), 'p' .. id)
                noteHost(Hosts.leave(name), one)
                return SETTLED
            end
            if one.marks >= 8 then return settleDelivery(one) end
            if not bytes or sub(bytes, 2, 17) ~= one.token then return fence(one, bytes) end
            local lock = Locks.read(bytes)
            local isEnd, notStored = form <= FAIL or form == DELIVERED, floor(one.marks / 4) % 2 * Locks.NOT_STORED
            if lock.kind == 'W' then
                -- Its lease ended, and no other worker has begun.
                if form ~= FETCHED and form ~= REVALIDATED then return LOST end
                Locks.writeOutcome(id, one.token, notStored, Clock.now, one.fresh, one.keep, one.content)
                settleLate(one, lock)
                call('HDEL', Locks.key, id)
                Locks.release(id, lock)
                return SETTLED
            end
            local holder = Locks.holderOf(sub(one.token, 9))
            if lock.queue ~= '' then call('LLEN', Blocks.followersOf(lock.queue, id)) end
            if Locks.has(lock.flags, Locks.SUSPECT) then
                if lock.kind == 'L' then call('HDEL', holder, 'suspect') end
                lock.flags = lock.flags - Locks.SUSPECT
            end
            local host = Locks.leavePlace(id, lock, holder)
            if host then noteHost(host, one) end
            local number = lock.kind == 'L' and unpackBytes('>I4', lock.job, 2)
            if isEnd then
                -- A body that was there without an outcome leaves none.
                if form ~= DELIVERED then
                    Locks.writeOutcome(id, one.token, (form == FAIL and Locks.NEGATIVE or 0) + notStored, lock.began, one.fresh, one.keep, one.content)
                end
                unlocked[#unlocked + 1] = id
                if number then
                    Counts.count(lock.queue, number, 'active', -1)
                    if form == FAIL then
                        -- Nobody made an attempt for a host or a URL that was given up.
                        local isCharged = lock.crashes < MOST_CRASHES and not Locks.has(lock.flags, Locks.NO_PLACE)
                        if isCharged then lock.failures = min(255, lock.failures + 1) end
                        bury(lock.queue, number, id, lock.job, one.content, lock)
                    else
                        Counts.finish(lock.queue, number, id, 'done')
                        Counts.countTotal(lock.queue, form == FETCHED and 'fetched' or form == DELIVERED and 'cached' or 'revalidated', 1)
                        Counts.countTotal(lock.queue, 'bytes', one.bytes)
                    end
                end
                if #lock.interested > 0 then Locks.release(id, lock) end
            elseif form == BACK or lock.kind == 'A' then
                Locks.comeBack(id, lock, Clock.now, Blocks.BACK_FLAG)
            else
                if form == RETRY then lock.failures = min(255, lock.failures + 1) end
                lock.throttled = form ~= RETRY and (lock.throttled > 0 and lock.throttled or Clock.now) or 0
                lock.flags = lock.flags - (Locks.has(lock.flags, Locks.PUT_OFF_BY_HOST) and Locks.PUT_OFF_BY_HOST or 0) + (form == THROTTLED and Locks.PUT_OFF_BY_HOST or 0)
                lock.failure = sub(one.content, 1, Locks.LARGEST_FAILURE)
                Counts.countTotal(lock.queue, 'retried', 1)
                Locks.comeBack(id, lock, Clock.now + one.pause, Blocks.RETRY_FLAG)
            end
            unheld[holder] = unheld[holder] or {}
            table.insert(unheld[holder], id)
            return SETTLED
        end

        function read(bytes)
            if #bytes < SHORTEST_OUTCOME then return nil end
            local one = {}
            one.token, one.id, one.form, one.marks, one.keep, one.fresh, one.pause, one.bytes, one.at = unpackBytes('>c16c16BBI6I6I6I6', bytes)
            one.content = sub(bytes, one.at)
            if one.form < FETCHED or one.form > PLACE or (one.form <= FAIL and one.keep == 0) then return nil end
            return one
        end
    end

    -- The most frequent end: a URL that was fetched in its first attempt, and that nobody else waits for. The same as settle, with less to
    -- read. Answers whether it was that.
    local VERDICTS = {[0] = '\0', '\1', '\2', '\3'}
    local usual, keptFor, keptText
    local function settleFetched(bytes, id, lock, host, batch)
        local marks, token = byte(bytes, 34), sub(bytes, 1, 16)
        local keep, fresh, _, size = unpackBytes('>I6I6I6I6', bytes, 35)
        if keep == 0 or lock:find(token, 2, true) ~= 2 or bytes:find(Ask.incarnation, 9, true) ~= 9 then return false end
        if keep ~= keptFor then keptFor, keptText = keep, string.format('%.0f', keep) end
        local took = min(Locks.LONGEST, max(0, Clock.now - unpackBytes('>I6', lock, 18)))
        call('SET', outcomes .. id, (marks >= 4 and '\1\2' or '\1\0') .. token
            .. pack('>I6I4I4', Clock.now, took, min(Locks.LONGEST, floor(fresh / 1000))) .. sub(bytes, 59), 'PX', keptText)
        host.fetched = (host.fetched or 0) + 1
        if marks % 4 == 0 then host.hasAnswered = true end
        batch.finished[#batch.finished + 1] = id
        batch.fetched, batch.bytes = (batch.fetched or 0) + 1, (batch.bytes or 0) + size
        unlocked[#unlocked + 1] = id
        return true
    end

    -- Jobs of this process that were only to be delivered, and were. Answers their verdicts, and notes their batches.
    local function settleDelivered(first, number, batches)
        local fields, places, verdicts, isCounted = {}, {}, {}, {}
        for i = 1, number do
            local bytes = ARGV[first + i - 1]
            if #bytes >= SHORTEST_OUTCOME and byte(bytes, 33) == DELIVERED and byte(bytes, 34) >= 8 and bytes:find(Ask.incarnation, 9, true) == 9 then
                fields[#fields + 1], places[#places + 1] = 'd' .. sub(bytes, 1, 16), i
            end
        end
        if #fields == 0 then return verdicts end
        for j, value in ipairs(call('HMGET', Ask.holder, unpack(fields))) do
            local i = places[j]
            verdicts[i] = value and VERDICTS[SETTLED] or VERDICTS[LOST]
            if value and not isCounted[fields[j]] then
                local size = byte(value)
                local batch = Counts.batchOf(sub(value, 2, 1 + size), (unpackBytes('>I4', value, 3 + size)))
                isCounted[fields[j]], batches[i], batch.delivered = true, batch, (batch.delivered or 0) + 1
                batch.finished[#batch.finished + 1] = sub(ARGV[first + i - 1], 17, 32)
            end
        end
        call('HDEL', Ask.holder, unpack(fields))
        return verdicts
    end

    -- What follows from the most frequent ends, for each host and batch once.
    local function sumUp(names, batches)
        for name in pairs(names) do
            local host = Hosts.known[name]
            if host.fetched then
                Hosts.changed(host).running = max(0, host.running - host.fetched)
                if host.hasAnswered then Hosts.noteSuccess(host) end
                if host.waiting[1] == Ask.queue then Ask.freed[name] = true end
                host.fetched = nil
            end
        end
        for _, batch in pairs(batches) do
            local fetched, delivered = batch.fetched or 0, batch.delivered or 0
            if batch.state and fetched + delivered > 0 then
                local counts, totals = batch.counts, batch.totals
                counts.active, counts.done = (counts.active or 0) - fetched - delivered, (counts.done or 0) + fetched + delivered
                totals.fetched, totals.cached = (totals.fetched or 0) + fetched, (totals.cached or 0) + delivered
                totals.bytes = (totals.bytes or 0) + (batch.bytes or 0)
            elseif not batch.state then
                batch.finished = {}
            end
            batch.fetched, batch.bytes, batch.delivered = nil, nil, nil
        end
    end

    -- Settles the outcomes in ARGV from `first` on. Answers their verdicts, one byte each.
    return function(first, number)
        usual, outcomes = '\0\0\0\0\0\0\0\0\0' .. pack('>I2', #Ask.extras) .. Ask.extras, Locks.outcomeOf('')
        local ids, names, batches, isUsual, wanted, isWanted = {}, {}, {}, {}, {}, {}
        for i = 1, number do ids[i] = sub(ARGV[first + i - 1], 17, 32) end
        local known = call('HMGET', Locks.key, unpack(ids))
        -- What the end of a job reads is looked at before anything is written.
        for i = 1, number do
            local bytes, name = known[i], Ask.queue
            if bytes and byte(bytes) == 76 then
                isUsual[i] = bytes:find(usual, 30, true) == 30
                local job = 41 + unpackBytes('>I2', bytes, 39)
                if not isUsual[i] then name = sub(bytes, 42, 41 + byte(bytes, 41)) end
                batches[i] = Counts.batchOf(name, (unpackBytes('>I4', bytes, job + 1)))
                name = sub(bytes, job + 11, job + 10 + byte(bytes, job + 10))
                names[i] = name
                if not isWanted[name] then wanted[#wanted + 1], isWanted[name] = name, true end
            end
        end
        Hosts.load(wanted)
        local verdicts, isSeen = settleDelivered(first, number, batches), {}
        for i = 1, number do
            local bytes, id, verdict = ARGV[first + i - 1], ids[i], SETTLED
            if not verdicts[i] and (isSeen[id] or not isUsual[i] or #bytes < SHORTEST_OUTCOME or byte(bytes, 33) ~= FETCHED or byte(bytes, 34) >= 8
                or not settleFetched(bytes, id, known[i], Hosts.known[names[i]], batches[i])) then
                local key = sub(bytes, 1, 32)
                -- The same twice in one call is one outcome.
                local earlier = isSeen[id]
                if not earlier or sub(ARGV[first + earlier - 1], 1, 32) ~= key or byte(bytes, 33) == PLACE then
                    if not settle then makeSettle() end
                    local one = read(bytes)
                    local isGood, answer
                    if one then isGood, answer = pcall(settle, one, known[i]) end
                    verdict = isGood and answer or MALFORMED
                else
                    verdicts[i] = verdicts[earlier]
                end
            end
            isSeen[id] = isSeen[id] or i
            verdicts[i] = verdicts[i] or VERDICTS[verdict]
        end
        sumUp(isWanted, batches)
        if #unlocked > 0 then
            call('HDEL', Locks.key, unpack(unlocked))
            call('HDEL', Ask.holder, unpack(unlocked))
        end
        for holder, held in pairs(unheld) do call('HDEL', holder, unpack(held)) end
        return table.concat(verdicts)
    end
end)()

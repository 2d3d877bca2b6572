-- Locks: a URL that is being fetched has one record, and so has a URL that waits for its next attempt.
--
--   '<tag>locks', a hash   id to kind(1) token(16) began(6) deadline(6) crashes(1) failures(1) flags(1) throttled(6) length(2) extras job
--                          'L' a worker fetches the URL for a job     'A' a caller without a job fetches it
--                          'W' nobody fetches it: its next attempt begins at 'began', with these counts; the jobs are its followers
--                          A lock that cannot be read counts as none
--                          The token is a counter(8) and the incarnation(8) of the process. The deadline is in lease time.
--                          Flags: 1 a suspect, 2 it has no place of its own: that is elsewhere (moved), or was left, 4 put off by its own host, 8 no place is held
--                          Extras: length(1) queue, length(2) last failure, then those that wait for the URL: 'q' length(1) priority
--                          queue, 'c' length(1) channel
--   '<tag>leases', a sorted set       incarnation to the end of its lease, in lease time. Where all that it held was taken back: to the
--                          opposite of when that was, for an hour, so that the lease is not revived
--   '<tag>holder:<incarnation>', a hash  what it holds: id to '', 'd' token to a job that is only delivered, 'p' id to the host of a place
--                          apart from a lock: that a redirect took, or under random bytes that a caller without a job took; 'suspects': what its suspects weigh; 'last' exchange: its number(6), the counter
--                          of tokens before it(8), padding, its verdicts
--   '<tag>outcome:<id>', a string     how the URL's fetch ended. URLOutcome.swift writes and reads what follows its header:
--                          version 1, flags(1), token(16), ended(6), ms it took(4), seconds it is fresh for(4)
--   '<q>followers:<id>', a list       jobs of the queue that wait for the URL. Each such list has its timer.
local Locks = setmetatable({key = tag .. 'locks', leases = tag .. 'leases', returned = {}}, Lazy)

function Locks.make()
    local LARGEST_STALE, LONGEST, ENDED_KEPT = 8192, 4294967295, 3600000
    Locks.NEGATIVE, Locks.NOT_STORED, Locks.OUTCOME_HEADER, Locks.SUSPECT, Locks.MOVED, Locks.PUT_OFF_BY_HOST, Locks.NO_PLACE = 1, 2, 32, 1, 2, 4, 8
    Locks.MOST_INTERESTED, Locks.MOST_SUSPECTS, Locks.ALONE, Locks.MOST_CRASHES = 64, 8, 9, 3

    function Locks.holderOf(incarnation) return tag .. 'holder:' .. incarnation end
    function Locks.outcomeOf(id) return tag .. 'outcome:' .. id end

    -- The incarnation is alive for so long from now on.
    function Locks.extend(incarnation, lease)
        local ends = Clock.lived + lease
        if ends < Clock.firstEnd then Clock.firstEnd = ends end
        call('ZADD', Locks.leases, string.format('%.0f', ends), incarnation)
    end

    -- Every caller takes back a part of what dead processes held. No lease ends before 'firstEnd'.
    function Locks.takeBackEnded()
        if Clock.firstEnd > Clock.lived then return false end
        local ended = call('ZRANGE', Locks.leases, '(0', Clock.lived, 'BYSCORE', 'LIMIT', 0, 2)
        for _, incarnation in ipairs(ended) do Locks.takeBackFrom(incarnation, true) end
        local first = call('ZRANGE', Locks.leases, '(0', '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
        Clock.firstEnd = first and tonumber(first) or Clock.lived + Clock.step
        return #ended > 0
    end

    -- Writes what changed, and tells workers of the jobs that came back.
    function Locks.finish()
        Hosts.save()
        Counts.save()
        Clock.save()
        for name, by in pairs(Locks.returned) do Counts.wake(name, by) end
    end

    function Locks.has(flags, flag) return floor(flags / flag) % 2 == 1 end

    function Locks.newToken(incarnation)
        Clock.tokens = Clock.tokens + 1
        return pack('>I8', Clock.tokens) .. incarnation
    end

    -- What an outcome says; nil where there is none or it cannot be read.
    function Locks.readOutcome(bytes)
        if not bytes or byte(bytes) ~= 1 or #bytes < Locks.OUTCOME_HEADER then return nil end
        local flags, token, ended, took, fresh = unpackBytes('>Bc16I6I4I4', bytes, 2)
        return {
            bytes = bytes, token = token, began = ended - took, ended = ended, fresh = ended + fresh * 1000,
            isNegative = flags % 2 == 1, isStored = flags < Locks.NOT_STORED,
        }
    end

    -- An answer that is too old for a job; the fetch may ask whether it still holds. The few that are large are fetched anew.
    function Locks.staleOf(bytes)
        local outcome = bytes and #bytes <= LARGEST_STALE and Locks.readOutcome(bytes)
        return outcome and outcome.isStored and not outcome.isNegative and bytes or ''
    end

    function Locks.writeOutcome(id, token, flags, began, fresh, keep, content)
        local header = '\1' .. pack('>Bc16I6I4I4', flags, token, Clock.now, min(LONGEST, max(0, Clock.now - began)), min(LONGEST, floor(fresh / 1000)))
        call('SET', Locks.outcomeOf(id), header .. content, 'PX', string.format('%.0f', keep))
    end

    -- Whether an outcome is one for this job: a fetch that ended after the job was enqueued in any case, also when the answer may not
    -- be stored; an older one while it is fresh, or as young as the batch asks. A batch that refreshes wants a fetch begun after it.
    function Locks.satisfies(outcome, enqueued, batch)
        if outcome.began >= enqueued then return true end
        if batch.refresh == nil then
            local wishes = call('HMGET', batch.key, 'refresh', 'maxAge')
            batch.refresh, batch.maxAge = wishes[1] == '1', numberOf(wishes[2], -1)
        end
        if batch.refresh then return false end
        if outcome.ended >= enqueued then return true end
        if not outcome.isStored then return false end
        if batch.maxAge >= 0 then return Clock.now - outcome.ended <= batch.maxAge end
        return outcome.fresh > Clock.now
    end

    local function read(bytes)
        local lock = {kind = sub(bytes, 1, 1), token = sub(bytes, 2, 17)}
        local length, at
        lock.began, lock.deadline, lock.crashes, lock.failures, lock.flags, lock.throttled, length, at = unpackBytes('>I6I6BBBI6I2', bytes, 18)
        lock.job = sub(bytes, at + length)
        if at + length > #bytes + 1 or lock.kind == 'L' and not Blocks.isSound(lock.job) then return nil end
        local size = byte(bytes, at)
        lock.queue = sub(bytes, at + 1, at + size)
        local next, ends = at + 1 + size, at + length
        size = unpackBytes('>I2', bytes, next)
        lock.failure, lock.interested = sub(bytes, next + 2, next + 1 + size), {}
        next = next + 2 + size
        while next < ends do
            size = byte(bytes, next + 1)
            lock.interested[#lock.interested + 1] = {kind = sub(bytes, next, next), name = sub(bytes, next + 2, next + 1 + size)}
            next = next + 2 + size
        end
        return lock
    end

    function Locks.read(bytes)
        if not bytes or not bytes:find('^[LAW]') then return nil end
        local isGood, lock = pcall(read, bytes)
        return isGood and lock or nil
    end

    function Locks.write(id, lock)
        local extras = pack('>B', #lock.queue) .. lock.queue .. pack('>I2', #lock.failure) .. lock.failure
        for _, one in ipairs(lock.interested) do extras = extras .. one.kind .. pack('>B', #one.name) .. one.name end
        local bytes = lock.kind .. lock.token
            .. pack('>I6I6BBBI6I2', lock.began, lock.deadline, lock.crashes, lock.failures, lock.flags, lock.throttled, #extras) .. extras .. lock.job
        call('HSET', Locks.key, id, bytes)
        return bytes
    end

    -- Whether a lock is held: its deadline is not over. A holder whose lease has ended keeps it until somebody takes that back.
    function Locks.isHeld(lock) return lock.kind ~= 'W' and lock.deadline > Clock.lived end

    -- A queue's followers are looked at again at a time; `priority` is a number, as a character.
    function Locks.setTimer(queue, priority, member, at, when)
        local key = Blocks.ofQueue(queue, 'timers:' .. Blocks.PRIORITIES[tonumber(priority)])
        if when then call('ZADD', key, when, at, member) else call('ZADD', key, at, member) end
    end

    -- When followers of a URL look at it, if nobody wakes them before: at its next attempt, or after its holder's deadline. Lease time may
    -- have stood still until then, and so they may have to look again.
    function Locks.looksAt(lock) return lock.kind == 'W' and lock.began or Clock.now + max(0, lock.deadline - Clock.lived) end

    -- The priority under which a queue's followers of a URL have their timer: there is one for all of them.
    function Locks.timerOf(queue, id, usual)
        for priority, name in ipairs(Blocks.PRIORITIES) do
            if call('ZSCORE', Blocks.ofQueue(queue, 'timers:' .. name), 'u' .. id) then return tostring(priority) end
        end
        return tostring(usual)
    end

    -- Notes that a queue has followers of a URL, and sets their timer. Where too many queues are noted, this one looks again in a second.
    -- Answers whether the lock has changed.
    function Locks.noteFollower(id, lock, queue, usual)
        for _, one in ipairs(lock.interested) do
            if one.kind == 'q' and sub(one.name, 2) == queue then
                Locks.setTimer(queue, sub(one.name, 1, 1), 'u' .. id, Locks.looksAt(lock), 'NX')
                return false
            end
        end
        local priority, isNoted = Locks.timerOf(queue, id, usual), #lock.interested < Locks.MOST_INTERESTED
        if isNoted then lock.interested[#lock.interested + 1] = {kind = 'q', name = priority .. queue} end
        Locks.setTimer(queue, priority, 'u' .. id, isNoted and Locks.looksAt(lock) or Clock.now + 1000)
        return isNoted
    end

    -- A queue has no followers of a URL any more. The next attempt of a URL that nobody follows is not made.
    function Locks.unfollow(id, queue)
        local lock = Locks.read(call('HGET', Locks.key, id))
        local before = lock and #lock.interested or 0
        for i = before, 1, -1 do
            if lock.interested[i].kind == 'q' and sub(lock.interested[i].name, 2) == queue then table.remove(lock.interested, i) end
        end
        if lock and lock.kind == 'W' and #lock.interested == 0 then
            call('HDEL', Locks.key, id)
        elseif lock and #lock.interested < before then
            Locks.write(id, lock)
        end
    end

    -- Tells all who wait for a URL that they may look at it, at a time or now.
    function Locks.release(id, lock, at)
        for _, one in ipairs(lock.interested) do
            if one.kind == 'q' then
                local queue = sub(one.name, 2)
                Locks.setTimer(queue, sub(one.name, 1, 1), 'u' .. id, at or Clock.now)
                if not at then Locks.returned[queue] = (Locks.returned[queue] or 0) + 1 end
            else
                publish(one.name, 'u' .. id)
            end
        end
    end

    -- A lock's job comes back: it is the first of its URL's followers, and the URL keeps its counts. `at` is when its next attempt may
    -- begin; `flag` tells how the job is counted until then.
    function Locks.comeBack(id, lock, at, flag)
        if lock.kind == 'L' then
            local number = unpackBytes('>I4', lock.job, 2)
            local batch = Counts.batchOf(lock.queue, number)
            Counts.count(lock.queue, number, 'active', -1)
            if batch.isGone then
                Counts.finish(lock.queue, number, id, 'cancelled')
                -- Jobs that came back before this one began may follow the URL, and are not noted yet. The URL keeps its counts for them.
                local isFollowed = not Lists.isEmpty(Blocks.followersOf(lock.queue, id))
                if isFollowed then Locks.noteFollower(id, lock, lock.queue, batch.number) end
            else
                call('LPUSH', Blocks.followersOf(lock.queue, id), Blocks.flagged(lock.job, flag))
                if flag == Blocks.RETRY_FLAG then Counts.count(lock.queue, number, 'delayed', 1) end
                Locks.noteFollower(id, lock, lock.queue, batch.number)
            end
        end
        local queues, channels = {}, {}
        for _, one in ipairs(lock.interested) do table.insert(one.kind == 'q' and queues or channels, one) end
        Locks.release(id, {interested = channels})
        lock.interested = queues
        if #queues == 0 then
            call('HDEL', Locks.key, id)
            return
        end
        lock.kind, lock.began, lock.deadline, lock.queue, lock.job = 'W', at, 0, '', ''
        lock.flags = lock.flags - (Locks.has(lock.flags, Locks.MOVED) and Locks.MOVED or 0) - (Locks.has(lock.flags, Locks.NO_PLACE) and Locks.NO_PLACE or 0)
        Locks.write(id, lock)
        Locks.release(id, lock, at)
        if at <= Clock.now then
            for _, one in ipairs(queues) do Locks.returned[sub(one.name, 2)] = (Locks.returned[sub(one.name, 2)] or 0) + 1 end
        end
    end

    -- A request's place at its host is free, wherever a redirect has led it.
    function Locks.leavePlace(id, lock, holder)
        if lock.kind ~= 'L' or Locks.has(lock.flags, Locks.NO_PLACE) then return nil end
        local name = sub(lock.job, 12, 11 + byte(lock.job, 11))
        if Locks.has(lock.flags, Locks.MOVED) then
            name = call('HGET', holder, 'p' .. id)
            if not name then return nil end
            call('HDEL', holder, 'p' .. id)
        end
        return Hosts.leave(name)
    end

    -- What a job weighs among its worker's suspects, which may weigh eight. A URL that two workers died with is alone in its worker. One
    -- that three died with is not fetched.
    function Locks.weightOf(lock)
        if not Locks.has(lock.flags, Locks.SUSPECT) or lock.crashes >= Locks.MOST_CRASHES then return 0 end
        return lock.crashes > 1 and Locks.ALONE or 1
    end

    -- A worker has begun with a suspect, or is done with one.
    function Locks.noteSuspect(holder, weight)
        if weight ~= 0 and call('HINCRBY', holder, 'suspects', weight) <= 0 then call('HDEL', holder, 'suspects') end
    end

    -- Takes one URL back from an incarnation. Where that is dead it is charged a crash: nobody knows which URL killed it. Answers the host
    -- where that freed a place.
    function Locks.takeBackLock(id, holder, incarnation, isDead)
        local lock = Locks.read(call('HGET', Locks.key, id))
        call('HDEL', holder, id)
        if not lock or lock.kind == 'W' or sub(lock.token, 9) ~= incarnation then return end
        local host = Locks.leavePlace(id, lock, holder)
        if lock.kind == 'L' and isDead then
            lock.crashes = min(255, lock.crashes + 1)
            if not Locks.has(lock.flags, Locks.SUSPECT) then lock.flags = lock.flags + Locks.SUSPECT end
            -- A queue that was purged meanwhile counts nothing of what was in flight.
            if Counts.batchOf(lock.queue, unpackBytes('>I4', lock.job, 2)).state then Counts.countTotal(lock.queue, 'crashed', 1) end
        elseif lock.kind == 'L' then
            Locks.noteSuspect(holder, -Locks.weightOf(lock))
        end
        Locks.comeBack(id, lock, Clock.now, Blocks.BACK_FLAG)
        return host
    end

    -- A job that was only to be delivered waits for a worker again.
    function Locks.takeBackDelivery(field, holder, queue, job)
        call('HDEL', holder, field)
        if not Blocks.isSound(job) then return end
        local number = unpackBytes('>I4', job, 2)
        local batch, id = Counts.batchOf(queue, number), Blocks.idOf(job)
        Counts.count(queue, number, 'active', -1)
        if batch.isGone then
            Counts.finish(queue, number, id, 'cancelled')
        else
            call('LPUSH', Blocks.followersOf(queue, id), Blocks.flagged(job, Blocks.BACK_FLAG))
            Locks.setTimer(queue, Locks.timerOf(queue, id, batch.number), 'u' .. id, Clock.now)
            Locks.returned[queue] = (Locks.returned[queue] or 0) + 1
        end
    end

    function Locks.takeBackField(field, value, holder, incarnation, isDead)
        local kind = sub(field, 1, 1)
        if #field == 16 then
            Locks.takeBackLock(field, holder, incarnation, isDead)
        elseif #field == 17 and kind == 'd' then
            local length = byte(value) or 0
            Locks.takeBackDelivery(field, holder, sub(value, 2, 1 + length), sub(value, 2 + length))
        elseif #field == 17 and kind == 'p' then
            -- A place for a URL of elsewhere; one of this partition goes with its lock.
            if call('HDEL', holder, field) == 1 then Hosts.leave(value) end
        end
    end

    -- Takes back a part of what an incarnation holds. Answers how many fields it looked at.
    function Locks.takeBackFrom(incarnation, isDead)
        local holder = Locks.holderOf(incarnation)
        local found = call('HRANDFIELD', holder, 100 + 2, 'WITHVALUES')
        local taken = 0
        for i = 1, #found, 2 do
            if #found[i] >= 16 and taken < 100 then
                taken = taken + 1
                Locks.takeBackField(found[i], found[i + 1], holder, incarnation, isDead)
            end
        end
        if taken < 100 then
            call('UNLINK', holder)
            call('ZADD', Locks.leases, string.format('%.0f', 0 - max(1, Clock.lived)), incarnation)
            local oldest = call('ZRANGE', Locks.leases, '(0', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 2, 'WITHSCORES')
            for i = 1, #oldest, 2 do
                if Clock.lived + oldest[i + 1] > ENDED_KEPT then call('ZREM', Locks.leases, oldest[i]) end
            end
        end
        return taken
    end

    -- Removes a part of what a queue has. What is in flight of it counts for nothing when it ends. Answers whether something is left.
    function Locks.removeQueue(queue, most)
        local isLeft, index = false, Blocks.ofQueue(queue, 'batches')
        for _, priority in ipairs(Blocks.PRIORITIES) do
            local timers = Blocks.ofQueue(queue, 'timers:' .. priority)
            local members = call('ZRANGE', timers, 0, most - 1)
            for _, member in ipairs(members) do
                local kind, name = sub(member, 1, 1), sub(member, 2)
                if kind == 'h' then
                    Lists.drop(Blocks.ofQueue(queue, 'aside:' .. priority .. ':' .. name))
                elseif kind == 'd' then
                    Lists.drop(Blocks.delayedOf(queue, priority, name))
                elseif kind == 'u' then
                    Lists.drop(Blocks.followersOf(queue, name))
                    Locks.unfollow(name, queue)
                end
            end
            if #members > 0 then call('ZREM', timers, unpack(members)) end
            if #members == most then isLeft = true end
            for _, name in ipairs({'ready:' .. priority, 'aside:' .. priority .. ':?', 'aside:' .. priority .. ':!'}) do
                Lists.drop(Blocks.ofQueue(queue, name))
            end
        end
        local found = call('ZRANGE', index, 0, most - 1, 'WITHSCORES')
        for i = 1, #found, 2 do
            call('UNLINK', Blocks.ofQueue(queue, 'batch:' .. found[i + 1]))
            Lists.drop(Blocks.ofQueue(queue, 'finished:' .. found[i + 1]))
            call('ZREM', index, found[i])
        end
        if isLeft or #found == 2 * most then return true end
        for _, name in ipairs({'queue', 'dead', 'idle'}) do call('UNLINK', Blocks.ofQueue(queue, name)) end
        call('HDEL', KEYS[1], 'queue:' .. queue)
        call('HDEL', tag .. 'hosts', '?' .. queue)
        return false
    end
end

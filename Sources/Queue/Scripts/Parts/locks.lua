-- Locks: a URL that is being fetched has one record, and so has a URL that waits for its next attempt.
--
--   '<tag>locks', a hash   id to kind(1) token(16) began(6) deadline(6) crashes(1) failures(1) flags(1) throttled(6) length(2) extras job
--                          'L' a worker fetches the URL for a job     'A' a caller without a job fetches it
--                          'W' nobody fetches it: its next attempt begins at 'began', with these counts; the jobs are its followers
--                          The token is a counter(8) and the incarnation(8) of the process. The deadline is in lease time. Extras:
--                          length(1) queue, length(2) last failure, then those that wait for the URL: 'q' length(1) priority(1) queue,
--                          'c' length(1) channel. A lock that cannot be read counts as none
--   '<tag>leases', a sorted set       incarnation to the end of its lease, in lease time. Where all that it held was taken back: to the
--                          opposite of when that was, for an hour, so that the lease is not revived
--   '<tag>holder:<incarnation>', a hash   what it holds: id to '', 'd' token to the queue and the job of a delivery, 'p' id to the host
--                          of a place apart from a lock: that a redirect took, or under random bytes that a caller without a job took.
--                          'suspects': what its suspects weigh. 'last' exchange: its number(6), the counter of tokens before it(8),
--                          padding, its verdicts
--   '<tag>outcome:<id>', a string     how the URL's fetch ended. URLOutcome.swift writes and reads what follows its header:
--                          version 1, flags(1), token(16), ended(6), ms it took(4), seconds it is fresh for(4)
local Locks = setmetatable({key = tag .. 'locks', leases = tag .. 'leases', returned = {}}, Lazy)

function Locks.make()
    local LARGEST_STALE, LONGEST = 8192, 4294967295
    -- The flags of a lock. A request that moved has its place elsewhere, or has left it. Put off: by the URL's own host.
    Locks.SUSPECT, Locks.MOVED, Locks.PUT_OFF_BY_HOST, Locks.NO_PLACE = 1, 2, 4, 8
    Locks.NEGATIVE, Locks.NOT_STORED, Locks.OUTCOME_HEADER = 1, 2, 32
    Locks.MOST_INTERESTED, Locks.MOST_SUSPECTS, Locks.ALONE, Locks.MOST_CRASHES = 64, 8, 9, 3

    function Locks.holderOf(incarnation) return tag .. 'holder:' .. incarnation end
    function Locks.outcomeOf(id) return tag .. 'outcome:' .. id end

    -- The incarnation is alive for so long from now on.
    function Locks.extend(incarnation, lease)
        Clock.firstEnd = min(Clock.firstEnd, Clock.lived + lease)
        call('ZADD', Locks.leases, string.format('%.0f', Clock.lived + lease), incarnation)
    end

    -- Writes what changed, and tells workers of the jobs that came back.
    function Locks.finish()
        Hosts.save()
        Counts.save()
        Clock.save()
        for name, by in pairs(Locks.returned) do Counts.wake(name, by) end
    end

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

    -- The lock of a URL that nobody has tried.
    function Locks.new() return {crashes = 0, failures = 0, flags = 0, throttled = 0, failure = '', interested = {}} end

    local function read(bytes)
        local lock, length, at, size = Locks.new(), nil, nil, nil
        lock.kind, lock.token, lock.began, lock.deadline, lock.crashes, lock.failures, lock.flags, lock.throttled, length, at =
            unpackBytes('>c1c16I6I6BBBI6I2', bytes)
        local ends = at + length
        lock.job = sub(bytes, ends)
        if ends > #bytes + 1 or lock.kind == 'L' and not Blocks.isSound(lock.job) then return nil end
        lock.queue, at = sub(bytes, at + 1, at + byte(bytes, at)), at + 1 + byte(bytes, at)
        size, at = unpackBytes('>I2', bytes, at)
        lock.failure, at = sub(bytes, at, at + size - 1), at + size
        while at < ends do
            local kind, name = sub(bytes, at, at), sub(bytes, at + 2, at + 1 + byte(bytes, at + 1))
            table.insert(lock.interested, kind == 'c' and {channel = name} or {priority = sub(name, 1, 1), queue = sub(name, 2)})
            at = at + 2 + #name
        end
        return lock
    end

    function Locks.read(bytes)
        if not bytes or not bytes:find('^[LAW]') then return nil end
        local isGood, lock = pcall(read, bytes)
        return isGood and lock or nil
    end

    function Locks.get(id) return Locks.read(call('HGET', Locks.key, id)) end

    function Locks.bytesOf(lock)
        local extras = pack('>B', #lock.queue) .. lock.queue .. pack('>I2', #lock.failure) .. lock.failure
        for _, one in ipairs(lock.interested) do
            local name = one.channel or one.priority .. one.queue
            extras = extras .. (one.channel and 'c' or 'q') .. pack('>B', #name) .. name
        end
        local counts = pack('>I6I6BBBI6I2', lock.began, lock.deadline, lock.crashes, lock.failures, lock.flags, lock.throttled, #extras)
        return lock.kind .. lock.token .. counts .. extras .. lock.job
    end

    function Locks.write(id, lock)
        local bytes = Locks.bytesOf(lock)
        call('HSET', Locks.key, id, bytes)
        return bytes
    end

    function Locks.has(lock, flag) return floor(lock.flags / flag) % 2 == 1 end

    function Locks.set(lock, flag, isOn)
        if Locks.has(lock, flag) ~= isOn then lock.flags = lock.flags + (isOn and flag or 0 - flag) end
    end

    -- Whether a lock is held: its deadline is not over. A holder whose lease has ended keeps it until somebody takes that back.
    function Locks.isHeld(lock) return lock.kind ~= 'W' and lock.deadline > Clock.lived end

    --@ comeBack
end

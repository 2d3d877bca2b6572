-- Jobs as they lie in Redis: in blocks of up to 64 jobs of one host. Block.swift writes and reads the same.
--
--   kind(1) batch(4) enqueued(5) length(1) host            what the jobs of a block have in common
--   id(16) rest                                             a block of one job
--   count(1), then for each job: length(2) id(16) rest      a block of many
-- The kind is 64 and the sum of: 1 https; 2 the batch has request headers; 4 many jobs; 8 the rest is the whole URL, and otherwise
-- what follows the host; 16 a retry; 32 came back without a charge of its own. Times are ms since 2020.
-- Any other element is damaged: another program has written it, and scripts that meet it drop it.
local Blocks = setmetatable({PRIORITIES = {'high', 'normal', 'low'}, EPOCH = 1577836800000}, Lazy)

-- Adds the last `count` jobs of a block, from `at` on, to a list: in blocks of `size` jobs, because a large block is read whole each time.
function Blocks.split(rest, size, list)
    local bytes, at, count = rest.bytes, rest.at, rest.count
    local kind, common = byte(bytes), sub(bytes, 2, 11 + byte(bytes, 11))
    local many, one = string.char(kind) .. common, string.char(kind - 4) .. common
    while count > 0 do
        local jobs, from = min(size, count), at
        for _ = 1, jobs do at = at + 2 + unpackBytes('>I2', bytes, at) end
        list[#list + 1] = jobs == 1 and one .. sub(bytes, from + 2, at - 1) or many .. string.char(jobs) .. sub(bytes, from, at - 1)
        count = count - jobs
    end
end

-- How many jobs an element of a list has. A URL to carry on, and what is no block, count as one.
function Blocks.jobsIn(bytes)
    local count = #bytes > 16 and byte(bytes) % 8 >= 4 and byte(bytes, 12 + byte(bytes, 11)) or 1
    return max(1, count)
end

-- Whether an element is a whole block.
function Blocks.isSound(bytes)
    local kind, length = byte(bytes), byte(bytes, 11)
    if not length or kind < 64 or kind > 127 or #bytes < max(28, 27 + length) then return false end
    if kind % 8 < 4 then return true end
    local at = 13 + length
    for _ = 1, byte(bytes, 12 + length) do
        local high, low = byte(bytes, at, at + 1)
        if not low or high == 0 and low < 16 then return false end
        at = at + 2 + 256 * high + low
    end
    return at > 13 + length and at <= #bytes + 1
end

-- When the jobs of a block were enqueued.
function Blocks.enqueued(bytes) return unpackBytes('>I5', bytes, 6) + Blocks.EPOCH end

function Blocks.make()
    local MANY = 4
    Blocks.RETRY_FLAG, Blocks.BACK_FLAG, Blocks.GONE = 16, 32, 't'

    function Blocks.ofQueue(queue, name) return tag .. 'q:' .. queue .. ':' .. name end
    -- The jobs of a priority that were enqueued with the same delay, in ms.
    function Blocks.delayedOf(queue, priority, delay) return Blocks.ofQueue(queue, 'delayed:' .. priority .. ':' .. delay) end
    function Blocks.followersOf(queue, id) return Blocks.ofQueue(queue, 'followers:' .. id) end
    function Blocks.asideOf(queue, priority, host) return Blocks.ofQueue(queue, 'aside:' .. priority .. ':' .. host) end
    function Blocks.timersOf(queue, priority) return Blocks.ofQueue(queue, 'timers:' .. priority) end

    -- The list that a timer leads to, and the timer's kind.
    function Blocks.listOf(queue, priority, member)
        local kind, name = sub(member, 1, 1), sub(member, 2)
        local list = kind == 'h' and Blocks.asideOf(queue, priority, name) or kind == 'd' and Blocks.delayedOf(queue, priority, name)
            or kind == 'u' and Blocks.followersOf(queue, name)
        return list, kind
    end

    -- What the jobs of a block have in common; nil for what is no block.
    function Blocks.read(bytes)
        if not Blocks.isSound(bytes) then return nil end
        local kind, batch, _, length = unpackBytes('>BI4I5B', bytes)
        local count = kind % 8 >= MANY and byte(bytes, 12 + length) or 1
        return {kind = kind, batch = batch, enqueued = Blocks.enqueued(bytes), host = sub(bytes, 12, 11 + length), count = count}
    end

    -- A job by itself, with the flags that say how it is counted while it waits for its URL.
    function Blocks.flagged(job, flag) return string.char(byte(job) % 16 + 64 + flag) .. sub(job, 2) end

    -- How a follower is counted, by its flags.
    function Blocks.stateOf(follower)
        local flags = (byte(follower) or 0) % 64
        return flags < Blocks.RETRY_FLAG and 'parked' or flags < Blocks.BACK_FLAG and 'delayed' or 'ready'
    end

    -- Of a job by itself.
    function Blocks.batchOf(job) return (unpackBytes('>I4', job, 2)) end
    function Blocks.hostOf(job) return sub(job, 12, 11 + byte(job, 11)) end
    function Blocks.idOf(job) return sub(job, 12 + byte(job, 11), 27 + byte(job, 11)) end
end

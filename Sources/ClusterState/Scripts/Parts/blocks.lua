-- Jobs as they lie in Redis: in blocks of up to 64 jobs of one host. Block.swift writes and reads the same.
--
--   kind(1) batch(4) enqueued(5) length(1) host            what the jobs of a block have in common
--   id(16) rest                                             a block of one job
--   count(1), then for each job: length(2) id(16) rest      a block of many
-- The kind is 64 and the sum of: 1 https; 2 the batch has request headers; 4 many jobs; 8 the rest is the whole URL, and otherwise
-- what follows the host; 16 a retry; 32 came back without a charge of its own. Times are ms since 2020.
-- Elements of another kind were written by a newer version.
local Blocks = {
    EPOCH = 1577836800000, SHORTEST_BLOCK = 28, MANY = 4, RETRY_FLAG = 16, BACK_FLAG = 32, GONE = 't',
    PRIORITIES = {'high', 'normal', 'low'}, MOST_AT_ONCE = 1000,
}

function Blocks.ofQueue(queue, name) return tag .. 'q:' .. queue .. ':' .. name end

-- What the jobs of a block have in common; nil for what this version cannot read.
function Blocks.read(bytes)
    local kind = byte(bytes)
    if not kind or kind < 64 or kind > 127 or #bytes < Blocks.SHORTEST_BLOCK then return nil end
    local batch, enqueued, length = unpackBytes('>I4I5B', bytes, 2)
    local at = 12 + length
    local block = {bytes = bytes, kind = kind, batch = batch, enqueued = enqueued + Blocks.EPOCH, host = sub(bytes, 12, at - 1), at = at, count = 1}
    if kind % 8 >= Blocks.MANY then block.count, block.at = byte(bytes, at), at + 1 end
    return block
end

-- The next job of a block as a block of its own, and its id. Moves on.
function Blocks.nextJob(block)
    local bytes, at = block.bytes, block.at
    block.count = block.count - 1
    if block.kind % 8 < Blocks.MANY then return bytes, sub(bytes, at, at + 15) end
    local prefix = block.prefix
    if not prefix then
        prefix = string.char(block.kind - Blocks.MANY) .. sub(bytes, 2, at - 2)
        block.prefix = prefix
    end
    local length = unpackBytes('>I2', bytes, at)
    block.at = at + 2 + length
    return prefix .. sub(bytes, at + 2, at + 1 + length), sub(bytes, at + 2, at + 17)
end

-- A block with the jobs that nextJob has not brought yet.
function Blocks.restOf(block)
    if block.kind % 8 < Blocks.MANY then return block.bytes end
    if block.count == 1 then return (Blocks.nextJob(block)) end
    local start = 12 + byte(block.bytes, 11)
    return sub(block.bytes, 1, start - 1) .. string.char(block.count) .. sub(block.bytes, block.at)
end

function Blocks.pushBack(key, elements)
    for i = 1, #elements, Blocks.MOST_AT_ONCE do
        call('RPUSH', key, unpack(elements, i, min(i + Blocks.MOST_AT_ONCE - 1, #elements)))
    end
end

rarely(Blocks, function()
    function Blocks.followersOf(queue, id) return tag .. 'q:' .. queue .. ':followers:' .. id end

    -- A job by itself, with the flags that say how it is counted while it waits for its URL.
    function Blocks.flagged(job, flag) return string.char(byte(job) % 16 + 64 + flag) .. sub(job, 2) end

    -- How a follower is counted, by its flags.
    function Blocks.stateOf(follower)
        local flags = (byte(follower) or 0) % 64
        return flags < Blocks.RETRY_FLAG and 'parked' or flags < Blocks.BACK_FLAG and 'delayed' or 'ready'
    end

    function Blocks.idOf(job)
        local at = 12 + byte(job, 11)
        return sub(job, at, at + 15)
    end
end)

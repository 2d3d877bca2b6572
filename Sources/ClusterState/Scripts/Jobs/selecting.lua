-- Which jobs of a queue somebody asks for who looks after it. A part of jobs.lua and sweep.lua.
--
-- ARGV  1 'ready', 'parked', 'delayed', 'dead' or 'active'   2 a host, or nothing for all   3 a class of errors, or nothing for all
--       4 how many jobs at most   5 how many elements to look at
-- The places of ready, parked and delayed jobs are the list of ready blocks, and what the timers of the same priority name: 'h' a list
-- aside, 'u' a list of followers, 'd' a delayed block itself.
local queue = KEYS[2]:sub(#tag + 3, -7)
local state, onlyHost, onlyClass, most, looks = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])

local function timersOf(priority) return Blocks.ofQueue(queue, 'timers:' .. Blocks.PRIORITIES[priority]) end

-- The list of a place that may hold jobs in the state that is asked for, and whether it holds followers.
local function listOf(priority, place)
    local kind, name = sub(place, 1, 1), sub(place, 2)
    if kind == 'u' then return Blocks.followersOf(queue, name), true end
    if state ~= 'ready' then return nil end
    if place == '' then return Blocks.ofQueue(queue, 'ready:' .. Blocks.PRIORITIES[priority]) end
    if kind ~= 'h' or (onlyHost ~= '' and name ~= onlyHost) then return nil end
    return Blocks.ofQueue(queue, 'aside:' .. Blocks.PRIORITIES[priority] .. ':' .. name)
end

-- A block whose jobs are asked for. Those of a batch that was cancelled have ended, wherever they lie.
local function askedBlock(bytes)
    local block = Blocks.read(bytes)
    if block and (onlyHost == '' or block.host == onlyHost) and not Counts.batchOf(queue, block.batch).isGone then return block end
end

-- The class of errors in what was said of a dead job, which OutcomeContent.swift packs.
local CLASS, FIELDS_AT = 4, 41
local function classOf(reason)
    local at = FIELDS_AT + 1
    for _ = 1, (byte(reason, FIELDS_AT) or 0) % 64 do
        if #reason < at + 2 then return '' end
        local field, length = unpackBytes('>BI2', reason, at)
        if field == CLASS then return sub(reason, at + 3, at + 2 + length) end
        at = at + 3 + length
    end
    return ''
end

-- A dead job that is asked for, as a block; `reason` is what was said of it, and crashes and failures are its URL's.
local function askedDead(record)
    if #record < 20 then return nil end
    local crashes, failures, length, at = unpackBytes('>BBI2', record, 17)
    local block, reason = Blocks.read(sub(record, at, at + length - 1)), sub(record, at + length)
    if not block or (onlyHost ~= '' and block.host ~= onlyHost) or (onlyClass ~= '' and classOf(reason) ~= onlyClass) then return nil end
    block.crashes, block.failures, block.reason = crashes, failures, reason
    return block
end

-- What an audit finds. Part of every audit script, each of which looks at a part of the state, within a bound, and sees and mends in
-- one step: on a live system nothing can come in between.
--
-- ARGV  1 whether to mend what is found
-- Answers hold findings as a flat list: kind, how many, an example. Examples name hosts, queues and the first bytes of URLs' ids:
-- URLs and tokens may be secrets.
local mends = ARGV[1] == '1'
local MOST_IN_ONE_STEP = 50000
local findings, kinds = {}, {}

local function note(kind, example, number)
    if not findings[kind] then
        kinds[#kinds + 1], findings[kind] = kind, {number = 0, example = example}
    end
    findings[kind].number = findings[kind].number + (number or 1)
end

-- Notes a finding. Answers whether it is to be mended.
local function finds(kind, example, number)
    if mends and #kinds == 0 then writeAlsoWhenFull() end
    note(kind, example, number)
    return mends
end

local function report()
    local flat = {}
    for _, kind in ipairs(kinds) do
        flat[#flat + 1], flat[#flat + 2], flat[#flat + 3] = kind, findings[kind].number, findings[kind].example
    end
    return flat
end

local function nameOf(id)
    return 'the URL ' .. id:sub(1, 4):gsub('.', function(byte) return string.format('%02x', byte:byte()) end) .. '…'
end

-- The URL that a flight has locked; nil for one that locks none, and for a newer version's.
local function lockedBy(flight)
    local kind = flight:sub(1, 1)
    if kind == 'A' or kind == 'W' then return flight:sub(8, 23) end
    local job = kind == 'J' and read(flight, 8)
    return job and job.id or nil
end

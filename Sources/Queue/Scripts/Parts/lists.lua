-- Long lists. A list lies in parts, so that no key is too large to move to another server of a cluster, which moves a key at once.
--
--   <key>            the first part. Elements are taken from its head, and elements that come back are put there
--   <key>#           the numbers of the other parts, in their order
--   <key>#<number>   another part. New elements go to the end of the last part
-- A list that fits into one part has that part alone. An empty part is gone, as empty lists are. So where the first part is not there,
-- the next takes its place, and its name. PART_BYTES is about how long parts get: ClusterScripts.swift sets it.
local Lists = {}

-- Redis does not roll a script back: keys that hold something else stop it before it writes.
function Lists.check(key)
    call('LLEN', key)
    local last = call('LINDEX', key .. '#', -1)
    if last then call('LLEN', key .. '#' .. last) end
end

-- Adds to the end. A part that is full then gets a successor, which the next elements begin. The others are taken to be as long as these.
-- Answers whether the list was empty.
function Lists.push(key, elements)
    local MOST_AT_ONCE, names, bytes, length = 1000, key .. '#', 0, 0
    local last = call('LINDEX', names, -1)
    local part = last and names .. last or key
    for i = 1, #elements, MOST_AT_ONCE do length = call('RPUSH', part, unpack(elements, i, min(i + MOST_AT_ONCE - 1, #elements))) end
    for i = 1, #elements do bytes = bytes + #elements[i] end
    if length * bytes >= PART_BYTES * #elements then call('RPUSH', names, (last or 0) + 1) end
    return not last and length == #elements
end

-- Puts an element in front. A first part that is full then becomes the second.
function Lists.putFirst(key, element)
    local names, length = key .. '#', call('LPUSH', key, element)
    if length * #element < PART_BYTES then return end
    local number = (call('LINDEX', names, 0) or 1) - 1
    call('RENAME', key, names .. number)
    call('LPUSH', names, number)
end

-- For a list whose first part is not there: the next takes its place. Answers whether there is one.
function Lists.goOn(key)
    local names = key .. '#'
    while true do
        local number = call('LPOP', names)
        if not number then return false end
        if call('EXISTS', names .. number) == 1 then
            call('RENAME', names .. number, key)
            return true
        end
    end
end

function Lists.first(key) return call('LINDEX', key, 0) or Lists.goOn(key) and call('LINDEX', key, 0) end

function Lists.isEmpty(key) return call('EXISTS', key) == 0 and not Lists.goOn(key) end

-- The keys of a list.
function Lists.partsOf(key)
    local parts = {key}
    for i, number in ipairs(call('LRANGE', key .. '#', 0, -1)) do parts[i + 1] = key .. '#' .. number end
    return parts
end

function Lists.length(key)
    local length = 0
    for _, part in ipairs(Lists.partsOf(key)) do length = length + call('LLEN', part) end
    return length
end

function Lists.drop(key)
    for _, part in ipairs(Lists.partsOf(key)) do call('UNLINK', part) end
    call('UNLINK', key .. '#')
end

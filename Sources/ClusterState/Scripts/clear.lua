-- Removes a queue with all it holds, a part in each call. What is still in flight or parked of it counts for nothing when it ends.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- Answer: whether something is left
local queue = KEYS[2]:sub(#namespace + 3, -7)
local MOST = 500
local index = ofQueue(queue, 'batches')
call('HLEN', index)
call('HLEN', namespace .. 'hosts')
call('ZCARD', namespace .. 'queues')
for _, name in ipairs(PRIORITIES) do call('ZCARD', ofQueue(queue, 'due:' .. name)) end
-- A retry that waits has its URL locked, and perhaps followers.
local later = ofQueue(queue, 'later')
local members, waiting = call('ZRANGE', later, 0, MOST - 1), {}
for _, member in ipairs(members) do
    local token = member:sub(1, 16)
    local flight = call('HGET', leases, token)
    if flight and flight:sub(1, 1) == 'W' then
        local id = flight:sub(8)
        local isOwn, hasFollowers = look(id, token)
        waiting[#waiting + 1] = {token = token, id = id, isOwn = isOwn, hasFollowers = hasFollowers}
    end
end
call('ZCARD', expiry)
call('LLEN', namespace .. 'freed')
writeAlsoWhenFull()
local isLeft = #members == MOST
for _, flight in ipairs(waiting) do
    forgetFlight(flight.token)
    if flight.isOwn then unlock(flight.id, flight.hasFollowers, ORPHANED, now) end
end
if #members > 0 then call('ZREM', later, unpack(members)) end
for priority, name in ipairs(PRIORITIES) do
    local due = ofQueue(queue, 'due:' .. name)
    local names = call('ZRANGE', due, 0, MOST - 1)
    for _, hostName in ipairs(names) do
        unmark(hostOf(hostName), priority, queue)
        call('UNLINK', ofQueue(queue, 'held:' .. name .. ':' .. hostName))
    end
    if #names > 0 then call('ZREM', due, unpack(names)) end
    if #names == MOST then isLeft = true end
    call('UNLINK', ofQueue(queue, 'ready:' .. name))
end
saveHosts()
local found = call('HSCAN', index, 0, 'COUNT', MOST)
for i = 1, #found[2], 2 do
    local number = found[2][i + 1]
    call('UNLINK', ofQueue(queue, 'batch:' .. number), ofQueue(queue, 'finished:' .. number))
    call('HDEL', index, found[2][i])
end
if found[1] ~= '0' then isLeft = true end
if not isLeft then
    call('UNLINK', KEYS[2], later, ofQueue(queue, 'dead'), ofQueue(queue, 'ended'), ofQueue(queue, 'idle'),
        ofQueue(queue, 'foreign'), ofQueue(queue, 'workers'), ofQueue(queue, 'beats'), ofQueue(queue, 'history'), index)
    call('ZREM', namespace .. 'queues', queue)
end
saveClock()
return isLeft and 1 or 0

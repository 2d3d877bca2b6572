-- Begins a batch, unless it was begun before.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 the batch's name   2 what it is made from   3 priority, 1 to 3   4 refresh   5 how old a page may be, ms, or -1
--       6 deliver: bodies have to reach the worker also when they are cached   7 the headers of its requests, or nothing
--       8 the trace it belongs to, or nothing
-- Answer: {number, what it was made from, offset, total, state, the headers of its requests or nothing}
local queue = KEYS[2]:sub(#namespace + 3, -7)
local index = ofQueue(queue, 'batches')
call('HLEN', KEYS[2])
call('ZCARD', ofQueue(queue, 'ended'))
local number = call('HGET', index, ARGV[1])
if not number then
    number = batchesMade + 1
    local key = ofQueue(queue, 'batch:' .. number)
    call('HSET', key, 'id', ARGV[1], 'source', ARGV[2], 'state', 'open', 'priority', ARGV[3], 'refresh', ARGV[4],
        'maxAge', ARGV[5], 'deliver', ARGV[6], 'offset', 0, 'total', 0, 'began', now)
    if ARGV[7] ~= '' then call('HSET', key, 'headers', ARGV[7]) end
    if ARGV[8] ~= '' then call('HSET', key, 'trace', ARGV[8]) end
    batchesMade = number
    -- Claims look only where there can be something.
    local uses = call('HGET', KEYS[2], 'priorities') or ''
    if not uses:find(ARGV[3], 1, true) then call('HSET', KEYS[2], 'priorities', uses .. ARGV[3]) end
    call('HSET', index, ARGV[1], number)
    saveClock()
end
local fields = call('HMGET', ofQueue(queue, 'batch:' .. number), 'source', 'offset', 'total', 'state', 'headers')
return {
    tonumber(number), fields[1] or '', tonumber(fields[2] or 0), tonumber(fields[3] or 0), fields[4] or 'cancelled', fields[5] or '',
}

--@ clock blocks counts
-- Begins a batch, unless it was begun before.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 the batch's name   2 what it is made from   3 priority, 1 to 3   4 refresh   5 how old an outcome may be, ms, or -1
--       6 the headers of its requests, or nothing   7 the trace it belongs to, or nothing
--       8 its number, which the home partition has given, or 0 in the home partition
-- Answer: {number, what it was made from, offset, total, state, the headers of its requests or nothing}
local queue = KEYS[2]:sub(#tag + 3, -7)
local index = Blocks.ofQueue(queue, 'batches')
call('HLEN', KEYS[2])
local number = call('ZSCORE', index, ARGV[1])
Clock.use(queue, Clock.now)
if not number then
    Counts.forgetBatches(queue)
    number = tonumber(ARGV[8])
    if number == 0 then number = call('HINCRBY', KEYS[1], 'batches', 1) end
    local key = Blocks.ofQueue(queue, 'batch:' .. number)
    call('HSET', key, 'id', ARGV[1], 'source', ARGV[2], 'state', 'open', 'priority', ARGV[3], 'refresh', ARGV[4],
        'maxAge', ARGV[5], 'offset', 0, 'total', 0, 'began', Clock.now, 'touched', Clock.now)
    if ARGV[6] ~= '' then call('HSET', key, 'headers', ARGV[6]) end
    if ARGV[7] ~= '' then call('HSET', key, 'trace', ARGV[7]) end
    -- Claims look only where there can be something.
    local uses = call('HGET', KEYS[2], 'priorities') or ''
    if not uses:find(ARGV[3], 1, true) then call('HSET', KEYS[2], 'priorities', uses .. ARGV[3]) end
    call('ZADD', index, number, ARGV[1])
    Clock.save()
end
local fields = call('HMGET', Blocks.ofQueue(queue, 'batch:' .. number), 'source', 'offset', 'total', 'state', 'headers')
return {
    tonumber(number), fields[1] or '', tonumber(fields[2] or 0), tonumber(fields[3] or 0), fields[4] or 'cancelled', fields[5] or '',
}

-- What jobs wait for. Part of the scripts in Status/.

-- Of the jobs that are ready, how many wait for their hosts to have room, and how many hosts that is. A line's headings count as jobs in
-- it: where many wait there are somewhat more held than this says.
local function heldIn(queue, ready)
    local hosts = 0
    for _, name in ipairs(PRIORITIES) do
        ready = ready - call('LLEN', ofQueue(queue, 'ready:' .. name))
        hosts = hosts + call('ZCARD', ofQueue(queue, 'due:' .. name))
    end
    return hosts > 0 and max(0, ready) or 0, hosts
end

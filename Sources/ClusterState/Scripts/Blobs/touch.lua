-- Notes that a body was read, or written. A use within the last minute stands already: a body that is read all the time costs no writes.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 the digest   2 the size of a body that has just been written: where it was refused, it is counted no more
local NOTED_FOR = 60000
local key = keyOf(ARGV[1])
if call('EXISTS', key) == 0 then
    if ARGV[2] then forget(ARGV[1], tonumber(ARGV[2])) end
    return
end
local size = call('STRLEN', key)
local used = call('ZSCORE', index, memberOf(ARGV[1], size))
if not used or tonumber(used) < now - NOTED_FOR then touch(ARGV[1], size) end

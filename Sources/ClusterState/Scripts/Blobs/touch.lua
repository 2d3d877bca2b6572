-- Notes that a body was read. A use within the last minute stands already: a body that is read all the time costs no writes.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 the digest
local NOTED_FOR = 60000
local key = keyOf(ARGV[1])
if call('EXISTS', key) == 0 then return end
local size = call('STRLEN', key)
local used = call('ZSCORE', index, memberOf(ARGV[1], size))
if not used or tonumber(used) < now - NOTED_FOR then touch(ARGV[1], size) end

-- Makes room for a body that was refused.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 its size   2 the limit, bytes of memory   3 how long ago the last use of a body is that may go, ms
-- Answer: whether more may go
return evict(tonumber(ARGV[2]), memoryFor(tonumber(ARGV[1])), tonumber(ARGV[3])) and 1 or 0

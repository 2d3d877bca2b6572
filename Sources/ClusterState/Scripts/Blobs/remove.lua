-- Removes a body.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 the digest
-- Answer: whether it was there
local size = call('STRLEN', keyOf(ARGV[1]))
local wasThere = call('UNLINK', keyOf(ARGV[1]))
forget(ARGV[1], size)
return wasThere

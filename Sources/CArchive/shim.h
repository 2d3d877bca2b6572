#ifndef GANNET_CARCHIVE_SHIM_H
#define GANNET_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

/* Swift sees no macro with a cast in it. */
static inline mode_t gannet_archive_regular_file(void) { return AE_IFREG; }

#endif

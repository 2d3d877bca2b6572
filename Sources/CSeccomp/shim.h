#ifndef GANNET_CSECCOMP_SHIM_H
#define GANNET_CSECCOMP_SHIM_H

#include <linux/sched.h>
#include <malloc.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Swift cannot call variadic C functions, and does not import macros with arguments. */
static inline int gannet_seccomp_hide(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int gannet_one_arena(void) { return mallopt(M_ARENA_MAX, 1); }
static inline unsigned int gannet_seccomp_errno(int code) { return SCMP_ACT_ERRNO(code); }

#endif

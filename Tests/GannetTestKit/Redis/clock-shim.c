// Preloaded into a redis-server under test. It adds an offset to the clock of the calendar, or to a moment at which the test has stopped
// that clock. The test changes the offset through a mapped file.
//
// The real time comes from the system call. Looking up the next definition of the function (dlsym) allocates, and jemalloc asks for
// the time while it starts: so libfaketime deadlocks. The monotonic clocks stay as they are. Redis runs its timers by them, jemalloc
// its purging, and neither may jump.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t *clocks; // in nanoseconds: the offset, and the moment at which the clock was stopped, or 0

__attribute__((constructor)) static void map_clocks(void) {
    const char *path = getenv("GANNET_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, 2 * sizeof *clocks, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (map != MAP_FAILED) clocks = map;
}

int clock_gettime(clockid_t clock, struct timespec *answer) {
    int isMovable = clocks && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE);
    int64_t start = isMovable ? __atomic_load_n(clocks + 1, __ATOMIC_RELAXED) : 0;
    if (start == 0) {
        int status = (int)syscall(SYS_clock_gettime, clock, answer);
        if (status != 0 || !isMovable) return status;
        start = answer->tv_sec * INT64_C(1000000000) + answer->tv_nsec;
    }
    int64_t moved = start + __atomic_load_n(clocks, __ATOMIC_RELAXED);
    answer->tv_sec = moved / INT64_C(1000000000);
    answer->tv_nsec = moved % INT64_C(1000000000);
    return 0;
}

int gettimeofday(struct timeval *restrict answer, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    answer->tv_sec = now.tv_sec;
    answer->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *answer) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
    if (answer) *answer = now.tv_sec;
    return now.tv_sec;
}

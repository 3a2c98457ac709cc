/* Preloaded into a program (LD_PRELOAD): from its reading FAULT_CLOCK_AT on, from 1, the clock is a day behind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_long readings;

int clock_gettime(clockid_t clock, struct timespec *now) {
    static __typeof__(&clock_gettime) real;
    if (!real) real = (__typeof__(&clock_gettime))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    const char *at = getenv("FAULT_CLOCK_AT");
    if (clock == CLOCK_REALTIME && at && atomic_fetch_add(&readings, 1) + 1 >= atol(at)) now->tv_sec -= 24 * 60 * 60;
    return result;
}

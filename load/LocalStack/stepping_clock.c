/* A library for LD_PRELOAD that shifts the time of day of a program by a number of seconds: the current value of
   the 8-byte integer in the file that STEPPING_CLOCK names. The C library's waits until a time of day end as if
   the kernel's clock had been stepped in the same way; monotonic clocks are unchanged. libfaketime is not used
   because it does not support the timed waits of C11: with a clock that is behind, the waits of the Kafka client
   would end at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>

static const volatile int64_t *seconds_off;
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_gettimeofday)(struct timeval *, void *);
static int (*real_cnd_timedwait)(cnd_t *, mtx_t *, const struct timespec *);

__attribute__((constructor)) static void begin(void)
{
    real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    real_gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
    real_cnd_timedwait = dlsym(RTLD_NEXT, "cnd_timedwait");
    const char *file = getenv("STEPPING_CLOCK");
    int opened = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    void *mapped = opened < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, opened, 0);
    if (mapped == MAP_FAILED)
        abort();
    seconds_off = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!real_clock_gettime)
        begin();
    int failed = real_clock_gettime(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *seconds_off;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    if (!real_gettimeofday)
        begin();
    int failed = real_gettimeofday(now, zone);
    if (!failed)
        now->tv_sec += *seconds_off;
    return failed;
}

time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until)
{
    if (!real_cnd_timedwait)
        begin();
    struct timespec end = *until;
    end.tv_sec -= *seconds_off;
    return real_cnd_timedwait(condition, mutex, &end);
}

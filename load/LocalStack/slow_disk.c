/* A library for LD_PRELOAD that makes the disk of a program slow: every sync to it takes the milliseconds in the
   8-byte integer of the file that SLOW_DISK names, or until the number is lowered. As with a slow disk, no signal but
   SIGKILL ends the wait. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static const volatile int64_t *milliseconds;

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("SLOW_DISK");
    int opened = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    void *mapped = opened < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, opened, 0);
    if (mapped == MAP_FAILED)
        abort();
    milliseconds = mapped;
}

static void wait_for_disk(void)
{
    const struct timespec step = {.tv_nsec = 5000000};
    for (int64_t waited = 0; waited < *milliseconds; waited += 5)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
}

int fsync(int file)
{
    static int (*real)(int);
    if (!real)
        real = dlsym(RTLD_NEXT, "fsync");
    wait_for_disk();
    return real(file);
}

int fdatasync(int file)
{
    static int (*real)(int);
    if (!real)
        real = dlsym(RTLD_NEXT, "fdatasync");
    wait_for_disk();
    return real(file);
}

/* Preloaded into a program (LD_PRELOAD), counts its operations on files below FAULT_BELOW and lets one of them fail:
   number FAULT_AT, from 1. The count is written to FAULT_COUNT when the program ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long operations;
static atomic_char watched[4096];

/* Relative paths are: the program is started there. */
static int is_below(const char *path) {
    const char *below = getenv("FAULT_BELOW");
    return below && path && (path[0] != '/' || strncmp(path, below, strlen(below)) == 0);
}

static int is_watched(int fd) { return fd >= 0 && fd < 4096 && watched[fd]; }

static int fails(int error) {
    const char *at = getenv("FAULT_AT");
    if (atomic_fetch_add(&operations, 1) + 1 != (at ? atol(at) : 0)) return 0;
    errno = error;
    return 1;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int opened(int fd, const char *path) {
    if (fd >= 0 && fd < 4096) watched[fd] = is_below(path);
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (is_below(path) && fails(EIO)) return -1; \
        return opened(real(path, flags, mode), path); \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    REAL(close);
    if (fd >= 0 && fd < 4096) watched[fd] = 0;
    return real(fd);
}

ssize_t read(int fd, void *bytes, size_t count) {
    REAL(read);
    return is_watched(fd) && fails(EIO) ? -1 : real(fd, bytes, count);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(write);
    return is_watched(fd) && fails(ENOSPC) ? -1 : real(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    return is_watched(fd) && fails(ENOSPC) ? -1 : real(fd, parts, count);
}

int fsync(int fd) {
    REAL(fsync);
    return is_watched(fd) && fails(EIO) ? -1 : real(fd);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return is_below(to) && fails(EIO) ? -1 : real(from, to);
}

int link(const char *from, const char *to) {
    REAL(link);
    return is_below(to) && fails(EIO) ? -1 : real(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    REAL(linkat);
    return is_below(to) && fails(EIO) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return is_below(path) && fails(ENOSPC) ? -1 : real(path, mode);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld", operations);
    fclose(file);
}

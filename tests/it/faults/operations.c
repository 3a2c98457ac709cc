/* Preloaded into a program (LD_PRELOAD), counts its operations on files below FAULT_BELOW and puts a fault into one of
   them: number FAULT_AT, from 1. FAULT_HOW says which. "fails": it isn't done, and fails. "late": it is done, and fails all
   the same, as when a file server's answer is lost. "dies": the program is killed before it; by a rename, when what had
   the name is gone already, as where renaming isn't atomic; of both, only operations that change something are counted.
   The count is written to FAULT_COUNT when the program ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

static int is_how(const char *how) { return strcmp(getenv("FAULT_HOW"), how) == 0; }

static int is_hit(int changes) {
    const char *at = getenv("FAULT_AT");
    if (!changes && !is_how("fails")) return 0;
    return atomic_fetch_add(&operations, 1) + 1 == (at ? atol(at) : 0);
}

static int fails(int error) {
    errno = error;
    return -1;
}

static int dies(const char *replaced) {
    if (replaced) unlink(replaced);
    return raise(SIGKILL);
}

/* Does an operation, of a file that is watched or not; `replaced` is what a rename removes. */
#define DO(watched, changes, error, replaced, done) \
    int hit = (watched) && is_hit(changes); \
    if (hit && is_how("dies")) dies(replaced); \
    if (hit && is_how("fails")) return fails(error); \
    __typeof__(done) result = done; \
    return hit ? fails(error) : result

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
        DO(is_below(path), flags & O_CREAT, EIO, NULL, opened(real(path, flags, mode), path)); \
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
    DO(is_watched(fd), 0, EIO, NULL, real(fd, bytes, count));
}

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(write);
    DO(is_watched(fd), 1, ENOSPC, NULL, real(fd, bytes, count));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    DO(is_watched(fd), 1, ENOSPC, NULL, real(fd, parts, count));
}

int fsync(int fd) {
    REAL(fsync);
    DO(is_watched(fd), 1, EIO, NULL, real(fd));
}

int rename(const char *from, const char *to) {
    REAL(rename);
    DO(is_below(to), 1, EIO, to, real(from, to));
}

int link(const char *from, const char *to) {
    REAL(link);
    DO(is_below(to), 1, EIO, NULL, real(from, to));
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    REAL(linkat);
    DO(is_below(to), 1, EIO, NULL, real(from_folder, from, to_folder, to, flags));
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    DO(is_below(path), 1, ENOSPC, NULL, real(path, mode));
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld", operations);
    fclose(file);
}

/* Every call of libc that changes the disk below some folders, counted; at one of them something happens.

   Loaded with LD_PRELOAD. `faults_set` says below which folders, at which call, and what: a signal before or after the
   call, or a failure of the call, once or from then on. Calls go to the kernel directly, so nothing here calls itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char roots[4][PATH_MAX];
static int rooted, log_to = -1;
static long count, target;
static int signal_before, signal_after, failure, lasting;

void faults_set(const char **folders, int number, long at, int before, int after, int fail, int on, int log)
{
    rooted = number;
    for (int i = 0; i < number; i++)
        snprintf(roots[i], PATH_MAX, "%s", folders[i]);
    count = 0;
    target = at, signal_before = before, signal_after = after, failure = fail, lasting = on, log_to = log;
}

static int below(const char *path)
{
    for (int i = 0; i < rooted; i++) {
        size_t length = strlen(roots[i]);
        if (!strncmp(path, roots[i], length) && (path[length] == '/' || !path[length]))
            return 1;
    }
    return 0;
}

static void path_of(int fd, char *to)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, to, PATH_MAX - 1);
    to[length < 0 ? 0 : length] = 0;
}

/* The number of a call, 0 where nobody counts it, or minus the error with which it fails. */
static long enter(const char *name, const char *path)
{
    if (!rooted || !below(path))
        return 0;
    long at = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    if (log_to >= 0) {
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "%s %s\n", name, path);
        syscall(SYS_write, log_to, line, length);
    }
    if (at == target && signal_before)
        kill(getpid(), signal_before);
    if (failure && (at == target || (lasting && at > target && target > 0)))
        return -failure;
    return at;
}

static long enter_at(const char *name, int folder, const char *path)
{
    char whole[2 * PATH_MAX], base[PATH_MAX];
    if (!rooted || !path)
        return 0;
    if (path[0] == '/')
        return enter(name, path);
    if (folder != AT_FDCWD)
        path_of(folder, base);
    else if (syscall(SYS_getcwd, base, PATH_MAX) < 0)
        base[0] = 0;
    snprintf(whole, sizeof whole, "%s/%s", base, path);
    return enter(name, whole);
}

static long enter_fd(const char *name, int fd)
{
    char path[PATH_MAX];
    if (!rooted)
        return 0;
    path_of(fd, path);
    return enter(name, path);
}

static void leave(long at)
{
    int kept = errno;
    if (at && at == target && signal_after)
        kill(getpid(), signal_after);
    errno = kept;
}

#define RUN(entered, call)                                                                                            \
    do {                                                                                                              \
        long at = entered;                                                                                            \
        if (at < 0) {                                                                                                 \
            errno = (int)-at;                                                                                         \
            return -1;                                                                                                \
        }                                                                                                             \
        long done = (call);                                                                                           \
        leave(at);                                                                                                    \
        return done;                                                                                                  \
    } while (0)

static int opened(int folder, const char *path, int flags, mode_t mode)
{
    int changes = flags & (O_CREAT | O_TRUNC) || (flags & O_ACCMODE) != O_RDONLY;
    RUN(changes ? enter_at("open", folder, path) : 0, syscall(SYS_openat, folder, path, flags, mode));
}

#define MODE(flags, last)                                                                                             \
    mode_t mode = 0;                                                                                                  \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                                            \
        va_list rest;                                                                                                 \
        va_start(rest, last);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                  \
        va_end(rest);                                                                                                 \
    }

int open(const char *path, int flags, ...) { MODE(flags, flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags, flags) return opened(AT_FDCWD, path, flags, mode); }
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int openat(int at, const char *path, int flags, ...) { MODE(flags, flags) return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags, flags) return opened(at, path, flags, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

ssize_t write(int fd, const void *from, size_t size) { RUN(enter_fd("write", fd), syscall(SYS_write, fd, from, size)); }
ssize_t pwrite(int fd, const void *from, size_t size, off_t to)
{
    RUN(enter_fd("pwrite", fd), syscall(SYS_pwrite64, fd, from, size, to));
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t to)
{
    RUN(enter_fd("pwrite", fd), syscall(SYS_pwrite64, fd, from, size, to));
}
ssize_t writev(int fd, const struct iovec *from, int size)
{
    RUN(enter_fd("writev", fd), syscall(SYS_writev, fd, from, size));
}
ssize_t pwritev(int fd, const struct iovec *from, int size, off_t to)
{
    RUN(enter_fd("pwritev", fd), syscall(SYS_pwritev, fd, from, size, to, 0));
}
ssize_t pwritev64(int fd, const struct iovec *from, int size, off64_t to)
{
    RUN(enter_fd("pwritev", fd), syscall(SYS_pwritev, fd, from, size, to, 0));
}
ssize_t sendfile(int to, int fd, off_t *from, size_t size)
{
    RUN(enter_fd("sendfile", to), syscall(SYS_sendfile, to, fd, from, size));
}
ssize_t sendfile64(int to, int fd, off64_t *from, size_t size)
{
    RUN(enter_fd("sendfile", to), syscall(SYS_sendfile, to, fd, from, size));
}
ssize_t copy_file_range(int fd, off64_t *from, int to, off64_t *at_to, size_t size, unsigned flags)
{
    RUN(enter_fd("copy_file_range", to), syscall(SYS_copy_file_range, fd, from, to, at_to, size, flags));
}

int ftruncate(int fd, off_t size) { RUN(enter_fd("ftruncate", fd), syscall(SYS_ftruncate, fd, size)); }
int ftruncate64(int fd, off64_t size) { RUN(enter_fd("ftruncate", fd), syscall(SYS_ftruncate, fd, size)); }
int fallocate(int fd, int how, off_t from, off_t size)
{
    RUN(enter_fd("fallocate", fd), syscall(SYS_fallocate, fd, how, from, size));
}
int fallocate64(int fd, int how, off64_t from, off64_t size)
{
    RUN(enter_fd("fallocate", fd), syscall(SYS_fallocate, fd, how, from, size));
}
int fsync(int fd) { RUN(enter_fd("fsync", fd), syscall(SYS_fsync, fd)); }
int fdatasync(int fd) { RUN(enter_fd("fdatasync", fd), syscall(SYS_fdatasync, fd)); }

int renameat2(int one, const char *from, int two, const char *to, unsigned flags)
{
    RUN(enter_at("rename", two, to), syscall(SYS_renameat2, one, from, two, to, flags));
}
int renameat(int one, const char *from, int two, const char *to) { return renameat2(one, from, two, to, 0); }
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int one, const char *from, int two, const char *to, int flags)
{
    RUN(enter_at("link", two, to), syscall(SYS_linkat, one, from, two, to, flags));
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
int symlinkat(const char *from, int folder, const char *to)
{
    RUN(enter_at("symlink", folder, to), syscall(SYS_symlinkat, from, folder, to));
}
int symlink(const char *from, const char *to) { return symlinkat(from, AT_FDCWD, to); }
int unlinkat(int folder, const char *path, int flags)
{
    RUN(enter_at("unlink", folder, path), syscall(SYS_unlinkat, folder, path, flags));
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path)
{
    struct stat found;
    return unlinkat(AT_FDCWD, path, !lstat(path, &found) && S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0);
}
int mkdirat(int folder, const char *path, mode_t mode)
{
    RUN(enter_at("mkdir", folder, path), syscall(SYS_mkdirat, folder, path, mode));
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int fchmodat(int folder, const char *path, mode_t mode, int flags)
{
    (void)flags;
    RUN(enter_at("chmod", folder, path), syscall(SYS_fchmodat, folder, path, mode));
}
int chmod(const char *path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }
int fchmod(int fd, mode_t mode) { RUN(enter_fd("chmod", fd), syscall(SYS_fchmod, fd, mode)); }

// Lets what the engine of rows writes fail. FAIL_CONTROL names a file with the number of the error; while it does not exist,
// nothing fails. FAIL_PATH is a part of the names of the files that are concerned. Go code makes its system calls itself, so
// the journal and the metadata are not concerned.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int wanted(void) {
	const char *name = getenv("FAIL_CONTROL");
	char text[16] = "";
	if (name == NULL) return 0;
	int fd = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
	if (fd < 0) return 0;
	syscall(SYS_read, fd, text, sizeof text - 1);
	syscall(SYS_close, fd);
	return atoi(text);
}

static int named(const char *name) {
	const char *part = getenv("FAIL_PATH");
	return part != NULL && name != NULL && strstr(name, part) != NULL;
}

static int concerned(int fd) {
	char link[64], name[4096];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, name, sizeof name - 1);
	if (n < 0) return 0;
	name[n] = 0;
	return named(name);
}

#define FAIL(fd) \
	do { \
		int saved = errno, n; \
		if (concerned(fd) && (n = wanted()) != 0) { errno = n; return -1; } \
		errno = saved; \
	} while (0)

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *b, size_t n) { FAIL(fd); return syscall(SYS_write, fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t at) { FAIL(fd); return syscall(SYS_pwrite64, fd, b, n, at); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t at) { FAIL(fd); return syscall(SYS_pwrite64, fd, b, n, at); }
int fsync(int fd) { FAIL(fd); return REAL(fsync)(fd); }
int fdatasync(int fd) { FAIL(fd); return REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t n) { FAIL(fd); return REAL(ftruncate)(fd, n); }
int ftruncate64(int fd, off64_t n) { FAIL(fd); return REAL(ftruncate64)(fd, n); }

static int opens(const char *name, int flags, mode_t mode) {
	int n;
	if ((flags & O_ACCMODE) != O_RDONLY && named(name) && (n = wanted()) != 0) { errno = n; return -1; }
	return syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}
#define MODE(flags) ({ va_list l; va_start(l, flags); mode_t m = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(l, mode_t) : 0; va_end(l); m; })
int open(const char *name, int flags, ...) { return opens(name, flags, MODE(flags)); }
int open64(const char *name, int flags, ...) { return opens(name, flags | O_LARGEFILE, MODE(flags)); }

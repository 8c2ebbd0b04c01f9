/* What a test does to a real process from inside: a disk that gives EIO, and a clock that jumps. LD_PRELOAD loads it.

   SLANT_FAULT_FILE  8 + 8 bytes that the test writes at the moment: which calls fail (1 writes, 2 syncs, 4 reads),
                     and by how many seconds the clock of the world is off
   SLANT_FAULT_PLACE files below this folder are on the failing disk */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *told;
static const char *place;

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("SLANT_FAULT_FILE");
  place = getenv("SLANT_FAULT_PLACE");
  int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *seen = mmap(NULL, 16, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (seen != MAP_FAILED) told = seen;
}

static int fails(int file, long long kind) {
  if (!told || !place || !(told[0] & kind)) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  if (strncmp(path, place, strlen(place))) return 0;
  errno = EIO;
  return 1;
}

ssize_t write(int f, const void *b, size_t n) { return fails(f, 1) ? -1 : syscall(SYS_write, f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return fails(f, 1) ? -1 : syscall(SYS_pwrite64, f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { return pwrite(f, b, n, o); }
int fsync(int f) { return fails(f, 2) ? -1 : syscall(SYS_fsync, f); }
int fdatasync(int f) { return fails(f, 2) ? -1 : syscall(SYS_fdatasync, f); }
ssize_t read(int f, void *b, size_t n) { return fails(f, 4) ? -1 : syscall(SYS_read, f, b, n); }
ssize_t pread(int f, void *b, size_t n, off_t o) { return fails(f, 4) ? -1 : syscall(SYS_pread64, f, b, n, o); }
ssize_t pread64(int f, void *b, size_t n, off64_t o) { return pread(f, b, n, o); }

int clock_gettime(clockid_t kind, struct timespec *at) {
  int done = syscall(SYS_clock_gettime, kind, at);
  if (!done && told && kind == CLOCK_REALTIME) at->tv_sec += told[1];
  return done;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

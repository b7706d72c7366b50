/* A library to be preloaded: of the calls that change what is below a folder,
   counted over all processes, the nth fails. The counter is a file of 64 bytes:
   the count, then the name of the call that failed. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct Counter {
  _Atomic long count;
  char name[56];
};

static struct Counter *counter(void) {
  static struct Counter *_Atomic known;
  struct Counter *found = atomic_load(&known);
  const char *path = getenv("FAIL_COUNTER");
  if (found || !path)
    return found;
  int file = open(path, O_RDWR | O_CLOEXEC);
  void *memory =
      mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    abort();
  atomic_store(&known, memory);
  return memory;
}

/* True if this call is the one; errno is set then. */
static int fails(const char *path, const char *name) {
  const char *below = getenv("FAIL_BELOW");
  if (!below || strncmp(path, below, strlen(below)) != 0 || !counter())
    return 0;
  if (atomic_fetch_add(&counter()->count, 1) + 1 != atol(getenv("FAIL_CALL")))
    return 0;
  strcpy(counter()->name, name);
  errno = atoi(getenv("FAIL_ERROR"));
  return 1;
}

static int failsOf(int descriptor, const char *name) {
  char link[64], path[PATH_MAX] = "";
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  return readlink(link, path, sizeof(path) - 1) > 0 && fails(path, name);
}

#define ORIGINAL(name, ...)                                                    \
  ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

ssize_t write(int file, const void *data, size_t bytes) {
  return failsOf(file, "write") ? -1 : ORIGINAL(write, file, data, bytes);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at) {
  return failsOf(file, "pwrite") ? -1 : ORIGINAL(pwrite, file, data, bytes, at);
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off64_t at) {
  return failsOf(file, "pwrite") ? -1
                                 : ORIGINAL(pwrite64, file, data, bytes, at);
}

int fallocate(int file, int mode, off_t at, off_t bytes) {
  return failsOf(file, "fallocate")
             ? -1
             : ORIGINAL(fallocate, file, mode, at, bytes);
}

int fallocate64(int file, int mode, off64_t at, off64_t bytes) {
  return failsOf(file, "fallocate")
             ? -1
             : ORIGINAL(fallocate64, file, mode, at, bytes);
}

int fsync(int file) {
  return failsOf(file, "fsync") ? -1 : ORIGINAL(fsync, file);
}

int rename(const char *from, const char *to) {
  return fails(from, "rename") ? -1 : ORIGINAL(rename, from, to);
}

int renameat2(int old, const char *from, int new, const char *to,
              unsigned flags) {
  return fails(from, "renameat2")
             ? -1
             : ORIGINAL(renameat2, old, from, new, to, flags);
}

int mkdir(const char *path, mode_t mode) {
  return fails(path, "mkdir") ? -1 : ORIGINAL(mkdir, path, mode);
}

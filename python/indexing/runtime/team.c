/* Threads that run the blocks of a kernel together; `replay.c` follows in the same source.
 *
 * `team_run` shares the blocks of one kernel between the calling thread and `helpers` others, each of which takes ranges of
 * blocks until none are left. One launch at a time has the team; another one runs its blocks alone. A helper that has nothing
 * to do looks for work for a while before it sleeps, as kernels come in rows. */
#include <stdint.h>
#include <stdlib.h>

#ifdef _WIN32
#include <windows.h>
typedef SRWLOCK lock_t;
typedef CONDITION_VARIABLE signal_t;
#define LOCK_INIT SRWLOCK_INIT
#define SIGNAL_INIT CONDITION_VARIABLE_INIT
#define lock(l) AcquireSRWLockExclusive(l)
#define try_lock(l) TryAcquireSRWLockExclusive(l)
#define unlock(l) ReleaseSRWLockExclusive(l)
#define wait_for(s, l) SleepConditionVariableSRW(s, l, INFINITE, 0)
#define wake_all(s) WakeAllConditionVariable(s)
#define EXPORT __declspec(dllexport)
#else
#include <pthread.h>
typedef pthread_mutex_t lock_t;
typedef pthread_cond_t signal_t;
#define LOCK_INIT PTHREAD_MUTEX_INITIALIZER
#define SIGNAL_INIT PTHREAD_COND_INITIALIZER
#define lock(l) pthread_mutex_lock(l)
#define try_lock(l) (pthread_mutex_trylock(l) == 0)
#define unlock(l) pthread_mutex_unlock(l)
#define wait_for(s, l) pthread_cond_wait(s, l)
#define wake_all(s) pthread_cond_broadcast(s)
#define EXPORT
#endif

#if defined(__x86_64__) || defined(__i386__)
#define relax() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define relax() __asm__ volatile("yield")
#else
#define relax() ((void)0)
#endif

#define LOOKS 4000 /* for work before a helper sleeps: some 50 microseconds */

typedef void (*kernel_t)(void *const *, long long, long long);

static lock_t launching = LOCK_INIT, guard = LOCK_INIT;
static signal_t posted = SIGNAL_INIT;
static int helpers, sleeping;

/* The launch that is shared, written under `guard`. */
static kernel_t kernel;
static void *const *buffers;
static long long blocks, size, next;
static unsigned turn;   /* how many launches there were */
static int open_, busy; /* whether helpers may join, and how many have */

static void take_ranges(void) {
  for (;;) {
    long long first = __atomic_fetch_add(&next, size, __ATOMIC_RELAXED);
    if (first >= blocks) return;
    kernel(buffers, first, first + size < blocks ? first + size : blocks);
  }
}

static void serve(void) {
  unsigned seen = 0;
  for (;;) {
    for (int k = 0; k < LOOKS && __atomic_load_n(&turn, __ATOMIC_ACQUIRE) == seen; k++) relax();
    lock(&guard);
    while (turn == seen) {
      sleeping++;
      wait_for(&posted, &guard);
      sleeping--;
    }
    seen = turn;
    int joins = open_;
    busy += joins;
    unlock(&guard);
    if (!joins) continue;
    take_ranges();
    __atomic_fetch_sub(&busy, 1, __ATOMIC_RELEASE);
  }
}

#ifdef _WIN32
static DWORD WINAPI begin(void *unused) { serve(); return 0; }
#else
static void *begin(void *unused) { serve(); return unused; }
#endif

/* Start threads; how many there are. Called once in a process. */
EXPORT int team_start(int count, size_t stack_bytes) {
#ifdef _WIN32
  for (; helpers < count; helpers++) {
    HANDLE thread = CreateThread(0, stack_bytes, begin, 0, STACK_SIZE_PARAM_IS_A_RESERVATION, 0);
    if (!thread) break;
    CloseHandle(thread);
  }
#else
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (; helpers < count; helpers++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, begin, 0)) break;
  }
  pthread_attr_destroy(&attributes);
#endif
  return helpers;
}

/* After a fork only the calling thread is left. */
EXPORT void team_forget(void) {
  launching = (lock_t)LOCK_INIT;
  guard = (lock_t)LOCK_INIT;
  posted = (signal_t)SIGNAL_INIT;
  helpers = sleeping = open_ = busy = 0;
  turn = 0;
}

/* Run all blocks, `range` at a time; back when they are done. How many threads may have taken part. */
EXPORT int team_run(kernel_t run, void *const *arguments, long long count, long long range) {
  if (!try_lock(&launching)) {
    run(arguments, 0, count);
    return 1;
  }
  lock(&guard);
  kernel = run, buffers = arguments, blocks = count, size = range, next = 0, open_ = 1;
  __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
  int asleep = sleeping;
  unlock(&guard);
  if (asleep) wake_all(&posted);
  take_ranges();
  lock(&guard);
  open_ = 0; /* who comes now finds nothing */
  unlock(&guard);
  while (__atomic_load_n(&busy, __ATOMIC_ACQUIRE)) relax();
  unlock(&launching);
  return helpers + 1;
}

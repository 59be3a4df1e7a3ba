/* Threads that run the blocks of a kernel together; `replay.c` follows in the same source.
 *
 * `team_run` shares the blocks of one kernel between the calling thread and `helpers` others. Each takes ranges of blocks until
 * none are left. The team runs one launch at a time; a concurrent launch runs on its own thread. A helper without work spins
 * for a while before it sleeps, since kernels are often launched in quick succession. */
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

#define SPINS 4000 /* before a helper sleeps: about 50 microseconds */

typedef void (*kernel_t)(void *const *, long long, long long);

static lock_t launching = LOCK_INIT, guard = LOCK_INIT;
static signal_t posted = SIGNAL_INIT;
static int helpers, sleeping;

/* The current launch of the team, written under `guard`. */
static kernel_t kernel;
static void *const *buffers;
static long long blocks, size, next;
static unsigned generation; /* the number of launches until now */
static int joinable, busy;  /* whether helpers may join the launch, and how many are running it */

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
    for (int k = 0; k < SPINS && __atomic_load_n(&generation, __ATOMIC_ACQUIRE) == seen; k++) relax();
    lock(&guard);
    while (generation == seen) {
      sleeping++;
      wait_for(&posted, &guard);
      sleeping--;
    }
    seen = generation;
    int joins = joinable;
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

/* Starts threads, and returns their number. Called once in a process. */
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

/* Forgets the helpers: after a fork only the calling thread is left. */
EXPORT void team_forget(void) {
  launching = (lock_t)LOCK_INIT;
  guard = (lock_t)LOCK_INIT;
  posted = (signal_t)SIGNAL_INIT;
  helpers = sleeping = joinable = busy = 0;
  generation = 0;
}

/* Runs all blocks, `range` at a time, and returns how many threads may have taken part. */
EXPORT int team_run(kernel_t run, void *const *arguments, long long count, long long range) {
  if (!try_lock(&launching)) {
    run(arguments, 0, count);
    return 1;
  }
  lock(&guard);
  kernel = run, buffers = arguments, blocks = count, size = range, next = 0, joinable = 1;
  __atomic_store_n(&generation, generation + 1, __ATOMIC_RELEASE);
  int asleep = sleeping;
  unlock(&guard);
  if (asleep) wake_all(&posted);
  take_ranges();
  lock(&guard);
  joinable = 0; /* all ranges are taken: later helpers need not join */
  unlock(&guard);
  while (__atomic_load_n(&busy, __ATOMIC_ACQUIRE)) relax();
  unlock(&launching);
  return helpers + 1;
}

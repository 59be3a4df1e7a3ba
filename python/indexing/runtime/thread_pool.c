/* Threads that run the blocks of a kernel together; `replay.c` follows in the same source.
 *
 * `pool_run` shares the blocks of one kernel between the calling thread and `helpers` others. Each takes ranges of blocks until
 * none are left. The pool runs one launch at a time; a concurrent launch runs on its own thread. A helper without work spins
 * for a while before it sleeps, since kernels are often launched in quick succession.
 *
 * During a long launch, the calling thread lets Python handle signals now and then. If a handler raises an exception, all
 * threads leave the launch after their slice of blocks. */
#include <stdint.h>
#include <stdlib.h>
#ifndef _WIN32
#include <time.h>
#endif

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

#define SPINS 1000              /* before a helper sleeps: about as long as waking it takes */
#define SLICE 10000000          /* nanoseconds that blocks run until a thread looks whether the launch goes on */
#define SIGNALS_AFTER 100000000 /* nanoseconds between two times that Python handles signals: each waits for the GIL */
#define WAITS 4096              /* for helpers, until the calling thread looks at the clock */

typedef void (*kernel_t)(void *const *, long long, long long);

static lock_t launching = LOCK_INIT, guard = LOCK_INIT;
static signal_t posted = SIGNAL_INIT;
static int helpers, sleeping;

/* The current launch of the pool, written under `guard`. */
static kernel_t kernel;
static void *const *buffers;
static long long blocks, size, next, slices;
static int stopped;
static unsigned generation; /* the number of launches until now */
static int joinable, busy;  /* whether helpers may join the launch, and how many are running it */

/* Functions of Python: PyGILState_Ensure, PyGILState_Release, PyErr_CheckSignals, PyErr_Fetch. */
static int (*take_gil)(void), (*handle_signals)(void);
static void (*leave_gil)(int), (*fetch)(void **, void **, void **);
static void *raised[3]; /* the exception of a handler: handlers run in one thread only */

static int64_t now(void) {
#ifdef _WIN32
  LARGE_INTEGER ticks, rate;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&rate);
  return (int64_t)((double)ticks.QuadPart * 1e9 / (double)rate.QuadPart);
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
#endif
}

/* Lets Python handle signals if SIGNALS_AFTER has passed since `handled`, which is null for threads that may not. Stops the
 * launch if a handler raises. */
static void let_signals(int64_t *handled, int *stop) {
  if (!handled || !handle_signals || now() - *handled < SIGNALS_AFTER) return;
  int state = take_gil();
  if (handle_signals()) {
    fetch(&raised[0], &raised[1], &raised[2]);
    __atomic_store_n(stop, 1, __ATOMIC_RELAXED);
  }
  leave_gil(state);
  *handled = now();
}

/* Runs blocks, `slice` at a time, more if that takes less than half of SLICE, until all are done or the launch is stopped. */
static void run_slices(kernel_t run, void *const *arguments, long long first, long long last, long long slice,
                       int64_t *handled, int *stop) {
  while (last - first > slice) {
    int64_t start = now();
    run(arguments, first, first + slice);
    first += slice;
    if (now() - start < SLICE / 2) slice *= 2;
    let_signals(handled, stop);
    if (__atomic_load_n(stop, __ATOMIC_RELAXED)) return;
  }
  run(arguments, first, last);
}

/* Takes ranges until none are left or the launch is stopped; slices shorter than `blocks` say that it takes long. */
static void take_ranges(int64_t *handled) {
  while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
    long long first = __atomic_fetch_add(&next, size, __ATOMIC_RELAXED);
    if (first >= blocks) return;
    run_slices(kernel, buffers, first, first + size < blocks ? first + size : blocks, slices, handled, &stopped);
    if (slices < blocks) let_signals(handled, &stopped);
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
    take_ranges(0);
    __atomic_fetch_sub(&busy, 1, __ATOMIC_RELEASE);
  }
}

#ifdef _WIN32
static DWORD WINAPI begin(void *unused) { serve(); return 0; }
#else
static void *begin(void *unused) { serve(); return unused; }
#endif

/* Starts threads, and returns their number. Called once in a process. */
EXPORT int pool_start(int count, size_t stack_bytes) {
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
EXPORT void pool_forget(void) {
  launching = (lock_t)LOCK_INIT;
  guard = (lock_t)LOCK_INIT;
  posted = (signal_t)SIGNAL_INIT;
  helpers = sleeping = joinable = busy = 0;
  generation = 0;
}

/* Sets the functions of Python that handle signals; returns where the exception of a handler is put down. */
EXPORT void **pool_signals(int (*take)(void), void (*leave)(int), int (*handle)(void),
                           void (*fetch_raised)(void **, void **, void **)) {
  take_gil = take, leave_gil = leave, handle_signals = handle, fetch = fetch_raised;
  return raised;
}

/* Runs all blocks on the calling thread, and returns 1; 0 if a signal's handler has stopped it. */
static int run_alone(kernel_t run, void *const *arguments, long long count, long long slice) {
  int stop = 0;
  int64_t handled = slice < count ? now() : 0;
  run_slices(run, arguments, 0, count, slice, &handled, &stop);
  return !stop;
}

/* Runs all blocks, `range` at a time, in slices of `slice`. Returns how many threads may have taken part; 0 if a signal's
 * handler has stopped them. */
static int run_together(kernel_t run, void *const *arguments, long long count, long long range, long long slice) {
  if (!try_lock(&launching)) return run_alone(run, arguments, count, slice);
  int64_t handled = slice < count ? now() : 0;
  lock(&guard);
  kernel = run, buffers = arguments, blocks = count, size = range, slices = slice, next = 0, stopped = 0, joinable = 1;
  __atomic_store_n(&generation, generation + 1, __ATOMIC_RELEASE);
  int asleep = sleeping;
  unlock(&guard);
  if (asleep) wake_all(&posted);
  take_ranges(&handled);
  lock(&guard);
  joinable = 0; /* all ranges are taken: later helpers need not join */
  unlock(&guard);
  for (int waits = 1; __atomic_load_n(&busy, __ATOMIC_ACQUIRE); waits++) {
    relax();
    if (slice < count && waits % WAITS == 0) let_signals(&handled, &stopped);
  }
  int cores = stopped ? 0 : helpers + 1;
  unlock(&launching);
  return cores;
}

/* As `run_together`, of blocks that take no long time. */
EXPORT int pool_run(kernel_t run, void *const *arguments, long long count, long long range) {
  return run_together(run, arguments, count, range, count);
}

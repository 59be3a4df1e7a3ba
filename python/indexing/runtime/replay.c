/* Programs: kernels, copies and jumps between them, run without coming back to Python.
 *
 * A program is a list of words. It works on registers, which hold addresses of memory: a kernel gets those of its arguments,
 * loops pass their state on by exchanging addresses. `program_run` comes back when the program has ended, and now and then
 * before, so that its caller may look for signals; called again it goes on where it was. */
#include <string.h>
#ifndef _WIN32
#include <time.h>
#endif

#define WORTH_SHARING 12000   /* nanoseconds of work; to wake a thread takes about that long */
#define WORTH_MEASURING 3000  /* nanoseconds; of shorter kernels one launch in SAMPLED is measured */
#define SAMPLED 64
#define DOUBTFUL 100000       /* nanoseconds; shared by threads, less may be the time that they take to meet */
#define TRIED_ALONE 32        /* one launch in so many of doubtful work is run by one thread, as are the first two */
#define RANGES 8              /* that each core takes of a kernel's blocks, on average */
#define MIN_RANGE 4000        /* nanoseconds */
#define PAUSE_AFTER 50000000  /* nanoseconds of work */
#define JUMP_WORK 5           /* nanoseconds */

/* A kernel, and how much work a launch of it is: nanoseconds on one core, as found by the last measured launch. */
typedef struct {
  kernel_t run;
  int64_t blocks, work, launches;
} launch_t;

/* The state of one run. `nanoseconds` and `counts` have a number for each kernel, or are null where nobody asks; `turns` has
 * one for each loop that counts its own. */
typedef struct {
  void **registers, **spare;
  int64_t *nanoseconds, *counts, *turns;
  int64_t at;
} frame_t;

enum { END, LAUNCH, COPY, MOVE, UNLESS, JUMP, SWITCH, REPEAT };

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

static int64_t between(int64_t low, int64_t value, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static int run_blocks(const launch_t *l, int64_t work, int64_t number, void *const *buffers) {
  int is_tried = work < DOUBTFUL && (number < 2 || number % TRIED_ALONE == 0);
  if (l->blocks < 2 || work < WORTH_SHARING || is_tried || !helpers) {
    l->run(buffers, 0, l->blocks);
    return 1;
  }
  int64_t cores = helpers + 1, shortest = (int64_t)((double)MIN_RANGE * (double)l->blocks / (double)work) + 1;
  return team_run(l->run, buffers, l->blocks, between(shortest, l->blocks / (cores * RANGES), l->blocks / cores + 1));
}

/* Run all blocks; the work that they are believed to be. Several threads may launch one kernel. */
EXPORT int64_t launch_kernel(launch_t *l, void *const *buffers) {
  int64_t work = __atomic_load_n(&l->work, __ATOMIC_RELAXED), number = __atomic_load_n(&l->launches, __ATOMIC_RELAXED);
  if (l->blocks <= 0) return 0;
  __atomic_store_n(&l->launches, number + 1, __ATOMIC_RELAXED);
  if (work < WORTH_MEASURING && number % SAMPLED) {
    l->run(buffers, 0, l->blocks);
    return work;
  }
  int64_t start = now();
  int cores = run_blocks(l, work, number, buffers);
  int64_t limit = number < 2 ? INT64_MAX : 2 * work; /* it may have been interrupted */
  work = between(1, (now() - start) * cores, limit);
  __atomic_store_n(&l->work, work, __ATOMIC_RELAXED);
  return work;
}

/* Launch `calls` times, each on the next of `sets` rows of `count` addresses, beginning with row `first`. */
EXPORT void launch_in_turn(launch_t *l, void *const *rows, int64_t count, int64_t sets, int64_t first, int64_t calls) {
  for (int64_t k = first; k < first + calls; k++) launch_kernel(l, rows + count * (k % sets));
}

/* The kernel of a LAUNCH on its registers; if somebody asks, how long it takes. */
static int64_t launched(launch_t *const *kernels, frame_t *f, const int64_t *code) {
  for (int64_t k = 0; k < code[2]; k++) f->spare[k] = f->registers[code[3 + k]];
  if (!f->nanoseconds) return launch_kernel(kernels[code[1]], f->spare);
  int64_t start = now(), work = launch_kernel(kernels[code[1]], f->spare);
  f->nanoseconds[code[1]] += now() - start;
  f->counts[code[1]]++;
  return work;
}

/* Registers take over the addresses of others, all at a time. */
static void move(frame_t *f, const int64_t *code) {
  for (int64_t k = 0; k < code[1]; k++) f->spare[k] = f->registers[code[3 + 2 * k]];
  for (int64_t k = 0; k < code[1]; k++) f->registers[code[2 + 2 * k]] = f->spare[k];
}

/* Which of `count` branches a selector of s32 takes: the last where it is out of range. */
static int64_t branch(const int32_t *selector, int64_t count) {
  return *selector >= 0 && *selector < count ? *selector : count - 1;
}

/* Run until the end, which gives 0, or for a while, which gives 1. */
EXPORT int program_run(const int64_t *code, launch_t *const *kernels, frame_t *f) {
  int64_t at = f->at, left = PAUSE_AFTER;
  while (left > 0) {
    const int64_t *c = code + at;
    switch (c[0]) {
    case LAUNCH:
      left -= launched(kernels, f, c);
      at += 3 + c[2];
      break;
    case COPY:
      memcpy(f->registers[c[1]], f->registers[c[2]], (size_t)c[3]);
      left -= JUMP_WORK + c[3] / 16;
      at += 4;
      break;
    case MOVE:
      move(f, c);
      at += 2 + 2 * c[1];
      break;
    case UNLESS:
      at = *(const unsigned char *)f->registers[c[1]] ? at + 3 : c[2];
      break;
    case JUMP:
      left -= JUMP_WORK;
      at = c[1];
      break;
    case SWITCH:
      at = c[3 + branch(f->registers[c[1]], c[2])];
      break;
    case REPEAT:
      if (f->turns[c[1]]++ < c[2]) {
        at += 4;
      } else {
        f->turns[c[1]] = 0;
        at = c[3];
      }
      break;
    default:
      f->at = 0;
      return 0;
    }
  }
  f->at = at;
  return 1;
}

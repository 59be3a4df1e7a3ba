/* Programs of kernels, copies, jumps and calls, which run without returning to Python.
 *
 * A program is a list of words. Its registers hold addresses of memory: a kernel gets the addresses of its arguments, and loops
 * exchange those of their state. `program_run` returns at the end of the program; at a step of the host, behind which its caller
 * continues; and regularly in between, so that its caller can handle signals. */
#include <string.h>

/* Work is measured in nanoseconds on one core. */
#define MIN_SHARED 12000      /* work that is shared by threads: waking one takes about that long */
#define MIN_MEASURED 3000     /* work that is measured in each launch; less is measured once in SAMPLE_INTERVAL launches */
#define SAMPLE_INTERVAL 64
#define MIN_CERTAIN 100000    /* work whose measurement is not dominated by synchronization when threads share it */
#define ALONE_INTERVAL 32     /* below it, the first two launches and one in so many run on one thread, to be measured exactly */
#define RANGES 8              /* of blocks that each core takes of a kernel, on average */
#define MIN_RANGE 4000        /* work of a range */
#define PAUSE_AFTER 50000000  /* work until the program returns to its caller */
#define JUMP_WORK 5

/* A kernel, and the work of its last measured launch. */
typedef struct {
  kernel_t run;
  int64_t blocks, work, launches;
} launch_t;

/* The state of one run. `nanoseconds` and `counts` have a number for each kernel, or are null if not requested; `counters` has
 * the iterations of each counted loop, and the position to which each subroutine returns. */
typedef struct {
  void **registers, **spare;
  int64_t *nanoseconds, *counts, *counters;
  int64_t at;
} frame_t;

/* The turns of a loop until its end, in which case it returns 1, or until no work is left. */
typedef int (*loop_t)(void **registers, int64_t *counters, long long *left);

enum { END, LAUNCH, COPY, MOVE, UNLESS, JUMP, SWITCH, REPEAT, HOST, CALL, RETURN, COMPILED_LOOP };
enum { STOPPED = -1, FINISHED, PAUSED, AT_HOST_STEP }; /* why a run returns */

static int64_t between(int64_t low, int64_t value, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static int run_blocks(const launch_t *l, int64_t work, int64_t number, void *const *buffers) {
  int is_alone = work < MIN_CERTAIN && (number < 2 || number % ALONE_INTERVAL == 0);
  int64_t slice = number < 2 ? 1 : between(1, (int64_t)((double)SLICE * (double)l->blocks / (double)work), l->blocks);
  if (l->blocks < 2 || work < MIN_SHARED || is_alone || !helpers) return run_alone(l->run, buffers, l->blocks, slice);
  int64_t cores = helpers + 1, shortest = (int64_t)((double)MIN_RANGE * (double)l->blocks / (double)work) + 1;
  int64_t range = between(shortest, l->blocks / (cores * RANGES), l->blocks / cores + 1);
  return run_together(l->run, buffers, l->blocks, range, slice);
}

/* Runs all blocks, and returns their work, measured or estimated; -1 if a signal's handler has stopped them. Several threads
 * may launch the same kernel. */
EXPORT int64_t launch_kernel(launch_t *l, void *const *buffers) {
  int64_t work = __atomic_load_n(&l->work, __ATOMIC_RELAXED), number = __atomic_load_n(&l->launches, __ATOMIC_RELAXED);
  if (l->blocks <= 0) return 0;
  __atomic_store_n(&l->launches, number + 1, __ATOMIC_RELAXED);
  if (work < MIN_MEASURED && number % SAMPLE_INTERVAL) {
    l->run(buffers, 0, l->blocks);
    return work;
  }
  int64_t start = now();
  int cores = run_blocks(l, work, number, buffers);
  if (!cores) {
    __atomic_store_n(&l->launches, number, __ATOMIC_RELAXED); /* its work is not known */
    return -1;
  }
  int64_t limit = number < 2 ? INT64_MAX : 2 * work; /* a longer time may include an interruption */
  work = between(1, (now() - start) * cores, limit);
  __atomic_store_n(&l->work, work, __ATOMIC_RELAXED);
  return work;
}

/* Launches `calls` times, each with the next of `sets` rows of `count` addresses, beginning with row `first`. Returns -1 if
 * a signal's handler has stopped it, else 0. */
EXPORT int launch_in_turn(launch_t *l, void *const *rows, int64_t count, int64_t sets, int64_t first, int64_t calls) {
  for (int64_t k = first; k < first + calls; k++)
    if (launch_kernel(l, rows + count * (k % sets)) < 0) return -1;
  return 0;
}

/* Runs a LAUNCH instruction, adds its time if that is requested, and returns its work. */
static int64_t run_launch(launch_t *const *kernels, frame_t *f, const int64_t *code) {
  for (int64_t k = 0; k < code[2]; k++) f->spare[k] = f->registers[code[3 + k]];
  if (!f->nanoseconds) return launch_kernel(kernels[code[1]], f->spare);
  int64_t start = now(), work = launch_kernel(kernels[code[1]], f->spare);
  f->nanoseconds[code[1]] += now() - start;
  f->counts[code[1]]++;
  return work;
}

/* Copies addresses between registers, all at the same time. */
static void move(frame_t *f, const int64_t *code) {
  for (int64_t k = 0; k < code[1]; k++) f->spare[k] = f->registers[code[3 + 2 * k]];
  for (int64_t k = 0; k < code[1]; k++) f->registers[code[2 + 2 * k]] = f->spare[k];
}

/* The branch that a selector of s32 chooses among `count`: the last one if it is out of range. */
static int64_t branch(const int32_t *selector, int64_t count) {
  return *selector >= 0 && *selector < count ? *selector : count - 1;
}

/* Runs until the end, until a step of the host, for PAUSE_AFTER, or until a signal's handler stops it. */
EXPORT int program_run(const int64_t *code, launch_t *const *kernels, frame_t *f) {
  int64_t at = f->at, work;
  long long left = PAUSE_AFTER;
  while (left > 0) {
    const int64_t *c = code + at;
    switch (c[0]) {
    case LAUNCH:
      work = run_launch(kernels, f, c);
      if (work < 0) return STOPPED;
      left -= work;
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
      if (f->counters[c[1]]++ < c[2]) {
        at += 4;
      } else {
        f->counters[c[1]] = 0;
        at = c[3];
      }
      break;
    case HOST:
      f->at = at;
      return AT_HOST_STEP;
    case CALL:
      f->counters[c[1]] = at + 3;
      at = c[2];
      break;
    case COMPILED_LOOP: /* its function, which spends the work left, and the position behind it */
      if (((loop_t)(intptr_t)c[1])(f->registers, f->counters, &left)) at = c[2];
      break;
    case RETURN:
      at = f->counters[c[1]];
      break;
    default:
      f->at = 0;
      return FINISHED;
    }
  }
  f->at = at;
  return PAUSED;
}

/* indexing: symbolic indexing maps, their simplification and composition, and predictions of kernels, for C and C++.
 *
 * Status. What can fail returns an indexing_status. On failure nothing is put to `out`; `indexing_last_error` has a message,
 * and no other thread sees it. No call aborts, and no panic crosses this interface.
 *
 * Ownership. Arguments are borrowed for the length of a call. What a function puts to `out` belongs to the caller, who gives
 * it back once: maps by `indexing_map_free`, text by `indexing_string_free`. Strings returned by value stay the library's.
 *
 * Threads. Maps never change: threads may use one map at a time together, and one may free what another made.
 *
 * Versions. Programs go on working, without being compiled again, with each later version of the same MAJOR (before 1.0: of the
 * same 0.MINOR), which the SONAME of the shared library states. Functions and statuses may be added within it, and fields at the
 * ends of structs, which state their size for this; numbers, the fields that are there, and signatures stay.
 *
 * The library is built by `cargo build --release -p indexing-capi`: libindexing.a, libindexing.so (.dylib, indexing.dll).
 */
#ifndef INDEXING_H
#define INDEXING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; indexing_version() is that of the library. */
#define INDEXING_VERSION_MAJOR 0
#define INDEXING_VERSION_MINOR 1
#define INDEXING_VERSION_PATCH 0

/* How a call ended. */
typedef enum indexing_status {
    INDEXING_OK = 0,
    INDEXING_PARSE = 1,             /* text that doesn't follow the grammar: see indexing_last_error_offset */
    INDEXING_OVERFLOW = 2,          /* a result that leaves int64 */
    INDEXING_INVALID_MAP = 3,       /* a map whose parts don't fit together, or maps that don't compose */
    INDEXING_DIVISION_BY_ZERO = 4,  /* a divisor that is 0 */
    INDEXING_UNSUPPORTED = 5,       /* a question that can't be answered within the work allowed, a text beyond 4 MiB */
    INDEXING_INVALID_ARGUMENT = 6,  /* a NULL where a value is needed, text that isn't UTF-8, a map without values */
    INDEXING_INTERNAL = 7,          /* a fault of the library */
    INDEXING_WORKER = 8,            /* a predictor's process that can't start, ended, or took too long */
} indexing_status;

/* A map from dimensions, range variables and runtime variables to results, and its domain. */
typedef struct indexing_map indexing_map;

/* What the model of times knows of a device; docs/prediction.md has its formulas. Rates are a second; a limit of 0 is none. Each
 * struct begins with its size, as in `indexing_device device = {.size = sizeof device, ...}`; what isn't stated is 0. */
typedef struct indexing_device {
    size_t size;             /* sizeof(indexing_device) */
    double processors;       /* each holds blocks */
    double warp_size;        /* threads */
    double threads;          /* the most that a processor holds */
    double blocks;           /* the most */
    double registers;        /* of a processor; a warp takes them in multiples of 256 */
    double shared_bytes;     /* of a processor */
    double memory_rate;      /* bytes that device memory moves */
    double cache_rate;       /* bytes that the cache in front of it moves */
    double operation_rate;   /* operations of all processors */
    double issue_rate;       /* instructions of warps of one processor */
    double warp_rate;        /* instructions of one warp; 0: as many as of its processor */
    double pass_rate;        /* passes over the banks of shared memory of one processor */
    double update_rate;      /* atomic updates of one address */
    double latency;          /* seconds from a load to its value, where device memory has it */
    double cache_latency;    /* where the cache in front of it has it */
    double own_latency;      /* where the processor's own cache has it */
    double launch;           /* seconds of a launch */
    double block;            /* seconds of a block beside its work */
    double overlap;          /* seconds m of memory and a of arithmetic take (m^p + a^p)^(1/p), with this as p; 0: the longer */
} indexing_device;

/* What a kernel asks of a device. */
typedef struct indexing_demand {
    size_t size;          /* sizeof(indexing_demand) */
    double blocks;
    double threads;       /* of a block */
    double registers;     /* of a thread */
    double shared_bytes;  /* of a block */
    double waits;         /* of warps for loads; those that are under way together are waited for once */
    double cache_loads;   /* loads of warps that the cache in front of device memory serves, or passes on */
    double memory_loads;  /* those of them that device memory serves */
    double moved;         /* bytes of the sectors that loads and stores of warps move */
    double memory;        /* bytes that device memory moves */
    double passes;        /* over the banks of shared memory */
    double operations;    /* in those of the unit that takes longest */
    double issued;        /* instructions of warps */
    double updates;       /* atomic updates of the address that has most */
} indexing_demand;

/* What limits the time of a kernel. */
typedef enum indexing_limit {
    INDEXING_LIMIT_LAUNCH = 0,
    INDEXING_LIMIT_LATENCY = 1,
    INDEXING_LIMIT_MEMORY = 2,
    INDEXING_LIMIT_ARITHMETIC = 3,
    INDEXING_LIMIT_ISSUE = 4,
} indexing_limit;

/* What the model says of it. */
typedef struct indexing_prediction {
    size_t size;       /* sizeof(indexing_prediction), which the caller sets too */
    double resident;   /* blocks that a processor holds at a time; 0: it can't be launched */
    double occupancy;  /* share of a processor's threads that they fill; 0 where no limit of threads is stated */
    double waves;      /* how often all processors are filled */
    double time;       /* seconds; infinite where it can't be launched */
    double limit;      /* what limits it: an indexing_limit */
} indexing_prediction;

/* Predicts the kernels of HLO programs, by a process of the Python package, `indexing serve`, which it starts without a shell.
 * One thread at a time uses it. What the process writes to standard error goes to the program's. */
typedef struct indexing_predictor indexing_predictor;

/* The program that a question is about. */
typedef struct indexing_program {
    size_t size;              /* sizeof(indexing_program) */
    const char *hlo;          /* HLO text, of `length` bytes */
    size_t length;
    const char *device;       /* such as "h100"; NULL: this machine's GPU, else an H100 */
    const char *instruction;  /* only this one; NULL: the entry computation. Each function says which it takes */
} indexing_program;

/* The time of a kernel of a program, in all its runs. */
typedef struct indexing_kernel {
    size_t size;       /* sizeof(indexing_kernel), which the caller sets too */
    const char *name;  /* of the instruction that it computes; valid until the predictor is asked again for a program or knobs */
    double times;      /* runs */
    double seconds;    /* NaN where the time is not modelled */
    double limit;      /* what limits it: an indexing_limit; -1 where the time is not modelled */
    double bytes;      /* that it moves */
} indexing_kernel;

/* A knob of a fusion's kernel. */
typedef struct indexing_knob {
    size_t size;            /* sizeof(indexing_knob), which the caller sets too */
    const char *name;       /* valid until the predictor is asked again for a program or knobs, as `values` */
    int64_t default_value;  /* the value where none is given */
    const int64_t *values;  /* in each plan of the grid, all of which are legal */
} indexing_knob;

/* The version, such as "0.1.0". */
const char *indexing_version(void);

/* The message of this thread's last failure, "" before the first. Valid until the thread's next failure. */
const char *indexing_last_error(void);

/* The byte of the text that this thread's last failure is at; SIZE_MAX where it is at none. */
size_t indexing_last_error_offset(void);

/* The item of the arrays that this thread's last failure is of; SIZE_MAX where the call took no arrays of maps or texts. */
size_t indexing_last_error_item(void);

/* Reads `length` bytes of text, such as "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 3]". */
indexing_status indexing_map_parse(const char *text, size_t length, indexing_map **out);

/* A map of the same points and values on them, simplified. */
indexing_status indexing_map_simplify(const indexing_map *map, indexing_map **out);

/* `second` after `first`, not simplified. Needs as many results of `first` as `second` has dimensions. */
indexing_status indexing_map_compose(const indexing_map *first, const indexing_map *second, indexing_map **out);

/* The inverse relation, simplified: from results to dimensions, with range variables for what the results leave open. */
indexing_status indexing_map_inverse(const indexing_map *map, indexing_map **out);

/* The same for `count` items: item k of `out` is the answer for item k. All are answered, or none: then nothing is put to `out`,
 * and indexing_last_error_item says which item failed first. Each map is freed on its own. */
indexing_status indexing_maps_parse(const char *const *texts, const size_t *lengths, size_t count, indexing_map **out);
indexing_status indexing_maps_simplify(const indexing_map *const *maps, size_t count, indexing_map **out);
indexing_status indexing_maps_compose(const indexing_map *const *first, const indexing_map *const *second, size_t count, indexing_map **out);

/* The map as text that parses to an equal map, ended by a zero byte. */
indexing_status indexing_map_text(const indexing_map *map, char **out);

/* Gives back what indexing_map_text made; NULL is nothing. */
void indexing_string_free(char *text);

/* Gives back a map; NULL is nothing. */
void indexing_map_free(indexing_map *map);

/* Whether two maps are the same in form: equal after simplification is what maps of equal text are. NULL equals NULL. */
bool indexing_map_equal(const indexing_map *first, const indexing_map *second);

/* How many dimensions; 0 for NULL. */
size_t indexing_map_num_dims(const indexing_map *map);

/* How many range variables. */
size_t indexing_map_num_ranges(const indexing_map *map);

/* How many dimensions, range variables and runtime variables together, in this order. */
size_t indexing_map_num_variables(const indexing_map *map);

/* How many results. */
size_t indexing_map_num_results(const indexing_map *map);

/* The least and greatest value of each variable, in their order: the box that the domain lies in, of which constraints may exclude
 * points. */
indexing_status indexing_map_bounds(const indexing_map *map, int64_t *lower, int64_t *upper);

/* The results at `count` points. `variables` and `results` are columns, one after the other: variable k of point i is
 * variables[k * count + i], result k is put to results[k * count + i]. `inside` is NULL, or gets for each point whether it
 * is in the domain; results of points outside mean nothing. Fails for all where one point divides by 0 or leaves int64:
 * then `results` holds anything. */
indexing_status indexing_map_evaluate(const indexing_map *map, const int64_t *variables, size_t count, int64_t *results, bool *inside);

/* How many points the domain has. INDEXING_OVERFLOW beyond 2^64 - 1; INDEXING_UNSUPPORTED if counting takes too much work. */
indexing_status indexing_map_count(const indexing_map *map, uint64_t *out);

/* Whether the domain has no point. INDEXING_UNSUPPORTED as above. */
indexing_status indexing_map_is_empty(const indexing_map *map, bool *out);

/* The predictions of `count` kernels on a device. INDEXING_INVALID_ARGUMENT for sizes that aren't those of the structs, a device
 * without processors or warps, numbers that are negative, NaN or infinite (rates may be infinite), and work for which the device
 * has no rate; indexing_last_error_item says of which demand. */
indexing_status indexing_predict(const indexing_device *device, const indexing_demand *demands, size_t count, indexing_prediction *predictions);

/* Starts a predictor. `command` is its program and arguments, ended by a NULL, such as {"/opt/venv/bin/python", "-m", "indexing",
 * "serve", NULL}; NULL is {"indexing", "serve", NULL}, found by PATH. Each answer, the first with the process's start, may take so many
 * `seconds`; then, or if the process ends, the call is an INDEXING_WORKER, the process is ended, and the next call starts another. */
indexing_status indexing_predictor_start(const char *const *command, double seconds, indexing_predictor **out);

/* Ends a predictor and its process; NULL is nothing. */
void indexing_predictor_free(indexing_predictor *predictor);

/* The times of a whole program's kernels: XLA's fusions, or, of a program before XLA's optimization, those that the package plans;
 * the one that loses most time first. With `instruction`, those of this one alone, a fusion or not. `count` gets the number of
 * kernels, of which at most `capacity` are put to `kernels`; `seconds` gets the time of the program. For text that is no HLO,
 * INDEXING_PARSE; indexing_last_error_offset says where. */
indexing_status indexing_predictor_program(indexing_predictor *predictor, const indexing_program *program, indexing_kernel *kernels, size_t capacity, size_t *count, double *seconds);

/* The knobs of one kernel, not of a whole program: of the fusion that `instruction` names, or, where that is NULL, of the kernel
 * that computes all of the entry computation, which must have no fusions, or be one; INDEXING_INVALID_ARGUMENT for anything else.
 * By name, at most `capacity` of `count`, each with its values in so many `plans`. These columns lie one after the other, as
 * indexing_predictor_plans takes them. */
indexing_status indexing_predictor_knobs(indexing_predictor *predictor, const indexing_program *program, indexing_knob *knobs, size_t capacity, size_t *count, size_t *plans);

/* The predictions for `count` plans of one kernel, given as to indexing_predictor_knobs. `values` are columns, one after the other:
 * knob k of plan i is values[k * count + i]; others of its knobs have their defaults. INDEXING_INVALID_ARGUMENT for a plan that
 * isn't legal, and for a knob that is named twice. */
indexing_status indexing_predictor_plans(indexing_predictor *predictor, const indexing_program *program, const char *const *names, size_t knobs, const int64_t *values, size_t count, indexing_prediction *predictions);

#ifdef __cplusplus
}
#endif

#endif

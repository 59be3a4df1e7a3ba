/* Predict the kernels of an HLO program, and the plans of one, by a process of the Python package.
 *
 *     cc -I rust/capi/include examples/c/programs.c target/release/libindexing.a -lm -lpthread -ldl -o programs
 *     ./programs indexing serve
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indexing.h"

enum { MOST_KNOBS = 8, MOST_KERNELS = 100 };

static void check(indexing_status status) {
    if (status != INDEXING_OK) {
        fprintf(stderr, "error %d: %s\n", (int)status, indexing_last_error());
        exit(1);
    }
}

static indexing_program on_h100(const char *hlo) {
    return (indexing_program){.size = sizeof(indexing_program), .hlo = hlo, .length = strlen(hlo), .device = "h100"};
}

static void kernels(indexing_predictor *predictor, const indexing_program *program) {
    static const char *const limits[] = {"launch", "latency", "memory", "arithmetic", "issue"};
    indexing_kernel kernels[MOST_KERNELS];
    size_t count;
    double seconds;
    for (size_t k = 0; k < MOST_KERNELS; k++) kernels[k].size = sizeof kernels[k];
    check(indexing_predictor_program(predictor, program, kernels, MOST_KERNELS, &count, &seconds));
    printf("the program takes %.1f us; its kernels:\n", seconds * 1e6);
    for (size_t k = 0; k < count && k < MOST_KERNELS; k++) {
        const char *limit = kernels[k].limit < 0 ? "unknown" : limits[(int)kernels[k].limit];
        printf("  %s: %.1f us, limited by %s\n", kernels[k].name, kernels[k].seconds * 1e6, limit);
    }
}

/* All plans of the grid, and the fastest of them. */
static void plans(indexing_predictor *predictor, const indexing_program *program) {
    indexing_knob knobs[MOST_KNOBS];
    const char *names[MOST_KNOBS];
    size_t num_knobs, count, best = 0;
    for (size_t k = 0; k < MOST_KNOBS; k++) knobs[k].size = sizeof knobs[k];
    check(indexing_predictor_knobs(predictor, program, knobs, MOST_KNOBS, &num_knobs, &count));
    indexing_prediction *predicted = malloc(count * sizeof *predicted);
    if (num_knobs > MOST_KNOBS || !predicted) exit(1);
    for (size_t k = 0; k < num_knobs; k++) names[k] = knobs[k].name;
    for (size_t i = 0; i < count; i++) predicted[i].size = sizeof predicted[i];
    check(indexing_predictor_plans(predictor, program, names, num_knobs, knobs[0].values, count, predicted));
    for (size_t i = 1; i < count; i++) {
        if (predicted[i].time < predicted[best].time) best = i;
    }
    printf("the fastest of %zu plans takes %.1f us:", count, predicted[best].time * 1e6);
    for (size_t k = 0; k < num_knobs; k++) printf(" %s=%lld", names[k], (long long)knobs[k].values[best]);
    puts("");
    free(predicted);
}

int main(int arguments, char **words) {
    indexing_predictor *predictor;
    check(indexing_predictor_start(arguments > 1 ? (const char *const *)words + 1 : NULL, 60, &predictor));
    indexing_program program = on_h100("ENTRY f {\n"
                                       "  p = f32[4096,2048] parameter(0)\n"
                                       "  t = f32[2048,4096] transpose(p), dimensions={1,0}\n"
                                       "  ROOT e = f32[2048,4096] exponential(t)\n"
                                       "}\n");
    kernels(predictor, &program);
    plans(predictor, &program);
    indexing_program mistaken = on_h100("ENTRY f {\n  p = f32[8] parameter(0)\n  ROOT n = f32[9] negate(p)\n}\n");
    double seconds;
    size_t count;
    indexing_status status = indexing_predictor_program(predictor, &mistaken, NULL, 0, &count, &seconds);
    printf("status %d at byte %zu: %s\n", (int)status, indexing_last_error_offset(), indexing_last_error());
    indexing_predictor_free(predictor);
    return 0;
}

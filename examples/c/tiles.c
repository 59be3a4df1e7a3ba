/* Parse, compose, simplify, evaluate, count and invert maps, many in one call, and predict a copy for each of four block sizes.
 *
 *     cargo build --release -p indexing-capi
 *     cc -I rust/capi/include examples/c/tiles.c target/release/libindexing.a -lm -lpthread -ldl -o tiles && ./tiles
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indexing.h"

static void check(indexing_status status) {
    if (status != INDEXING_OK) {
        fprintf(stderr, "error %d: %s\n", (int)status, indexing_last_error());
        exit(1);
    }
}

static indexing_map *parse(const char *text) {
    indexing_map *map;
    check(indexing_map_parse(text, strlen(text), &map));
    return map;
}

static void print(const char *what, const indexing_map *map) {
    char *text;
    check(indexing_map_text(map, &text));
    printf("%s: %s\n", what, text);
    indexing_string_free(text);
}

static void maps(void) {
    indexing_map *tile = parse("(d0)[s0] -> (d0 * 32 + s0), domain: d0 in [0, 31], s0 in [0, 31]");
    indexing_map *reshape = parse("(d0) -> (d0 floordiv 32, d0 mod 32), domain: d0 in [0, 1023]");
    indexing_map *composed, *simple;
    check(indexing_map_compose(tile, reshape, &composed));
    check(indexing_map_simplify(composed, &simple));
    print("simplified", simple);

    const int64_t variables[] = {0, 5, 40, /* s0: */ 0, 7, 1};
    int64_t results[6];
    bool inside[3];
    check(indexing_map_evaluate(simple, variables, 3, results, inside));
    for (int i = 0; i < 3; i++) {
        printf("point %d: (%" PRId64 ", %" PRId64 ")%s\n", i, results[i], results[3 + i], inside[i] ? "" : ", outside");
    }
    uint64_t points;
    indexing_map *inverse;
    check(indexing_map_count(simple, &points));
    check(indexing_map_inverse(reshape, &inverse));
    printf("points: %" PRIu64 "\n", points);
    print("inverse of the reshape", inverse);
    indexing_map_free(inverse);
    indexing_map_free(simple);
    indexing_map_free(composed);
    indexing_map_free(reshape);
    indexing_map_free(tile);
}

static void mistake(void) {
    indexing_map *map = NULL;
    const char *text = "(d0) -> (d0 +)";
    indexing_status status = indexing_map_parse(text, strlen(text), &map);
    printf("status %d at byte %zu: %s\n", (int)status, indexing_last_error_offset(), indexing_last_error());
}

/* Tiles of 1, 2, 4 and 8 elements in one call. */
static void many(void) {
    char texts[4][64];
    const char *starts[4];
    size_t lengths[4];
    indexing_map *maps[4], *simple[4];
    for (int k = 0; k < 4; k++) {
        lengths[k] = (size_t)snprintf(texts[k], sizeof texts[k], "(d0) -> (d0 mod 64 floordiv %d), domain: d0 in [0, 63]", 1 << k);
        starts[k] = texts[k];
    }
    check(indexing_maps_parse(starts, lengths, 4, maps));
    check(indexing_maps_simplify((const indexing_map *const *)maps, 4, simple));
    for (int k = 0; k < 4; k++) {
        print("tile", simple[k]);
        indexing_map_free(simple[k]);
        indexing_map_free(maps[k]);
    }
}

static void predictions(void) {
    const indexing_device device = {.size = sizeof device, .processors = 100, .warp_size = 32, .threads = 2048, .blocks = 32, .registers = 65536,
                                    .shared_bytes = 200000, .memory_rate = 1e12, .cache_rate = 4e12,
                                    .operation_rate = 1e13, .pass_rate = 1e9, .latency = 1e-6,
                                    .launch = 2e-6};
    const double bytes = 1 << 28;
    indexing_demand demands[4];
    indexing_prediction predicted[4];
    for (int k = 0; k < 4; k++) {
        const double threads = 64 << k;
        predicted[k].size = sizeof predicted[k];
        demands[k] = (indexing_demand){.size = sizeof demands[k], .blocks = bytes / 16 / threads, .threads = threads, .registers = 72,
                                       .waits = bytes / 512 / 4, .cache_loads = bytes / 512, .memory_loads = bytes / 512, .moved = bytes, .memory = bytes};
    }
    check(indexing_predict(&device, demands, 4, predicted));
    for (int k = 0; k < 4; k++) {
        printf("%4.0f threads a block: %2.0f on a processor, occupancy %.2f, %.1f us\n", demands[k].threads, predicted[k].resident,
               predicted[k].occupancy, predicted[k].time * 1e6);
    }
}

int main(void) {
    maps();
    many();
    mistake();
    predictions();
    return 0;
}

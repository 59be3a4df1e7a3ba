/* Nanoseconds a pair of maps takes in C: `languages FILE ROUNDS`, as benches/core/src/bin/languages.rs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "indexing.h"

typedef struct {
    char *texts[2];
    indexing_map *maps[2], *made;
} pair_t;

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(indexing_status status) {
    if (status != INDEXING_OK) {
        fprintf(stderr, "%s\n", indexing_last_error());
        exit(1);
    }
}

static void read_both(pair_t *p) {
    for (int k = 0; k < 2; k++) check(indexing_map_parse(p->texts[k], strlen(p->texts[k]), &p->maps[k]));
}

static void simplify_first(pair_t *p) { check(indexing_map_simplify(p->maps[0], &p->made)); }

static void compose_both(pair_t *p) {
    indexing_map *composed;
    check(indexing_map_compose(p->maps[0], p->maps[1], &composed));
    check(indexing_map_simplify(composed, &p->made));
    indexing_map_free(composed);
}

static void forget(pair_t *pairs, size_t count) {
    for (size_t k = 0; k < count; k++) indexing_map_free(pairs[k].made);
}

static double each(pair_t *pairs, size_t count, void (*work)(pair_t *)) {
    double start = now();
    for (size_t k = 0; k < count; k++) work(&pairs[k]);
    return (now() - start) / (double)count;
}

static void measure(pair_t *pairs, size_t count, double best[3]) {
    double found[3];
    found[0] = each(pairs, count, read_both);
    found[1] = each(pairs, count, simplify_first);
    forget(pairs, count);
    found[2] = each(pairs, count, compose_both);
    forget(pairs, count);
    for (int k = 0; k < 3; k++) best[k] = found[k] < best[k] ? found[k] : best[k];
    for (size_t k = 0; k < count; k++) {
        for (int j = 0; j < 2; j++) indexing_map_free(pairs[k].maps[j]);
    }
}

/* The lines of a file, each of two texts with a tab between them. */
static pair_t *pairs_of(char *text, size_t *count) {
    pair_t *pairs = NULL;
    *count = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        pairs = realloc(pairs, (*count + 1) * sizeof *pairs);
        char *tab = strchr(line, '\t');
        if (!pairs || !tab) exit(2);
        *tab = 0;
        pairs[(*count)++] = (pair_t){.texts = {line, tab + 1}};
    }
    return pairs;
}

static char *contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(2);
    long size = ftell(file);
    char *text = calloc((size_t)size + 1, 1);
    rewind(file);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) exit(2);
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size_t count;
    char *text = contents(argv[1]);
    pair_t *pairs = pairs_of(text, &count);
    double best[3] = {1e300, 1e300, 1e300};
    for (int k = 0; k < atoi(argv[2]); k++) measure(pairs, count, best);
    printf("%.1f %.1f %.1f\n", best[0], best[1], best[2]);
    free(pairs);
    free(text);
    return 0;
}

/* Times one sentence as the C library translates it, for tests/bench/python_figures.py.
 *   one_sentence MODEL TEXT THREADS   for each count on standard input: so many translations, greedy, their milliseconds
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <headscope/headscope.h>

static hs_error *error = NULL;

static void need(hs_status status) {
    if (status != HS_OK) {
        fprintf(stderr, "%s\n", hs_error_message(error).data);
        exit(1);
    }
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
    hs_options *of_engine = hs_options_new(), *options = hs_options_new();
    hs_engine *engine = NULL;
    hs_model *model = NULL;
    hs_text place = {NULL, (size_t)-1}, text = {NULL, (size_t)-1};
    int count = 0;
    if (argc != 4) {
        return 2;
    }
    place.data = argv[1];
    text.data = argv[2];
    need(hs_options_set_json(of_engine, "devices", (hs_text){"[\"cpu\"]", (size_t)-1}, &error));
    need(hs_options_set_integer(of_engine, "threads", atoi(argv[3]), &error));
    need(hs_options_set_integer(options, "beam", 1, &error));
    need(hs_engine_open(HS_ABI, of_engine, NULL, NULL, &engine, &error));
    need(hs_model_open(engine, &place, 1, NULL, &model, &error));
    while (scanf("%d", &count) == 1) {
        for (; count > 0; --count) {
            const double start = milliseconds();
            hs_request *request = NULL;
            hs_result *result = NULL;
            need(hs_submit(model, HS_TRANSLATE, &text, NULL, 1, options, &request, &error));
            need(hs_request_wait(request, -1, &result, &error));
            if (hs_result_text(result, 0, 0).size == 0) {
                return 1;
            }
            hs_result_free(result);
            hs_request_free(request);
            printf("%.4f ", milliseconds() - start);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

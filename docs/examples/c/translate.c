/* translate TEXT: translates a text, writing it as it grows.
 *   cc translate.c -lheadscope -o translate */
#include <stdio.h>

#include <headscope/headscope.h>

static int failed(hs_error *error) {
    fprintf(stderr, "%s\n", hs_error_message(error).data);
    hs_error_free(error);
    return 1;
}

int main(int argc, char **argv) {
    hs_engine *engine = NULL;
    hs_model *model = NULL;
    hs_options *options = hs_options_new();
    hs_request *request = NULL;
    hs_result *result = NULL;
    hs_error *error = NULL;
    hs_event event = {0};
    hs_text place = {"en-de", (size_t)-1};
    hs_text text = {NULL, (size_t)-1};
    int code = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: translate TEXT\n");
        return 2;
    }
    text.data = argv[1];
    event.size = sizeof event;
    if (hs_options_set_integer(options, "beam", 1, &error) != HS_OK ||
        hs_options_set_integer(options, "stream", 1, &error) != HS_OK ||
        hs_engine_open(HS_ABI, NULL, NULL, NULL, &engine, &error) != HS_OK ||
        hs_model_open(engine, &place, 1, NULL, &model, &error) != HS_OK ||
        hs_submit(model, HS_TRANSLATE, &text, NULL, 1, options, &request, &error) != HS_OK) {
        code = failed(error);
    }
    while (code == 0 && hs_request_next(request, -1, &event, &error) == HS_OK) {
        if (event.kind == HS_TEXT_WRITTEN) { /* greedy text only grows */
            fwrite(event.text.data, 1, event.text.size, stdout);
            fflush(stdout);
        }
    }
    if (code == 0 && hs_request_wait(request, -1, &result, &error) != HS_OK) {
        code = failed(error);
    }
    if (code == 0 && hs_result_problem(result, 0).size > 0) {
        fprintf(stderr, "%s\n", hs_result_problem(result, 0).data);
        code = 1;
    } else if (code == 0) {
        printf("\n%.4f\n", hs_result_number(result, 0, 0, HS_LOG_PROBABILITY));
    }
    hs_result_free(result);
    hs_request_free(request);
    hs_options_free(options);
    hs_model_close(model);
    hs_engine_close(engine);
    return code;
}

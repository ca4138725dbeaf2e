/* attention TEXT FILE.svg: draws what the heads of layer 5 look at, and prints the head that looks back the furthest.
 *   cc attention.c -lheadscope -o attention */
#include <stdio.h>

#include <headscope/headscope.h>

/* The mean distance of a head's weights, in tokens. */
static double distance(const float *weights, int64_t queries, int64_t keys) {
    double sum = 0.0;
    int64_t query, key;
    for (query = 0; query < queries; ++query) {
        for (key = 0; key < keys; ++key) {
            sum += weights[query * keys + key] * (double)(query > key ? query - key : key - query);
        }
    }
    return sum / (double)queries;
}

static int draw(hs_model *model, const char *text, const char *path, hs_error **error) {
    hs_request *request = NULL;
    hs_result *result = NULL;
    hs_record *record = NULL;
    hs_options *look = hs_options_new();
    hs_buffer *figure = NULL;
    hs_array weights = {0};
    hs_text input = {NULL, (size_t)-1};
    hs_text kind = {"encoder", (size_t)-1};
    FILE *file = NULL;
    int64_t head, furthest = 0;
    int ok;
    input.data = text;
    weights.size = sizeof weights;
    ok = hs_submit(model, HS_ATTEND, &input, NULL, 1, NULL, &request, error) == HS_OK &&
         hs_request_wait(request, -1, &result, error) == HS_OK &&
         hs_result_record(result, 0, &record, error) == HS_OK &&
         hs_record_weights(record, HS_ENCODER, 5, &weights, error) == HS_OK &&
         hs_options_set_text(look, "kind", kind, error) == HS_OK &&
         hs_options_set_integer(look, "layer", 5, error) == HS_OK &&
         hs_record_figure(record, look, "svg", &figure, error) == HS_OK;
    if (ok) {
        const float *values = weights.data;
        const int64_t queries = weights.shape[1], keys = weights.shape[2];
        for (head = 1; head < weights.shape[0]; ++head) {
            if (distance(values + head * queries * keys, queries, keys) >
                distance(values + furthest * queries * keys, queries, keys)) {
                furthest = head;
            }
        }
        printf("head %d looks the furthest\n", (int)furthest + 1);
        file = fopen(path, "wb");
        ok = file != NULL &&
             fwrite(hs_buffer_bytes(figure).data, 1, hs_buffer_bytes(figure).size, file) == hs_buffer_bytes(figure).size;
        ok = file != NULL && fclose(file) == 0 && ok;
        if (!ok) {
            perror(path);
        }
    }
    hs_buffer_free(figure);
    hs_options_free(look);
    hs_record_free(record);
    hs_result_free(result);
    hs_request_free(request);
    return ok;
}

int main(int argc, char **argv) {
    hs_engine *engine = NULL;
    hs_model *model = NULL;
    hs_error *error = NULL;
    hs_text place = {"en-de", (size_t)-1};
    int ok;
    if (argc != 3) {
        fprintf(stderr, "usage: attention TEXT FILE.svg\n");
        return 2;
    }
    ok = hs_engine_open(HS_ABI, NULL, NULL, NULL, &engine, &error) == HS_OK &&
         hs_model_open(engine, &place, 1, NULL, &model, &error) == HS_OK && draw(model, argv[1], argv[2], &error);
    if (error != NULL) {
        fprintf(stderr, "%s\n", hs_error_message(error).data);
    }
    hs_error_free(error);
    hs_model_close(model);
    hs_engine_close(engine);
    return ok ? 0 : 1;
}

/*
 * The C library of Headscope: translation, language models and attention for other programs.
 *
 *   hs_engine    devices, and one queue for all work on them
 *   hs_model     weights and tokenizers, open in an engine
 *   hs_request   work that was asked of a model: wait for its hs_result, or pull what it writes as it comes
 *   hs_training  a training in a thread of its own
 *   hs_options   what is asked, by keys: hs_options_keys() lists them with their ranges and defaults
 *
 * Rules for all functions
 *
 * Ownership   What a function gives, you free with the function of its type, in any order; freeing NULL does nothing.
 *             What it lends (hs_text, hs_array) lives as long as the object that lends it.
 * Errors      A function that can fail returns a status, HS_OK or why not. `error` may be NULL; else it gets an error
 *             with a message to show, which you free, or is left as it is after HS_OK, HS_AGAIN and HS_END.
 * Text        UTF-8. Texts that come back end with a NUL, which their size does not count.
 * Threads     Each function says one of
 *               any thread      and several at a time,
 *               one at a time   any thread, but not two with the same object,
 *               in a callback   only from the callback that it belongs to.
 *             Your callbacks run on threads of the engine, must be quick, call no function that is not said to work
 *             there, and return: no C++ exception and no longjmp() may leave them.
 * Process     The library reads no environment, prints nothing, handles no signals and never exits. After fork()
 *             without exec, functions return HS_FORKED in the child, where freeing does not wait; open an engine there.
 * Versions    Programs run with every library of the same SONAME that is not older than the header that they were
 *             compiled with. Keys, functions, kinds and numbers of enumerations may be added, and are not reused.
 *
 * C99. docs/library.md has examples; headscope.hpp is the same for C++.
 */
#ifndef HEADSCOPE_H
#define HEADSCOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HS_VERSION 0x000100 /* 0.1.0, as major, minor, patch of 8 bits each */
#define HS_ABI 3            /* grows with each addition to this header */

typedef struct hs_options hs_options;
typedef struct hs_engine hs_engine;
typedef struct hs_model hs_model;
typedef struct hs_request hs_request;
typedef struct hs_result hs_result;
typedef struct hs_record hs_record;
typedef struct hs_training hs_training;
typedef struct hs_buffer hs_buffer; /* text or bytes that a function gives */
typedef struct hs_error hs_error;

typedef int32_t hs_status;
enum {
    HS_OK = 0,
    HS_AGAIN = 1,       /* not yet: the time is over, the work goes on */
    HS_END = 2,         /* there is nothing more to read */
    HS_INVALID = 3,     /* an argument, an option or a text that is wrong */
    HS_NOT_FOUND = 4,   /* no such model, key, site or file */
    HS_UNSUPPORTED = 5, /* the model or device does not do this */
    HS_BUSY = 6,        /* the engine has as much work as it takes; hs_error_retry_after() says for how long */
    HS_CANCELLED = 7,   /* hs_request_cancel() or hs_engine_close() */
    HS_DEADLINE = 8,    /* the option "timeout" */
    HS_MEMORY = 9,      /* the device or the host has too little memory */
    HS_DEVICE = 10,     /* no such device, or it fails or was lost */
    HS_CLOSED = 11,     /* the engine is drained or closed, or the model unloaded */
    HS_FORKED = 12,     /* the object belongs to the process before fork() */
    HS_FAILED = 13,     /* anything else that the message says, such as a damaged file */
    HS_INTERNAL = 14    /* a bug of the library: please report it */
};

/* Text that is lent. `size` in bytes; (size_t)-1: it ends with a NUL. */
typedef struct hs_text {
    const char* data;
    size_t size;
} hs_text;

enum { HS_FLOAT32 = 1, HS_FLOAT64 = 2, HS_INT32 = 3, HS_INT64 = 4 };

/* Numbers that are lent, contiguous, the last dimension first. Set `size` to sizeof(hs_array) before a call. */
typedef struct hs_array {
    uint32_t size;
    int32_t type;
    int32_t rank;
    int64_t shape[6];
    const void* data;
} hs_array;

/* ---- The library ------------------------------------------------------------------------------------------------ */

/* HS_VERSION of the library. Any thread. */
uint32_t hs_version(void);

/* {"version", "commit", "abi", "backends": [..]}. Any thread. */
hs_status hs_about(hs_buffer** json, hs_error** error);

/* The devices, also those that cannot be used, as `headscope devices --json`. Options: "settings". Any thread. */
hs_status hs_devices(const hs_options* options, hs_buffer** json, hs_error** error);

/* The models on the search path: [{"name", "path"}]. Options: "path". Any thread. */
hs_status hs_models(const hs_options* options, hs_buffer** json, hs_error** error);

/* ---- Options ---------------------------------------------------------------------------------------------------- */

/* All options are optional, and where options are taken, NULL stands for none. A function refuses a key that it does
 * not obey. An hs_options may be freed or changed once the function that took it has returned. One at a time. */
hs_options* hs_options_new(void); /* NULL: no memory */
void hs_options_free(hs_options* options);

/* HS_NOT_FOUND for an unknown key, HS_INVALID for a value of another type or out of range. */
hs_status hs_options_set_integer(hs_options* options, const char* key, int64_t value, hs_error** error);
hs_status hs_options_set_number(hs_options* options, const char* key, double value, hs_error** error);
hs_status hs_options_set_text(hs_options* options, const char* key, hs_text value, hs_error** error);
/* A value as JSON: true, 3, "a", ["a", "b"]. null takes the key away. */
hs_status hs_options_set_json(hs_options* options, const char* key, hs_text value, hs_error** error);

/* All keys: [{"key", "type", "least", "most", "choices" (of an object: the names that it may have), "default", "for":
 * [functions and kinds that obey it], "help"}]. Any thread. */
hs_status hs_options_keys(hs_buffer** json, hs_error** error);

/* Of HS_RUN: puts float32 values in the place of a site's, a pattern of names as hs_model_info() lists them with '*'
 * for what is between two dots, from the position `first` on. [.., positions, columns], with fewer positions if need
 * be. `head` from 1, for sites with heads: of one, whose shape is without heads; 0: of all. Copies. In the order of
 * calls. */
hs_status hs_options_patch(hs_options* options, const char* site, const hs_array* by, int64_t head, int64_t first,
                           hs_error** error);
/* Of HS_RUN: changes the values of a site in place, float32 of `shape`. A status other than HS_OK fails the input. On a
 * thread of the engine, which waits for it; `user` must live until the request has been freed. */
typedef hs_status (*hs_hook_function)(void* user, const char* site, float* values, const hs_array* shape);
hs_status hs_options_hook(hs_options* options, const char* site, hs_hook_function function, void* user,
                          hs_error** error);

/* ---- Engines and models ----------------------------------------------------------------------------------------- */

/* What happens to devices: one was skipped, lost or reopened, or warns. In threads of the engine, one call at a time;
 * `user` must live until hs_engine_close() has returned. */
typedef void (*hs_log_function)(void* user, hs_text message);

/* Opens devices. `abi` is HS_ABI: a library that is older than the header is refused. `log` may be NULL. Any thread.
 * Options: "devices", "precision", "threads", "settings", "max_requests", "max_tokens", "max_tokens_of_client". */
hs_status hs_engine_open(uint32_t abi, const hs_options* options, hs_log_function log, void* user, hs_engine** engine,
                         hs_error** error);
/* Takes no more requests and waits for those that it has. HS_AGAIN if that takes longer; -1: no limit. Any thread. */
hs_status hs_engine_drain(hs_engine* engine, int64_t timeout_ms, hs_error** error);
/* Cancels all requests and closes the devices. Requests and results may be used and freed after it. Any thread. */
void hs_engine_close(hs_engine* engine);
/* {"devices": [..], "requests": {"answered", "failed", ..}, "queue_seconds": {"bounds", "counts", "sum"}, ..}. Any
 * thread. */
hs_status hs_engine_statistics(hs_engine* engine, hs_buffer** json, hs_error** error);

/* Opens a model: the name of one on the search path, or a folder or file of any format that Headscope reads. Several
 * form an ensemble, whose probabilities are averaged. If it is open in this engine already, its weights are shared.
 * HS_NOT_FOUND if there is none, or a folder or file that is no model: the message has what was looked for. Any thread.
 * Options: "path". */
hs_status hs_model_open(hs_engine* engine, const hs_text* places, size_t count, const hs_options* options,
                        hs_model** model, hs_error** error);
/* {"path", "family", "languages", "longest": the most tokens of an input, "sites": [..], "decoding": {its author's
 * options}, "keys": {as `headscope inspect`}}. Any thread. */
hs_status hs_model_info(hs_model* model, hs_buffer** json, hs_error** error);
/* Frees the weights as soon as no request uses them, for all hs_model of it; requests fail until it is loaded again.
 * Any thread. */
hs_status hs_model_unload(hs_model* model, hs_error** error);
hs_status hs_model_load(hs_model* model, hs_error** error);
/* The weights are freed after the last hs_model and request of it. Any thread. */
void hs_model_close(hs_model* model);

/* ---- Work ------------------------------------------------------------------------------------------------------- */

/* Kinds of requests, and which models they are for. `targets`: one for each input, or NULL. */
enum {
    HS_TRANSLATE = 1,  /* a translation of each input; translation models */
    HS_COMPLETE = 2,   /* a continuation of each input; causal language models */
    HS_FILL = 3,       /* what may stand at the masks or gaps of each input; masked and span models */
    HS_SCORE = 4,      /* the probability of each target; of language models, of each input */
    HS_TOKENIZE = 5,   /* the pieces of each input */
    HS_DETOKENIZE = 6, /* the text of each input, a JSON array of ids */
    /* Of a masked model a target of the following has a word or a piece for each mask; without one, the likeliest. */
    HS_ATTEND = 7,     /* the attention of all heads for each input, with its target or one that the model writes */
    HS_RUN = 8,        /* values in the middle of a pass over each input with its target, recorded and replaced */
    HS_IMPORTANCE = 9, /* how much the probability of each target depends on each head */
    HS_SALIENCY = 10,  /* how much it depends on each token that the model reads */
    HS_EMBED = 11      /* each input, its words or its pieces as vectors */
};

/* Asks. Copies what it is given and splits text into pieces, but waits for no device; HS_TOKENIZE and HS_DETOKENIZE are
 * done when it returns. HS_BUSY if there is too much to do; then nothing was asked for. Any thread. */
hs_status hs_submit(hs_model* model, int32_t kind, const hs_text* inputs, const hs_text* targets, size_t count,
                    const hs_options* options, hs_request** request, hs_error** error);

/* The result of all inputs; HS_AGAIN if that takes longer; -1: no limit. An input that failed alone has a problem
 * (hs_result_problem). May be called again: results share their memory. Any thread. */
hs_status hs_request_wait(hs_request* request, int64_t timeout_ms, hs_result** result, hs_error** error);

enum {
    HS_TEXT_WRITTEN = 1, /* of HS_TRANSLATE and HS_COMPLETE with the option "stream" */
    HS_INPUT_DONE = 2    /* one input has ended: hs_request_wait() has its result, or why not */
};
/* What has happened. Set `size` to sizeof(hs_event) before a call. What it lends lives until the next call for the
 * request. */
typedef struct hs_event {
    uint32_t size;
    int32_t kind;
    uint64_t input;
    /* The output so far is its first `kept_bytes` and then `text`, and the same of tokens. Only a beam search takes
     * back what it wrote. Text is given in whole characters. */
    uint64_t kept_bytes;
    hs_text text;
    uint64_t kept_tokens;
    uint64_t token_count;
    const int32_t* tokens;
    const double* log_probabilities; /* of `tokens` */
} hs_event;
/* The next event; HS_AGAIN if there is none in that time; HS_END if there will be none. One at a time. */
hs_status hs_request_next(hs_request* request, int64_t timeout_ms, hs_event* event, hs_error** error);

/* Ends the request early: waiting for it gives HS_CANCELLED. No effect on one that has ended. Any thread. */
void hs_request_cancel(hs_request* request);
/* Calls `done` once when hs_request_wait() would not wait any more: on a thread of the engine, within
 * hs_request_cancel() or hs_engine_close() of any thread, or, if it has ended already, within this call. To wake
 * somebody: it must not call functions of this library, nor wait for a lock that you hold while you do. One at a time.
 */
hs_status hs_request_on_done(hs_request* request, void (*done)(void* user), void* user, hs_error** error);
/* Cancels a request that has not ended, and waits until none of its callbacks runs any more. One at a time. */
void hs_request_free(hs_request* request);

/* ---- Results ---------------------------------------------------------------------------------------------------- */

/* Any thread. An index out of range gives an empty text, NaN or HS_NOT_FOUND. */

/* Of inputs. */
size_t hs_result_count(const hs_result* result);
/* Outputs of an input, best first: "n_best" translations or completions; one filled, scored or joined text; 0 if it has
 * a problem. */
size_t hs_result_choices(const hs_result* result, size_t input);
hs_text hs_result_text(const hs_result* result, size_t input, size_t choice);

enum {
    HS_SEARCH_SCORE = 1,   /* log-probability over the length penalty */
    HS_LOG_PROBABILITY = 2 /* the natural logarithm of the probability */
};
double hs_result_number(const hs_result* result, size_t input, size_t choice, int32_t what);

/* An array by name; hs_result_arrays() lists those that there are, the sites of HS_RUN among them:
 *   "tokens"                   int32 [n]           ids of the output, or of the pieces
 *   "token_log_probabilities"  float64 [n]         of `tokens`
 *   "alternatives", "alternative_log_probabilities"  int32, float64 [n, k], with the option "alternatives"
 *   "alignment"                int64 [n, 2]        HS_TRANSLATE, if asked for: words of source and output, from 0
 *   "spans"                    int64 [n, 2]        HS_TOKENIZE: the bytes of each piece, from begin to end
 *   "importance"               float64 [rows, 4]   HS_IMPORTANCE: kind (0 encoder, 1 decoder, 2 cross), layer and head
 *                                                  from 1, log-probability lost without the head
 *   "source", "target"         float64 [predicted, tokens]  HS_SALIENCY: gradient times embedding
 *   "vectors"                  float32 [n, d_model]  HS_EMBED: of the input, its words or its pieces
 *   a site                     float32             HS_RUN: its value, see hs_model_info() */
hs_status hs_result_array(const hs_result* result, size_t input, size_t choice, const char* name, hs_array* array,
                          hs_error** error);
/* The names, one on each line. */
hs_text hs_result_arrays(const hs_result* result, size_t input, size_t choice);

/* Why an input has no result; empty if it has one, whose status is HS_OK. */
hs_text hs_result_problem(const hs_result* result, size_t input);
hs_status hs_result_status(const hs_result* result, size_t input);
/* HS_ATTEND: what the heads attend to. */
hs_status hs_result_record(const hs_result* result, size_t input, hs_record** record, hs_error** error);
/* An array with an object for each input: of text, fills, scores and pieces what the command prints with --json, but
 * for its "schema"; of HS_ATTEND and HS_RUN {"input", "log_probability", "steps": [..], ..}, of HS_IMPORTANCE
 * {"heads": [..], ..}, of HS_SALIENCY gradients by token, of HS_EMBED the words or pieces with the "row" of each. */
hs_status hs_result_json(const hs_result* result, hs_buffer** json, hs_error** error);
void hs_result_free(hs_result* result);

/* ---- Attention -------------------------------------------------------------------------------------------------- */

/* Any thread. Layers and heads count from 1, as in the paper's figures; indices of arrays from 0. */

enum { HS_ENCODER = 0, HS_DECODER = 1, HS_CROSS = 2 }; /* kinds of attention */
enum {
    HS_SOURCE = 0,    /* what the encoder reads; the text of a masked language model */
    HS_TARGET_IN = 1, /* what the decoder reads; the text of a causal language model */
    HS_TARGET_OUT = 2 /* what it predicts at the same places: the queries of cross-attention */
};

size_t hs_record_tokens(const hs_record* record, int32_t side); /* how many */
hs_text hs_record_token(const hs_record* record, int32_t side, size_t index);
/* Float32 [heads, queries, keys] of a layer, without a copy. Rows add up to 1. */
hs_status hs_record_weights(const hs_record* record, int32_t kind, int32_t layer, hs_array* array, hs_error** error);
/* A record that is computed from another: "rollout", "mean of heads", "mean of layers", or "difference" to `other`,
 * which is NULL for the rest. */
hs_status hs_record_derive(const hs_record* record, const char* how, const hs_record* other, hs_record** derived,
                           hs_error** error);
/* Of every head: [{"kind", "layer", "head", "entropy", "distance", ..}]. */
hs_status hs_record_statistics(const hs_record* record, hs_buffer** json, hs_error** error);
/* A picture: "svg", "png", "pdf", "html" or its numbers, "json", as `format`, with the options of `headscope
 * attention`: "kind", "layer", "heads", "words", "matrix", "all_heads", .. */
hs_status hs_record_figure(const hs_record* record, const hs_options* options, const char* format, hs_buffer** bytes,
                           hs_error** error);
/* The whole record, as `headscope attention --all-heads --format json`. */
hs_status hs_record_json(const hs_record* record, hs_buffer** json, hs_error** error);
void hs_record_free(hs_record* record);

/* ---- Training --------------------------------------------------------------------------------------------------- */

/* Trains in a thread of its own, with a device of its own. `config` is the JSON of a configuration (docs/training.md),
 * or empty for the one in "output". With the files "source" and "target", or "text", their amount chooses the
 * configuration, and `config` has values that replace some of it: {"training": {"steps": 500}}. Any thread. Options:
 * "output", which must be given, "device", "settings", "threads", "from", "resume", "data", "source", "target", "text",
 * "task", "source_language", "target_language". The trained model is in the folder "output". */
hs_status hs_training_start(hs_text config, const hs_options* options, hs_training** training, hs_error** error);
/* The next event as JSON: {"event": "note", "text"}, {"event": "report", "step", "loss", ..} as a line of log.jsonl,
 * and last {"event": "end", "step", "seconds", "ended_by", "finished"}. HS_AGAIN if there is none in that time; HS_END
 * after the last; else why the training failed. Any thread. */
hs_status hs_training_next(hs_training* training, int64_t timeout_ms, hs_buffer** json, hs_error** error);
/* Ends after the current step, with a checkpoint from which "resume" goes on. Any thread. */
void hs_training_stop(hs_training* training);
/* Stops, and waits for it. One at a time. */
void hs_training_free(hs_training* training);

/* ---- Conformance ------------------------------------------------------------------------------------------------ */

/* What hs_conform() does next, after `done` of `all` groups of cases. A status other than HS_OK ends the check after
 * the current case. One call at a time, on threads of hs_conform(). */
typedef hs_status (*hs_progress_function)(void* user, uint64_t done, uint64_t all, hs_text doing);
/* Checks every op of devices against a double-precision oracle, as `headscope conform`, and returns when that is done:
 * seconds for an op, minutes for a GPU. `progress` may be NULL. Gives the report of `headscope conform --json` with
 * "counts": {"results", "failed_results", "cases", "runs", "failed_runs"}, "failures" (in words; "" if there are none)
 * and "text", the table for people. A device that fails is no error: "passed" says it. Any thread. Options: "devices",
 * by default every GPU, "settings", "threads", "ops", "dtypes", "paths", "case", "part", "quick", "no_speed". */
hs_status hs_conform(const hs_options* options, hs_progress_function progress, void* user, hs_buffer** json,
                     hs_error** error);

/* ---- Bytes and errors ------------------------------------------------------------------------------------------- */

/* Any thread. */
hs_text hs_buffer_bytes(const hs_buffer* buffer); /* text, or the bytes of a picture */
void hs_buffer_free(hs_buffer* buffer);

hs_status hs_error_status(const hs_error* error);   /* HS_OK of NULL */
hs_text hs_error_message(const hs_error* error);    /* what was expected, what was found, what to do */
double hs_error_retry_after(const hs_error* error); /* HS_BUSY: seconds until there is room; else 0 */
void hs_error_free(hs_error* error);

#ifdef __cplusplus
}
#endif

#endif

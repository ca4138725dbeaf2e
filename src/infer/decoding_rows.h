// The table of decoding options: one row each, from which its member of SearchOptions and of DecodingChoices, its key
// in decoding.json and in requests, its command-line flag, its checks and its documentation follow. This file has no
// include guard: each includer defines the macros that it needs.
//
// HEADSCOPE_SEARCH_OPTION(Type, member, initial, facts...)  a member of SearchOptions
// HEADSCOPE_OTHER_OPTION(Type, member, place, facts...)     `place` is its lvalue in a DecodingOptions named `options`
//
// The facts are those of DecodingFacts (decoding_keys.h), in their order.

#ifndef HEADSCOPE_SEARCH_OPTION
#define HEADSCOPE_SEARCH_OPTION(...)
#endif
#ifndef HEADSCOPE_OTHER_OPTION
#define HEADSCOPE_OTHER_OPTION(...)
#endif

HEADSCOPE_SEARCH_OPTION(int, beam, 4, .least = 1, .most = SearchOptions::kMaxBeam, .writers = kLeftToRight,
                        .help = "Hypotheses kept; 1 takes the likeliest piece each time", .page = "Section 6.1.")
HEADSCOPE_SEARCH_OPTION(double, length_penalty, 0.6, .least = -SearchOptions::kMaxLengthPenalty,
                        .most = SearchOptions::kMaxLengthPenalty, .writers = kLeftToRight,
                        .help = "Exponent a of the score log P / ((5 + length) / 6)^a; 0 and less favour short outputs",
                        .page = "Section 6.1. The length counts the end.")
HEADSCOPE_SEARCH_OPTION(LengthPenaltyForm, length_penalty_form, LengthPenaltyForm::Gnmt, .names = kLengthPenaltyForms,
                        .writers = kLeftToRight, .help = "gnmt: the score above; power: log P / length^a")
// The longest output is the smallest of the next three. Pieces include the end and what Frame puts around pieces.
HEADSCOPE_SEARCH_OPTION(std::int64_t, max_extra, 50, .most = SearchOptions::kMaxExtra,
                        .completion_flag = "--max-tokens",
                        .help = "Maximum pieces of an output beyond the length of its source, or after its prompt",
                        .page =
                            "Section 6.1. The smallest of this and the next two applies; `--max-tokens` lifts the "
                            "model's `max_length`.")
HEADSCOPE_SEARCH_OPTION(std::int64_t, max_length, 0, .most = 1'000'000,
                        .help = "Maximum pieces of an output, with those of its prompt; 0: any number",
                        .page =
                            "Counts the end and `target_begin`. Hugging Face's `max_length` also counts the start: "
                            "write one less.")
HEADSCOPE_SEARCH_OPTION(double, max_factor, 0.0, .most = 1000.0, .writers = kTranslation,
                        .help = "Maximum pieces of an output for each piece of its source; 0: any number",
                        .page = "Both with what stands around them (Marian's `max-length-factor`).")
HEADSCOPE_SEARCH_OPTION(bool, force_end, false, .writers = kLeftToRight,
                        .help = "End an output of maximum length with the end of text instead of cutting it",
                        .page = "With the first of `ends`, of probability 1: Hugging Face's `forced_eos_token_id`.")
HEADSCOPE_SEARCH_OPTION(bool, allow_unknown, false, .help = "Allow the unknown piece in outputs",
                        .page = "It has no text.")
HEADSCOPE_SEARCH_OPTION(TokenLists, bad_words, {}, .writers = kLeftToRight, .has_flag = false,
                        .help = "No output contains one of these lists of pieces or ids",
                        .page = "Hugging Face's `bad_words_ids`.")
HEADSCOPE_OTHER_OPTION(std::string, source_language, options.search.languages.source, .writers = kTranslation,
                       .help = "Language of the sources, for a model that needs it",
                       .page = "A name in `languages` of `config.json`.")
HEADSCOPE_OTHER_OPTION(std::string, target_language, options.search.languages.target, .writers = kTranslation,
                       .help = "Language of the outputs, for a model that needs it",
                       .page = "A name in `languages` of `config.json`.")
HEADSCOPE_OTHER_OPTION(std::string, task_prefix, options.search.languages.task_prefix, .writers = kTranslation,
                       .help = "Stands before each source, for a model of several tasks: 'summarize: '",
                       .page = "Its pieces, before those of the source. T5 needs one.")
HEADSCOPE_SEARCH_OPTION(int, n_best, 1, .least = 1, .most = SearchOptions::kMaxBeam, .writers = kLeftToRight,
                        .of_model = false, .explored = false,
                        .help = "Write this many outputs of each line, best first", .page = "At most `beam`.")
HEADSCOPE_SEARCH_OPTION(bool, n_best_duplicates, false, .writers = kLeftToRight, .of_model = false, .explored = false,
                        .needs = "n_best", .help = "Keep outputs with the same text that differ in their pieces")
HEADSCOPE_SEARCH_OPTION(int, no_repeat_ngram, 0, .most = 1000, .writers = kLeftToRight,
                        .help = "Never repeat a sequence of this many pieces, a prompt's among them; 0: off",
                        .page = "Hugging Face's `no_repeat_ngram_size`.")
HEADSCOPE_SEARCH_OPTION(std::int64_t, min_length, 1, .most = kMaxMinLength,
                        .help = "Minimum pieces of an output, as far as the maximum allows",
                        .page = "Without the end; 0 allows an empty output.")
HEADSCOPE_SEARCH_OPTION(
    bool, sample, false, .writers = kLeftToRight, .of_model = false, .excludes = {"beam", "n_best"},
    .help = "Sample each piece randomly instead of searching",
    .page =
        "The log probabilities are divided by `temperature`, then `top_k`, `top_p` and `min_p` "
        "leave out unlikely pieces, in this order: that of transformers (llama.cpp's temperature is "
        "last).")
HEADSCOPE_SEARCH_OPTION(double, temperature, 1.0, .most = 1e6, .above = true, .writers = kLeftToRight,
                        .of_model = false, .needs = "sample",
                        .help = "Divide log probabilities by this before sampling; below 1 favours likely pieces")
HEADSCOPE_SEARCH_OPTION(int, top_k, 0, .most = kAnyNumber, .writers = kLeftToRight, .of_model = false,
                        .needs = "sample", .help = "Sample from this many of the most likely pieces; 0: all")
HEADSCOPE_SEARCH_OPTION(double, top_p, 1.0, .most = 1.0, .above = true, .writers = kLeftToRight, .of_model = false,
                        .needs = "sample",
                        .help = "Sample from the fewest of the most likely pieces with this total probability")
HEADSCOPE_SEARCH_OPTION(double, min_p, 0.0, .most = 1.0, .writers = kLeftToRight, .of_model = false, .needs = "sample",
                        .help = "Sample from pieces at least this many times as probable as the most likely; 0: all")
HEADSCOPE_SEARCH_OPTION(std::uint64_t, seed, 1, .most = kAny64, .writers = kLeftToRight, .of_model = false,
                        .needs = "sample",
                        .help = "Random seed; the output does not depend on the device or the batch size")
HEADSCOPE_SEARCH_OPTION(std::vector<std::string>, stop, {}, .writers = kLeftToRight, .of_model = false,
                        .explored = false, .help = "End before this text; may be repeated")
HEADSCOPE_SEARCH_OPTION(int, alternatives, 0, .most = 20, .writers = kLeftToRight, .of_model = false, .explored = false,
                        .has_flag = false, .help = "Report this many of the likeliest pieces beside each one written")
HEADSCOPE_SEARCH_OPTION(bool, echo, false, .writers = kCompletes, .of_model = false, .explored = false,
                        .has_flag = false, .help = "Also report the probabilities of a prompt's pieces")
HEADSCOPE_SEARCH_OPTION(int, iterations, 10, .least = 1, .most = 1000, .writers = kMaskPredict,
                        .help = "Passes over a text of masks (mask-predict)")
HEADSCOPE_SEARCH_OPTION(int, length_candidates, 5, .key = "lengths", .least = 1, .most = 64, .writers = kMaskPredict,
                        .help = "Lengths of a text that are tried (mask-predict)")
HEADSCOPE_OTHER_OPTION(std::int64_t, split_longer_than, options.split_longer_than, .most = 1'000'000,
                       .writers = kTranslation, .explored = false, .default_text = "the model's longest input",
                       .help =
                           "Translate a line of more pieces sentence by sentence; 0: never, lines too long are "
                           "errors",
                       .page =
                           "Counts the end. A model trained on single sentences drops most of a line of ten: set "
                           "this to the length that it can handle.")
HEADSCOPE_OTHER_OPTION(std::int64_t, batch_tokens, options.batch_tokens, .least = 1, .most = 10'000'000,
                       .of_model = false, .explored = false,
                       .help = "Pieces of sources or prompts read at a time; more is faster and takes more memory")
HEADSCOPE_SEARCH_OPTION(
    Stopping, stopping, Stopping::Exact, .key = "early_stopping", .names = kStoppings, .writers = kLeftToRight,
    .help = "When a beam search stops: exact, or as Hugging Face's with true, false or never",
    .page =
        "`\"exact\"`: as soon as no unfinished output can win; options that raise scores (`sequence_bias` above 0, "
        "`end_growth`, a `repetition_penalty` below 1, a `source_repetition_penalty`) can make it stop before a "
        "better one. `true`: as soon as `beam` outputs have ended. Otherwise when, in addition, the best "
        "unfinished one is not better than the worst of these: `false` compares its score at its present length, "
        "`\"never\"` that at the longest length if `length_penalty` is above 0.")
HEADSCOPE_SEARCH_OPTION(TokenList, ends, {}, .writers = kLeftToRight, .has_flag = false, .default_text = "`[eos_id]`",
                        .help = "Pieces or ids that end an output", .page = "Hugging Face's `eos_token_id`.")
HEADSCOPE_SEARCH_OPTION(bool, allow_start, false, .writers = kLeftToRight, .has_flag = false,
                        .help = "The piece from which the decoder starts may be written",
                        .page = "`bos_id`, unless it is `pad_id`, as always in Hugging Face.")
HEADSCOPE_SEARCH_OPTION(std::int64_t, min_total, 0, .most = kMaxMinLength, .writers = kLeftToRight, .has_flag = false,
                        .help = "As min_length, but counts a prompt and given pieces, and holds at the maximum, too",
                        .page =
                            "Hugging Face's `min_length` and `min_new_tokens`. A `min_length` that overrides the "
                            "model's replaces it.")
HEADSCOPE_SEARCH_OPTION(int, no_source_ngram, 0, .most = 1000, .writers = kLeftToRight, .has_flag = false,
                        .help = "Never write a sequence of this many pieces of the source or prompt; 0: off",
                        .page = "By their ids. Hugging Face's `encoder_no_repeat_ngram_size`.")
HEADSCOPE_SEARCH_OPTION(TokenList, bad_first, {}, .writers = kLeftToRight, .has_flag = false,
                        .help = "Pieces or ids that no output begins with",
                        .page = "Behind `target_begin`. Hugging Face's `begin_suppress_tokens`.")
HEADSCOPE_SEARCH_OPTION(double, repetition_penalty, 1.0, .least = kMinPenalty, .most = kMaxPenalty,
                        .writers = kLeftToRight,
                        .help = "Above 1, makes pieces that were written, or are in the prompt, less likely",
                        .page = "Scores below 0 are multiplied by it, others divided, as by Hugging Face's.")
HEADSCOPE_SEARCH_OPTION(double, source_repetition_penalty, 1.0, .least = kMinPenalty, .most = kMaxPenalty,
                        .writers = kLeftToRight, .has_flag = false,
                        .help = "Above 1, makes pieces of the source or prompt more likely",
                        .page = "In the same way. Hugging Face's `encoder_repetition_penalty`.")
HEADSCOPE_SEARCH_OPTION(std::vector<SequenceBias>, sequence_bias, {}, .writers = kLeftToRight, .has_flag = false,
                        .help = "Pairs of a list of pieces or ids and a number",
                        .page =
                            "The number is added to the score of the last piece where it follows the others, as by "
                            "Hugging Face's.")
HEADSCOPE_SEARCH_OPTION(std::optional<EndGrowth>, end_growth, {}, .writers = kLeftToRight, .has_flag = false,
                        .help = "[start, factor]: makes the end likelier after start pieces",
                        .page =
                            "The score s of an end grows by abs(s) (factor^n - 1) for the n-th piece after `start` "
                            "pieces: Hugging Face's `exponential_decay_length_penalty`.")
HEADSCOPE_SEARCH_OPTION(bool, renormalize, false, .writers = kLeftToRight, .has_flag = false,
                        .help = "Pieces that an option forbids leave the softmax of a beam search",
                        .page = "Hugging Face's `renormalize_logits`.")

#undef HEADSCOPE_SEARCH_OPTION
#undef HEADSCOPE_OTHER_OPTION

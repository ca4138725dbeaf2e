#include "import/hugging_face_generation_keys.h"

#include <nlohmann/json.hpp>

namespace headscope {

const std::vector<std::pair<const char*, nlohmann::json>>& ignored_generation_keys() {
    static const std::vector<std::pair<const char*, nlohmann::json>> keys = {
        {"guidance_scale", 1.0},         {"num_beam_groups", 1},      {"diversity_penalty", 0.0},
        {"penalty_alpha", 0.0},          {"constraints", nullptr},    {"force_words_ids", nullptr},
        {"forced_decoder_ids", nullptr}, {"dola_layers", nullptr},    {"watermarking_config", nullptr},
        {"token_healing", false},        {"stop_strings", nullptr},   {"max_time", nullptr},
        {"num_return_sequences", 1},     {"custom_generate", nullptr}};
    return keys;
}

const std::set<std::string>& harmless_generation_keys() {
    static const std::set<std::string> keys = {"_from_model_config",
                                               "_commit_hash",
                                               "transformers_version",
                                               "bos_token_id",
                                               "pad_token_id",
                                               "decoder_start_token_id",
                                               "temperature",
                                               "top_k",
                                               "top_p",
                                               "min_p",
                                               "top_h",
                                               "typical_p",
                                               "epsilon_cutoff",
                                               "eta_cutoff",
                                               "use_cache",
                                               "cache_implementation",
                                               "cache_config",
                                               "max_cache_len",
                                               "return_legacy_cache",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "output_scores",
                                               "output_logits",
                                               "return_dict_in_generate",
                                               "remove_invalid_values",
                                               "is_assistant",
                                               "num_assistant_tokens",
                                               "num_assistant_tokens_schedule",
                                               "assistant_confidence_threshold",
                                               "prompt_lookup_num_tokens",
                                               "max_matching_ngram_size",
                                               "assistant_early_exit",
                                               "assistant_lookbehind",
                                               "target_lookbehind",
                                               "assistant_ensemble_weight",
                                               "speculation_type",
                                               "use_mtp",
                                               "compile_config",
                                               "disable_compile",
                                               "prefill_chunk_size",
                                               "low_memory",
                                               "continuous_batching_config",
                                               "trust_remote_code"};
    return keys;
}

}  // namespace headscope

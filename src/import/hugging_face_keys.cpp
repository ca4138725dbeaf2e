// The keys of Hugging Face's configurations that nothing reads: those that change nothing, and those whose usual value
// is the only one that is supported.
#include <array>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/hugging_face.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr auto kRefused = OtherValue::Refused;

constexpr auto kConfigKeys = std::to_array<KeyRule>({
    // Names, versions and code.
    {"model_type"},
    {"architectures"},
    {"_name_or_path"},
    {"_commit_hash"},
    {"name_or_path"},
    {"transformers_version"},
    {"transformers.js_config"},
    {"auto_map"},
    {"tokenizer_class"},
    // How weights are stored, and what does not change the numbers.
    {"torch_dtype"},
    {"dtype"},
    {"torchscript"},
    {"use_bfloat16"},
    {"use_cache"},
    {"cache_implementation"},
    {"chunk_size_feed_forward"},
    {"reorder_and_upcast_attn"},
    {"_attn_implementation*"},
    {"attn_implementation"},
    {"output_attentions"},
    {"output_hidden_states"},
    {"output_past"},
    {"return_dict"},
    {"tf_legacy_loss"},
    {"is_encoder_decoder"},
    {"vocab_size_or_config_json_file"},
    // Of training.
    {"gradient_checkpointing"},
    {"initializer_*"},
    {"init_std"},
    {"dropout"},
    {"dropout_rate"},
    {"attention_dropout"},
    {"activation_dropout"},
    {"hidden_dropout_prob"},
    {"attention_probs_dropout_prob"},
    {"attn_pdrop"},
    {"embd_pdrop"},
    {"resid_pdrop"},
    {"classif_dropout"},
    {"classifier_dropout*"},
    {"qa_dropout"},
    {"seq_classif_dropout"},
    {"encoder_layerdrop"},
    {"decoder_layerdrop"},
    {"layerdrop"},
    {"hidden_dropout"},
    {"rotary", nullptr, kRefused, "gptj"},
    {"save_step"},
    // Of the heads of other tasks, and of the pipelines around the models.
    {"id2label"},
    {"label2id"},
    {"num_labels"},
    {"_num_labels"},
    {"problem_type"},
    {"finetuning_task"},
    {"task_specific_params"},
    {"prefix"},
    {"summary_*"},
    {"pooler_*"},
    {"encoder_stride", nullptr, kRefused, "vit"},
    {"directionality"},
    {"predict_special_tokens"},
    {"sep_token_id"},
    // The tokenizer's ids count, and only the model's own family asks for these.
    {"pad_token_id"},
    {"bos_token_id"},
    {"eos_token_id"},
    // What other keys or the tensors say, too.
    {"num_hidden_layers", nullptr, kRefused, "bart mbart m2m_100 marian pegasus blenderbot blenderbot-small"},
    {"hidden_size", nullptr, kRefused, "bart mbart m2m_100 marian pegasus blenderbot blenderbot-small"},
    {"num_attention_heads", nullptr, kRefused, "bart mbart m2m_100 marian pegasus blenderbot blenderbot-small"},
    {"extra_pos_embeddings"},
    {"n_ctx", nullptr, kRefused, "gpt2"},
    {"n_positions", nullptr, kRefused, "t5 mt5 umt5"},
    {"max_position_embeddings", nullptr, kRefused, "t5 mt5 umt5"},
    {"dense_act_fn", nullptr, kRefused, "t5 mt5 umt5"},
    {"is_gated_act", nullptr, kRefused, "t5 mt5 umt5"},
    {"tie_word_embeddings", nullptr, kRefused, "t5 mt5 umt5"},
    {"scale_decoder_outputs", nullptr, kRefused, "mt5 umt5"},
    {"pretraining_tp", nullptr, kRefused, "llama"},
    {"is_llama_config", nullptr, kRefused, "llama"},
    {"sinusoidal_pos_embds", nullptr, kRefused, "distilbert"},
    {"tie_weights_", nullptr, kRefused, "distilbert"},
    // Other values would be other models.
    {"is_decoder", "false"},
    {"add_bias_logits", "false"},
    {"add_cross_attention", "false"},
    {"tie_encoder_decoder", "false"},
    {"pruned_heads", "{}"},
    {"quantization_config", "null"},
    {"rope_interleaved", "false"},
    {"use_mrope", "false"},
    {"attn_logit_softcapping", "null"},
    {"final_logit_softcapping", "null"},
    {"use_bidirectional_attention", "false"},
    // Of decoding: read_generation() reads them here if generation_config.json is missing, and else they have no
    // effect.
    {"max_length"},
    {"max_new_tokens"},
    {"max_time"},
    {"min_length"},
    {"min_new_tokens"},
    {"early_stopping"},
    {"do_sample"},
    {"num_beams"},
    {"num_beam_groups"},
    {"num_return_sequences"},
    {"diversity_penalty"},
    {"temperature"},
    {"top_k"},
    {"top_p"},
    {"min_p"},
    {"typical_p"},
    {"epsilon_cutoff"},
    {"eta_cutoff"},
    {"penalty_alpha"},
    {"guidance_scale"},
    {"repetition_penalty"},
    {"encoder_repetition_penalty"},
    {"length_penalty"},
    {"exponential_decay_length_penalty"},
    {"no_repeat_ngram_size"},
    {"encoder_no_repeat_ngram_size"},
    {"bad_words_ids"},
    {"sequence_bias"},
    {"suppress_tokens"},
    {"begin_suppress_tokens"},
    {"forced_bos_token_id"},
    {"forced_eos_token_id"},
    {"force_bos_token_to_be_generated"},
    {"decoder_start_token_id"},
    {"renormalize_logits"},
    {"remove_invalid_values"},
    {"output_scores"},
    {"return_dict_in_generate"},
});

constexpr auto kTokenizerKeys = std::to_array<KeyRule>({
    // Other values would split texts or frame them otherwise.
    {"sp_model_kwargs", "{}", kReported},
    {"do_basic_tokenize", "true", kReported},
    {"add_bos_token", nullptr, kRefused,
     "gpt2 llama mistral phi3 qwen2 qwen3 smollm3 gemma3_text olmo2 gpt_neox gptj opt"},  // obeyed
    {"add_bos_token", "false", kReported},
    {"add_eos_token", "true", kReported, "t5 mt5 umt5 marian bart mbart m2m_100 pegasus"},
    {"add_eos_token", "false", kReported},
    {"split_special_tokens", "false", kReported},
    // Names, versions and code.
    {"tokenizer_class"},
    {"processor_class"},
    {"auto_map"},
    {"name_or_path"},
    {"backend"},
    {"is_local"},
    {"local_files_only"},
    {"use_fast"},
    {"from_slow"},
    {"*_file"},
    {"model_type"},
    {"vocab_size"},
    {"init_inputs"},
    {"device_map"},
    // Read from here, from beside, or by the vocabulary's own names.
    {"*_token"},
    {"*_tokens"},
    {"*_token_id"},
    {"added_tokens_decoder"},
    {"extra_ids"},
    {"unk_id"},
    {"language_codes"},
    {"num_madeup_words"},
    {"legacy_behaviour"},
    {"src_lang"},
    {"tgt_lang"},
    {"source_lang"},
    {"target_lang"},
    {"separate_vocabs"},
    {"do_lower_case"},
    {"strip_accents"},
    {"tokenize_chinese_chars"},
    {"add_prefix_space"},
    // Of batches, of tensors and of chats.
    {"max_length"},
    {"max_len"},
    {"model_max_length"},
    {"stride"},
    {"padding*"},
    {"pad_*"},
    {"truncation*"},
    {"model_input_names"},
    {"return_*"},
    {"chat_template"},
    {"token_type_ids_pattern"},
    // Only how ids become text, where nothing is missing, or what stands behind a special token.
    {"clean_up_tokenization_spaces"},
    {"spaces_between_special_tokens"},
    {"skip_special_tokens"},
    {"trim_offsets"},
    {"errors"},
    {"legacy"},
});

// What readers of tokenizer_config.json expect.
struct TypedKey {
    const char* key;
    bool (nlohmann::json::*is)() const noexcept;
    const char* expected;
};
constexpr auto kTypes = std::to_array<TypedKey>({
    {"tokenizer_class", &nlohmann::json::is_string, "a string"},
    {"language_codes", &nlohmann::json::is_string, "a string"},
    {"src_lang", &nlohmann::json::is_string, "a string"},
    {"tgt_lang", &nlohmann::json::is_string, "a string"},
    {"legacy_behaviour", &nlohmann::json::is_boolean, "true or false"},
    {"separate_vocabs", &nlohmann::json::is_boolean, "true or false"},
    {"add_prefix_space", &nlohmann::json::is_boolean, "true or false"},
    {"do_lower_case", &nlohmann::json::is_boolean, "true or false"},
    {"strip_accents", &nlohmann::json::is_boolean, "true or false"},
    {"tokenize_chinese_chars", &nlohmann::json::is_boolean, "true or false"},
    {"extra_ids", &nlohmann::json::is_number_integer, "an integer"},
});

}  // namespace

void check_tokenizer_settings(const nlohmann::json& settings, const std::string& file) {
    for (const auto& [key, is, expected] : kTypes) {
        if (const auto found = settings.find(key); found != settings.end() && !(*found.*is)()) {
            throw Error(fmt::format("{}: \"{}\" is {}: expected {}", file, key, found->dump(), expected));
        }
    }
}

void check_keys(const ForeignConfig& config, Problems& problems, ModelDirectory& model) {
    const std::filesystem::path folder = model.path;
    const std::string family = config.text("model_type", "");
    remark_unknown_keys((folder / "config.json").string(), config.unknown_keys(kConfigKeys, family), model.remarks);
    const nlohmann::json settings = tokenizer_settings(model.path);
    const ForeignConfig tokenizer(settings, "tokenizer_config.json", problems);
    remark_unknown_keys((folder / "tokenizer_config.json").string(), tokenizer.unknown_keys(kTokenizerKeys, family),
                        model.remarks);
}

}  // namespace headscope

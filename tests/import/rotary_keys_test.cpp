// The keys of Hugging Face's decoders for rotary positions, windows and what stands before a text.
#include <catch2/catch.hpp>

#include "broken_model.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_file.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

ModelConfig config_with(const std::string& model, const json& changes) {
    const BrokenModel changed(model);
    changed.change_json("config.json", [&](json& config) { config.merge_patch(changes); });
    return open_model(changed.path()).config;
}

std::string complaint_with(const std::string& model, const json& changes) {
    return error_of([&] { config_with(model, changes); });
}

std::string complaint_about(const json& rope, const char* key = "rope_parameters", const char* model = "hf-llama3") {
    const BrokenModel changed(model);
    changed.change_json("config.json", [&](json& config) {
        config.erase("rope_parameters");
        config[key] = rope;
    });
    return changed.complaint();
}

}  // namespace

TEST_CASE("all spellings of rotary positions say the same", "[import]") {
    const json scaled{
        {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 16}};
    json newer = scaled;
    newer.update({{"rope_type", "llama3"}, {"rope_theta", 500.0}});
    const RotaryConfig expected = config_with("hf-llama3", {{"rope_parameters", newer}}).positions.rotary;
    CHECK(expected.kind == Rotary::Llama3);
    CHECK(expected.base == 500.0);
    for (const char* key : {"type", "rope_type"}) {
        json older = scaled;
        older[key] = "llama3";
        const json changes{{"rope_parameters", nullptr}, {"rope_scaling", older}, {"rope_theta", 500.0}};
        CHECK(config_with("hf-llama3", changes).positions.rotary == expected);
    }
    const json plain{{"rope_parameters", nullptr}, {"rope_scaling", nullptr}};
    CHECK(config_with("hf-llama3", plain).positions.rotary == RotaryConfig{.kind = Rotary::Plain});
    json partial = plain;
    partial["partial_rotary_factor"] = 0.25;
    CHECK(config_with("hf-phi3", partial).positions.rotary.columns == 2);
    CHECK_THAT(complaint_with("hf-llama3", partial),
               Contains("\"partial_rotary_factor\" is 0.25: only 1 is supported"));
}

TEST_CASE("YaRN's magnitude is what the file says, or follows from its factors", "[import]") {
    const auto magnitude = [](const json& more) {
        json rope{{"rope_type", "yarn"}, {"factor", 4.0}};
        rope.update(more);
        return config_with("hf-llama3", {{"rope_parameters", nullptr}, {"rope_scaling", rope}})
            .positions.rotary.magnitude;
    };
    CHECK(magnitude(json::object()) == Approx(1.1386294));
    CHECK(magnitude({{"attention_factor", 1.5}}) == 1.5);
    CHECK(magnitude({{"mscale", 2.0}, {"mscale_all_dim", 1.0}}) == Approx(1.2772589 / 1.1386294));
}

TEST_CASE("rotary positions that are not known are refused with file and key", "[bad_input]") {
    CHECK_THAT(complaint_about({{"rope_type", "longrope"}, {"long_factor", {1.0}}}),
               Contains("config.json: \"rope_parameters\": \"rope_type\" is \"longrope\""));
    CHECK_THAT(complaint_about({{"type", "dynamic"}, {"factor", 2.0}}, "rope_scaling"),
               Contains("config.json: \"rope_scaling\": \"type\" is \"dynamic\""));
    CHECK_THAT(complaint_about({{"rope_type", "linear"}}), Contains("\"rope_parameters\": \"factor\" is missing"));
    CHECK_THAT(complaint_about({{"rope_type", "linear"}, {"factor", 0.5}}), Contains("\"factor\" must be at least 1"));
    CHECK_THAT(complaint_about({{"rope_type", "yarn"}, {"factor", 2.0}, {"truncate", false}}),
               Contains("\"rope_parameters\": \"truncate\" is false: only true is supported"));
    CHECK_THAT(complaint_about({{"rope_type", "default"}, {"short_factor", {1.0}}}),
               Contains("\"short_factor\" is not supported with \"rope_type\": \"default\""));
    const json partial{{"rope_type", "default"}, {"partial_rotary_factor", 0.4}};
    CHECK_THAT(complaint_about(partial), Contains("\"partial_rotary_factor\" is 0.4: only 1 is supported"));
    CHECK_THAT(complaint_about(partial, "rope_parameters", "hf-phi3"),
               Contains("\"partial_rotary_factor\" must be even"));
    for (const double share : {0.0, -1.0, 1.5, 1e300}) {
        CHECK_THAT(
            complaint_about({{"rope_type", "default"}, {"partial_rotary_factor", share}}, "rope_parameters", "hf-phi3"),
            Contains("\"partial_rotary_factor\" must be above 0 and at most 1"));
    }
    CHECK_THAT(complaint_about({{"full_attention", {{"rope_type", "default"}}}}),
               Contains("\"full_attention\" is not supported"));
    CHECK_THAT(complaint_about({1.0}), Contains("\"rope_parameters\": expected a JSON object"));
}

TEST_CASE("two descriptions of rotary positions must be the same", "[import]") {
    const json linear{{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 500.0}};
    CHECK(config_with("hf-mistral", {{"rope_parameters", linear}, {"rope_scaling", linear}}).positions.rotary.factor ==
          2.0);
    CHECK(config_with("hf-mistral", {{"rope_scaling", json::object()}}).positions.rotary.kind == Rotary::Plain);
    CHECK_THAT(complaint_with("hf-mistral", {{"rope_scaling", linear}}),
               Contains("\"rope_scaling\" differs from \"rope_parameters\""));
    CHECK_THAT(complaint_with("hf-llama3", {{"original_max_position_embeddings", 32}}),
               Contains("\"original_max_position_embeddings\" is 16, but"));
    CHECK(config_with("hf-llama3", {{"original_max_position_embeddings", 16}}).positions.rotary.original_length == 16);
}

TEST_CASE("what a configuration forbids is named by the file's keys", "[bad_input]") {
    json rope{{"rope_type", "yarn"}, {"factor", 4.0}, {"beta_fast", 2.0}, {"beta_slow", 2.0}};
    CHECK(config_with("hf-mistral", {{"rope_parameters", rope}}).positions.rotary.high == 2.0);
    rope["beta_fast"] = 1.5;
    CHECK_THAT(complaint_about(rope), Contains("\"beta_fast\" must be at least \"beta_slow\", 2, found 1.5"));
    CHECK_THAT(complaint_about({{"rope_type", "llama3"}, {"factor", 4.0}, {"high_freq_factor", 1.0}}),
               Contains("\"high_freq_factor\" must be above \"low_freq_factor\", 1, found 1"));
    CHECK_THAT(complaint_about({{"rope_type", "yarn"}, {"factor", 4.0}, {"attention_factor", 1e9}}),
               Contains("\"attention_factor\" must be"));
    CHECK_THAT(complaint_with("hf-llama3", {{"max_position_embeddings", 1 << 24}}),
               Contains("\"max_position_embeddings\" must be"));
}

TEST_CASE("\"layer_types\" says which layers have a window where the family has such types", "[import]") {
    const json types{"sliding_attention", "full_attention"};
    const ModelConfig config = config_with("hf-qwen2", {{"layer_types", types}});
    CHECK(config.mixer.window == 5);
    CHECK(config.mixer.window_pattern == std::vector<std::int32_t>{1, 0});
    CHECK(config_with("hf-mistral", {{"sliding_window", 64}}).mixer.decoder == MixerKind::SelfAttention);
    CHECK(config_with("hf-mistral", {{"layer_types", {"sliding_attention", "sliding_attention"}}}).mixer.window == 5);
    for (const char* family : {"hf-mistral", "hf-phi3"}) {
        CHECK_THAT(complaint_with(family, {{"layer_types", types}}),
                   Contains("\"layer_types\" is not what \"sliding_window\" says"));
    }
    const json off{{"use_sliding_window", false}};
    CHECK_THAT(complaint_with("hf-qwen2", off), Contains("\"use_sliding_window\" is false or missing, but"));
    json plain = off;
    plain["layer_types"] = nullptr;
    CHECK(config_with("hf-qwen2", plain).mixer.decoder == MixerKind::SelfAttention);
    const BrokenModel without("hf-qwen2");
    without.change_json("config.json", [](json& one) { one["sliding_window"] = nullptr; });
    CHECK_THAT(without.complaint(), Contains("\"sliding_window\" is null or missing, but"));
    CHECK_THAT(complaint_with("hf-qwen2", {{"layer_types", {"chunked_attention", "full_attention"}}}),
               Contains("\"layer_types\" holds \"chunked_attention\""));
    CHECK_THAT(complaint_with("hf-qwen2", {{"layer_types", {"full_attention"}}}),
               Contains("\"layer_types\" has 1 entries for 2 layers"));
}

TEST_CASE("Gemma's layers with a window turn apart, in both spellings", "[import]") {
    const RotaryConfig newer = config_with("hf-gemma3", json::object()).positions.rotary;
    CHECK(newer.window_base == 100.0);
    CHECK(newer.base == 500.0);
    const json linear{{"rope_type", "linear"}, {"factor", 4.0}};
    const json older{
        {"rope_parameters", nullptr}, {"rope_theta", 500.0}, {"rope_local_base_freq", 100.0}, {"rope_scaling", linear}};
    CHECK(config_with("hf-gemma3", older).positions.rotary == newer);
    const RotaryConfig usual = config_with("hf-gemma3", {{"rope_parameters", nullptr}}).positions.rotary;
    CHECK(usual.base == 1e6);
    CHECK(usual.window_base == 10000.0);
    const json wide{{"sliding_window", 64}};  // as long as a text
    CHECK(config_with("hf-gemma3", wide).mixer.decoder == MixerKind::Restricted);
    const auto complaint = [](const json& rope) { return complaint_about(rope, "rope_parameters", "hf-gemma3"); };
    CHECK_THAT(complaint({{"sliding_attention", linear}}),
               Contains("\"rope_parameters\": \"sliding_attention\": \"rope_type\" is \"linear\"") &&
                   Contains("\"factor\" is not supported"));
    CHECK_THAT(complaint({{"full_attention", {{"rope_type", "longrope"}}}}),
               Contains("\"rope_parameters\": \"full_attention\": \"rope_type\" is \"longrope\""));
    CHECK_THAT(complaint(linear),
               Contains("\"rope_parameters\": \"factor\" is not supported: only \"full_attention\""));
}

TEST_CASE("Gemma's pattern of windows and the scale of its queries", "[import]") {
    json period{{"layer_types", nullptr}, {"_sliding_window_pattern", nullptr}, {"sliding_window_pattern", 3}};
    CHECK(config_with("hf-gemma3", period).mixer.window_pattern == std::vector<std::int32_t>{1, 1, 0});
    period["sliding_window_pattern"] = nullptr;  // six
    CHECK(config_with("hf-gemma3", period).mixer.window_pattern.empty());
    CHECK(config_with("hf-gemma3", {{"query_pre_attn_scalar", 16}}).attention.scale == 0.25);
    CHECK(config_with("hf-gemma3", {{"query_pre_attn_scalar", 8}}).attention.scale == 0.0);  // the usual one
    CHECK_THAT(complaint_with("hf-gemma3", {{"query_pre_attn_scalar", 0}}),
               Contains("\"query_pre_attn_scalar\" must be above 0"));
    for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"}) {
        CHECK_THAT(complaint_with("hf-gemma3", {{cap, 30.0}}), Contains(cap) && Contains("30"));
    }
    CHECK_THAT(complaint_with("hf-gemma3", {{"use_bidirectional_attention", true}}),
               Contains("\"use_bidirectional_attention\" is true"));
}

TEST_CASE("GPT-NeoX has its own names for what turns", "[import]") {
    const json older{{"rope_parameters", nullptr}, {"rotary_pct", 0.5}, {"rotary_emb_base", 100}};
    CHECK(config_with("hf-gpt-neox", older).positions.rotary ==
          config_with("hf-gpt-neox", json::object()).positions.rotary);
    const ModelConfig usual = config_with("hf-gpt-neox", {{"rope_parameters", nullptr}});
    CHECK(usual.positions.rotary.columns == 2);
    CHECK(usual.norm.parallel == ParallelLayers::TwoNorms);
    CHECK(config_with("hf-gpt-neox", {{"use_parallel_residual", false}}).norm.parallel == ParallelLayers::None);
    CHECK_THAT(complaint_with("hf-gpt-neox", {{"rope_parameters", nullptr}, {"rotary_pct", 2.0}}),
               Contains("\"rotary_pct\" must be above 0 and at most 1"));
    const BrokenModel whole("hf-gptj");
    whole.change_json("config.json", [](json& config) { config["rotary_dim"] = nullptr; });
    CHECK_THAT(whole.complaint(), Contains("\"rotary_dim\" is null"));
}

TEST_CASE("an OPT whose embeddings or norms differ is refused", "[bad_input]") {
    CHECK_THAT(complaint_with("hf-opt", {{"word_embed_proj_dim", 8}}),
               Contains("\"word_embed_proj_dim\" is 8: only \"hidden_size\", 16, is supported"));
    CHECK_THAT(complaint_with("hf-opt", {{"_remove_final_layer_norm", true}}),
               Contains("\"_remove_final_layer_norm\" is true"));
    CHECK_THAT(complaint_with("hf-opt", {{"layer_norm_elementwise_affine", false}}),
               Contains("\"layer_norm_elementwise_affine\" is false"));
    CHECK(config_with("hf-opt-post-norm", {{"_remove_final_layer_norm", true}}).norm.placement == NormPlacement::Post);
}

TEST_CASE("the layers without rotary positions are a list of 0 and 1 for all layers", "[bad_input]") {
    for (const json& wrong : {json{true, false, true}, json{1, -1, 1}, json("1 0 1"), json{1, 0}, json::array()}) {
        CHECK_THAT(complaint_with("hf-smollm3", {{"no_rope_layers", wrong}}),
                   Contains("\"no_rope_layers\" must be a list of 3 numbers, each 0 or 1, found " + wrong.dump()));
    }
    CHECK(config_with("hf-smollm3", {{"no_rope_layers", nullptr}}).positions.rotary.pattern.empty());
}

TEST_CASE("without keys the end and the groups of heads are those of the family", "[import]") {
    const auto end = [&](const char* model) {
        const BrokenModel changed(model);
        changed.remove("generation_config.json");
        changed.change_json("config.json", [&](json& config) { config.erase("eos_token_id"); });
        return changed.complaint();
    };
    CHECK(end("hf-llama") == "");
    CHECK_THAT(end("hf-phi3"), Contains("32000"));
    CHECK_THAT(end("hf-smollm3"), Contains("128001"));
    CHECK_THAT(end("hf-qwen2"), Contains("no piece for the end"));
    BrokenModel changed("hf-mistral");
    changed.change_json("config.json", [](json& config) { config["num_key_value_heads"] = nullptr; });
    CHECK_THAT(changed.complaint(), Contains("k_proj"));  // of four heads
}

TEST_CASE("a text begins with what the tokenizer's files say", "[import]") {
    const BrokenModel model("hf-gpt2");
    model.add("hf-llama3", "config.json");
    model.change_json("config.json", [](json& config) { config["vocab_size"] = 70; });
    const auto begin = [&] { return open_model(model.path()).config.frame.bos_id; };
    CHECK(begin() == -1);
    json file = json::parse(
        byte_bpe_json(*read_vocabulary(model.path("vocab.json")), read_all(model.path("merges.txt")), "merges.txt"));
    const json processor{
        {"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {5}}, {"tokens", {"<s>"}}}}}}};
    file["post_processor"] = processor;
    model.write("tokenizer.json", file.dump());
    CHECK(begin() == 5);
    file["post_processor"] = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, processor}}};
    model.write("tokenizer.json", file.dump());
    CHECK(begin() == 5);
    model.change_json("tokenizer_config.json", [](json& settings) { settings["add_bos_token"] = false; });
    CHECK(begin() == -1);
    model.change_json("tokenizer_config.json", [](json& settings) { settings["add_bos_token"] = true; });
    CHECK(begin() == 1);
    const std::string piece = open_model(model.path()).target_tokenizer->piece(7);
    model.change_json("tokenizer_config.json", [&](json& settings) { settings["bos_token"] = {{"content", piece}}; });
    CHECK(begin() == 7);
    model.change_json("tokenizer_config.json", [](json& settings) { settings.erase("bos_token"); });
    model.change_json("config.json", [](json& config) { config.erase("bos_token_id"); });
    CHECK(begin() == 1);
    model.change_json("config.json", [](json& config) { config["bos_token_id"] = nullptr; });
    CHECK_THAT(error_of(begin), Contains("\"bos_token_id\" is null or missing, but \"add_bos_token\""));
    model.change_json("tokenizer_config.json", [](json& settings) { settings["add_bos_token"] = "yes"; });
    CHECK_THAT(error_of(begin), Contains("\"add_bos_token\" must be true or false, found \"yes\""));
}

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

std::string complaint_about(const json& rope, const char* key = "rope_parameters") {
    const BrokenModel changed("hf-llama3");
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
    partial["partial_rotary_factor"] = 0.5;
    CHECK(config_with("hf-llama3", partial).positions.rotary.columns == 4);
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
    CHECK_THAT(complaint_about({{"rope_type", "default"}, {"partial_rotary_factor", 0.4}}),
               Contains("\"partial_rotary_factor\" must be even"));
    CHECK_THAT(complaint_about({1.0}), Contains("\"rope_parameters\": expected a JSON object"));
}

TEST_CASE("layers with a window may turn at their own speed", "[import]") {
    const json types{"sliding_attention", "full_attention"};
    const json rope{{"full_attention", {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 1e6}}},
                    {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
    const ModelConfig config = config_with("hf-mistral", {{"layer_types", types}, {"rope_parameters", rope}});
    CHECK(config.mixer.window == 5);
    CHECK(config.mixer.window_pattern == std::vector<std::int32_t>{1, 0});
    CHECK(config.positions.rotary.base == 1e6);
    CHECK(config.positions.rotary.window_base == 1e4);
    CHECK(config_with("hf-mistral", {{"sliding_window", 64}}).mixer.decoder == MixerKind::SelfAttention);
    CHECK(config_with("hf-qwen2", {{"use_sliding_window", false}}).mixer.decoder == MixerKind::SelfAttention);
    CHECK_THAT(error_of([&] {
                   config_with("hf-mistral", {{"layer_types", {"chunked_attention", "full_attention"}}});
               }),
               Contains("\"layer_types\" holds \"chunked_attention\""));
    CHECK_THAT(error_of([&] {
                   config_with("hf-mistral", {{"layer_types", {"full_attention"}}});
               }),
               Contains("\"layer_types\" has 1 entries for 2 layers"));
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
}

// generation_config.json of Hugging Face's folders: obeyed as transformers obeys it, or named.
#include <catch2/catch.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "broken_model.h"
#include "import/export_model.h"
#include "model/parameters.h"
#include "tests/infer/translate_text.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;

// A model with other options of its author.
struct WithOptions {
    explicit WithOptions(const std::string& name, const json& generation) : model(name) {
        model.write("generation_config.json", generation.dump());
    }
    ModelDirectory open() const { return open_model(model.path()); }
    json decoding() const { return *open().decoding; }
    std::string remarks() const {
        std::string all;
        for (const std::string& remark : open().remarks) {
            all += remark + "\n";
        }
        return all;
    }

    BrokenModel model;
};

Ids without_end(Ids ids, EndReason end) {
    if (end == EndReason::EndOfSentence && !ids.empty()) {
        ids.pop_back();
    }
    return ids;
}

std::vector<Ids> outputs_of(Backend& backend, const std::string& folder, const std::vector<std::string>& texts) {
    const LoadedModel translator(backend, folder);
    DecodingOptions options{.search = translator.search_options({})};
    options.search.allow_unknown = true;
    std::vector<Ids> outputs;
    for (const TextResult& found : translate(translator, texts, options)) {
        CHECK(found.problem.empty());
        outputs.push_back(without_end(found.target_ids, found.end));
    }
    return outputs;
}

json bart_options(const json& more) {
    json options = {{"bos_token_id", 0}, {"eos_token_id", 2}, {"pad_token_id", 1}, {"decoder_start_token_id", 2}};
    if (more.is_object()) {
        options.update(more);
    }
    return options;
}

}  // namespace

TEST_CASE("outputs with options of generation_config.json are those of transformers", "[generation]") {
    const auto backend = open_device("cpu");
    for (const json& item : read_json_file(checkout_file("tests/import/generation.json"))) {
        INFO(item["model"] << " " << item["generation"].dump());
        const WithOptions folder(item["model"], item["generation"]);
        CHECK(folder.remarks().empty());
        const std::vector<std::string> texts = item["texts"];
        CHECK(outputs_of(*backend, folder.model.path(), texts) == item["outputs"].get<std::vector<Ids>>());
    }
}

TEST_CASE("a folder's chat template is a file, a key, or one of several by name", "[generation][chat]") {
    const BrokenModel model("hf-gpt2");
    const std::string chatml =
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'}}"
        "{% endfor %}";
    const auto chat = [&] { return open_model(model.path()).decoding->value("chat", json()); };
    CHECK(chat().is_null());
    const auto set = [&](const json& value) {
        model.change_json("tokenizer_config.json", [&](json& settings) { settings["chat_template"] = value; });
    };
    set(chatml);
    CHECK(chat() == "chatml");
    set({{{"name", "tools"}, {"template", "{{ tools }}"}}, {{"name", "default"}, {"template", "{{ own }}"}}});
    CHECK(chat() == json{{"jinja", "{{ own }}"}});
    model.write("chat_template.jinja", chatml);
    CHECK(chat() == "chatml");

    // An export says that it lacks it.
    CHECK(options_left_out(open_model(model.path()), ExportFormat::HuggingFace) ==
          std::vector<std::string>{"the chat template is left out: its Jinja source is not known here"});
}

TEST_CASE("an imported copy keeps the options of generation_config.json", "[generation]") {
    const auto backend = open_device("cpu");
    const json options = bart_options({{"num_beams", 3},
                                       {"early_stopping", "never"},
                                       {"length_penalty", -0.5},
                                       {"eos_token_id", {5, 2}},
                                       {"forced_eos_token_id", 2},
                                       {"decoder_start_token_id", 9},
                                       {"max_length", 12},
                                       {"min_length", 4},
                                       {"repetition_penalty", 1.2},
                                       {"encoder_repetition_penalty", 1.1},
                                       {"no_repeat_ngram_size", 3},
                                       {"encoder_no_repeat_ngram_size", 4},
                                       {"suppress_tokens", {7, 8}},
                                       {"begin_suppress_tokens", {20, 21}},
                                       {"sequence_bias", {{{30, 31}, 2.0}}},
                                       {"exponential_decay_length_penalty", {3, 1.1}},
                                       {"renormalize_logits", true}});
    const WithOptions folder("hf-bart", options);
    CHECK(folder.decoding() == json::parse(R"({
        "beam": 3, "early_stopping": "never", "length_penalty": -0.5, "length_penalty_form": "power",
        "ends": [2, 5], "force_end": true, "allow_start": true, "max_length": 11, "max_extra": 11,
        "min_length": 0, "min_total": 3, "repetition_penalty": 1.2, "source_repetition_penalty": 1.1,
        "no_repeat_ngram": 3, "no_source_ngram": 4, "bad_words": [[7], [8]], "bad_first": [20, 21],
        "sequence_bias": [[[30, 31], 2.0]], "end_growth": [3, 1.1], "renormalize": true})"));
    const ModelDirectory theirs = folder.open();
    CHECK(theirs.config.frame.bos_id == 9);
    const auto parameters = read_parameters(*backend, theirs, DType::F32);
    const TemporaryFolder place;
    write_model_directory(*backend, place.file("model"), theirs.config, *parameters, DType::F32,
                          *theirs.source_tokenizer, *theirs.target_tokenizer, theirs.decoding.get());
    const std::vector<std::string> texts{"mo Kaleb rito", "Xado kam"};
    CHECK(outputs_of(*backend, place.file("model"), texts) == outputs_of(*backend, folder.model.path(), texts));
}

TEST_CASE("options of generation_config.json that are not obeyed are named", "[generation]") {
    const auto remarks = [](const json& more, const char* model = "hf-bart") {
        return WithOptions(model, bart_options(more)).remarks();
    };
    CHECK(remarks({}).empty());
    // Neutral values, and keys that change nothing.
    CHECK(remarks({{"guidance_scale", 1.0},
                   {"num_beam_groups", 1},
                   {"do_sample", false},
                   {"temperature", 0.5},
                   {"use_cache", false},
                   {"typical_p", 0.5},
                   {"constraints", nullptr},
                   {"bad_words_ids", {{1}}}})
              .empty());
    for (const char* model : {"hf-bart", "hf-gpt2", "hf-t5", "hf-m2m100", "hf-marian-tied"}) {
        INFO(model);
        const json ids = read_json_file(checkout_file(std::string("tests/import/models/") + model + "/config.json"));
        json options = {{"eos_token_id", ids["eos_token_id"]},
                        {"guidance_scale", 2.0},
                        {"num_beam_groups", 2},
                        {"diversity_penalty", 0.5},
                        {"penalty_alpha", 0.6},
                        {"force_words_ids", {{5}}},
                        {"stop_strings", {"x"}},
                        {"a_new_key", 1},
                        {"num_return_sequences", 3}};
        const WithOptions folder(model, options);
        for (const auto& [key, value] : options.items()) {
            CHECK((key == "eos_token_id" ||
                   folder.remarks().find("generation_config.json: \"" + key + "\" is ignored") != std::string::npos));
        }
    }
    CHECK_THAT(remarks({{"do_sample", true}, {"temperature", 0.7}, {"typical_p", 0.9}}),
               Contains("\"do_sample\" is ignored") && Contains("--sample --temperature 0.7 --top-k 50") &&
                   Contains("\"typical_p\" is not supported"));
    CHECK_THAT(remarks({{"num_beams", 31}}), Contains("\"num_beams\" is 31, of which 30 is used"));
    CHECK_THAT(remarks({{"length_penalty", 11}}), Contains("\"length_penalty\" is 11"));
    CHECK_THAT(remarks({{"forced_eos_token_id", 6}}), Contains("\"forced_eos_token_id\" is 6, which is ignored"));
    CHECK_THAT(remarks({{"eos_token_id", {2, 5}}, {"forced_eos_token_id", {5, 2}}}),
               Contains("\"forced_eos_token_id\" is [5,2], of which 2 is used"));
    CHECK_THAT(remarks({{"decoder_start_token_id", {2, 5}}}),
               Contains("\"decoder_start_token_id\" holds 2 ids, of which only the first, 2, is used"));
    CHECK_THAT(remarks({{"forced_bos_token_id", {0, 5}}}), Contains("\"forced_bos_token_id\" holds 2 ids"));
    CHECK_THAT(remarks({{"suppress_tokens", {2, 5}}}), Contains("holds 2, the end of a text"));
    CHECK_THAT(remarks({{"forced_bos_token_id", 5}}, "hf-gpt2"), Contains("\"forced_bos_token_id\" is ignored"));
    // No new tokens at least win over a length with the decoder's start.
    CHECK(WithOptions("hf-bart", bart_options({{"min_length", 6}, {"min_new_tokens", 0}})).decoding()["min_total"] ==
          0);
    // What is clamped is what our options hold.
    CHECK(WithOptions("hf-bart", bart_options({{"num_beams", 1000}})).decoding()["beam"] == SearchOptions::kMaxBeam);
    CHECK_THAT(error_of([] {
                   WithOptions("hf-bart", bart_options({{"suppress_tokens", {5000}}})).open();
               }),
               Contains("\"suppress_tokens\" must hold ids below"));
}

TEST_CASE("what an output starts from", "[generation]") {
    const auto start = [](const json& generation) {
        return WithOptions("hf-bart", generation).open().config.frame.bos_id;
    };
    CHECK(start({{"bos_token_id", 0}, {"eos_token_id", 2}, {"decoder_start_token_id", 7}}) == 7);
    CHECK(start({{"bos_token_id", 0}, {"eos_token_id", 2}}) == 0);  // as transformers 5
    CHECK(start({{"eos_token_id", 2}}) == 2);                       // config.json's
    // Older folders have all in config.json.
    const auto old = [](const json& more) {
        BrokenModel model("hf-bart");
        model.remove("generation_config.json");
        model.change_json("config.json", [&](json& config) { config.update(more.is_null() ? json::object() : more); });
        return open_model(model.path());
    };
    CHECK(old({}).config.frame.bos_id == 2);
    CHECK(old({{"decoder_start_token_id", nullptr}}).config.frame.bos_id == 0);
    // Without a key, the family's default counts.
    const auto without = [](const char* name, const char* key) {
        BrokenModel model(name);
        if (std::filesystem::exists(model.path("generation_config.json"))) {
            model.remove("generation_config.json");
        }
        model.change_json("config.json", [&](json& config) {
            config.erase(key);
            config["bos_token_id"] = 7;
        });
        return open_model(model.path());
    };
    for (const auto& [name, expected] :
         {std::pair{"hf-bart", 2}, {"hf-m2m100", 2}, {"hf-pegasus", 0}, {"hf-blenderbot-small", 1}, {"hf-mbart", 7}}) {
        INFO(name);
        CHECK(without(name, "decoder_start_token_id").config.frame.bos_id == expected);
    }
    for (const auto& [name, forced] :
         {std::pair{"hf-bart", true}, {"hf-m2m100", false}, {"hf-pegasus", true}, {"hf-mbart", true}}) {
        INFO(name);
        CHECK(without(name, "forced_eos_token_id").decoding->value("force_end", false) == forced);
    }
    CHECK_FALSE(old({{"forced_eos_token_id", nullptr}}).decoding->contains("force_end"));
    CHECK(old({{"forced_bos_token_id", nullptr}}).config.frame.target_begin.empty());
    CHECK(
        old({{"forced_bos_token_id", nullptr}, {"force_bos_token_to_be_generated", true}}).config.frame.target_begin ==
        Ids{0});
    CHECK((*old({{"eos_token_id", {2, 6}}, {"early_stopping", true}, {"num_beams", 4}}).decoding)["ends"] ==
          json{2, 6});
}

TEST_CASE("GPT-2's texts begin as its tokenizer says", "[generation]") {
    const BrokenModel model("hf-gpt2");
    CHECK(open_model(model.path()).config.frame.bos_id == -1);
    model.change_json("tokenizer_config.json", [](json& settings) {
        settings["add_bos_token"] = true;
        settings["add_eos_token"] = true;
    });
    const ModelDirectory opened = open_model(model.path());
    CHECK(opened.config.frame.bos_id == 0);
    REQUIRE(opened.remarks.size() == 1);
    CHECK_THAT(opened.remarks.front(), Contains("\"add_eos_token\""));
    const auto backend = open_device("cpu");
    const LoadedModel translator(*backend, model.path());
    CHECK(translate_line(translator, "mo", {.search = translator.search_options({})}).source_ids.front() == 0);
}

TEST_CASE("rows behind a vocabulary are in the softmax and are never written", "[generation]") {
    const auto backend = open_device("cpu");
    for (const char* name : {"hf-t5", "hf-gpt2", "hf-marian-tied"}) {
        INFO(name);
        const ModelDirectory model = open_model(checkout_file(std::string("tests/import/models/") + name));
        const std::int32_t pieces = ids_with_pieces(model.target_tokenizer->vocabulary());
        const TokenRules rules = token_rules(model.config, *model.target_tokenizer, {});
        CHECK(rules.pieces == pieces);
        for (std::int32_t id = pieces; id < model.config.target_vocabulary; ++id) {
            CHECK_FALSE(rules.may_be_written(id));
        }
    }
}

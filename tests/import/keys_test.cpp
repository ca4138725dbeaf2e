// Keys of other programs' configurations that nothing reads: known ones pass silently, others are named.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "import/formats.h"
#include "import/open_model.h"
#include "tests/import/broken_model.h"
#include "tests/import/marian_npz.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_file.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string remarks_of(const BrokenModel& model) {
    std::string text;
    for (const std::string& remark : open_model(model.path()).remarks) {
        text += remark + "\n";
    }
    return text;
}

std::vector<std::string> models_named(const std::string& begin) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(checkout_file("tests/import/models"))) {
        if (const std::string name = entry.path().filename().string(); name.starts_with(begin)) {
            names.push_back(name);
        }
    }
    return names;
}

}  // namespace

TEST_CASE("ordinary models open without a remark on their keys", "[import]") {
    for (const std::string& name : models_named("")) {
        CAPTURE(name);
        CHECK_THAT(remarks_of(BrokenModel(name)), !Contains("does not know"));
    }
}

TEST_CASE("keys of config.json that nothing knows are named in one remark, in every family", "[import]") {
    for (const std::string& name : models_named("hf-")) {
        const BrokenModel model(name);
        CAPTURE(name);
        model.change_json("config.json", [](json& config) {
            config["sparse_blocks"] = 10000.0;
            config["attention_sinks"] = false;
            config["no_value"] = nullptr;
        });
        CHECK_THAT(remarks_of(model),
                   Contains(model.path("config.json") + " has keys that Headscope does not know and does not obey: "
                                                        "\"attention_sinks\", \"sparse_blocks\"\n"));
    }
}

TEST_CASE("BERT's special pieces are those that its folder declares", "[import]") {
    const BrokenModel model("hf-bert");
    const ModelDirectory whole = open_model(model.path());
    const auto names = [&](std::int32_t id) { return whole.target_tokenizer->vocabulary().piece(id).text; };
    model.change_json("tokenizer_config.json", [&](json& settings) {
        settings["mask_token"] = names(10);
        settings["cls_token"] = names(11);
        settings["sep_token"] = names(12);
    });
    const ModelConfig config = open_model(model.path()).config;
    CHECK(std::vector{config.frame.mask_id, config.frame.bos_id, config.frame.eos_id} == std::vector{10, 11, 12});
}

TEST_CASE("a list of one is no number", "[bad_input]") {
    const BrokenModel model("hf-bart");
    model.change_json("config.json", [](json& config) { config["d_model"] = json{config["d_model"]}; });
    CHECK_THAT(model.complaint(), Contains("config.json: \"d_model\" must be an integer"));
    const BrokenModel roberta("hf-roberta");
    roberta.change_json("config.json", [](json& config) { config["eos_token_id"] = json{config["eos_token_id"]}; });
    CHECK(roberta.complaint().empty());
}

TEST_CASE("a known key of another family is not known in this one", "[import]") {
    const BrokenModel model("hf-gpt2");
    model.change_json("config.json", [](json& config) { config["max_position_embeddings"] = 7; });
    CHECK_THAT(remarks_of(model), Contains("\"max_position_embeddings\""));
}

TEST_CASE("values that would be another model are refused with file and key", "[bad_input]") {
    for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{{"pruned_heads", {{"0", {1}}}},
                                                                              {"tie_encoder_decoder", true},
                                                                              {"quantization_config", {{"bits", 4}}},
                                                                              {"is_decoder", true}}) {
        const BrokenModel model("hf-marian-tied");
        model.change_json("config.json", [&](json& config) { config[key] = value; });
        CHECK_THAT(model.complaint(), Contains("config.json: \"" + key + "\" is " + value.dump()));
    }
}

TEST_CASE("options of tokenizer_config.json that would split texts otherwise are named", "[import]") {
    const BrokenModel model("hf-bert");
    model.change_json("tokenizer_config.json", [](json& settings) {
        settings["do_basic_tokenize"] = false;
        settings["some_new_rule"] = 1;
        settings["model_max_length"] = 8;
    });
    CHECK_THAT(remarks_of(model), Contains(model.path("tokenizer_config.json") +
                                           " has keys that Headscope does not know and does not obey: "
                                           "\"do_basic_tokenize\", \"some_new_rule\"\n"));
}

TEST_CASE("keys of tokenizer.json that nothing knows are named", "[import]") {
    const BrokenModel model("hf-roberta-relu");
    CHECK_THAT(remarks_of(model), !Contains("tokenizer.json has keys"));
    model.change_json("tokenizer.json", [](json& file) { file["new_stage"] = 1; });
    CHECK_THAT(remarks_of(model), Contains(model.path("tokenizer.json") + " has keys") && Contains("\"new_stage\""));
}

TEST_CASE("options of tokenizer_config.json that contradict tokenizer.json are named", "[import]") {
    const BrokenModel model("hf-gpt2");
    const std::string merges = read_all(model.path("merges.txt"));
    model.write("tokenizer.json", byte_bpe_json(*read_vocabulary(model.path("vocab.json")), merges, "merges.txt"));
    for (const bool given : {false, true}) {
        model.change_json("tokenizer_config.json", [&](json& settings) { settings["add_prefix_space"] = given; });
        CHECK((remarks_of(model).find("json: \"add_prefix_space\" is true, but") != std::string::npos) == given);
    }
}

TEST_CASE("Marian's options are obeyed, refused or named", "[import]") {
    SECTION("those that would compute something else") {
        const BrokenModel model("marian-tied");
        change_marian_options(model, {{"transformer-disable-position-embeddings", "true"},
                                      {"transformer-attention-mask", "alibi"},
                                      {"input-join-fields", "true"},
                                      {"lemma-dependency", "re-embedding"}});
        const std::string complaint = model.complaint();
        for (const char* part :
             {"4 problems", "\"transformer-disable-position-embeddings\" is true",
              "\"transformer-attention-mask\" is \"alibi\"", "\"input-join-fields\"", "\"lemma-dependency\""}) {
            CHECK_THAT(complaint, Contains(part));
        }
    }
    SECTION("those that change nothing") {
        const BrokenModel model("marian-tied");
        change_marian_options(model, {{"transformer-attention-mask", "default"},
                                      {"transformer-alibi-shift", "false"},
                                      {"transformer-rnn-projection", "false"},
                                      {"separator-symbol", "\"[eos]\""},
                                      {"lemma-dependency", "\"\""},
                                      {"dec-cell-base-depth", "2"},
                                      {"ulr-dim-emb", "0"},
                                      {"transformer-no-bias", "false"}});
        CHECK_THAT(remarks_of(model), !Contains("does not know"));
    }
    SECTION("those that nothing knows") {
        const BrokenModel model("marian-tied");
        change_marian_options(model, {{"transformer-gated-attention", "true"}});
        CHECK_THAT(remarks_of(model), Contains(model.path("model.npz") + " has keys") &&
                                          Contains("not obey: \"transformer-gated-attention\"\n"));
    }
    SECTION("those of decoder.yml that our options cannot hold") {
        const BrokenModel model("marian-tied");
        std::string text = read_all(model.path("decoder.yml"));
        for (const char* key : {"beam-size", "normalize"}) {
            if (const std::size_t at = text.find(std::string(key) + ":"); at != std::string::npos) {
                text.erase(at, text.find('\n', at) + 1 - at);
            }
        }
        model.write("decoder.yml", text + "beam-size: 64\nnormalize: 11.5\n");
        CHECK_THAT(remarks_of(model), Contains("decoder.yml: \"beam-size\" is 64, of which 30 is used") &&
                                          Contains("decoder.yml: \"normalize\" is 11.5, of which 10.0 is used"));
    }
    SECTION("those of decoder.yml") {
        const BrokenModel model("marian-tied");
        model.write("decoder.yml",
                    read_all(model.path("decoder.yml")) + "mini-batch: 16\nshortlist: [lex.s2t, 50]\nn-best: true\n");
        CHECK_THAT(remarks_of(model), Contains(model.path("decoder.yml") + " has keys") &&
                                          Contains("not obey: \"n-best\", \"shortlist\"\n"));
    }
}

TEST_CASE("keys of CTranslate2, Sockeye and fairseq that nothing knows are named", "[import]") {
    const BrokenModel ctranslate2("ct2-float32");
    ctranslate2.change_json("config.json", [](json& config) { config["quantization_bits"] = 4; });
    CHECK_THAT(remarks_of(ctranslate2), Contains("config.json has keys") && Contains("\"quantization_bits\""));
    ctranslate2.change_json("config.json", [](json& config) { config["multi_query_attention"] = true; });
    CHECK_THAT(ctranslate2.complaint(), Contains("\"multi_query_attention\" is true"));

    const BrokenModel t5("ct2-t5");
    std::string bytes = read_all(t5.path("model.bin"));
    const std::string key = "encoder/layer_1/self_attention/queries_scale";
    bytes.replace(bytes.find(key) + key.size() + 7, 4,
                  std::string("\0\0\x80\x3e", 4));  // rank, type and size, then 0.25
    t5.write("model.bin", bytes);
    CHECK_THAT(t5.complaint(), Contains("\"" + key + "\" is 0.25: expected"));

    const BrokenModel sockeye("sockeye-tied");
    sockeye.replace_text("config", "dtype: float32", "dtype: float32\nknn_index: there");
    sockeye.replace_text("config", "  use_glu: false", "  use_glu: false\n  attention_window: 4");
    CHECK_THAT(remarks_of(sockeye), Contains("\"knn_index\", \"attention_window\""));

    Problems problems("model.pt");
    const json options = {{"arch", "transformer"},           {"lr", {0.1}},         {"adam_betas", "(0.9, 0.98)"},
                          {"encoder_layerdrop", 0.2},        {"num_workers", 3},    {"encoder_langtok", "src"},
                          {"decoder_layers_to_keep", "0,2"}, {"prepend_bos", true}, {"truncate_source", false}};
    std::vector<std::string> remarks;
    check_fairseq_options(ForeignConfig(options, "model.pt", problems), "model.pt", remarks);
    REQUIRE(remarks.size() == 1);
    CHECK_THAT(remarks.front(), Contains("not obey: \"encoder_langtok\", \"prepend_bos\""));
    CHECK_THAT(error_of([&] { problems.finish(); }), Contains("\"decoder_layers_to_keep\" is \"0,2\""));
}

TEST_CASE("a value of the wrong type is an error that names file and key", "[bad_input]") {
    for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{{"tokenizer_class", 5},
                                                                              {"add_prefix_space", "yes"},
                                                                              {"additional_special_tokens", "<sep>"},
                                                                              {"extra_ids", {1}},
                                                                              {"src_lang", 3},
                                                                              {"additional_special_tokens", {1}}}) {
        const BrokenModel model("hf-m2m100");
        model.remove("special_tokens_map.json");
        model.change_json("tokenizer_config.json", [&](json& settings) { settings[key] = value; });
        const std::string complaint = model.complaint();
        CHECK_THAT(complaint, Contains(model.path("tokenizer_config.json") + ": \"" + key));
    }
    const BrokenModel map("hf-m2m100");
    map.write("special_tokens_map.json", R"({"additional_special_tokens": [["__en__"]]})");
    CHECK_THAT(map.complaint(), Contains(map.path("special_tokens_map.json") + ": \"additional_special_tokens[0]\""));
    for (const char* line : {"vocabs: 5", "vocabs: [1, 2]", "models: {a: b}"}) {
        const BrokenModel marian("marian-tied");
        marian.write("decoder.yml", std::string("models: [model.npz]\nvocabs: [vocab.source.yml, vocab.target.yml]\n"));
        const std::string key = std::string(line).substr(0, 6);
        marian.write("decoder.yml", key == "models"
                                        ? std::string(line) + "\nvocabs: [vocab.source.yml, vocab.target.yml]\n"
                                        : "models: [model.npz]\n" + std::string(line) + "\n");
        CHECK_THAT(marian.complaint(), Contains(marian.path("decoder.yml") + ": \"" + key + "\""));
    }
}

// Models of other programs that are damaged, mixed up or not supported: each error names file and key.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "import/open_model.h"
#include "tests/import/broken_model.h"
#include "tests/import/marian_npz.h"
#include "tests/io/ctranslate2_writer.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

void check_complaint(const BrokenModel& model, const std::vector<std::string>& parts) {
    const std::string message = model.complaint();
    CHECK_THAT(message, Contains(model.path()));
    for (const std::string& part : parts) {
        CHECK_THAT(message, Contains(part));
    }
}

}  // namespace

TEST_CASE("the models that are damaged below are whole", "[bad_input]") {
    for (const char* name : {"hf-marian-tied", "hf-marian-shards", "marian-tied", "sockeye-tied"}) {
        CHECK(BrokenModel(name).complaint() == "");
    }
}

TEST_CASE("a missing file is named", "[bad_input]") {
    for (const auto& [name, files] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"hf-marian-tied", {"vocab.json", "source.spm", "target.spm", "config.json"}},
             {"hf-marian-shards", {"model-00002-of-"}},
             {"marian-tied", {"vocab.source.yml", "vocab.target.yml", "model.npz"}},
             {"sockeye-tied", {"vocab.src.0.json", "vocab.trg.0.json"}},
             {"fairseq-args", {"dict.en.txt", "dict.de.txt"}},
             {"ct2-float32", {"shared_vocabulary.json"}}}) {
        for (const std::string& file : files) {
            const BrokenModel model(name);
            for (const auto& entry : std::filesystem::directory_iterator(model.path())) {
                if (entry.path().filename().string().starts_with(file)) {
                    std::filesystem::remove(entry.path());
                }
            }
            CAPTURE(name, file);
            const std::string wanted = name == "ct2-float32" ? "source_vocabulary.json" : file;
            check_complaint(model, {wanted});
        }
    }
}

TEST_CASE("a folder without weights lists the names they can have", "[bad_input]") {
    const BrokenModel model("hf-marian-tied");
    model.remove("model.safetensors");
    check_complaint(model, {"model.safetensors", "pytorch_model.bin"});
}

TEST_CASE("all tensors that are missing, unknown or of another shape are listed in one error", "[bad_input]") {
    const BrokenModel model("hf-marian-tied");
    model.change_header("model.safetensors", [](json& header) {
        header["model.encoder.layers.7.fc1.weight"] = header["model.encoder.layers.0.fc1.weight"];
        header.erase("model.encoder.layers.0.fc1.weight");
        json& turned = header["model.decoder.layers.0.fc2.weight"]["shape"];
        turned = {turned[1], turned[0]};
    });
    check_complaint(model, {"model.safetensors", "model.encoder.layers.7.fc1.weight: the tensor is not a parameter",
                            "model.encoder.layers.0.fc1.weight: the tensor [20, 12] is missing",
                            "model.decoder.layers.0.fc2.weight: the tensor is [20, 12]", "needs [12, 20]"});
}

TEST_CASE("two weight files that disagree are an error", "[bad_input]") {
    SECTION("in shapes") {
        const BrokenModel model("hf-marian-tied");
        model.add("hf-marian-separate", "pytorch_model.bin");
        const std::string message = model.complaint();
        CHECK_THAT(message, Contains(model.path("model.safetensors")));
        CHECK_THAT(message, Contains(model.path("pytorch_model.bin")));
        CHECK_THAT(message, Contains("final_logits_bias: the shapes differ"));
    }
    SECTION("in values") {
        const BrokenModel model("hf-marian-shards");
        std::string shard;
        for (const auto& entry : std::filesystem::directory_iterator(model.path())) {
            if (entry.path().filename().string().starts_with("model-00001")) {
                shard = read_all(entry.path().string());
            }
        }
        model.write("model.safetensors", shard);
        CHECK_THAT(model.complaint(), !Contains("the values differ"));
        shard.back() = static_cast<char>(shard.back() + 1);
        model.write("model.safetensors", shard);
        check_complaint(model, {"model.safetensors.index.json", "the values differ"});
    }
}

TEST_CASE("the configuration of another model does not fit its weights and vocabularies", "[bad_input]") {
    const BrokenModel model("hf-marian-tied");
    model.add("hf-marian-languages", "config.json");
    check_complaint(model, {"model.safetensors", "model.shared.weight: the tensor is ["});
    const BrokenModel smaller("hf-marian-tied");  // a larger one would have rows without a piece
    smaller.change_json("config.json", [](json& config) {
        config["vocab_size"] = config["decoder_vocab_size"] = config["vocab_size"].get<int>() - 1;
    });
    check_complaint(smaller, {"config.json", "\"vocab_size\"", "vocab.json"});
    const BrokenModel wider("hf-marian-tied");
    wider.change_json("config.json", [](json& config) { config["d_model"] = 24; });
    check_complaint(wider, {"model.safetensors", "model.shared.weight: the tensor is [", "the configuration needs ["});
}

TEST_CASE("ids that do not fit are named as the file names them", "[bad_input]") {
    const auto complaint = [](const char* name, const auto& change) {
        const BrokenModel model(name);
        model.change_json("config.json", change);
        if (std::string(name) == "hf-bart") {
            model.remove("generation_config.json");  // whose start counts
        }
        const std::string message = model.complaint();
        CHECK_THAT(message, Contains(model.path("config.json: ")));
        return message;
    };
    CHECK_THAT(complaint("hf-t5", [](json& config) { config["eos_token_id"] = 99; }),
               Contains("\"eos_token_id\" must be below 56"));
    CHECK_THAT(complaint("hf-t5", [](json& config) { config["eos_token_id"] = 0; }),
               Contains("\"eos_token_id\" 0 must differ from pad_token_id"));
    CHECK_THAT(complaint("hf-bart", [](json& config) { config["decoder_start_token_id"] = 999; }),
               Contains("\"decoder_start_token_id\" must be below"));
}

TEST_CASE("a vocabulary without an end is an error that names it", "[bad_input]") {
    const BrokenModel model("sockeye-tied");
    model.replace_text("vocab.trg.0.json", "</s>", "</t>");
    check_complaint(model, {model.path("vocab.trg.0.json") + " has no piece for the end of a text"});
}

TEST_CASE("a vocabulary with holes, doubles or too few pieces is an error that names piece or id", "[bad_input]") {
    const auto complaint = [](const auto& change) {
        const BrokenModel model("hf-marian-tied");
        model.change_json("vocab.json", change);
        const std::string message = model.complaint();
        CHECK_THAT(message, Contains(model.path("vocab.json")) || Contains("vocab.json has"));
        return message;
    };
    CHECK_THAT(complaint([](json& ids) { ids.erase("."); }), Contains("id"));
    CHECK_THAT(complaint([](json& ids) { ids["."] = 0; }), Contains("0"));
    CHECK_THAT(complaint([](json& ids) { ids["."] = -3; }), Contains("'.'"));
    CHECK_THAT(complaint([](json& ids) { ids["more"] = ids.size(); }), Contains("\"vocab_size\""));
    CHECK_THAT(complaint([](json& ids) {
                   ids["end"] = ids["</s>"];
                   ids.erase("</s>");
               }),
               Contains("</s>"));
}

TEST_CASE("a SentencePiece model of which most pieces have no id belongs to another model", "[bad_input]") {
    const BrokenModel model("hf-marian-tied");
    model.change_json("vocab.json", [](json& ids) {
        json others;
        for (const auto& [piece, id] : ids.items()) {
            const bool special = piece.starts_with('<');
            others[special ? piece : "\u0416" + piece] = id;
        }
        ids = others;
    });
    check_complaint(model, {"source.spm", "pieces have no id in", "vocab.json"});
}

TEST_CASE("all unsupported options of a model are listed in one error, with file and key", "[bad_input]") {
    SECTION("Hugging Face") {
        const BrokenModel model("hf-marian-tied");
        model.change_json("config.json", [](json& config) {
            config["activation_function"] = "tanh";
            config["normalize_before"] = true;
            config["static_position_embeddings"] = false;
            config["decoder_attention_heads"] = 5;
            config["scale_embedding"] = 4;
        });
        check_complaint(model, {"5 problems", "config.json: \"activation_function\" is \"tanh\"",
                                "config.json: \"normalize_before\"", "config.json: \"static_position_embeddings\"",
                                "\"decoder_attention_heads\" is 5",
                                "config.json: \"scale_embedding\" must be true or false, found 4"});
    }
    SECTION("Marian") {
        const BrokenModel model("marian-tied");
        change_marian_options(model, {{"transformer-postprocess", "dhn"},
                                      {"transformer-tied-layers", "[1, 1]"},
                                      {"right-left", "true"},
                                      {"transformer-ffn-depth", "3"},
                                      {"ulr", "true"}});
        check_complaint(model,
                        {"5 problems", "special:model.yml: \"transformer-postprocess\" is \"dhn\"",
                         "\"transformer-tied-layers\"", "\"right-left\"", "\"transformer-ffn-depth\"", "\"ulr\""});
    }
    SECTION("Sockeye") {
        const BrokenModel model("sockeye-tied");
        model.replace_text("config", "num_factors: 1", "num_factors: 2");
        model.replace_text("config", "use_lhuc: false", "use_lhuc: true");
        model.replace_text("config", "positional_embedding_type: fixed", "positional_embedding_type: none");
        check_complaint(model, {"3 problems", "config: config_embed_source: \"num_factors\" is 2", "\"use_lhuc\"",
                                "\"positional_embedding_type\""});
    }
}

TEST_CASE("tokenizer settings that are not an object are an error that names the file", "[bad_input]") {
    const BrokenModel model("hf-marian-tied");
    model.write("tokenizer_config.json", "[]");
    check_complaint(model, {"tokenizer_config.json: expected a JSON object, found array"});
}

TEST_CASE("students of Marian that are not Transformers are named", "[bad_input]") {
    for (const char* kind : {"rnn", "average-attention"}) {
        const BrokenModel model("marian-tied");
        change_marian_options(model, {{"transformer-decoder-autoreg", kind}});
        check_complaint(model, {std::string("\"transformer-decoder-autoreg\" is \"") + kind + "\"", "SSRU"});
    }
}

TEST_CASE("Marian's pre-norm models from before v1.10.28 are another architecture", "[bad_input]") {
    const BrokenModel model("marian-pre-norm");
    change_marian_options(model, {{"version", "v1.10.27 0000000 2021-01-01"}});
    check_complaint(model, {"\"version\" is \"v1.10.27", "v1.10.28"});
}

TEST_CASE("a factored vocabulary is not supported", "[bad_input]") {
    const BrokenModel model("marian-tied");
    std::filesystem::rename(model.path("vocab.source.yml"), model.path("vocab.source.fsv"));
    model.replace_text("decoder.yml", "vocab.source.yml", "vocab.source.fsv");
    check_complaint(model, {"vocab.source.fsv", "factored"});
}

TEST_CASE("an adapter is not a model", "[bad_input]") {
    const BrokenModel alone("hf-marian-tied");
    for (const auto& entry : std::filesystem::directory_iterator(alone.path())) {
        std::filesystem::remove(entry.path());
    }
    const std::string config = R"({"peft_type": "LORA", "base_model_name_or_path": "opus-mt-en-de"})";
    alone.write("adapter_config.json", config);
    alone.write("adapter_model.safetensors", "");
    check_complaint(alone, {"adapter_config.json", "merge it"});
    const BrokenModel beside("hf-marian-tied");
    beside.write("adapter_config.json", config);
    check_complaint(beside, {"adapter_config.json"});
}

TEST_CASE("a family that is not supported is named with those that are", "[bad_input]") {
    for (const char* type : {"nllb-moe", "switch_transformers", "falcon"}) {
        const BrokenModel model("hf-marian-tied");
        model.change_json("config.json", [&](json& config) { config["model_type"] = type; });
        check_complaint(model, {"config.json", "\"model_type\"", type, "marian, mbart"});
    }
    const BrokenModel model("ct2-float32");
    model.write("model.bin", ctranslate2::model(6, {{"encoder/num_heads", {}, 2, std::string("\2\0", 2)}}));
    check_complaint(model, {"model.bin", "TransformerSpec", "only Transformers with self-attention are supported"});
}

TEST_CASE("a model of a family that a command cannot use is an error that says which command takes it", "[bad_input]") {
    const BrokenModel model("hf-bert");
    const std::string message =
        error_of([&] { require_architecture(open_model(model.path()), Architecture::EncoderDecoder); });
    CHECK_THAT(message, Contains(model.path()));
    CHECK_THAT(message, Contains("masked language model"));
}

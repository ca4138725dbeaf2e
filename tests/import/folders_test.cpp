// Folders as people have them: a training's, without lists of languages, with one tokenizer of two, of other programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "import/language_lists.h"
#include "import/marian_folder.h"
#include "import/open_model.h"
#include "tests/import/broken_model.h"
#include "tests/io/ctranslate2_writer.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

std::string remarks_in(const ModelDirectory& model) {
    std::string text;
    for (const std::string& remark : model.remarks) {
        text += remark + "\n";
    }
    return text;
}

using Ids = std::vector<std::int32_t>;

// CTranslate2's conversion of a tiny model, whose texts are pieces. Its tensors are complete only as far as opening
// looks.
class Converted : public BrokenModel {
public:
    Converted(const std::vector<std::string>& pieces, const json& settings, bool pre_norm)
        : BrokenModel("ct2-float32") {
        remove("source.spm");
        remove("target.spm");
        const auto size = static_cast<std::uint32_t>(pieces.size());
        std::vector<ctranslate2::Variable> variables;
        for (const std::string stack : {"encoder", "decoder"}) {
            variables.push_back({stack + "/num_heads", {}, 2, std::string("\2\0", 2)});
            variables.push_back({stack + "/pre_norm", {}, 1, std::string(1, pre_norm ? '\1' : '\0')});
            variables.push_back(
                tensor(stack == "encoder" ? "encoder/embeddings_0/weight" : "decoder/embeddings/weight", {size, 4}));
            variables.push_back(tensor(stack + "/layer_0/self_attention/linear_0/weight", {12, 4}));
            variables.push_back(tensor(stack + "/layer_0/ffn/linear_0/weight", {8, 4}));
            variables.push_back(tensor(stack + "/layernorm_embedding/gamma", {4}));
            variables.push_back(tensor(stack + "/position_encodings/encodings", {16, 4}));
        }
        write("model.bin", ctranslate2::model(6, variables));
        write("config.json", settings.dump());
        write("shared_vocabulary.json", json(pieces).dump());
    }

private:
    static ctranslate2::Variable tensor(const std::string& name, std::vector<std::uint32_t> shape) {
        std::size_t items = 1;
        for (const std::uint32_t side : shape) {
            items *= side;
        }
        return {name, std::move(shape), 0, std::string(4 * items, '\0')};
    }
};

json started_from(const json& start) {
    return {{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"decoder_start_token", start}};
}

const std::vector<std::string> kMBart = {"<s>", "<pad>", "</s>", "<unk>", "a", "b", "de_DE", "en_XX", "<mask>"};

}  // namespace

TEST_CASE("a folder that Marian's training has left is a model", "[import]") {
    const BrokenModel model("marian-tied");
    fs::rename(model.path("decoder.yml"), model.path("model.npz.decoder.yml"));
    model.write("model.npz.optimizer.npz", "");
    model.write("model.npz.progress.yml", "");
    CHECK(open_model(model.path()).remarks.empty());
    CHECK(model.complaint().empty());
    for (const char* name : {"model.iter900.npz", "model.iter1000.npz", "model.npz.best-perplexity.npz",
                             "model.npz.best-bleu-detok.npz"}) {
        fs::copy(model.path("model.npz"), model.path(name));
        fs::copy(model.path("model.npz.decoder.yml"), model.path(std::string(name) + ".decoder.yml"));
    }
    CHECK_THAT(remarks_in(open_model(model.path())),
               Contains("this is " + model.path("model.npz") +
                        "; name another file to take it: model.npz.best-bleu-detok.npz, "
                        "model.npz.best-perplexity.npz, model.iter1000.npz, model.iter900.npz"));
    CHECK(find_marian_files(model.path("model.iter900.npz")).weights == model.path("model.iter900.npz"));
    model.remove("model.npz");
    CHECK(find_marian_files(model.path()).weights == model.path("model.npz.best-bleu-detok.npz"));
    for (const char* name : {"one.npz", "two.npz"}) {
        fs::copy(model.path("model.iter900.npz"), model.path(name));
        fs::copy(model.path("model.npz.decoder.yml"), model.path(std::string(name) + ".decoder.yml"));
    }
    CHECK_THAT(model.complaint(), Contains("several trainings: name one, such as " + model.path("one.npz")));
}

TEST_CASE("the best model of a training opens with the only file that describes one", "[import]") {
    const BrokenModel model("marian-tied");
    fs::rename(model.path("decoder.yml"), model.path("model.npz.decoder.yml"));
    fs::rename(model.path("model.npz"), model.path("model.npz.best-translation.npz"));
    CHECK(model.complaint().empty());
    CHECK(find_marian_files(model.path("model.npz.best-translation.npz")).decoder ==
          model.path("model.npz.decoder.yml"));
}

TEST_CASE("vocabularies that decoder.yml names on another machine are taken from beside it", "[import]") {
    const BrokenModel model("marian-tied");
    model.write("decoder.yml",
                "models: [/home/them/model.npz]\nvocabs: [/home/them/vocab.source.yml, ../x/vocab.target.yml]\n");
    CHECK(model.complaint().empty());
}

TEST_CASE("one SentencePiece model of two that is missing is said", "[import]") {
    for (const auto& [name, file, side] :
         std::vector<std::tuple<std::string, std::string, std::string>>{{"marian-tied", "source.spm", "source"},
                                                                        {"marian-tied", "target.spm", "target"},
                                                                        {"fairseq-args", "en.spm", "source"},
                                                                        {"ct2-float32", "target.spm", "target"}}) {
        const BrokenModel model(name);
        CAPTURE(name, file);
        CHECK(open_model(model.path()).remarks.empty());
        model.remove(file);
        CHECK_THAT(remarks_in(open_model(model.path())), Contains("has no SentencePiece model for its " + side));
    }
}

TEST_CASE("M2M100's class knows the languages that no file lists", "[import]") {
    const BrokenModel model("hf-m2m100");
    model.remove("special_tokens_map.json");
    const auto pieces = static_cast<std::int32_t>(read_json_file(model.path("vocab.json")).size());
    model.change_json("config.json", [&](json& config) { config["vocab_size"] = pieces + 108; });
    model.change_json("tokenizer_config.json", [](json& settings) {
        settings["language_codes"] = "m2m100";
        settings["extra_special_tokens"] = json::array();
    });
    const ModelConfig config = open_model(model.path()).config;
    CHECK(config.frame.languages.size() == 100);
    CHECK(config.frame.languages.at("af") == pieces);
    CHECK(config.frame.languages.at("ast") == pieces + 3);
    CHECK(config.frame.languages.at("zu") == pieces + 99);
    CHECK(config.frame.source_begin == Ids{kSourceLanguage});
    model.change_json("tokenizer_config.json", [](json& settings) { settings["language_codes"] = "wmt21"; });
    CHECK(open_model(model.path()).config.frame.languages.at("de") == pieces + 7);
    CHECK(languages_of_class("NllbTokenizerFast", "").size() == 202);
    CHECK(languages_of_class("MBartTokenizer", "").size() == 25);
    CHECK(languages_of_class("MBart50TokenizerFast", "").back() == "sl_SI");
    CHECK(languages_of_class("T5Tokenizer", "").empty());
}

TEST_CASE("declared tokens have the ids that the folder gives them", "[import]") {
    for (const char* name : {"hf-m2m100", "hf-nllb", "hf-pegasus", "hf-camembert"}) {
        INFO(name);
        const BrokenModel model(name);
        std::int64_t id = 0;
        model.change_json("config.json", [&](json& config) {  // rows for made-up words, then for the new one
            id = config["vocab_size"].get<std::int64_t>() + 5;
            config["vocab_size"] = id + 2;
        });
        model.write("added_tokens.json", json{{"neu", id}}.dump());
        model.change_json("tokenizer_config.json", [](json& settings) { settings.erase("added_tokens_decoder"); });
        CHECK(open_model(model.path()).target_tokenizer->vocabulary().find("neu") == id);
        model.write("added_tokens.json", json{{"neu", 7}}.dump());
        CHECK_THAT(model.complaint(), Contains("the token 'neu' is declared with the id 7"));
    }
}

TEST_CASE("a class that is not known is read from its tokenizer.json", "[import]") {
    const BrokenModel model("hf-mt5");
    model.write("spiece.model", "not a model");
    model.change_json("tokenizer_config.json", [](json& s) { s["tokenizer_class"] = "XLNetTokenizer"; });
    CHECK(model.complaint().empty());
    model.remove("tokenizer.json");
    CHECK_THAT(model.complaint(), Contains("XLNetTokenizer"));
}

TEST_CASE("CTranslate2's conversions for several languages are known by the names in their vocabulary", "[import]") {
    SECTION("mBART-50") {
        const ModelConfig config = open_model(Converted(kMBart, started_from("</s>"), true).path()).config;
        CHECK(config.frame.languages == std::map<std::string, std::int32_t>{{"de_DE", 6}, {"en_XX", 7}});
        CHECK(config.frame.source_begin == Ids{kSourceLanguage});
        CHECK(config.frame.source_end == Ids{2});
        CHECK(config.frame.target_begin == Ids{kTargetLanguage});
        CHECK(config.frame.bos_id == 2);
    }
    SECTION("mBART-50 without a start, known by its further languages") {
        std::vector<std::string> pieces = kMBart;
        pieces[4] = "sl_SI";
        const ModelConfig config = open_model(Converted(pieces, started_from(nullptr), true).path()).config;
        CHECK(config.frame.bos_id == 2);
        CHECK(config.frame.target_begin == Ids{kTargetLanguage});
    }
    SECTION("mBART-25, whose decoder starts from the target language") {
        CHECK_THAT(
            Converted(kMBart, started_from(nullptr), true).complaint(),
            Contains(
                "\"decoder_start_token\" is null: write the piece there from which the decoder starts, for mBART-25 "
                "the target language"));
        const ModelConfig config = open_model(Converted(kMBart, started_from("de_DE"), true).path()).config;
        CHECK(config.frame.bos_id == 6);
        CHECK(config.frame.source_begin.empty());
        CHECK(config.frame.source_end == Ids{2, kSourceLanguage});
        CHECK(config.frame.target_begin.empty());
    }
    SECTION("M2M100 and NLLB") {
        for (const std::vector<std::string>& names :
             {std::vector<std::string>{"__de__", "__en__"}, {"deu_Latn", "eng_Latn"}}) {
            std::vector<std::string> pieces = kMBart;
            std::ranges::copy(names, pieces.begin() + 6);
            const ModelConfig config = open_model(Converted(pieces, started_from("</s>"), true).path()).config;
            CHECK(config.frame.languages.size() == 2);
            CHECK(config.frame.source_begin == Ids{kSourceLanguage});
            CHECK(config.frame.source_end == Ids{2});
            CHECK(config.frame.target_begin == Ids{kTargetLanguage});
        }
    }
    SECTION("one piece that looks like a language is none") {
        std::vector<std::string> pieces = kMBart;
        pieces[6] = "c";
        CHECK(open_model(Converted(pieces, started_from("</s>"), true).path()).config.frame.languages.empty());
    }
    SECTION("names that a conversion has lost are said") {
        std::vector<std::string> pieces = kMBart;
        pieces[6] = "madeupword0";
        pieces[7] = "madeupword1";
        CHECK_THAT(remarks_in(open_model(Converted(pieces, started_from("</s>"), true).path())),
                   Contains("languages cannot be chosen, as its vocabulary names none"));
    }
    SECTION("a start that is null says nothing without languages") {
        std::vector<std::string> pieces = kMBart;
        pieces[6] = "c";
        CHECK_THAT(Converted(pieces, started_from(nullptr), true).complaint(),
                   Contains("\"decoder_start_token\" is null: expected the piece"));
    }
}

TEST_CASE("sources of CTranslate2's BART begin as its tokenizer writes them", "[import]") {
    const std::vector<std::string> pieces = {"<s>", "<pad>", "</s>", "<unk>", "a", "b"};
    const ModelConfig bart = open_model(Converted(pieces, started_from("</s>"), false).path()).config;
    CHECK(bart.frame.source_begin == Ids{0});
    CHECK(bart.frame.source_end == Ids{2});
    json settings = started_from("</s>");
    settings["add_source_eos"] = true;  // of fairseq
    CHECK(open_model(Converted(pieces, settings, false).path()).config.frame.source_begin.empty());
}

TEST_CASE("without a tie both sides have the tables that the file has", "[import]") {
    for (const bool apart : {false, true}) {
        const BrokenModel model("hf-bart");
        model.change_json("config.json", [](json& config) { config["tie_word_embeddings"] = false; });
        std::size_t bytes = 0;  // of a table
        model.change_header("model.safetensors", [&](json& header) {
            std::size_t end = 0;
            for (const auto& [tensor, entry] : header.items()) {
                end = tensor == "__metadata__" ? end : std::max(end, entry["data_offsets"][1].get<std::size_t>());
            }
            json table = header.at("model.shared.weight");
            bytes = table["data_offsets"][1].get<std::size_t>() - table["data_offsets"][0].get<std::size_t>();
            for (const char* own :
                 {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}) {
                table["data_offsets"] = {end, end + bytes};
                header[own] = table;
                end += bytes;
            }
        });
        model.write("model.safetensors", read_all(model.path("model.safetensors")) + std::string(bytes, '\0') +
                                             std::string(bytes, apart ? '\1' : '\0') + std::string(bytes, '\2'));
        CHECK(open_model(model.path()).config.embedding.tying == (apart ? Tying::None : Tying::Embeddings));
        CHECK(model.complaint().empty());
    }
}

TEST_CASE("RoBERTa of ids alone begins and ends texts as its configuration says", "[import]") {
    const BrokenModel model("hf-roberta");
    for (const char* name : {"vocab.json", "merges.txt", "tokenizer_config.json"}) {
        model.remove(name);
    }
    model.change_json("config.json", [](json& config) {
        config["bos_token_id"] = 5;
        config["eos_token_id"] = 7;
    });
    const ModelConfig config = open_model(model.path()).config;
    CHECK(config.frame.bos_id == 5);
    CHECK(config.frame.eos_id == 7);
    CHECK(config.frame.pad_id == 1);
}

TEST_CASE("files of formats that do not open are called by their names", "[bad_input]") {
    const BrokenModel model("hf-marian-tied");
    for (const auto& entry : fs::directory_iterator(model.path())) {
        fs::remove(entry.path());
    }
    model.write("model.bin", std::string("\1\0\0\0\0\0\0\0", 8) + std::string(64, '\0'));
    CHECK_THAT(error_of([&] { open_model(model.path()); }), Contains("model.bin is a binary model of Marian"));
    CHECK_THAT(error_of([&] { open_model(model.path("model.bin")); }), Contains("is a binary model of Marian"));
    model.write("decoder.yml", "models: [model.bin]\nvocabs: [a.spm, b.spm]\n");
    CHECK_THAT(error_of([&] { open_model(model.path()); }), Contains("model.bin is a binary model of Marian"));
    const BrokenModel torn("marian-tied");
    fs::rename(torn.path("model.npz"), torn.path("model.npz.optimizer.npz"));
    torn.remove("decoder.yml");
    CHECK_THAT(torn.complaint(), !Contains("name one, such as"));
}

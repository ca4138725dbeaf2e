// A model of another program, written as a model directory, is the same model.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "broken_model.h"
#include "import/open_model.h"
#include "infer/decoding_choices.h"
#include "model/frame_of_config.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/infer/translate_text.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> models() {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(checkout_file("tests/import/models"))) {
        if (entry.is_directory()) {
            found.push_back(entry.path().string());
        }
    }
    return found;
}

}  // namespace

TEST_CASE("a model that was imported opens as the same model", "[import]") {
    const auto backend = open_device("cpu");
    for (const std::string& path : models()) {
        INFO(path);
        const TemporaryFolder folder;
        const ModelDirectory theirs = open_model(path);
        const auto parameters = read_parameters(*backend, theirs, DType::F32);
        write_model_directory(*backend, folder.file("model"), theirs.config, *parameters, DType::F32,
                              *theirs.source_tokenizer, *theirs.target_tokenizer, theirs.decoding.get());
        CHECK(format_of(folder.file("model")) == ModelFormat::Headscope);
        const ModelDirectory ours = open_model(folder.file("model"));
        CHECK(to_json(ours.config) == to_json(theirs.config));
        CHECK(decoding_choices_of(ours) == decoding_choices_of(theirs));
        const auto read = read_parameters(*backend, ours, DType::F32);
        for (const ParameterSpec& spec : read->table()) {
            CHECK(read->values_of(spec.name) == parameters->values_of(spec.name));
        }
        for (const char* text : {"the old king gave a ring", "Mo \u00e9 x2, [MASK]", "27 1", ""}) {
            const bool of_ids = theirs.source_tokenizer->unk_id() < 0;
            if (theirs.source_tokenizer->pictures() != nullptr || (of_ids && std::string(text) != "27 1")) {
                continue;  // takes ids alone, or names of pictures
            }
            CHECK(ours.source_tokenizer->encode(text) == theirs.source_tokenizer->encode(text));
            CHECK(ours.target_tokenizer->encode(text) == theirs.target_tokenizer->encode(text));
        }
    }
}

TEST_CASE("every model translates as its author chose, in its first languages", "[import]") {
    const auto backend = open_device("cpu");
    for (const std::string& path : models()) {
        INFO(path);
        const LoadedModel translator(*backend, path);
        const ModelConfig& config = translator.model().config;
        if (config.architecture != Architecture::EncoderDecoder) {
            continue;
        }
        DecodingOptions options{.search = translator.search_options({})};
        Languages& languages = options.search.languages;
        const std::string some = config.frame.languages.empty() ? "" : config.frame.languages.begin()->first;
        for (const auto& [word, name] :
             {std::pair{kSourceLanguage, &languages.source}, {kTargetLanguage, &languages.target}}) {
            *name = name->empty() && needs_language(config, word) ? some : *name;
        }
        options.search.max_extra = 8;
        const bool takes_ids = translator.model().source_tokenizer->unk_id() < 0;
        CHECK_FALSE(translate_line(translator, takes_ids ? "27 1" : "mo Kaleb rito", options).n_best.empty());
    }
}

TEST_CASE("BERT without a head for masked words opens, with a remark", "[import]") {
    const BrokenModel model("hf-bert");
    // Those of a classifier in their place.
    std::vector<std::string> names{"classifier.weight",           "classifier.bias",       "pre_classifier.weight",
                                   "pre_classifier.bias",         "qa_outputs.weight",     "qa_outputs.bias",
                                   "cls.seq_relationship.weight", "bert.pooler.dense.bias"};
    model.change_header("model.safetensors", [&](nlohmann::json& header) {
        nlohmann::json renamed = nlohmann::json::object();
        for (const auto& [name, entry] : header.items()) {
            const bool of_head = name.starts_with("cls.predictions.");
            renamed[of_head ? names.back() : name] = entry;
            names.resize(names.size() - (of_head ? 1 : 0));
        }
        header = std::move(renamed);
    });
    CHECK(model.complaint().empty());
    const ModelDirectory opened = open_model(model.path());
    CHECK(opened.config.output.transform == OutputTransform::None);
    REQUIRE_FALSE(opened.remarks.empty());
    CHECK_THAT(opened.remarks.front(), Catch::Matchers::Contains("has no head for masked words"));
}

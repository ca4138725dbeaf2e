// What is exported opens again as the same model.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "import/export_model.h"
#include "import/open_model.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

struct Case {
    const char* model;  // in tests/import/models
    ExportFormat format;
};

ModelDirectory opened(const std::string& name) {
    return open_model(checkout_file("tests/import/models/" + name));
}

// What a model is, but for where it lies.
void check_same(Backend& backend, const ModelDirectory& one, const ModelDirectory& other) {
    nlohmann::json config = to_json(other.config);
    // The pieces without probability have a bias of -1e9 in CTranslate2's and Marian's files.
    if (other.config.frame.suppressed_ids.empty()) {
        config["frame"]["suppressed_ids"] = to_json(one.config)["frame"]["suppressed_ids"];
    }
    CHECK(to_json(one.config) == config);
    CHECK(one.source_tokenizer->vocabulary().size() == other.source_tokenizer->vocabulary().size());
    for (const char* text : {"the old king gave a ring", "\u00e9 x", ""}) {
        CHECK(one.source_tokenizer->encode(text) == other.source_tokenizer->encode(text));
        CHECK(one.target_tokenizer->encode(text) == other.target_tokenizer->encode(text));
    }
    const auto ours = read_parameters(backend, one, DType::F32);
    const auto theirs = read_parameters(backend, other, DType::F32);
    for (const ParameterSpec& spec : ours->table()) {
        INFO(spec.name);
        if (spec.name != "output.bias" || one.config.frame.suppressed_ids.empty()) {
            CHECK(ours->values_of(spec.name) == theirs->values_of(spec.name));
        }
    }
}

}  // namespace

TEST_CASE("a model that was exported opens as the same model", "[export]") {
    const auto [name, format] = GENERATE(values<Case>({{"hf-marian-tied", ExportFormat::HuggingFace},
                                                       {"hf-marian-separate", ExportFormat::HuggingFace},
                                                       {"hf-marian-untied", ExportFormat::HuggingFace},
                                                       {"hf-marian-odd", ExportFormat::HuggingFace},
                                                       {"hf-gpt2", ExportFormat::HuggingFace},
                                                       {"hf-bert", ExportFormat::HuggingFace},
                                                       {"hf-roberta", ExportFormat::HuggingFace},
                                                       {"ct2-float32", ExportFormat::CTranslate2},
                                                       {"ct2-pre-norm", ExportFormat::CTranslate2},
                                                       {"marian-tied", ExportFormat::Marian},
                                                       {"marian-separate", ExportFormat::Marian},
                                                       {"marian-tied-source", ExportFormat::Marian}}));
    INFO(name);
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const ModelDirectory model = opened(name);
    export_model(model, *read_parameters(*backend, model, DType::F32), format, folder.file("exported"));
    check_same(*backend, model, open_model(folder.file("exported")));
}

TEST_CASE("an exported model forces the end of an output only if it does so itself", "[export]") {
    const auto backend = open_device("cpu");
    for (const bool forces : {false, true}) {
        const TemporaryFolder folder;
        ModelDirectory model = opened("hf-marian-tied");
        nlohmann::json decoding = *model.decoding;
        decoding["force_end"] = forces;
        model.decoding = std::make_shared<const nlohmann::json>(decoding);
        export_model(model, *read_parameters(*backend, model, DType::F32), ExportFormat::HuggingFace,
                     folder.file("exported"));
        for (const bool has_own_file : {true, false}) {
            if (!has_own_file && !forces) {
                fs::remove(folder.file("exported/generation_config.json"));
            }
            CHECK(open_model(folder.file("exported")).decoding->value("force_end", false) == forces);
        }
    }
}

TEST_CASE("what a format cannot hold is listed, and nothing is written", "[export]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const ModelDirectory model = opened("ct2-pre-norm");
    const auto parameters = read_parameters(*backend, model, DType::F32);
    CHECK_THAT(error_of([&] { export_model(model, *parameters, ExportFormat::Marian, folder.file("exported")); }),
               Contains("problems") && Contains("\"norm.placement\" is \"pre\": the format holds \"post\"") &&
                   Contains("\"positions.first\""));
    CHECK_FALSE(fs::exists(folder.file("exported")));
    ModelDirectory mixed = model;
    mixed.config.feed_forward.experts.count = 4;
    CHECK_THAT(error_of([&] { export_model(mixed, *parameters, ExportFormat::CTranslate2, folder.file("exported")); }),
               Contains("\"feed_forward.experts.count\" is 4: the format holds 0"));
    for (const auto& [key, value] : {std::pair{"norm.epsilon", "0.001"}, {"embedding.norm", "\"last\""}}) {
        nlohmann::json config = flat_model_keys(opened("marian-tied").config);
        config[key] = nlohmann::json::parse(value);
        ModelDirectory other = opened("marian-tied");
        other.config = parse_model_config(config, "config.json");
        CHECK_THAT(error_of([&] { export_model(other, *parameters, ExportFormat::Marian, folder.file("exported")); }),
                   Contains(fmt::format("\"{}\" is {}: the format holds", key, value)));
    }
    fs::create_directories(folder.file("full"));
    folder.write("full/file", "x");
    CHECK_THAT(error_of([&] { export_model(model, *parameters, ExportFormat::CTranslate2, folder.file("full")); }),
               Contains("not empty"));
}

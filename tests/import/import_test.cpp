// A model of another program, written as a model directory, is the same model.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "infer/decoding_choices.h"
#include "registry/registry.h"
#include "tests/house/files.h"
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
            CHECK(ours.source_tokenizer->encode(text) == theirs.source_tokenizer->encode(text));
            CHECK(ours.target_tokenizer->encode(text) == theirs.target_tokenizer->encode(text));
        }
    }
}

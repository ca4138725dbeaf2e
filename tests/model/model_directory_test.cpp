#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/safetensors.h"
#include "text/vocabulary_file.h"
#include "written_model.h"

using namespace headscope;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("a model directory is unchanged after writing and reading") {
    Written written;
    const ModelDirectory opened = open_model_directory(written.path);
    CHECK(opened.config == written.model.config);
    CHECK(opened.source_tokenizer == opened.target_tokenizer);
    CHECK(opened.source_tokenizer->size() == kPieces);
    CHECK_FALSE(fs::exists(written.path + ".tmp"));

    const auto same = [&](const std::string& device, DType stored) {
        SmallModel other(written.model.config, device, false);
        load_parameters(*other.backend, *own_weights(written.path + "/model.safetensors"), other.parameters);
        const std::vector<float> original =
            to_host<float>(*written.model.backend, written.model.parameters.flat_values());
        const std::vector<float> found = to_host<float>(*other.backend, other.parameters.flat_values());
        REQUIRE(found.size() == original.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            REQUIRE(found[i] == (stored == DType::F16 ? from_f16(to_f16(original[i])) : original[i]));
        }
    };
    same("cpu", DType::F32);
    same("cpu:oracle", DType::F32);
    const auto size = fs::file_size(written.path + "/model.safetensors");
    written.write(DType::F16);
    same("cpu", DType::F16);
    same("cpu:oracle", DType::F16);
    CHECK(fs::file_size(written.path + "/model.safetensors") < size * 7 / 10);
}

TEST_CASE("a new model replaces the old one and keeps other files") {
    Written written;
    written.folder.write("model/README.md", "a card");
    fs::create_directories(written.path + "/pictures");
    written.folder.write("model/pictures/one.svg", "<svg/>");
    written.model.parameters.initialise(77);
    written.write(DType::F32);
    CHECK(read_all(written.path + "/README.md") == "a card");
    CHECK(read_all(written.path + "/pictures/one.svg") == "<svg/>");
    SmallModel other(written.model.config, "cpu", false);
    load_parameters(*other.backend, *own_weights(written.path + "/model.safetensors"), other.parameters);
    CHECK(other.host(other.parameters.flat_values()) == written.model.host(written.model.parameters.flat_values()));

    // A folder that is not a model directory is not touched.
    fs::create_directories(written.folder.file("letters"));
    written.folder.write("letters/one.txt", "dear");
    written.path = written.folder.file("letters");
    CHECK_THAT(error_of([&] { written.write(DType::F32); }), Contains("letters") && Contains("not a model directory"));
    CHECK(read_all(written.path + "/one.txt") == "dear");
}

TEST_CASE("a new model keeps the modes of the old one's files, and the link to its folder") {
    Written written;
    const auto mode = [](const std::string& path) { return fs::status(path).permissions(); };
    fs::permissions(written.path, fs::perms(0700));
    fs::permissions(written.path + "/config.json", fs::perms(0600));
    fs::permissions(written.path + "/model.safetensors", fs::perms(0640));
    const std::string link = written.folder.file("link");
    fs::create_directory_symlink("model", link);
    const std::string path = std::exchange(written.path, link);
    written.write(DType::F32);
    CHECK(fs::is_symlink(link));
    CHECK_FALSE(fs::is_symlink(path));
    CHECK(mode(path) == fs::perms(0700));
    CHECK(mode(path + "/config.json") == fs::perms(0600));
    CHECK(mode(path + "/model.safetensors") == fs::perms(0640));
}

TEST_CASE("two vocabularies are stored in two files") {
    TemporaryFolder folder;
    ModelConfig config = text_config();
    config.embedding.tying = Tying::TargetOutput;
    config.target_vocabulary = 64;
    SmallModel model(config, "cpu", false);
    write_model_directory(*model.backend, folder.file("model"), config, model.parameters, DType::F32,
                          Tokenizer::load(tokenizer_file(folder, "a")),
                          Tokenizer::load(tokenizer_file(folder, "b", 64)));
    const ModelDirectory opened = open_model_directory(folder.file("model"));
    CHECK(opened.source_tokenizer->size() == kPieces);
    CHECK(opened.target_tokenizer->size() == 64);
    fs::remove(folder.file("model/target.model"));
    CHECK_THAT(error_of([&] { open_model_directory(folder.file("model")); }), Contains("target.model"));
}

TEST_CASE("vocabularies are stored beside the segmenters") {
    TemporaryFolder folder;
    ModelConfig config = text_config();
    config.embedding.tying = Tying::TargetOutput;
    const std::string source = tokenizer_file(folder, "a");
    const std::string target = tokenizer_file(folder, "b", 64);
    const auto numbered = [](const std::string& file, std::int32_t size) {
        return Tokenizer::load(file, read_vocabulary(file, {.size = size}));
    };
    const auto opened = [&](const Tokenizer& one, const Tokenizer& other) {
        config.source_vocabulary = one.size();
        config.target_vocabulary = other.size();
        SmallModel model(config, "cpu", false);
        write_model_directory(*model.backend, folder.file("model"), config, model.parameters, DType::F32, one, other);
        return open_model_directory(folder.file("model"));
    };
    const auto has = [&](const std::string& file) { return fs::exists(folder.file("model/" + file)); };

    const ModelDirectory two = opened(numbered(source, 70), numbered(target, 80));
    CHECK(two.source_tokenizer->size() == 70);
    CHECK(two.target_tokenizer->size() == 80);
    CHECK((has("source.vocabulary.json") && has("target.vocabulary.json") && has("source.model")));

    // The files of the vocabularies before are not kept.
    const ModelDirectory one_vocabulary =
        opened(numbered(source, 80), Tokenizer::load(target, read_vocabulary(source, {.size = 80})));
    CHECK(one_vocabulary.target_tokenizer->size() == 80);
    CHECK((has("vocabulary.json") && has("source.model") && has("target.model")));
    CHECK_FALSE((has("source.vocabulary.json") || has("target.vocabulary.json")));

    config.embedding.tying = Tying::All;
    const ModelDirectory shared = opened(numbered(source, 80), numbered(source, 80));
    CHECK(shared.source_tokenizer == shared.target_tokenizer);
    CHECK((has("vocabulary.json") && has("sentencepiece.model")));
    CHECK_FALSE(has("source.model"));

    folder.write("model/vocabulary.json", R"({"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3})");
    CHECK_THAT(
        error_of([&] { open_model_directory(folder.file("model")); }),
        Contains("pieces have no id in") && Contains("vocabulary.json: one of the two belongs to another model"));
    const std::string own = vocabulary_json(Tokenizer::load(source).vocabulary());
    folder.write("model/vocabulary.json", own);
    CHECK_THAT(error_of([&] { open_model_directory(folder.file("model")); }),
               Contains("vocabulary.json has 60 pieces, but \"source_vocabulary\""));
}

TEST_CASE("errors of a model directory name file and key") {
    Written written;
    const auto open_error = [&] { return error_of([&] { open_model_directory(written.path); }); };
    SECTION("nothing there") {
        written.path = written.folder.file("nowhere");
        CHECK_THAT(open_error(), Contains("nowhere/config.json") && Contains("No such file") &&
                                     Contains("model.safetensors") && Contains("sentencepiece.model"));
    }
    SECTION("a training that is not finished") {
        const std::string run = written.folder.file("run");
        fs::create_directories(run + "/checkpoints");
        for (const char* name : {"", "/", "/model", "/model/"}) {
            written.path = run + name;
            CHECK_THAT(open_error(), Contains("a training that has not written its model yet") &&
                                         Contains("headscope train --output " + run + " --finish"));
        }
        written.path = run + "/other";
        CHECK_THAT(open_error(), Contains("No such file") && !Contains("--finish"));
    }
    SECTION("no JSON") {
        written.folder.write("model/config.json", "{\"d_model\": ");
        CHECK_THAT(open_error(), Contains("config.json") && Contains("not valid JSON"));
    }
    SECTION("a key twice") {
        const std::string text = read_all(written.path + "/config.json");
        written.folder.write("model/config.json", "{\"max_length\": 2," + text.substr(text.find('{') + 1));
        CHECK_THAT(open_error(), Contains("config.json") && Contains("duplicate key \"max_length\""));
    }
    SECTION("unknown key") {
        written.edit_config("d_modle", 8);
        CHECK_THAT(open_error(), Contains("config.json") && Contains("d_modle"));
    }
    SECTION("no version") {
        nlohmann::json config = nlohmann::json::parse(read_all(written.path + "/config.json"));
        config.erase("format_version");
        written.folder.write("model/config.json", config.dump());
        CHECK_THAT(open_error(), Contains("format_version") && Contains("missing"));
    }
    SECTION("impossible") {
        written.edit_config("attention.heads", 0);
        CHECK_THAT(open_error(), Contains("config.json") && Contains("\"attention.heads\""));
    }
    SECTION("vocabulary") {
        written.edit_config("source_vocabulary", 61);
        written.edit_config("target_vocabulary", 61);
        CHECK_THAT(open_error(),
                   Contains("sentencepiece.model has 60 pieces") && Contains("source_vocabulary") && Contains("61"));
    }
    SECTION("two vocabularies, one file") {
        written.edit_config("embedding.tying", "none");
        written.edit_config("target_vocabulary", 61);
        CHECK_THAT(open_error(), Contains("target_vocabulary is 61") && Contains("shared"));
    }
    SECTION("special ids") {
        written.edit_config("frame.eos_id", 3);
        CHECK_THAT(open_error(), Contains("eos_id 2") && Contains("says 3"));
    }
    SECTION("bos") {
        written.edit_config("frame.bos_id", 5);
        CHECK_THAT(open_error(), Contains("bos_id 1") && Contains("says 5"));
    }
    SECTION("a decoder may start from the pad") {
        written.edit_config("frame.bos_id", 0);
        CHECK(open_error().empty());
    }
    SECTION("no tokenizer") {
        fs::remove(written.path + "/sentencepiece.model");
        CHECK_THAT(open_error(), Contains("source.model"));
    }
}

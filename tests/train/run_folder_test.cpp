#include "train/run_folder.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>

#include "tests/io/temporary_folder.h"

using namespace headscope;

namespace {

const Log kSilent = [](const std::string&) {};

}  // namespace

TEST_CASE("only one process holds a run's folder", "[folder]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("made/on the way");
    auto first = std::make_unique<RunFolder>(path, kSilent);
    CHECK_THAT(error_of([&] { RunFolder(path, kSilent); }), Catch::Contains(path) && Catch::Contains("running") &&
                                                                Catch::Contains("--output") &&
                                                                Catch::Contains("process " + std::to_string(getpid())));
    CHECK(error_of([&] { RunFolder(folder.file("other"), kSilent); }).empty());
    first.reset();
    CHECK(error_of([&] { RunFolder(path, kSilent); }).empty());
}

TEST_CASE("a new run rejects a folder with checkpoints", "[folder]") {
    const TemporaryFolder folder;
    CHECK_FALSE(holds_checkpoints(folder.file("out")));
    CHECK_NOTHROW(require_unused(folder.file("out")));
    CHECK_FALSE(std::filesystem::exists(folder.file("out")));
    std::filesystem::create_directories(folder.file("out/checkpoints"));
    CHECK_FALSE(holds_checkpoints(folder.file("out")));
    folder.write("out/checkpoints/step-00000003.safetensors", "");
    CHECK(holds_checkpoints(folder.file("out")));
    CHECK_THAT(error_of([&] { require_unused(folder.file("out")); }),
               Catch::Contains("--resume") && Catch::Contains("--output"));
}

TEST_CASE("a new run does not replace files that no run wrote", "[folder]") {
    const TemporaryFolder folder;
    const std::string out = folder.file("out");
    CHECK_NOTHROW(require_own_files(out));
    for (const char* inside : {"tokenizer", "model", "checkpoints"}) {
        std::filesystem::create_directories(out + "/" + inside);
    }
    folder.write("out/notes.txt", "");
    folder.write("out/lock", "");
    folder.write("out/tokenizer/mine", "");
    CHECK_NOTHROW(require_own_files(out));
    std::filesystem::create_directories(out + "/model.tmp");
    for (const char* name : {"training.json", "log.jsonl", "best.safetensors", "tokenizer/sentencepiece.model",
                             "tokenizer/target.model", "model/notes", "model.tmp/text"}) {
        INFO(name);
        folder.write("out/" + std::string(name), "");
        const std::string named = "'" + out + "/" + std::string(name).substr(0, std::string(name).find("/notes"));
        CHECK_THAT(error_of([&] { require_own_files(out); }),
                   Catch::Contains(named.substr(0, named.find("/text"))) && Catch::Contains("--output"));
        std::filesystem::remove(out + "/" + name);
    }
    folder.write("out/log.jsonl", "");
    { const RunFolder run(out, kSilent); }
    CHECK_NOTHROW(require_own_files(out));  // it signed the lock
    folder.write("out/lock", "somebody's\n");
    CHECK_THROWS_AS(require_own_files(out), Error);
}

TEST_CASE("a run does not remove its texts when it writes its model", "[folder]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("elsewhere.tmp"));
    std::filesystem::create_directories(folder.file("linked"));
    std::filesystem::create_directory_symlink(folder.file("elsewhere"), folder.file("linked/model"));
    for (const std::string name : {"out/model.tmp/text", "out/model.old/text", "elsewhere.tmp/text"}) {
        INFO(name);
        std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
        RunInputs inputs;
        inputs.files.add(folder.write(name, "text"));
        CHECK_THAT(error_of([&] {
                       refuse_inputs(folder.file("out"), inputs);
                       refuse_inputs(folder.file("linked"), inputs);
                   }),
                   Catch::Contains(name) && Catch::Contains("would be written while it is read"));
    }
}

TEST_CASE("a run that fails early removes its files unless they are kept", "[folder]") {
    const TemporaryFolder folder;
    const auto run = [&](bool kept) {
        RunFolder out(folder.file("a/out"), kSilent);
        for (const char* name : {"tokenizer", "checkpoints"}) {
            std::filesystem::create_directories(folder.file("a/out/" + std::string(name)));
        }
        folder.write("a/out/tokenizer/sentencepiece.model", "pieces");
        folder.write("a/out/training.json", "{}");
        if (kept) {
            out.keep();
        }
    };
    run(false);
    CHECK_FALSE(std::filesystem::exists(folder.file("a")));
    run(true);
    CHECK(std::filesystem::exists(folder.file("a/out/tokenizer/sentencepiece.model")));
}

TEST_CASE("existing files are not removed", "[folder]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("out/tokenizer"));
    folder.write("out/tokenizer/mine", "");
    folder.write("out/lock", "");
    folder.write("out/notes.txt", "");
    {
        const RunFolder out(folder.file("out"), kSilent);
        std::filesystem::create_directories(folder.file("out/checkpoints"));
        CHECK_THROWS_AS(RunFolder(folder.file("out"), kSilent), Error);  // without removing files of the holder
        CHECK(std::filesystem::exists(folder.file("out/checkpoints")));
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("out/checkpoints")));
    for (const char* name : {"out/tokenizer/mine", "out/lock", "out/notes.txt"}) {
        CHECK(std::filesystem::exists(folder.file(name)));
    }
}

TEST_CASE("files that others add while a run prepares are not removed", "[folder]") {
    const TemporaryFolder folder;
    {
        const RunFolder out(folder.file("out"), kSilent);
        for (const char* name : {"checkpoints", "data", "tensorboard", "tokenizer"}) {
            std::filesystem::create_directories(folder.file("out/" + std::string(name)));
            folder.write("out/" + std::string(name) + "/mine", "");
        }
        folder.write("out/tokenizer/sentencepiece.model", "pieces");
    }
    for (const char* name : {"checkpoints", "data", "tensorboard", "tokenizer"}) {
        CHECK(std::filesystem::exists(folder.file("out/" + std::string(name) + "/mine")));
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("out/tokenizer/sentencepiece.model")));
}

TEST_CASE("nothing is removed next to an existing configuration", "[folder]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("out"));
    folder.write("out/training.json", "{}");
    {
        const RunFolder out(folder.file("out"), kSilent);
        std::filesystem::create_directories(folder.file("out/data"));
        folder.write("out/data/train.source", "1");
    }
    CHECK(std::filesystem::exists(folder.file("out/data/train.source")));
    CHECK(std::filesystem::exists(folder.file("out/training.json")));
}

TEST_CASE("a file called lock with other content is not changed", "[folder]") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("out"));
    folder.write("out/lock", "precious\n");
    { const RunFolder out(folder.file("out"), kSilent); }
    CHECK(read_all(folder.file("out/lock")) == "precious\n");
    folder.write("out/lock", "4711\n");
    const RunFolder out(folder.file("out"), kSilent);
    CHECK(read_all(folder.file("out/lock")) == std::to_string(getpid()) + "\n");
}

TEST_CASE("an error names a run's folder that cannot be created", "[folder]") {
    const TemporaryFolder folder;
    folder.write("file", "");
    CHECK_THAT(error_of([&] { RunFolder(folder.file("file/out"), kSilent); }),
               Catch::Contains("file/out") && Catch::Contains("cannot create"));
}

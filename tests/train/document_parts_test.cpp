// One text without a configuration: the validation documents and the configuration that is chosen.
#include "train/document_parts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "registry/registry.h"
#include "tests/io/temporary_folder.h"
#include "text/lines.h"
#include "train/default_config.h"
#include "train/train_config.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::string numbered_lines(int count, const std::string& end) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += "Line number " + std::to_string(i) + end;
    }
    return text;
}

}  // namespace

TEST_CASE("documents are held out, and those equal to them are left out", "[parts]") {
    const TemporaryFolder folder;
    const std::string lines = numbered_lines(200, ".\n");
    const std::string file = folder.write("my.txt", lines + lines + "\n");
    const auto split = [&](std::uint64_t seed) {
        return split_documents(file, DocumentForm::Line, folder.file("data"), seed);
    };
    const DocumentParts parts = split(1);
    CHECK(parts.valid == 10);  // 5 % of 200 different ones
    CHECK(parts.shared == 10);
    CHECK(parts.train == 380);
    const auto train = read_lines(parts.train_file);
    const auto valid = read_lines(parts.valid_file);
    CHECK(train.size() == 380);
    REQUIRE(valid.size() == 10);
    const std::set<std::string> trained(train.begin(), train.end());
    CHECK(std::none_of(valid.begin(), valid.end(), [&](const auto& line) { return trained.contains(line); }));
    CHECK(split(1).valid == 10);
    CHECK(read_lines(parts.valid_file) == valid);
    CHECK(split(2).valid == 10);
    CHECK(read_lines(parts.valid_file) != valid);
}

TEST_CASE("parts of a text are documents of the same form", "[parts]") {
    const TemporaryFolder folder;
    const DocumentForm form = GENERATE(DocumentForm::Line, DocumentForm::Paragraph);
    std::string text = numbered_lines(40, "\nIts second line\n\n");
    std::string endless = "word ";
    while (endless.size() < 10'000) {
        endless += "another word ";
    }
    text += endless + "\n";
    const DocumentParts parts = split_documents(folder.write("my.txt", text), form, folder.file("data"), 1);
    const std::int64_t second_lines = form == DocumentForm::Line ? 39 : 0;  // but for one they are equal
    const auto documents_in = [&](const std::string& file) {
        DocumentReader reader(file, form);
        std::int64_t documents = 0;
        for (std::string part; reader.next(part);) {
            documents += reader.begins() ? 1 : 0;
        }
        return documents;
    };
    CHECK(documents_in(parts.train_file) == parts.train);
    CHECK(documents_in(parts.valid_file) == parts.valid);
    CHECK(parts.train + parts.valid + parts.shared == 41 + second_lines + (second_lines > 0 ? 1 : 0));
    CHECK(parts.unlearnable.count() == 0);
}

TEST_CASE("a text that nothing can be learned from is an error", "[parts]") {
    const TemporaryFolder folder;
    const auto error = [&](const std::string& text, DocumentForm form = DocumentForm::Line) {
        const std::string file = folder.write("my.txt", text);
        return error_of([&] { split_documents(file, form, folder.file("data"), 1); });
    };
    CHECK_THAT(error(""), Contains("my.txt' holds 0 different documents (one per line)") && Contains("at least 20"));
    CHECK_THAT(error(numbered_lines(19, "\n") + "line NUMBER 3!\n"), Contains("19 different documents"));
    CHECK_THAT(error(numbered_lines(50, "\n"), DocumentForm::Paragraph),
               Contains("1 different document (separated by empty lines)") && Contains("--documents line"));
    CHECK_THAT(error(numbered_lines(50, "\xff\n")), Contains("line 1") && Contains("UTF-8"));
    CHECK_THAT(error(numbered_lines(50, "\u2585\n")), Contains("line 1 contains U+2585"));
}

TEST_CASE("the configuration for one text works, and grows with the text", "[parts]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const Task task = GENERATE(Task::Causal, Task::Masked, Task::Span);
    std::int64_t width = 0;
    for (const std::int64_t megabytes : {0, 10, 50, 200, 2000}) {
        DocumentParts parts{.train_file = "a", .valid_file = "b"};
        parts.train_bytes = megabytes << 20U;
        parts.train = 30;
        parts.characters = 90;
        parts.words = megabytes * 5000 + 20;
        const nlohmann::json json = default_config(parts, task, *cpu);
        INFO(json.dump());
        const TrainConfig config = parse_train_config(json, "t.json", "");
        CHECK_NOTHROW(check_train_config(config));
        CHECK(config.task == task);
        CHECK(config.training.keep_powers_of_two == (megabytes == 0));
        const ModelConfig model = config.model_config(64, 64);
        CHECK(model.d_model >= width);
        width = model.d_model;
        CHECK((model.encoder_layers > 0) == (task != Task::Causal));
        CHECK((model.decoder_layers > 0) == (task != Task::Masked));
        CHECK_THAT(describe(json), Contains(" layers of d_model " + std::to_string(width)));
        CHECK((describe(json).find("encoder") != std::string::npos) == (task == Task::Span));
    }
    CHECK(width == 512);
}

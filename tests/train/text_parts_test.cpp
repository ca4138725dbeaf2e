// Two texts without a configuration: the validation text and the configuration that is chosen.
#include "train/text_parts.h"

#include <catch2/catch.hpp>
#include <functional>
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

struct Texts {
    explicit Texts(int pairs) {
        std::string a, b;
        for (int i = 0; i < pairs; ++i) {
            a += "source number " + std::to_string(i % (pairs - 5)) + "\n";  // five are repeated
            b += "Ziel Nummer " + std::to_string(i) + "\n";
        }
        source = folder.write("a", a);
        target = folder.write("b", b);
    }
    TextParts parts(std::uint64_t seed = 1) const { return split_texts(source, target, folder.file("data"), seed); }
    TemporaryFolder folder;
    std::string source, target;
};

}  // namespace

TEST_CASE("one percent of a text is held out, and none of its sentences is trained on", "[parts]") {
    const Texts texts(1000);
    const TextParts parts = texts.parts();
    CHECK(parts.valid == 10);
    CHECK(parts.train + parts.valid + parts.shared == 1000);
    const auto train = read_lines(parts.train_source);
    const auto valid = read_lines(parts.valid_source);
    CHECK(std::ssize(train) == parts.train);
    CHECK(std::ssize(read_lines(parts.train_target)) == parts.train);
    CHECK(std::ssize(valid) == 10);
    const std::set<std::string> trained(train.begin(), train.end());
    for (const std::string& sentence : valid) {
        CHECK(!trained.contains(sentence));
    }
    CHECK(read_lines(texts.parts().valid_source) == valid);
    CHECK(read_lines(texts.parts(2).valid_source) != valid);
    CHECK_THAT(error_of([] { Texts(99).parts(); }), Contains("99 pairs") && Contains("at least 100"));
}

TEST_CASE("texts that nothing can be learned from are rejected with the reason", "[parts]") {
    const TemporaryFolder folder;
    const auto text = [&](const char* name, const std::function<std::string(int)>& line) {
        std::string lines;
        for (int i = 0; i < 1000; ++i) {
            lines += line(i) + "\n";
        }
        return folder.write(name, lines);
    };
    const std::string good = text("good", [](int i) { return "Sentence " + std::to_string(i); });
    const std::string equal = text("equal", [](int i) { return i % 2 == 0 ? "Same." : "same"; });
    const std::string marks =
        text("marks", [](int i) { return std::string(static_cast<std::size_t>(i % 9) + 1, '!'); });
    const std::string two = text("two", [](int i) { return i % 2 == 0 ? "yes" : "no"; });
    const std::string blocks = text("blocks", [](int i) { return "\u2585 " + std::to_string(i); });
    const std::string nul = text("nul", [](int i) { return std::string("a\0", 2) + std::to_string(i); });
    const std::string endless = text("endless", [](int i) { return std::string(5000, 'a') + std::to_string(i); });
    const auto error = [&](const std::string& source, const std::string& target) {
        return error_of([&] { split_texts(source, target, folder.file("data"), 1); });
    };
    for (const bool turned : {false, true}) {
        const auto beside_good = [&](const std::string& other) {
            return turned ? error(other, good) : error(good, other);
        };
        CHECK_THAT(beside_good(equal), Contains("1000 sentences of '" + equal + "' are all the same"));
        CHECK_THAT(beside_good(marks), Contains("'" + marks + "' holds no words") && Contains("only punctuation"));
    }
    const std::string few = text("few", [](int i) { return "Sentence " + std::to_string(i % 20); });
    CHECK_THAT(error(few, two), Contains("no pair of '" + few + "' and '" + two + "' is left to train on"));
    CHECK(error(good, two).empty());  // names of classes
    CHECK_THAT(error(blocks, blocks), Contains("'" + blocks + "' line 1 contains U+2585") && Contains("remove"));
    CHECK_THAT(error(nul, blocks), Contains("'" + nul + "' line 1 contains NUL"));
    CHECK_THAT(error(endless, nul), Contains("'" + endless + "' line 1 has 5001 bytes"));
    const TextParts parts = split_texts(good, blocks, folder.file("data"), 1);
    CHECK(parts.characters < 20);  // only of learnable lines
    CHECK(parts.unlearnable.count() == parts.train);
    CHECK_THAT(parts.unlearnable.warning(), Contains("'" + blocks + "' line 1 contains U+2585"));
    const std::string bare = text("bare", [](int i) { return i < 950 ? "\u00a0" : "x"; });
    CHECK_THAT(error(good, bare), Contains("hold 50 pairs of sentences (950 with an empty side)"));
}

TEST_CASE("the configuration for a text works, and grows with the text", "[parts]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const bool native = cpu->products(Compute::BF16).level == SupportLevel::Native;
    std::int64_t width = 0;
    for (const std::int64_t pairs : {99, 50'000, 300'000, 1'000'000, 5'000'000}) {
        TextParts parts{"a", "b", "c", "d"};
        parts.train = pairs;
        parts.characters = 90;
        parts.words = pairs / 5 + 20;
        const nlohmann::json settings = default_config(parts, Task::Translate, *cpu);
        INFO(settings.dump());
        const TrainConfig config = parse_train_config(settings, "t.json", "");
        CHECK_NOTHROW(check_train_config(config));
        const ModelConfig model = config.model_config(64, 64);
        CHECK(model.d_model >= width);
        width = model.d_model;
        CHECK(config.tokenizer.source.vocabulary >= 98);
        CHECK(config.tokenizer.source.vocabulary <= parts.characters + parts.words / 2 + 8);
        CHECK_THAT(describe(settings), Contains(std::to_string(model.d_model)));
        const bool rounds = native && model.d_model > 128;
        CHECK(config.training.compute == (rounds ? Compute::BF16 : Compute::F32));
        CHECK((describe(settings).find("BF16") != std::string::npos) == rounds);
        CHECK(default_config(parts, Task::Translate, *oracle)["training"]["compute"] == "f32");
    }
    CHECK(width == 512);
}

// Two texts and nothing else: what is held out of them, and the configuration that is chosen.
#include "train/text_parts.h"

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

struct Texts {
    explicit Texts(int pairs) {
        std::string a, b;
        for (int i = 0; i < pairs; ++i) {
            a += "source number " + std::to_string(i % (pairs - 5)) + "\n";  // five come again
            b += "Ziel Nummer " + std::to_string(i) + "\n";
        }
        source = folder.write("a", a);
        target = folder.write("b", b);
    }
    TextParts parts(std::uint64_t seed = 1) const { return part_texts(source, target, folder.file("data"), seed); }
    TemporaryFolder folder;
    std::string source, target;
};

}  // namespace

TEST_CASE("a hundredth of a text is held out, and none of its sentences is trained on", "[parts]") {
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
    CHECK_THAT(error_of([] { Texts(99).parts(); }), Contains("99 pairs") && Contains("100 at the least"));
}

TEST_CASE("the configuration of a text can be trained by, and is larger for more of it", "[parts]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const bool native = cpu->products(Compute::BF16).level == SupportLevel::Native;
    std::int64_t width = 0;
    for (const std::int64_t pairs : {99, 50'000, 300'000, 1'000'000, 5'000'000}) {
        TextParts parts{"a", "b", "c", "d"};
        parts.train = pairs;
        parts.characters = 90;
        parts.words = pairs / 5 + 20;
        const nlohmann::json json = default_config(parts, *cpu);
        INFO(json.dump());
        const TrainConfig config = parse_train_config(json, "t.json", "");
        CHECK_NOTHROW(check_train_config(config));
        const ModelConfig model = config.model_config(64, 64);
        CHECK(model.d_model >= width);
        width = model.d_model;
        CHECK(config.tokenizer.vocabulary >= 98);
        CHECK(config.tokenizer.vocabulary <= parts.characters + parts.words / 2 + 8);
        CHECK_THAT(describe(json), Contains(std::to_string(model.d_model)));
        const bool rounds = native && model.d_model > 128;
        CHECK(config.training.compute == (rounds ? Compute::BF16 : Compute::F32));
        CHECK((describe(json).find("BF16") != std::string::npos) == rounds);
        CHECK(default_config(parts, *oracle)["training"]["compute"] == "f32");
    }
    CHECK(width == 512);
}

// The mean of checkpoints and models, as a model.
#include "train/average_models.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/train/digits_run.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// A run with checkpoints after steps 8, 16 and 24, in `folder`/`name`.
struct CheckpointedRun {
    CheckpointedRun(const TemporaryFolder& in, const std::string& name, const nlohmann::json& settings)
        : run(in, settings, name) {
        run.start().train();
        in.write(name + "/training.json", settings.dump());
    }
    std::string checkpoint(int step) const {
        return run.output_folder + fmt::format("/checkpoints/step-{:08}.safetensors", step);
    }
    DigitsRun run;
};

// The flat parameters of a checkpoint, as stored.
std::vector<double> stored(const std::string& checkpoint) {
    const SafeTensorsFile file = SafeTensorsFile::open(checkpoint);
    const MappedTensor tensor = file.at("parameters");
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return {values.begin(), values.end()};
}

std::vector<double> mean_by_hand(const std::vector<std::string>& checkpoints) {
    std::vector<double> mean(stored(checkpoints.front()).size());
    for (const std::string& checkpoint : checkpoints) {
        const std::vector<double> values = stored(checkpoint);
        for (std::size_t i = 0; i < mean.size(); ++i) {
            mean[i] += values[i];
        }
    }
    for (double& value : mean) {
        value = static_cast<float>(value / static_cast<double>(checkpoints.size()));  // as it is stored
    }
    return mean;
}

}  // namespace

TEST_CASE("checkpoints and models are averaged to a whole model", "[average]") {
    const TemporaryFolder folder;
    const CheckpointedRun made(folder, "out", write_digits(folder));
    Backend& cpu = *made.run.backend;
    const std::vector<std::string> all = {made.checkpoint(8), made.checkpoint(16), made.checkpoint(24)};
    const std::int64_t parameters = average_models(cpu, all, folder.file("mean"));
    CHECK(weights_of_model(cpu, folder.file("mean")) == mean_by_hand(all));
    CHECK(weights_of_model(cpu, folder.file("mean")) != stored(all.back()));
    CHECK(parameters == made.run.learner->parameters().count());
    CHECK(nlohmann::json::parse(read_all(folder.file("mean/decoding.json"))) ==
          nlohmann::json{{"split_longer_than", 64}});
    CHECK(read_all(folder.file("mean/sentencepiece.model")) ==
          read_all(folder.file("out/tokenizer/sentencepiece.model")));

    // A model counts like the checkpoint that it was made from, and the first one's decoding options count.
    average_models(cpu, {all[0]}, folder.file("first"));
    folder.write("first/decoding.json", R"({"beam": 3})");
    average_models(cpu, {folder.file("first"), all[2]}, folder.file("mixed"));
    CHECK(weights_of_model(cpu, folder.file("mixed")) == mean_by_hand({all[0], all[2]}));
    CHECK(nlohmann::json::parse(read_all(folder.file("mixed/decoding.json"))) == nlohmann::json{{"beam", 3}});
    average_models(cpu, {folder.file("out/best.safetensors")}, folder.file("best"));
    CHECK(weights_of_model(cpu, folder.file("best")) == stored(folder.file("out/best.safetensors")));
}

TEST_CASE("what cannot be averaged is an error that names the file", "[average]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    const CheckpointedRun one(folder, "one", settings);
    settings["training"]["steps"] = 8;
    settings["model"]["heads"] = 4;  // as many parameters
    const CheckpointedRun other(folder, "other", settings);
    settings["model"]["heads"] = 2;
    settings["tokenizer"]["type"] = "unigram";
    const CheckpointedRun pieces(folder, "pieces", settings);
    const auto refusal = [&](const std::vector<std::string>& paths) {
        return error_of([&] { average_models(*one.run.backend, paths, folder.file("mean")); });
    };
    const std::string good = one.checkpoint(8);
    CHECK_THAT(refusal({good, other.checkpoint(8)}),
               Contains("other/checkpoints/step-00000008.safetensors' has \"attention.d_k\" 8, but '") &&
                   Contains("one/checkpoints/step-00000008.safetensors' has 16: only models of one shape"));
    CHECK_THAT(refusal({good, pieces.checkpoint(8)}),
               Contains("one/checkpoints/step-00000008.safetensors' and '") &&
                   Contains("pieces/checkpoints/step-00000008.safetensors' have different source vocabularies"));
    CHECK_THAT(refusal({good, one.checkpoint(7)}), Contains("one/checkpoints/step-00000007.safetensors"));
    CHECK_THAT(refusal({good, folder.file("none")}), Contains("none"));
    CHECK_THAT(refusal({good, one.checkpoint(16), folder.file("one/../one/checkpoints/step-00000008.safetensors")}),
               Contains("are the same: give each once"));
    std::filesystem::create_directory(folder.file("alone"));
    std::filesystem::copy(good, folder.file("alone/step-00000008.safetensors"));
    CHECK_THAT(refusal({folder.file("alone/step-00000008.safetensors")}),
               Contains("alone/step-00000008.safetensors has no ") && Contains("alone/training.json"));
    // The configuration in the folder was edited after the checkpoint.
    folder.write("other/training.json", settings.dump());
    CHECK_THAT(refusal({other.checkpoint(8)}),
               Contains("other/checkpoints/step-00000008.safetensors belongs to another configuration") &&
                   Contains("model: \"attention.heads\" was 4 and is now 2"));
    // A checkpoint of another training lies among the run's.
    std::filesystem::copy(folder.file("other/checkpoints/step-00000008.safetensors"),
                          folder.file("one/checkpoints/step-00000009.safetensors"));
    CHECK_THAT(refusal({good, folder.file("one/checkpoints/step-00000009.safetensors")}),
               Contains("step-00000009.safetensors belongs to another configuration"));
    std::string bytes = read_all(good);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    folder.write("one/checkpoints/step-00000008.safetensors", bytes);
    CHECK_THAT(refusal({one.checkpoint(16), good}), Contains("one/checkpoints/step-00000008.safetensors is damaged"));
    std::filesystem::remove(folder.file("one/tokenizer/sentencepiece.model"));
    CHECK_THAT(refusal({one.checkpoint(16)}),
               Contains("one/tokenizer' lacks tokenizers: expected sentencepiece.model"));
    CHECK(!std::filesystem::exists(folder.file("mean")));
}

// The gradient of a step on two ranks beside PyTorch's of the whole batch (tests/golden/make_vectors.py).
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

#include "io/safetensors.h"
#include "model/frame_of_config.h"
#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/house/open_options.h"
#include "tests/parallel/threads.h"
#include "train/learner.h"

using namespace headscope;

namespace {

template <class T>
std::vector<T> read(const SafeTensorsFile& file, const std::string& name) {
    const MappedTensor tensor = file.at(name);
    std::vector<T> values(tensor.data.size() / sizeof(T));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
}

// The sentences of the vectors' batch, without what the frame adds.
std::vector<Example> sentences_of(const SafeTensorsFile& file, const Frame& frame) {
    const auto source = read<std::int32_t>(file, "source");
    const auto lengths = read<std::int32_t>(file, "source_lengths");
    const auto target = read<std::int32_t>(file, "target_out");
    const std::size_t count = lengths.size();
    std::vector<Example> examples(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto row = source.begin() + static_cast<std::ptrdiff_t>(i * source.size() / count);
        examples[i].source.assign(row, row + lengths[i] - frame.around_source());
        for (std::size_t at = i * target.size() / count; at < (i + 1) * target.size() / count; ++at) {
            if (target[at] != kNoTarget) {
                examples[i].target.push_back(target[at]);
            }
        }
        examples[i].target.pop_back();  // the end
    }
    return examples;
}

double distance(const std::vector<double>& a, const std::vector<double>& b, double weight_of_a = 1.0) {
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(weight_of_a * a[i] - b[i], 2);
        size += b[i] * b[i];
    }
    return std::sqrt(difference / size);
}

}  // namespace

TEST_CASE("two ranks with unequal numbers of tokens have PyTorch's gradient of the whole batch", "[ranks]") {
    const SafeTensorsFile file = SafeTensorsFile::open(checkout_file("tests/golden/paper.safetensors"));
    const ModelConfig config = parse_model_config(nlohmann::json::parse(file.metadata().at("config")), "paper");
    const Frame frame = frame_of(config, {});
    const std::vector<Example> sentences = sentences_of(file, frame);
    const ShardParts shards = {{make_batch(std::span(sentences).first(1), frame, 0)},
                               {make_batch(std::span(sentences).subspan(1), frame, 1)}};
    REQUIRE(shards[0][0].predicted.count != shards[1][0].predicted.count);
    const auto [device, bound] = GENERATE(table<std::string, double>({{"cpu:oracle", 1e-9}, {"cpu", 1e-5}}));
    INFO(device);

    std::vector<double> sum;                  // of both shards, from the ranks' slices
    std::vector<std::vector<double>> own(2);  // of each shard
    std::mutex writing;
    std::map<std::string, std::int64_t> offsets;
    require_on_ranks(2, [&](Communicator& ranks) {
        const auto backend = open_device(device, environment_options());
        LearnerOptions options{.shards = 2, .ranks = &ranks};
        options.loss.epsilon = std::stof(file.metadata().at("epsilon"));
        options.loss.smoothing =
            file.metadata().at("smoothing") == "all" ? Smoothing::AllClasses : Smoothing::OtherClasses;
        Learner learner(*backend, config, options);
        for (const ParameterSpec& spec : learner.parameters().table()) {
            from_host(*backend, learner.parameters().stored(spec.name), read<double>(file, "parameter/" + spec.name));
        }
        learner.parameters().refresh_working();
        learner.step(shards, 1, 0.0);
        const FlatRange slice = learner.sum()->slice();
        const auto mine =
            to_host<double>(*backend, learner.parameters().flat_gradients().narrow(0, slice.begin, slice.elements));
        LearnerOptions alone_options = options;
        alone_options.shards = 1;
        alone_options.ranks = &alone();
        Learner single(*backend, config, alone_options);
        for (const ParameterSpec& spec : single.parameters().table()) {
            from_host(*backend, single.parameters().stored(spec.name), read<double>(file, "parameter/" + spec.name));
        }
        single.parameters().refresh_working();
        single.step(shards[static_cast<std::size_t>(ranks.rank())], 1, 0.0);
        const std::lock_guard lock(writing);
        sum.resize(static_cast<std::size_t>(learner.parameters().total()));
        std::copy(mine.begin(), mine.end(), sum.begin() + slice.begin);
        own[static_cast<std::size_t>(ranks.rank())] = to_host<double>(*backend, single.parameters().flat_gradients());
        for (const ParameterSpec& spec : learner.parameters().table()) {
            offsets[spec.name] = learner.parameters().offset_of(spec.name);
        }
    });
    const auto tokens = static_cast<double>(shards[0][0].predicted.count + shards[1][0].predicted.count);
    bool means_differ = false;
    for (const auto& [name, offset] : offsets) {
        INFO(name);
        const auto expected = read<double>(file, "gradient/" + name);
        const auto of = [&, at = offset](const std::vector<double>& flat) {
            const auto begin = flat.begin() + at;
            return std::vector<double>(begin, begin + std::ssize(expected));
        };
        CHECK(distance(of(sum), expected) < bound);
        // The mean of the ranks' means, which weighs a token of the shorter rank more: PyTorch's DDP by default.
        std::vector<double> mean(expected.size());
        for (std::size_t rank = 0; rank < 2; ++rank) {
            const std::vector<double> gradient = of(own[rank]);
            for (std::size_t i = 0; i < mean.size(); ++i) {
                mean[i] += 0.5 * gradient[i] / static_cast<double>(shards[rank][0].predicted.count);
            }
        }
        means_differ = means_differ || distance(mean, expected, tokens) > 1e-2;
    }
    CHECK(means_differ);
}

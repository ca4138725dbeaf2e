// Recording attention weights of a model stored in 16 bits.
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "model/encoder_decoder.h"
#include "observe/record_attention.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

ModelConfig storage_config() {
    ModelConfig config;
    config.encoder_layers = config.decoder_layers = 2;
    config.d_model = 32;
    config.feed_forward.d_ff = 64;
    config.attention.heads = 4;
    config.attention.d_k = config.attention.d_v = 8;
    config.source_vocabulary = config.target_vocabulary = 40;
    return config;
}

AttentionRecord record_on(Backend& backend, DType storage) {
    const ModelConfig config = storage_config();
    Parameters parameters(backend, config, false, storage);
    parameters.initialise(7);
    const EncoderDecoder model(config, parameters);
    const auto text = [](std::vector<std::int32_t> ids) {
        RecordedText made{.ids = std::move(ids), .pieces = {}, .after = {{2}, {"<EOS>"}}};
        made.pieces.assign(made.ids.size(), "w");
        return made;
    };
    return record_attention(backend, model, text({4, 5, 6, 9, 30}), text({7, 8, 11}), {});
}

}  // namespace

TEST_CASE("recorded weights in 16 bits add up and are those of F32, rounded", "[storage]") {
    const auto cpu = open_device("cpu");
    const AttentionRecord exact = record_on(*cpu, DType::F32);
    constexpr std::pair<DType, double> kBounds[] = {{DType::BF16, 0.02}, {DType::F16, 0.0025}};
    for (const std::string& device : conformance::devices_with_storage()) {
        const auto backend = open_device(device, environment_options());
        for (const auto& [storage, bound] : kBounds) {
            const AttentionRecord found = record_on(*backend, storage);
            REQUIRE(found.sites.size() == exact.sites.size());
            double worst = 0.0;
            for (std::size_t site = 0; site < found.sites.size(); ++site) {
                const SiteWeights& weights = found.sites[site];
                REQUIRE(weights.values.size() == exact.sites[site].values.size());
                for (std::size_t i = 0; i < weights.values.size(); ++i) {
                    worst = std::max(worst, std::abs(double{weights.values[i]} - double{exact.sites[site].values[i]}));
                }
                for (std::size_t row = 0; row < weights.values.size(); row += static_cast<std::size_t>(weights.keys)) {
                    double sum = 0.0;
                    for (std::int64_t key = 0; key < weights.keys; ++key) {
                        sum += double{weights.values[row + static_cast<std::size_t>(key)]};
                    }
                    CHECK(sum == Approx(1.0).margin(bound));
                }
            }
            INFO(device << ", " << name_of(storage) << ": a weight differs by " << worst << " at most");
            CHECK(worst < bound);
            CHECK(worst > 0.0);
        }
    }
}

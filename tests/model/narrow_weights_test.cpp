// Models of which only the weights are stored in fewer bits: F16, I8 with a scale for each row, or blocks.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>

#include "../ops/devices.h"
#include "backend/precision.h"
#include "model/model_directory.h"
#include "small_model.h"
#include "tests/house/open_options.h"

using namespace headscope;

namespace {

std::vector<double> narrow_logits_of(SmallModel& model, const DeviceBatch& batch) {
    Context ctx{*model.backend};
    const Var memory = model.transformer().encode(ctx, batch.source);
    const Var hidden = model.transformer().decode(ctx, {.ids = batch.target.ids}, {memory, batch.source.lengths});
    CHECK(hidden.value().dtype == model.backend->full_dtype());
    return model.host(model.model->logits(ctx, hidden).value());
}

// |a - b| over |b|
double distance(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double difference = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return std::sqrt(difference / size);
}

// Whether only the weights are `dtype` on this device: one that stores `dtype` has activations in it, too.
bool has_weights(const std::string& device, DType dtype) {
    const std::unique_ptr<Backend> backend = open_device(device, environment_options());
    const Support support = backend->weights(dtype);
    if (activations_beside(*backend, dtype) == dtype) {
        return false;
    }
    if (support.level == SupportLevel::None) {
        std::fprintf(stderr, "SKIPPED: %s: weights in %s: %s\n", device.c_str(), name_of(dtype),
                     support.reason.c_str());
    }
    return support.level != SupportLevel::None;
}

}  // namespace

TEST_CASE("a model with narrow weights computes what the same weights in F32 compute", "[narrow]") {
    // With F16 weights products are F32. With I8 activations are rounded to seven bits and a sign.
    for (const auto& [storage, bound] : {std::pair{DType::F16, 1e-5}, std::pair{DType::I8, 0.03}}) {
        for (const std::string& device : conformance::devices_under_test()) {
            if (!has_weights(device, storage)) {
                continue;
            }
            for (const NamedConfig& varied : varied_configs()) {
                INFO(name_of(storage) << " on " << device << ", " << varied.name);
                SmallModel narrow(varied.config, device, false, storage);
                SmallModel wide(varied.config, device, false);
                for (const ParameterSpec& spec : wide.parameters.table()) {
                    wide.parameters.store(spec.name, narrow.parameters.values_of(spec.name));
                }
                const std::vector<Example> pairs = random_pairs(varied.config, 5, 3);
                const DeviceBatch batch = narrow.batch(pairs);
                const DeviceBatch same = wide.batch(pairs);
                const double apart = distance(narrow_logits_of(narrow, batch), narrow_logits_of(wide, same));
                CHECK(apart < bound);
                CHECK((apart > 1e-4) == (storage == DType::I8));
                CHECK(narrow.loss(batch, {}, {}, false) == Approx(wide.loss(same, {}, {}, false)).epsilon(bound));
            }
        }
    }
}

TEST_CASE("a model with weights in blocks computes what the same numbers in F32 compute", "[narrow][blocks]") {
    for (const std::string& device : conformance::devices_under_test()) {
        for (const NamedConfig& varied : varied_configs()) {
            if (device != "cpu" && &varied != &varied_configs().front()) {
                continue;  // the ops are the same
            }
            for (const int bits : {8, 4}) {
                WeightStorage storage;
                storage.block_bits = bits;
                INFO(bits << " bits on " << device << ", " << varied.name);
                SmallModel blocks(varied.config, device, false, storage);
                SmallModel wide(varied.config, device, false);
                std::size_t held = 0;
                for (const ParameterSpec& spec : wide.parameters.table()) {
                    CHECK(blocks.parameters.block_form(spec.name).bits == (spec.multiplied ? bits : 0));
                    held += spec.multiplied ? 1 : 0;
                    wide.parameters.store(spec.name, blocks.parameters.values_of(spec.name));
                }
                CHECK(held > 0);
                const std::vector<Example> pairs = random_pairs(varied.config, 5, 3);
                const DeviceBatch batch = blocks.batch(pairs);
                const DeviceBatch same = wide.batch(pairs);
                CHECK(distance(narrow_logits_of(blocks, batch), narrow_logits_of(wide, same)) < 1e-5);
                CHECK(blocks.loss(batch, {}, {}, false) == Approx(wide.loss(same, {}, {}, false)).epsilon(1e-5));
            }
        }
    }
}

TEST_CASE("weights that are read as one matrix are in blocks of the most bits, or not at all", "[narrow][blocks]") {
    const auto weight = [](const char* name, bool follows) {
        return ParameterSpec{
            .name = name, .shape = {2, 32}, .initial = Initial::Zero, .multiplied = true, .follows = follows};
    };
    const std::vector<ParameterSpec> table{weight("q", false), weight("k", true), weight("out", false)};
    WeightStorage kept;
    kept.keeps_blocks = true;
    using Forms = std::vector<BlockForm>;
    const BlockForm numbers{};
    const BlockForm four{.bits = 4};
    const BlockForm eight{.bits = 8};
    const BlockForm four_factors{.bits = 4, .factors = true};
    const BlockForm eight_factors{.bits = 8, .factors = true};
    CHECK(block_forms(table, kept, {{"q", four}, {"k", eight}}) == Forms{eight, eight, numbers});
    CHECK(block_forms(table, kept, {{"q", four_factors}, {"k", eight}, {"out", four_factors}}) ==
          Forms{eight_factors, eight_factors, four_factors});
    CHECK(block_forms(table, kept, {{"q", four}, {"out", four}}) == Forms{numbers, numbers, four});
    CHECK(block_forms(table, {}, {{"q", four}, {"k", four}}) == Forms{numbers, numbers, numbers});
    WeightStorage narrow;
    narrow.block_bits = 8;
    CHECK(block_forms(table, narrow, {{"q", four}, {"k", four}}) == Forms{four, four, eight});
    narrow.block_bits = 4;
    CHECK(block_forms(table, narrow, {{"out", eight_factors}}) == Forms{four, four, four});
}

TEST_CASE("weights in blocks take an eighth to a third of the memory, and are neither saved nor trained",
          "[narrow][blocks]") {
    ModelConfig config = small_config();
    config.d_model = 64;
    config.feed_forward.d_ff = 256;
    WeightStorage four;
    four.block_bits = 4;
    SmallModel exact(config, "cpu", false);
    SmallModel blocks(config, "cpu", false, four);
    CHECK(blocks.backend->memory().live * 3 < exact.backend->memory().live);
    CHECK_THROWS_AS(save_parameters(*blocks.backend, "nowhere", blocks.parameters, DType::F32, ""), CheckFailure);
    CHECK_THROWS_AS(Parameters(*blocks.backend, config, true, four), CheckFailure);
    CHECK_THROWS_AS(blocks.parameters.flat_values(), CheckFailure);
}

TEST_CASE("I8 weights are within half a step of the original, take a quarter of the memory and cannot be saved",
          "[narrow]") {
    ModelConfig config = small_config();
    config.d_model = 64;
    config.feed_forward.d_ff = 256;
    SmallModel exact(config, "cpu", false);
    SmallModel eight(config, "cpu", false, DType::I8);
    for (const ParameterSpec& spec : exact.parameters.table()) {
        INFO(spec.name);
        const std::vector<float> before = exact.parameters.values_of(spec.name);
        const std::vector<float> after = eight.parameters.values_of(spec.name);
        if (!spec.multiplied) {
            CHECK(after == before);
            continue;
        }
        const auto columns = static_cast<std::size_t>(spec.shape[1]);
        const Var weight = eight.parameters.at(spec.name);
        CHECK(weight.value().dtype == DType::I8);
        const std::vector<float> scales = to_host<float>(*eight.backend, weight.scales());
        bool near = true;
        for (std::size_t i = 0; i < before.size(); ++i) {
            near = near && std::abs(after[i] - before[i]) <= 0.501F * scales[i / columns];
        }
        CHECK(near);
        CHECK(after != before);
    }
    const Var packed = eight.parameters.packed("encoder.layers.0.self_attention.q.weight", 3);
    CHECK(packed.scales().shape == Shape{packed.shape()[0]});
    CHECK(eight.backend->memory().live * 3 < exact.backend->memory().live);
    CHECK_THROWS_AS(save_parameters(*eight.backend, "nowhere", eight.parameters, DType::F32, ""), CheckFailure);
    CHECK_THROWS_AS(Parameters(*eight.backend, config, true, DType::I8), CheckFailure);
}

// Restricted self-attention: each position reads only those that are less than a window away (section 4).
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "model/causal_lm.h"
#include "small_model.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

ModelConfig causal_config(std::int64_t window) {
    ModelConfig config = small_config();
    config.architecture = Architecture::CausalLm;
    config.encoder_layers = 0;
    config.decoder_layers = 2;
    config.max_length = 96;
    if (window > 0) {
        config.mixer.decoder = MixerKind::Restricted;
        config.mixer.window = window;
    }
    return config;
}

// [length, vocabulary]
std::vector<double> uncached(SmallModel& model, const std::vector<std::int32_t>& ids) {
    Context ctx{*model.backend};
    const Tensor row = make_from_host(*model.backend, {1, std::ssize(ids)}, DType::I32, ids);
    return model.host(
        model.model->logits(ctx, model.model->states(ctx, {.sentences = 1, .target = {.ids = row}})).value());
}

struct Weights : AttentionObserver {
    bool wants(const AttentionSite&) const override { return true; }
    Tensor observe(Backend& backend, const AttentionView& view) override {
        seen.emplace_back(view.weights.shape, to_host<double>(backend, view.weights));
        return view.weights;
    }
    std::vector<std::pair<Shape, std::vector<double>>> seen;
};

}  // namespace

TEST_CASE("a window of the whole length gives the numbers of full attention", "[restricted]") {
    for (const std::string device : {"cpu", "cpu:oracle"}) {
        for (const Architecture architecture : {Architecture::EncoderDecoder, Architecture::MaskedLm}) {
            ModelConfig config = small_config();
            if (architecture == Architecture::MaskedLm) {
                config.architecture = architecture;
                config.decoder_layers = 0;
                config.frame.mask_id = config.frame.unk_id;
            }
            SmallModel full(config, device);
            const DeviceBatch batch = full.batch(random_pairs(config, 5, 3));
            config.mixer.encoder = MixerKind::Restricted;
            config.mixer.decoder = config.decoder_layers > 0 ? MixerKind::Restricted : MixerKind::SelfAttention;
            config.mixer.window = std::max(batch.source.length(), batch.target.length());
            SmallModel restricted(config, device);
            const Regularisation rates = all_dropouts(*full.backend);
            CHECK(full.loss(batch, {}, rates, true) == restricted.loss(restricted.batch(random_pairs(config, 5, 3)), {},
                                                                       all_dropouts(*restricted.backend), true));
            CHECK(full.host(full.parameters.flat_gradients()) ==
                  restricted.host(restricted.parameters.flat_gradients()));
            config.mixer.window = 1;
            SmallModel narrow(config, device);
            CHECK(narrow.loss(narrow.batch(random_pairs(config, 5, 3)), {}, {}, false) !=
                  full.loss(batch, {}, {}, false));
        }
    }
}

TEST_CASE("a layer's window reaches its neighbours, and no farther", "[restricted]") {
    ModelConfig config = causal_config(3);
    config.decoder_layers = 1;
    SmallModel model(config, "cpu:oracle", false);
    std::vector<std::int32_t> ids{1, 5, 9, 7, 4, 8, 6, 10};
    const std::vector<double> before = uncached(model, ids);
    ids[2] = 8;
    const std::vector<double> after = uncached(model, ids);
    const auto row = [&](const std::vector<double>& logits, std::int64_t position) {
        const auto begin = logits.begin() + position * config.target_vocabulary;
        return std::vector<double>(begin, begin + config.target_vocabulary);
    };
    for (std::int64_t position = 0; position < std::ssize(ids); ++position) {
        INFO("position " << position);
        CHECK((row(before, position) == row(after, position)) == (position < 2 || position > 4));
    }
}

TEST_CASE("cached decoding under a window forgets old keys and stays equal to the uncached pass", "[restricted]") {
    for (const std::int64_t window : {1, 5, 9}) {
        for (const std::string device : {"cpu", "cpu:oracle"}) {
            INFO(device << ", window " << window);
            SmallModel model(causal_config(window), device, false);
            const auto& causal = dynamic_cast<const CausalLm&>(*model.model);
            const std::int64_t classes = model.config.target_vocabulary;
            Random random(5);
            std::vector<std::vector<std::int32_t>> texts{random_pieces(random, 80, classes),
                                                         random_pieces(random, 80, classes)};
            const std::vector<double> expected[]{uncached(model, texts[0]), uncached(model, texts[1])};
            Context ctx{*model.backend};
            Cache cache = causal.start(ctx, {.sentences = 2});
            const auto next = [&](std::int64_t first, std::int64_t count) {
                std::vector<std::int32_t> ids;
                for (const std::vector<std::int32_t>& text : texts) {
                    ids.insert(ids.end(), text.begin() + first, text.begin() + first + count);
                }
                return make_from_host(*model.backend, {2, count}, DType::I32, ids);
            };
            std::int64_t position = 0;
            bool swapped = false;
            while (position < 80) {
                if (position == 30) {  // a chunk longer than the window
                    causal.read(ctx, cache, next(position, 21));
                    position += 21;
                }
                if (position % 16 == 5) {  // a beam
                    std::swap(texts[0], texts[1]);
                    swapped = !swapped;
                    cache = cache.reorder(
                        ctx.backend, make_from_host(*model.backend, {2}, DType::I32, std::vector<std::int32_t>{1, 0}),
                        Tensor());
                }
                const std::vector<double> found = model.host(causal.step(ctx, cache, next(position, 1)));
                for (std::int64_t i = 0; i < 2 * classes; ++i) {
                    const std::vector<double>& of_row = expected[(i / classes == 0) == swapped ? 1 : 0];
                    REQUIRE(found[static_cast<std::size_t>(i)] ==
                            Approx(of_row[static_cast<std::size_t>(position * classes + i % classes)]).margin(1e-5));
                }
                ++position;
            }
            CHECK(cache.length == 80);
            CHECK(cache.forgotten > 80 - 3 * 8 - window);
            CHECK(cache.capacity <= 2 * window + 16);
            CHECK(cache.kept.front().dim(2) == cache.capacity);
        }
    }
}

TEST_CASE("an observer of cached decoding gets the weights of all tokens, 0 outside the window", "[restricted]") {
    SmallModel model(causal_config(3), "cpu:oracle", false);
    const auto& causal = dynamic_cast<const CausalLm&>(*model.model);
    Weights weights;
    Context ctx{.backend = *model.backend, .observer = &weights};
    Cache cache = causal.start(ctx, {.sentences = 1});
    for (std::int64_t position = 0; position < 20; ++position) {
        weights.seen.clear();
        causal.step(ctx, cache, make_from_host(*model.backend, {1, 1}, DType::I32, std::vector<std::int32_t>{5}));
        REQUIRE(weights.seen.size() == 2);
        const auto& [shape, values] = weights.seen.front();
        REQUIRE(shape == Shape{1, 2, 1, position + 1});
        for (std::int64_t key = 0; key <= position; ++key) {
            CHECK((values[static_cast<std::size_t>(key)] > 0.0) == (key > position - 3));
        }
    }
    CHECK(cache.forgotten == 0);
}

// Long enough that backends go over a few keys of each query.
TEST_CASE("training under a narrow window has the loss and the gradients of the oracle", "[restricted]") {
    ModelConfig config = causal_config(6);
    config.max_length = 160;
    Random random(6);
    std::vector<Example> pairs;
    for (const std::int64_t length : {150, 70}) {
        pairs.push_back({{}, random_pieces(random, length, config.target_vocabulary)});
    }
    SmallModel oracle(config, "cpu:oracle");
    const double expected = oracle.loss(oracle.batch(pairs), {}, all_dropouts(*oracle.backend), true);
    const std::vector<double> gradients = oracle.host(oracle.parameters.flat_gradients());
    for (const std::string& device : conformance::devices_under_test()) {
        INFO(device);
        SmallModel model(config, device);
        CHECK(model.loss(model.batch(pairs), {}, all_dropouts(*model.backend), true) == Approx(expected).epsilon(1e-5));
        const std::vector<double> found = model.host(model.parameters.flat_gradients());
        double error = 0.0;
        double size = 0.0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            error += (found[i] - gradients[i]) * (found[i] - gradients[i]);
            size += gradients[i] * gradients[i];
        }
        CHECK(std::sqrt(error / size) < 1e-4);
    }
}

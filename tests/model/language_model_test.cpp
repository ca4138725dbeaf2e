// What language models may see, and decoding with a cache.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

#include "backend/ops/elementwise.h"
#include "model/causal_lm.h"
#include "model/convolution.h"
#include "model/masked_lm.h"
#include "small_model.h"

using namespace headscope;

namespace {

SmallModel model_of(const NamedConfig& named) {
    return {named.config, "cpu:oracle", false};
}

// Logits [length, vocabulary] of one sequence, of documents that begin at `starts`.
std::vector<double> logits_of(SmallModel& model, const std::vector<std::int32_t>& ids,
                              const std::vector<std::int32_t>& starts = {}) {
    const Example example{.target = ids, .labels = std::vector<std::int32_t>(ids.size(), kNoTarget), .starts = starts};
    const DeviceBatch batch =
        upload(*model.backend, make_batch(std::span(&example, 1), frame_of(model.config), 0, {.multiple = 1}));
    Context ctx{*model.backend};
    return model.host(model.model->logits(ctx, model.model->states(ctx, batch)).value());
}

std::vector<double> row(const std::vector<double>& logits, std::size_t position, std::int64_t classes) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(position) * classes;
    return {begin, begin + classes};
}

// How far away a position may be for its layers to read it, on either side.
std::int64_t reach_of(const ModelConfig& config) {
    const bool causal = config.architecture == Architecture::CausalLm;
    const MixerKind mixer = causal ? config.mixer.decoder : config.mixer.encoder;
    const std::int64_t layers = config.encoder_layers + config.decoder_layers;
    if (mixer == MixerKind::Restricted) {
        return layers * (config.mixer.window - 1);
    }
    if (mixer != MixerKind::Convolution) {
        return INT64_MAX;
    }
    std::int64_t sum = 0;
    for (int layer = 0; layer < layers; ++layer) {
        sum += convolution_span(config, layer) / (causal ? 1 : 2);
    }
    return sum;
}

bool may_see(const ModelConfig& config, std::size_t position, std::size_t other) {
    const auto ahead = static_cast<std::int64_t>(other) - static_cast<std::int64_t>(position);
    return (config.architecture == Architecture::MaskedLm || ahead <= 0) && std::abs(ahead) <= reach_of(config);
}

std::vector<std::int32_t> class_of_each_position(Backend& backend, const DeviceBatch& batch) {
    const auto classes = to_host<std::int32_t>(backend, batch.predicted.classes);
    if (!batch.predicted.rows.defined()) {
        return classes;
    }
    const auto rows = to_host<std::int32_t>(backend, batch.predicted.rows);
    std::vector<std::int32_t> all(static_cast<std::size_t>(batch.target.ids.elements()), kNoTarget);
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.predicted.count); ++i) {
        all[static_cast<std::size_t>(rows[i])] = classes[i];
    }
    return all;
}

}  // namespace

TEST_CASE("a causal model never sees the future, a masked one sees all but what it predicts") {
    const std::vector<std::int32_t> ids{1, 5, 9, 7, 4, 8, 6};
    for (const NamedConfig& named : language_configs()) {
        INFO(named.name);
        SmallModel model = model_of(named);
        const std::vector<double> before = logits_of(model, ids);
        for (std::size_t changed = 0; changed < ids.size(); ++changed) {
            std::vector<std::int32_t> other = ids;
            other[changed] = 10;
            const std::vector<double> after = logits_of(model, other);
            for (std::size_t position = 0; position < ids.size(); ++position) {
                INFO("token " << changed << " changed, position " << position);
                const bool sees = may_see(named.config, position, changed);
                const std::int64_t classes = named.config.target_vocabulary;
                CHECK((row(before, position, classes) != row(after, position, classes)) == sees);
            }
        }
    }
}

TEST_CASE("no token of a packed block sees another document") {
    const std::vector<std::int32_t> ids{1, 5, 9, 1, 7, 4, 8, 1, 6};
    const std::vector<std::int32_t> starts{0, 3, 7};
    for (const NamedConfig& named : language_configs()) {
        INFO(named.name);
        SmallModel model = model_of(named);
        const std::int64_t classes = named.config.target_vocabulary;
        const std::vector<double> before = logits_of(model, ids, starts);
        CHECK(before != logits_of(model, ids));
        for (std::size_t changed = 0; changed < ids.size(); ++changed) {
            std::vector<std::int32_t> other = ids;
            other[changed] = 10;
            const std::vector<double> after = logits_of(model, other, starts);
            const auto document = [&](std::size_t position) {
                return std::count_if(starts.begin(), starts.end(),
                                     [&](std::int32_t start) { return start <= static_cast<std::int32_t>(position); });
            };
            for (std::size_t position = 0; position < ids.size(); ++position) {
                INFO("token " << changed << " changed, position " << position);
                const bool sees = document(changed) == document(position) && may_see(named.config, position, changed);
                CHECK((row(before, position, classes) != row(after, position, classes)) == sees);
            }
        }
    }
}

TEST_CASE("a masked model distinguishes token types, and tokens without one are of type 0") {
    const NamedConfig bert = language_configs().back();
    REQUIRE(bert.config.embedding.token_types == 2);
    const auto loss_and_gradients = [&](const std::vector<std::int32_t>& types) {
        SmallModel model(bert.config, "cpu:oracle");
        Example example{.target = {1, 5, 9, 7, 4}, .labels = {5, kNoTarget, 8, kNoTarget, 2}, .types = types};
        const std::vector<double> loss{model.loss(
            upload(*model.backend, make_batch(std::span(&example, 1), frame_of(model.config), 0)), {}, {}, true)};
        return std::pair(loss, model.host(model.parameters.flat_gradients()));
    };
    const auto [loss, gradients] = loss_and_gradients({});
    const auto [same_loss, same_gradients] = loss_and_gradients({0, 0, 0, 0, 0});
    const auto close = [](double a, double b) { return a == Approx(b).epsilon(1e-13).margin(1e-13); };
    CHECK(close(same_loss[0], loss[0]));
    CHECK(std::equal(gradients.begin(), gradients.end(), same_gradients.begin(), close));
    SmallModel model(bert.config, "cpu:oracle");
    DeviceBatch batch = model.batch(random_pairs(bert.config, 3, 1));
    batch.target.types = Tensor();
    const double untyped = model.loss(batch, {}, {}, false);
    model.backend->run(Fill{.out = batch.target.types = model.backend->empty(batch.target.ids.shape, DType::I32)});
    CHECK(close(model.loss(batch, {}, {}, false), untyped));
    const auto [other_loss, other_gradients] = loss_and_gradients({0, 0, 0, 1, 1});
    CHECK(!close(other_loss[0], loss[0]));
}

TEST_CASE("a causal model with a cache computes what it computes without, token by token and in chunks") {
    const std::vector<std::int32_t> ids{1, 5, 9, 7, 4, 8, 6, 10, 5, 4, 9};
    for (const NamedConfig& named : language_configs()) {
        if (named.config.architecture != Architecture::CausalLm) {
            continue;
        }
        INFO(named.name);
        SmallModel model = model_of(named);
        const auto& causal = dynamic_cast<const CausalLm&>(*model.model);
        const std::int64_t classes = named.config.target_vocabulary;
        const std::vector<double> expected = logits_of(model, ids);
        for (const std::size_t chunk : {0, 1, 5, 9}) {
            Context ctx{*model.backend};
            const auto upload_ids = [&](std::size_t first, std::size_t count) {
                return make_from_host<std::int32_t>(*model.backend, {1, static_cast<std::int64_t>(count)}, DType::I32,
                                                    {ids.begin() + static_cast<std::ptrdiff_t>(first),
                                                     ids.begin() + static_cast<std::ptrdiff_t>(first + count)});
            };
            Cache cache = causal.start(ctx, {.sentences = 1});
            if (chunk > 0) {
                causal.read(ctx, cache, upload_ids(0, chunk));
            }
            for (std::size_t position = chunk; position < ids.size(); ++position) {
                const std::vector<double> found = model.host(causal.step(ctx, cache, upload_ids(position, 1)));
                const std::vector<double> wanted = row(expected, position, classes);
                for (std::size_t i = 0; i < found.size(); ++i) {
                    REQUIRE(found[i] == Approx(wanted[i]).margin(1e-12));
                }
            }
            CHECK(cache.length == 11);
            CHECK(cache.capacity >= (cache.kept.empty() ? 0 : 16));
        }
    }
}

TEST_CASE("the loss at few positions does not depend on gathering them") {
    for (const NamedConfig& named : language_configs()) {
        INFO(named.name);
        if (named.config.adaptive()) {
            continue;  // its clusters count gathered rows
        }
        SmallModel model{named.config, "cpu:oracle"};
        DeviceBatch batch = model.batch(random_pairs(model.config, 4, 1));
        CHECK(batch.predicted.rows.defined() == (named.config.architecture == Architecture::MaskedLm));
        const double gathered = model.loss(batch, {}, {}, true);
        const std::vector<double> gradients = model.host(model.parameters.flat_gradients());
        batch.predicted = upload(*model.backend, Gather(class_of_each_position(*model.backend, batch)));
        model.parameters.forget_gradients();
        CHECK(model.loss(batch, {}, {}, true) == Approx(gathered).epsilon(1e-13));
        const std::vector<double> others = model.host(model.parameters.flat_gradients());
        CHECK(std::equal(gradients.begin(), gradients.end(), others.begin(),
                         [](double a, double b) { return std::abs(a - b) < 1e-12; }));
    }
}

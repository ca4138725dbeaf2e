// A translator that fills in masks: what its positions see, and that passes for translating equal those of training.
#include "model/mask_predict.h"

#include <catch2/catch.hpp>

#include "small_model.h"

using namespace headscope;

namespace {

std::vector<double> logits_of(SmallModel& model, const DeviceBatch& batch) {
    Context ctx{*model.backend};
    return model.host(model.model->logits(ctx, model.model->states(ctx, batch)).value());
}

DeviceBatch batch_of(SmallModel& model, const std::vector<Example>& pairs) {
    return upload(*model.backend, make_batch(std::span<const Example>(pairs), frame_of(model.config), 0));
}

void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        REQUIRE(found[i] == Approx(expected[i]).margin(1e-12));
    }
}

}  // namespace

TEST_CASE("a text that is filled in is read in both directions, and its padding is not") {
    SmallModel model(mask_predict_configs().front().config, "cpu:oracle", false);
    const std::int64_t classes = model.config.target_vocabulary;
    Example pair{.source = {4, 5}, .target = {5, 3, 7, 8, 9}, .labels = {-1, 6, -1, -1, -1}};
    const auto logits = [&](const Example& changed) {
        std::vector<double> all = logits_of(model, batch_of(model, {changed}));
        all.resize(static_cast<std::size_t>(5 * classes));
        return all;
    };
    const std::vector<double> before = logits(pair);
    for (std::size_t changed = 0; changed < pair.target.size(); ++changed) {
        Example other = pair;
        other.target[changed] = 10;
        const std::vector<double> after = logits(other);
        for (std::size_t i = 0; i < after.size(); ++i) {
            INFO("piece " << changed << ", logit " << i);
            REQUIRE(after[i] != before[i]);
        }
    }
    Example longer{.source = {4, 5, 6}, .target = std::vector<std::int32_t>(13, 4), .labels = {}};
    longer.labels.assign(13, kNoTarget);
    std::vector<double> beside = logits_of(model, batch_of(model, {pair, longer}));
    beside.resize(before.size());
    check_close(beside, before);
}

TEST_CASE("texts and lengths do not depend on the batch, and reading with the sources' keys equals a whole pass") {
    for (const NamedConfig& named : mask_predict_configs()) {
        INFO(named.name);
        SmallModel model(named.config, "cpu:oracle", false);
        const auto& masks = as_mask_predict(*model.model);
        const std::int64_t classes = model.config.target_vocabulary;
        const std::vector<Example> pairs = masked_pairs(model.config, random_pairs(model.config, 4, 3));
        const DeviceBatch together = batch_of(model, pairs);
        const std::vector<double> all = logits_of(model, together);
        Context ctx{*model.backend};
        const Var memory = masks.encode(ctx, together);
        const std::vector<double> lengths = model.host(masks.length_logits(ctx, together, memory));
        CHECK(std::ssize(lengths) == 4 * model.config.max_length);

        // Two texts of each source: its own, and all 4.
        std::vector<std::int32_t> ids;
        std::vector<std::int32_t> of_rows;
        const auto own = to_host<std::int32_t>(*model.backend, together.target.ids);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto begin = own.begin() + static_cast<std::ptrdiff_t>(i) * together.target.length();
            ids.insert(ids.end(), begin, begin + together.target.length());
            ids.insert(ids.end(), static_cast<std::size_t>(together.target.length()), 4);
            of_rows.insert(of_rows.end(), {static_cast<std::int32_t>(pairs[i].target.size()), 3});
        }
        const Cache cache = masks.start(ctx, together, memory, 8);
        const Tensor read =
            masks
                .read(ctx, cache, make_from_host(*model.backend, {8, together.target.length()}, DType::I32, ids),
                      make_from_host(*model.backend, {8}, DType::I32, of_rows))
                .value();
        const std::vector<double> filled = model.host(model.model->logits(ctx, Var(read)).value());

        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto cut = [&](const std::vector<double>& from, std::size_t row, std::size_t pieces) {
                const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row) * together.target.length() * classes;
                return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(pieces) * classes);
            };
            const DeviceBatch alone = batch_of(model, {pairs[i]});
            const std::size_t pieces = pairs[i].target.size();
            const std::vector<double> expected = cut(logits_of(model, alone), 0, pieces);
            check_close(cut(all, i, pieces), expected);
            check_close(cut(filled, 2 * i, pieces), expected);
            const std::vector<double> length = model.host(masks.length_logits(ctx, alone, masks.encode(ctx, alone)));
            const auto there = lengths.begin() + static_cast<std::ptrdiff_t>(i) * model.config.max_length;
            check_close({there, there + model.config.max_length}, length);
        }
    }
}

TEST_CASE("only the loss knows the length, nll is that of the masked pieces") {
    SmallModel model(mask_predict_configs().front().config, "cpu:oracle");
    const std::vector<Example> pairs = masked_pairs(model.config, random_pairs(model.config, 3, 1));
    const DeviceBatch batch = batch_of(model, pairs);
    Context ctx{*model.backend};
    const LossSums sums = model.model->loss(ctx, batch, {.epsilon = 0.0F});
    const std::vector<double> logits = logits_of(model, batch);
    const auto& masks = as_mask_predict(*model.model);
    const std::vector<double> lengths = model.host(masks.length_logits(ctx, batch, masks.encode(ctx, batch)));
    const auto nll_of = [](const std::vector<double>& from, std::size_t row, std::int64_t classes, std::int32_t gold) {
        const double* begin = &from[row * static_cast<std::size_t>(classes)];
        double sum = 0.0;
        for (std::int64_t i = 0; i < classes; ++i) {
            sum += std::exp(begin[i]);
        }
        return std::log(sum) - begin[gold];
    };
    double pieces = 0.0;
    double length = 0.0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (std::size_t at = 0; at < pairs[i].target.size(); ++at) {
            const std::size_t row = i * static_cast<std::size_t>(batch.target.length()) + at;
            const std::int32_t gold = pairs[i].labels[at];
            pieces += gold == kNoTarget ? 0.0 : nll_of(logits, row, model.config.target_vocabulary, gold);
        }
        length += nll_of(lengths, i, model.config.max_length, static_cast<std::int32_t>(pairs[i].target.size()));
    }
    CHECK(model.host(sums.nll)[0] == Approx(pieces));
    CHECK(model.host(sums.loss)[0] == Approx(pieces + length));
}

TEST_CASE("a model that fills in masks does not write from left to right") {
    SmallModel masks(mask_predict_configs().front().config, "cpu:oracle", false);
    SmallModel writes(small_config(), "cpu:oracle", false);
    CHECK_THROWS_WITH(as_generator(*masks.model), Catch::Contains("\"generation\" is \"mask_predict\""));
    CHECK_THROWS_WITH(as_mask_predict(*writes.model), Catch::Contains("\"generation\" is not \"mask_predict\""));
}

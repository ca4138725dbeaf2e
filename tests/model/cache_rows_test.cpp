// Caches that follow a beam by a table of rows, next to those that are reordered.
#include <catch2/catch.hpp>

#include "small_model.h"

using namespace headscope;

namespace {

// Two caches of the same two sentences.
struct Beams {
    Beams(SmallModel& made, std::int64_t capacity) : model(made), ctx{*made.backend} {
        const DeviceBatch batch = model.batch(random_pairs(model.config, 2, 3));
        const Tensor memory = model.transformer().encode(ctx, batch.source).value();
        reordered = model.transformer().start_cache(ctx, memory, batch.source.lengths, capacity);
        followed = model.transformer().start_cache(ctx, memory, batch.source.lengths, capacity);
    }

    Tensor on_device(const std::vector<std::int32_t>& values, const Shape& shape) {
        return make_from_host(*model.backend, shape, DType::I32, values);
    }
    // The rows and, unless it is empty, the sources that go on.
    void go_on(const std::vector<std::int32_t>& parents, const std::vector<std::int32_t>& sources = {}) {
        const Tensor kept = sources.empty() ? Tensor() : on_device(sources, {std::ssize(sources)});
        reordered = reordered.reorder(ctx.backend, on_device(parents, {std::ssize(parents)}), kept);
        followed.follow(ctx.backend, parents, kept);
    }
    void step(Random& random) {
        const Tensor ids =
            on_device(random_pieces(random, reordered.rows, model.config.target_vocabulary), {reordered.rows, 1});
        const std::vector<double> expected = model.host(model.transformer().step(ctx, reordered, ids));
        CHECK(model.host(model.transformer().step(ctx, followed, ids)) == expected);
    }

    SmallModel& model;
    Context ctx;
    Cache reordered, followed;
};

// Steps of a beam of three, of which one sentence ends and the other grows again.
void compare(Beams& beams) {
    Random random(7);
    beams.step(random);
    beams.go_on({0, 0, 0, 1, 1, 1});
    for (int step = 0; step < 9; ++step) {
        beams.step(random);
        std::vector<std::int32_t> parents;
        for (std::int32_t row = 0; row < 6; ++row) {
            parents.push_back(row / 3 * 3 + static_cast<std::int32_t>(random.below(3)));
        }
        beams.go_on(parents);
    }
    beams.step(random);
    beams.go_on({5, 3}, {1});
    beams.step(random);
    beams.go_on({1, 1, 0, 1, 0, 0, 1, 0});
    beams.step(random);
    beams.step(random);
    beams.go_on({7, 0, 3});
    beams.step(random);
}

}  // namespace

TEST_CASE("a cache that follows a beam gives what a reordered one gives", "[cache]") {
    for (const NamedConfig& varied : varied_configs()) {
        SmallModel model(varied.config, "cpu", false);
        Beams beams(model, 1);
        if (beams.followed.by_rows) {
            INFO(varied.name);
            compare(beams);
        }
    }
    SmallModel model(small_config(), "cpu:oracle", false);  // whose attention is composed
    Beams beams(model, 1);
    CHECK_FALSE(beams.followed.by_rows);
    beams.followed.by_rows = true;
    compare(beams);
}

TEST_CASE("a cache that follows forgets what lies behind a window", "[cache]") {
    ModelConfig config = small_config();
    config.max_length = 64;
    config.mixer.decoder = MixerKind::Restricted;
    config.mixer.window = 5;
    SmallModel model(config, "cpu", false);
    Beams beams(model, 1);
    Random random(8);
    beams.step(random);
    beams.go_on({1, 0, 1, 0});
    for (int step = 0; step < 40; ++step) {
        beams.step(random);
        if (step % 3 == 0) {
            beams.go_on({3, 3, 0, 1});
        }
    }
    CHECK(beams.followed.forgotten > 0);
    beams.go_on({3, 1, 2, 2, 0, 0});  // more rows than ever
    for (int step = 0; step < 9; ++step) {
        beams.step(random);
    }
}

TEST_CASE("a cache that follows stays where it is", "[cache]") {
    SmallModel model(small_config(), "cpu", false);
    Beams beams(model, 16);
    Random random(9);
    beams.step(random);
    beams.go_on({0, 0, 1, 1});
    const Cache before = beams.followed;
    for (int step = 0; step < 5; ++step) {
        beams.step(random);
        beams.go_on({1, 1, 2, 3});
    }
    CHECK(beams.followed.kept.front().buffer == before.kept.front().buffer);
    CHECK(beams.followed.key_rows.buffer == before.key_rows.buffer);
    CHECK(beams.followed.position.buffer == before.position.buffer);
    CHECK_THROWS_AS(beams.followed.reorder(beams.ctx.backend, beams.on_device({0}, {1}), Tensor()), CheckFailure);
    Cache other = beams.reordered;
    other.by_rows = false;
    CHECK_THROWS_AS(other.follow(beams.ctx.backend, {0, 1, 2, 3}, Tensor()), CheckFailure);
}

TEST_CASE("a cache that follows can go back", "[cache]") {
    ModelConfig config = small_config();
    config.max_length = 32;
    SmallModel model(config, "cpu", false);
    for (const std::int64_t tokens : {1, 4, 9}) {  // to the same multiple of 8, to the one before, and past branches
        INFO(tokens << " tokens back");
        Beams beams(model, 1);
        Random random(10);
        beams.step(random);
        beams.go_on({0, 0, 1, 1});
        for (int step = 0; step < 7; ++step) {
            beams.step(random);
            beams.go_on({1, 0, 3, 3});
        }
        for (int step = 0; step < 3; ++step) {
            beams.step(random);
        }
        beams.reordered.go_back(beams.ctx.backend, tokens);
        beams.followed.go_back(beams.ctx.backend, tokens);
        for (int step = 0; step < 9; ++step) {
            beams.step(random);
        }
        beams.go_on({2, 2, 0, 1});
        beams.step(random);
    }
}

TEST_CASE("a cache does not follow where attention is not the op, or is observed", "[cache]") {
    struct Observer final : AttentionObserver {
        bool wants(const AttentionSite&) const override { return true; }
        Tensor observe(Backend&, const AttentionView& view) override { return view.weights; }
    };
    for (const NamedConfig& varied : varied_configs()) {
        INFO(varied.name);
        SmallModel model(varied.config, "cpu", false);
        const bool plain = varied.config.attention.score != AttentionScore::Additive &&
                           varied.config.positions.relative.kind == RelativePositions::None;
        Beams beams(model, 1);
        CHECK(beams.followed.by_rows == (plain && !beams.followed.kept.empty()));
        Observer observer;
        Context observed{.backend = *model.backend, .observer = &observer};
        const DeviceBatch batch = model.batch(random_pairs(model.config, 1, 3));
        const Tensor memory = model.transformer().encode(observed, batch.source).value();
        CHECK_FALSE(model.transformer().start_cache(observed, memory, batch.source.lengths, 8).by_rows);
    }
}

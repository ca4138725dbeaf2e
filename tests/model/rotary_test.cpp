// The angles of rotary positions.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/generator.h"
#include "model/rotary.h"
#include "registry/registry.h"
#include "small_model.h"

using namespace headscope;

TEST_CASE("pairs turn at the speeds that their kind gives them") {
    RotaryConfig rotary{.kind = Rotary::Plain, .base = 256.0};
    CHECK(rotary_speeds(rotary, 8) == std::vector<double>{1.0, 1.0 / 4, 1.0 / 16, 1.0 / 64});
    rotary.kind = Rotary::Linear;
    rotary.factor = 2.0;
    CHECK(rotary_speeds(rotary, 8) == std::vector<double>{1.0 / 2, 1.0 / 8, 1.0 / 32, 1.0 / 128});
    rotary.kind = Rotary::Factors;
    rotary.factors = {1.0, 2.0, 4.0, 8.0};
    CHECK(rotary_speeds(rotary, 8) == std::vector<double>{1.0, 1.0 / 8, 1.0 / 64, 1.0 / 512});
    // The fastest pair keeps its speed, the slowest turns `factor` times more slowly.
    rotary.kind = Rotary::Ntk;
    CHECK(rotary_speeds(rotary, 8).front() == 1.0);
    CHECK(rotary_speeds(rotary, 8).back() == Approx(1.0 / 128));
}

TEST_CASE("slow pairs are slowed down, fast ones are not, and those between in part") {
    RotaryConfig rotary{.kind = Rotary::Llama3, .base = 256.0, .factor = 8.0};
    rotary.original_length = 100;
    const double times = 100.0 / (2.0 * std::numbers::pi);
    rotary.low = times / 20.0;
    rotary.high = times / 2.0;
    const std::vector<double> by_turns = rotary_speeds(rotary, 8);
    CHECK(by_turns[0] == 1.0);
    CHECK(by_turns[3] == Approx(1.0 / 64 / 8));
    const double share = (1.0 / 4 - 1.0 / 20) / (1.0 / 2 - 1.0 / 20);
    CHECK(by_turns[1] == Approx(share / 4 + (1.0 - share) / 32));
    // Between the pairs 0 and 3 the share falls evenly.
    rotary.kind = Rotary::Yarn;
    rotary.low = times / 60.0;
    rotary.high = times / 1.5;
    const std::vector<double> by_number = rotary_speeds(rotary, 8);
    CHECK(by_number[0] == 1.0);
    CHECK(by_number[1] == Approx(2.0 / 3 / 4 + 1.0 / 3 / 32));
    CHECK(by_number[2] == Approx(1.0 / 3 / 16 + 2.0 / 3 / 128));
    CHECK(by_number[3] == Approx(1.0 / 64 / 8));
}

TEST_CASE("tables of turns grow, and layers with a window may have their own") {
    ModelConfig config = small_config();
    config.max_length = 520;
    config.positions.rotary = {.kind = Rotary::Plain, .base = 256.0, .magnitude = 2.0, .window_base = 16.0};
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    RotaryTables tables(config);
    tables.grow(*oracle, 10);
    const Tensor first = tables.turns(false).table;
    CHECK(first.dim(0) >= 10);
    tables.grow(*oracle, 10);
    CHECK(tables.turns(false).table.buffer == first.buffer);
    tables.grow(*oracle, first.dim(0) + 1);
    for (const bool windowed : {false, true}) {
        const Tensor table = tables.turns(windowed).table;
        REQUIRE(table.shape == Shape{2 * first.dim(0), 2, 2});
        const std::vector<double> values = to_host<double>(*oracle, table);
        const double speed = windowed ? 1.0 / 4 : 1.0 / 16;
        const double magnitude = windowed ? 1.0 : 2.0;
        CHECK(values[4 * 300 + 1] == Approx(magnitude * std::cos(300 * speed)));
        CHECK(values[4 * 300 + 3] == Approx(magnitude * std::sin(300 * speed)));
        const Tensor places = make_from_host<std::int32_t>(*oracle, {2}, DType::I32, {300, 7});
        const Turns apart = tables.turns_at(*oracle, windowed, places);
        CHECK(apart.each_row);
        CHECK(to_host<double>(*oracle, apart.table)[1] == values[4 * 300 + 1]);
        CHECK(to_host<double>(*oracle, apart.table)[4] == values[4 * 7]);
    }
    for (const std::int64_t length : {std::int64_t{513}, std::int64_t{521}}) {  // up to max_length, and no more
        tables.grow(*oracle, length);
        CHECK(tables.turns(false).table.dim(0) == std::max<std::int64_t>(length, 520));
    }
}

TEST_CASE("rows that join others turn their tokens by their own positions") {
    ModelConfig config = small_config();
    config.architecture = Architecture::CausalLm;
    config.encoder_layers = 0;
    config.decoder_layers = 2;
    config.positions.kind = Positions::None;
    config.positions.rotary = {.kind = Rotary::Plain, .base = 10.0};
    SmallModel model(config, "cpu:oracle", false);
    const auto& causal = dynamic_cast<const Generator&>(*model.model);
    Context ctx{*model.backend};
    const auto ids_on_device = [&](const std::vector<std::int32_t>& ids, std::int64_t rows) {
        return make_from_host<std::int32_t>(*model.backend, {rows, std::ssize(ids) / rows}, DType::I32, ids);
    };
    const std::vector<std::vector<std::int32_t>> texts{{1, 5, 9, 7, 4, 8, 6}, {1, 10, 4}};
    std::vector<Cache> caches;
    for (const std::vector<std::int32_t>& text : texts) {
        caches.push_back(causal.start(ctx, {.sentences = 1}));
        causal.read(ctx, caches.back(), ids_on_device({text.begin(), text.end() - 2}, 1));
    }
    caches[0].join(*model.backend, caches[1]);
    for (std::size_t left = 2; left > 0; --left) {
        const std::vector<std::int32_t> next{texts[0][texts[0].size() - left], texts[1][texts[1].size() - left]};
        const std::vector<double> found = model.host(causal.step(ctx, caches[0], ids_on_device(next, 2)));
        for (std::size_t row = 0; row < 2; ++row) {
            const Tensor whole = ids_on_device(texts[row], 1);
            const Var states = model.model->states(ctx, {.sentences = 1, .target = {.ids = whole}});
            const std::vector<double> expected = model.host(model.model->logits(ctx, states).value());
            const std::size_t classes = found.size() / 2;
            for (std::size_t i = 0; i < classes; ++i) {
                REQUIRE(found[row * classes + i] ==
                        Approx(expected[(texts[row].size() - left) * classes + i]).margin(1e-12));
            }
        }
    }
}

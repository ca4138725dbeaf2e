#include "data/batch.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "data/device_batch.h"
#include "support/random.h"
#include "tests/data/recording_backend.h"

using namespace headscope;
using Ids = std::vector<std::int32_t>;

namespace {

const Frame kIds;

std::vector<Example> random_pairs(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<Example> pairs(count);
    for (Example& pair : pairs) {
        for (Ids* side : {&pair.source, &pair.target}) {
            side->resize(random.below(20));
            for (std::int32_t& id : *side) {
                id = static_cast<std::int32_t>(3 + random.below(9));
            }
        }
    }
    return pairs;
}

// Checks the contract of the order independent of its algorithm: every real position once, ids ascending, positions
// ascending among equal ids, the rest -1 at the end.
void check_order(const Ids& order, const Ids& ids, const Ids& lengths, std::int64_t length) {
    REQUIRE(order.size() == ids.size());
    std::size_t real = 0;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        real += static_cast<std::size_t>(lengths[row]);
    }
    std::map<std::int32_t, int> seen;
    for (std::size_t at = 0; at < order.size(); ++at) {
        if (at >= real) {
            CHECK(order[at] == -1);
            continue;
        }
        const auto position = static_cast<std::size_t>(order[at]);
        REQUIRE(position < ids.size());
        CHECK(++seen[order[at]] == 1);
        CHECK(order[at] % length < lengths[position / static_cast<std::size_t>(length)]);
        if (at > 0) {
            const auto before = static_cast<std::size_t>(order[at - 1]);
            CHECK(std::pair(ids[before], before) < std::pair(ids[position], position));
        }
    }
}

}  // namespace

TEST_CASE("make_batch gives the expected numbers", "[batch]") {
    const std::vector<Example> pairs{{{7, 5}, {9}}, {{5}, {4, 4, 9, 6, 6, 6, 6, 6}}};
    const Batch batch = make_batch(pairs, kIds, 40);
    CHECK(batch.sentences == 2);
    CHECK(batch.source.length == 8);
    CHECK(batch.target.length == 16);
    CHECK(batch.source.ids == Ids{7, 5, 2, 0, 0, 0, 0, 0, 5, 2, 0, 0, 0, 0, 0, 0});
    CHECK(batch.source.lengths == Ids{3, 2});
    CHECK(batch.target.ids == Ids{1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                  1, 4, 4, 9, 6, 6, 6, 6, 6, 0, 0, 0, 0, 0, 0, 0});
    CHECK(batch.predicted.classes == Ids{9, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                                         4, 4, 9,  6,  6,  6,  6,  6,  2,  -1, -1, -1, -1, -1, -1, -1});
    CHECK(batch.target.lengths == Ids{2, 9});
    CHECK(batch.ordinals == Ids{40, 41});
    CHECK(batch.source.order == Ids{2, 9, 1, 8, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
    CHECK(batch.source.count == 5);
    CHECK(batch.predicted.count == 11);
}

TEST_CASE("a decoder that starts with pad keeps its start", "[batch]") {
    const std::vector<Example> pairs{{{5}, {9}}};
    const Batch batch = make_batch(pairs, {.bos = 0}, 0);
    CHECK(batch.target.ids == Ids{0, 9, 0, 0, 0, 0, 0, 0});
    CHECK(batch.target.lengths == Ids{2});
    CHECK(batch.target.order == Ids{0, 1, -1, -1, -1, -1, -1, -1});
}

TEST_CASE("a frame stands around the pieces", "[batch]") {
    const Frame frame{.pad = 3, .bos = -1, .eos = 5, .source_begin = {20, 21}, .source_end = {}, .target_begin = {22}};
    std::vector<Example> pairs{{{7, 8}, {9}}, {{7}, {9, 9}}};
    pairs[1].source_begin = {30, 21};  // a language of its own
    const Batch batch = make_batch(pairs, frame, 0, {.multiple = 5});
    CHECK(batch.source.ids == Ids{20, 21, 7, 8, 3, 30, 21, 7, 3, 3});
    CHECK(batch.source.lengths == Ids{4, 3});
    CHECK(batch.target.ids == Ids{-1, 22, 9, 3, 3, -1, 22, 9, 9, 3});
    CHECK(batch.predicted.classes == Ids{-1, 9, 5, -1, -1, -1, 9, 9, 5, -1});
    CHECK(batch.target.lengths == Ids{3, 4});
    CHECK(batch.target.order == Ids{2, 7, 8, 1, 6, -1, -1, -1, -1, -1});  // no gradient for the start without a token
    CHECK(batch.source.count == 7);
    CHECK(batch.predicted.count == 5);
    CHECK(frame.around_source() == 2);
    CHECK(frame.around_target() == 2);
}

TEST_CASE("lengths including eos are padded to multiples of eight", "[batch]") {
    for (const auto& [pieces, padded] :
         std::vector<std::pair<std::size_t, std::int64_t>>{{0, 8}, {7, 8}, {8, 16}, {15, 16}}) {
        const std::vector<Example> pairs{{Ids(pieces, 5), Ids(pieces, 6)}};
        const Batch batch = make_batch(pairs, kIds, 0);
        CHECK(batch.source.length == padded);
        CHECK(batch.target.length == padded);
        CHECK(batch.source.lengths == Ids{static_cast<std::int32_t>(pieces) + 1});
    }
}

TEST_CASE("padding stops at the model's maximum length", "[batch]") {
    const Padding padding{.multiple = 8, .longest = 13};
    CHECK(padding.of(7) == 8);
    CHECK(padding.of(9) == 13);
    CHECK(padding.of(13) == 13);
    CHECK(padding.of(14) == 14);  // the model rejects longer sequences itself
    const std::vector<Example> pairs{{Ids(10, 5), Ids(3, 6)}, {Ids(2, 5), Ids(12, 6)}};
    const Batch batch = make_batch(pairs, kIds, 0, padding);
    CHECK(batch.source.length == 13);
    CHECK(batch.target.length == 13);
    CHECK(batch.source.lengths == Ids{11, 3});
    check_order(batch.target.order, batch.target.ids, batch.target.lengths, batch.target.length);
    CHECK(make_source_batch(std::vector<Ids>{Ids(10, 5)}, 0, padding).source.length == 13);
}

TEST_CASE("an order lists every real position by id", "[batch]") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Batch batch = make_batch(random_pairs(1 + seed, seed), kIds, 0);
        check_order(batch.source.order, batch.source.ids, batch.source.lengths, batch.source.length);
        check_order(batch.target.order, batch.target.ids, batch.target.lengths, batch.target.length);
    }
}

TEST_CASE("input and output of the decoder are shifted by one token", "[batch]") {
    const std::vector<Example> pairs = random_pairs(30, 7);
    const Batch batch = make_batch(pairs, kIds, 0);
    const auto length = static_cast<std::size_t>(batch.target.length);
    for (std::size_t row = 0; row < pairs.size(); ++row) {
        const Ids in(batch.target.ids.begin() + static_cast<std::ptrdiff_t>(row * length),
                     batch.target.ids.begin() + static_cast<std::ptrdiff_t>((row + 1) * length));
        for (std::size_t at = 0; at < length; ++at) {
            const std::int32_t out = batch.predicted.classes[row * length + at];
            const std::size_t pieces = pairs[row].target.size();
            CHECK(out == (at < pieces ? pairs[row].target[at] : at == pieces ? 2 : -1));
            CHECK(in[at] == (at == 0 ? 1 : at <= pieces ? pairs[row].target[at - 1] : 0));
        }
    }
}

TEST_CASE("a source batch has no target", "[batch]") {
    const std::vector<Ids> sources{{5, 6, 2}, {2}};
    const Batch batch = make_source_batch(sources, 0);
    CHECK(batch.source.ids == Ids{5, 6, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0});
    CHECK(batch.source.lengths == Ids{3, 1});
    CHECK(batch.ordinals == Ids{0, 1});
    CHECK(batch.target.length == 0);
    CHECK(batch.target.ids.empty());
    CHECK_THROWS_AS(make_source_batch({}, 0), CheckFailure);
    CHECK_THROWS_AS(make_batch(std::span<const Example>{}, kIds, 0), CheckFailure);
}

TEST_CASE("upload() keeps a batch unchanged", "[batch]") {
    RecordingBackend backend;
    const Batch batch = make_batch(random_pairs(3, 1), kIds, 5);
    const DeviceBatch device = upload(backend, batch);
    const auto host = [&](const Tensor& tensor) {
        CHECK(tensor.dtype == DType::I32);
        Ids values(static_cast<std::size_t>(tensor.elements()));
        backend.download(tensor, values.data(), values.size() * sizeof(std::int32_t));
        return values;
    };
    CHECK(host(device.source.ids) == batch.source.ids);
    CHECK(host(device.source.lengths) == batch.source.lengths);
    CHECK(host(device.target.ids) == batch.target.ids);
    CHECK(host(device.predicted.classes) == batch.predicted.classes);
    CHECK(host(device.target.lengths) == batch.target.lengths);
    CHECK(host(device.ordinals) == batch.ordinals);
    CHECK(host(device.source.order) == batch.source.order);
    CHECK(host(device.target.order) == batch.target.order);
    CHECK(device.source.ids.shape == Shape{3, batch.source.length});
    CHECK(device.predicted.classes.shape == Shape{1, 3 * batch.target.length});
    CHECK(device.source.order.shape == Shape{3 * batch.source.length});
    CHECK(device.sentences == 3);
    CHECK(device.source.length() == batch.source.length);
    CHECK(device.target.length() == batch.target.length);
    CHECK(device.predicted.count == batch.predicted.count);
    const std::vector<Ids> sources{{5, 2}};
    CHECK_FALSE(upload(backend, make_source_batch(sources, 0)).target.ids.defined());
}

TEST_CASE("an example with labels is taken as it is, without a source") {
    const std::vector<Example> examples = {{.target = {1, 5, 6, 1, 7}, .labels = {5, 6, 2, 7, 2}, .starts = {0, 3}},
                                           {.target = {1, 8, 9}, .labels = {-1, 8, -1}}};
    const Batch batch = make_batch(std::span<const Example>(examples), kIds, 4, {.multiple = 2});
    CHECK(batch.source.length == 0);
    CHECK(batch.source.count == 0);
    CHECK(batch.target.length == 6);
    CHECK(batch.target.ids == Ids{1, 5, 6, 1, 7, 0, 1, 8, 9, 0, 0, 0});
    CHECK(batch.predicted.classes == Ids{5, 6, 2, 7, 2, -1, -1, 8, -1, -1, -1, -1});
    CHECK(batch.target.lengths == Ids{5, 3});
    CHECK(batch.predicted.count == 6);
    CHECK(batch.ordinals == Ids{4, 5});
    check_order(batch.target.order, batch.target.ids, batch.target.lengths, 6);
    CHECK(batch.target.ranges == Ids{0, 3, 0, 3, 0, 3, 3, 5, 3, 5, 0, 0, 0, 3, 0, 3, 0, 3, 0, 0, 0, 0, 0, 0});

    RecordingBackend backend;
    const DeviceBatch device = upload(backend, batch);
    CHECK_FALSE(device.source.ids.defined());
    CHECK(device.target.ranges.shape == Shape{2, 6, 2});
    CHECK(device.target.types.shape == Shape{1, 6});
    CHECK(batch.target.types == Ids(6, 0));
    CHECK(batch.target.type_order == Ids{0, 1, 2, 3, 4, 5});

    const std::vector<Example> alone = {examples[1]};
    CHECK(make_batch(std::span<const Example>(alone), kIds, 0).target.ranges.empty());
    const std::vector<Example> mixed = {examples[0], {.source = {5}, .target = {6}}};
    CHECK_THROWS_AS(make_batch(std::span<const Example>(mixed), kIds, 0), CheckFailure);
}

TEST_CASE("all examples of a batch have token types, or none has") {
    std::vector<Example> examples = {{.target = {1, 5, 6}, .labels = {5, 6, 2}, .types = {0, 1, 1}},
                                     {.target = {1, 8}, .labels = {-1, 8}, .types = {1, 0}}};
    const Batch batch = make_batch(std::span<const Example>(examples), kIds, 0, {.multiple = 2});
    CHECK(batch.target.types == Ids{0, 1, 1, 0, 1, 0, 0, 0});
    CHECK(batch.target.type_order == Ids{0, 5, 1, 2, 4, -1, -1, -1});
    RecordingBackend backend;
    CHECK(upload(backend, batch).target.types.shape == Shape{2, 4});
    examples[1].types = {1};
    CHECK_THROWS_AS(make_batch(std::span<const Example>(examples), kIds, 0), CheckFailure);
    const std::vector<Example> translation = {{.source = {5}, .target = {6}, .types = {0}}};
    CHECK_THROWS_AS(make_batch(std::span<const Example>(translation), kIds, 0), CheckFailure);
}

TEST_CASE("weights belong to the tokens to predict", "[batch]") {
    std::vector<Example> pairs{{.source = {5}, .target = {9, 8}, .weights = {0.5F, -1.0F, 0.0F}},
                               {.source = {5}, .target = {7}}};
    const Frame frame{.target_begin = {22}};
    const Batch batch = make_batch(std::span<const Example>(pairs), frame, 0, {.multiple = 5});
    CHECK(batch.predicted.classes == Ids{-1, 9, 8, 2, -1, -1, 7, 2, -1, -1});
    CHECK(batch.predicted.weights == std::vector<float>{0, 0.5F, -1, 0, 0, 0, 1, 1, 0, 0});
    CHECK(batch.predicted.count == 5);
    RecordingBackend backend;
    CHECK(to_host<float>(backend, upload(backend, batch).predicted.weights) == batch.predicted.weights);
    pairs[0].weights.pop_back();
    CHECK_THROWS_AS(make_batch(std::span<const Example>(pairs), frame, 0), CheckFailure);
    pairs[0].weights.clear();
    CHECK(make_batch(std::span<const Example>(pairs), frame, 0).predicted.weights.empty());

    std::vector<Example> few(1);  // of many positions
    few[0].target.assign(64, 5);
    few[0].labels.assign(64, kNoTarget);
    few[0].weights.assign(64, 3.0F);
    few[0].labels[40] = 6;
    few[0].weights[40] = 0.25F;
    const Batch gathered = make_batch(std::span<const Example>(few), kIds, 0);
    REQUIRE(gathered.predicted.rows.size() < 64);
    CHECK(gathered.predicted.rows[0] == 40);
    CHECK(gathered.predicted.weights[0] == 0.25F);
    CHECK(gathered.predicted.weights.size() == gathered.predicted.rows.size());
}

TEST_CASE("targets are distributed over the clusters of an adaptive output", "[batch]") {
    const Ids classes{3, 7, 5, kNoTarget, 9, 5, 0};
    const Ids starts{5, 7};
    const std::vector<Gather> parts = gather_clusters(Gather(classes, {1, 2, 3, 4, 5, 6, 7}), starts);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].classes == Ids{3, 6, 5, kNoTarget, 6, 5, 0});
    CHECK(parts[0].rows.empty());
    CHECK(parts[0].count == 6);
    CHECK(parts[1].rows == Ids{2, 5, 0, 0, 0, 0, 0, 0});
    CHECK(parts[1].classes == Ids{0, 0, -1, -1, -1, -1, -1, -1});
    CHECK(parts[1].order == Ids{0, 1, -1, -1, -1, -1, -1, -1});
    CHECK(parts[1].count == 2);
    CHECK(parts[2].rows == Ids{1, 4, 0, 0, 0, 0, 0, 0});
    CHECK(parts[0].weights == std::vector<float>{1, 2, 3, 0, 5, 6, 7});
    CHECK(parts[1].weights == std::vector<float>{3, 6, 0, 0, 0, 0, 0, 0});
    CHECK(parts[2].weights == std::vector<float>{2, 5, 0, 0, 0, 0, 0, 0});
    CHECK(parts[2].classes == Ids{0, 2, -1, -1, -1, -1, -1, -1});
}

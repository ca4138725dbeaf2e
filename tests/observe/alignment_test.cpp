#include "observe/alignment.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "observe/record_attention.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"
#include "tests/infer/tiny_model.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Units = std::vector<std::int64_t>;

RecordedText shown_text(const std::vector<std::int32_t>& ids) {
    return {.ids = ids, .pieces = std::vector<std::string>(ids.size(), "x"), .after = {{2}, {"<EOS>"}}};
}

}  // namespace

TEST_CASE("a target word is linked to the source word with the most weight", "[alignment]") {
    // Two target words of two and one pieces, three source words of one, two and one.
    const std::vector<double> weights{0.4, 0.3, 0.2, 0.1,    // together 0.5 0.7 0.4 0.1: the second word has 1.1
                                      0.1, 0.4, 0.2, 0.0,    //
                                      0.1, 0.2, 0.2, 0.41};  // 0.1, 0.4, 0.41
    const Units source{0, 1, 1, 2};
    CHECK(link_units(weights, source, {0, 0, 1}) == Alignment{{1, 0}, {2, 1}});
    CHECK(link_units(weights, {0, 1, 2, 3}, {0, 1, 2}) == Alignment{{0, 0}, {1, 1}, {3, 2}});
    CHECK(link_units(std::vector<double>{0.5, 0.5}, {0, 1}, {0}) == Alignment{{0, 0}});
    CHECK(link_units(std::vector<double>{0.0, 0.0}, {3, 5}, {7}) == Alignment{{3, 7}});
    CHECK(link_units(std::vector<double>{0.5, 0.5}, {0, 1}, {-1}).empty());
    CHECK(link_units(std::vector<double>{0.5, 0.5}, {-1, -1}, {0}).empty());
    CHECK(link_units(std::vector<double>{}, {}, {0, 1}).empty());
    CHECK(link_units(std::vector<double>{}, {0, 1}, {}).empty());
    CHECK(to_pharaoh({{0, 0}, {2, 1}, {10, 2}}) == "0-0 2-1 10-2");
    CHECK(to_pharaoh({}).empty());
}

TEST_CASE("weights are those of the position that predicts a piece, in any batch", "[alignment]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const auto backend = open_device(device, environment_options());
    ModelConfig config = tiny_config();
    config.decoder_layers = 3;
    const TinyModel model(*backend, config);
    Context ctx{.backend = *backend};
    const std::vector<Example> pairs{
        {{4, 9, 30, 17}, {11, 7}}, {{5}, {6, 8, 9, 10, 11, 12, 13, 14, 15}}, {{}, {4}}, {{7, 8}, {}}};
    const AlignmentOptions options = GENERATE(AlignmentOptions{}, AlignmentOptions{.layer = 3, .heads = {2, 4}});
    const int layer = options.layer == 0 ? 2 : options.layer;
    const std::vector<int> heads = options.heads.empty() ? std::vector<int>{1, 2, 3, 4} : options.heads;
    const auto weights = alignment_weights(ctx, {&model.transformer}, pairs, options, 1024);
    REQUIRE(weights.size() == pairs.size());
    for (std::size_t i = 0; i < 2; ++i) {
        const AttentionRecord record =
            record_attention(*backend, model.transformer, shown_text(pairs[i].source), shown_text(pairs[i].target), {});
        const SiteWeights& site = find_site(record, AttentionKind::Cross, layer);
        const std::size_t width = pairs[i].source.size();
        REQUIRE(weights[i].size() == pairs[i].target.size() * width);
        for (std::size_t at = 0; at < weights[i].size(); ++at) {
            double mean = 0.0;
            for (const int head : heads) {
                mean += static_cast<double>(
                    site.at(head - 1, static_cast<std::int64_t>(at / width), static_cast<std::int64_t>(at % width)));
            }
            INFO(device << ", pair " << i << ", weight " << at);
            CHECK(weights[i][at] == Approx(mean / static_cast<double>(heads.size())).margin(1e-5));
        }
    }
    CHECK(weights[2].empty());
    CHECK(weights[3].empty());
    const auto apart = alignment_weights(ctx, {&model.transformer}, pairs, options, 1);
    for (std::size_t at = 0; at < weights[0].size(); ++at) {
        CHECK(apart[0][at] == Approx(weights[0][at]).margin(1e-5));
    }
}

TEST_CASE("an ensemble is aligned by the mean of its models, a single-layer model by its only layer", "[alignment]") {
    const auto backend = open_device("cpu");
    const TinyModel one(*backend, tiny_config(), 3);
    ModelConfig shallow = tiny_config();
    shallow.decoder_layers = 1;
    const TinyModel other(*backend, shallow, 5);
    Context ctx{.backend = *backend};
    const std::vector<Example> pairs{{{4, 9, 30, 17}, {11, 7, 12}}};
    const auto first = alignment_weights(ctx, {&one.transformer}, pairs, {}, 1024).front();
    const auto second = alignment_weights(ctx, {&other.transformer}, pairs, {.layer = 1}, 1024).front();
    const auto both = alignment_weights(ctx, {&one.transformer, &other.transformer}, pairs, {}, 1024).front();
    for (std::size_t i = 0; i < both.size(); ++i) {
        CHECK(both[i] == Approx((first[i] + second[i]) / 2.0).margin(1e-6));
    }
}

TEST_CASE("an output of the maximum length of learned positions is aligned", "[alignment]") {
    const auto backend = open_device("cpu");
    ModelConfig config = tiny_config();
    config.positions.kind = Positions::Learned;
    config.max_length = 5;
    const TinyModel model(*backend, config);
    Context ctx{.backend = *backend};
    const std::vector<Example> pairs{{{4, 9}, {11, 7, 12, 8, 9}}};
    const auto weights = alignment_weights(ctx, {&model.transformer}, pairs, {}, 1024).front();
    REQUIRE(weights.size() == 10);
    CHECK(std::all_of(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; }));
}

TEST_CASE("missing layers and heads are rejected", "[alignment]") {
    const auto backend = open_device("cpu");
    const TinyModel model(*backend, tiny_config());
    CHECK_THROWS_WITH(check_alignment_options({.layer = 3}, {&model.transformer}),
                      Contains("cannot align with decoder layer 3"));
    CHECK_THROWS_WITH(check_alignment_options({.heads = {1, 5}}, {&model.transformer}),
                      Contains("cannot align with head 5"));
    CHECK_NOTHROW(check_alignment_options({.layer = 2, .heads = {1, 4}}, {&model.transformer}));
}

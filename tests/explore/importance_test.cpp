// Head importance by ablation, and the queries and keys behind the weights.
#include <catch2/catch.hpp>

#include "tests/explore/tiny_explorer.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

TEST_CASE("A head's importance is the log-probability lost without it", "[importance]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const TinyExplorer tiny(device);
    ExploreRequest request = tiny_request();
    const bool edited = GENERATE(false, true);
    if (edited) {
        request.edits = {{.site = {AttentionKind::EncoderSelf, 1}, .head = 3, .kind = EditKind::Off},
                         {.site = {AttentionKind::Cross, 0}, .head = 2, .kind = EditKind::Uniform}};
    }
    const Exploration found = tiny.explorer.explore(request);
    const ExploreRequest given = with_target(request, found);
    const Importance importance = tiny.explorer.importance(given);
    REQUIRE(importance.problem.empty());
    CHECK(importance.finished);
    CHECK(importance.total == 6 * 4);
    REQUIRE(importance.heads.size() == 6 * 4);
    CHECK(importance.log_probability == Approx(found.log_probability).margin(1e-4));
    int matters = 0;
    for (const HeadImportance& head : importance.heads) {
        INFO(name_of(head.site.kind) << " " << head.site.layer + 1 << " head " << head.head);
        ExploreRequest without = given;
        without.edits.push_back({.site = head.site, .head = head.head, .kind = EditKind::Off});
        CHECK(head.log_probability == Approx(tiny.explorer.explore(without).log_probability).margin(1e-4));
        CHECK(head.loss == Approx(importance.log_probability - head.log_probability).margin(1e-9));
        matters += std::abs(head.loss) > 1e-3 ? 1 : 0;
        if (edited && head.site == AttentionSite{AttentionKind::EncoderSelf, 1} && head.head == 3) {
            CHECK(head.loss == Approx(0.0).margin(1e-5));
        }
    }
    CHECK(matters > 12);
}

TEST_CASE("Measuring importance reports progress and can be cancelled", "[importance]") {
    const TinyExplorer tiny;
    ExploreRequest request = tiny_request();
    request.target = "die katze";
    std::size_t before = 0;
    const Importance stopped = tiny.explorer.importance(request, [&](const Importance& so_far) {
        CHECK(so_far.heads.size() > before);
        before = so_far.heads.size();
        return before < 9;
    });
    CHECK(before >= 9);
    CHECK(stopped.heads.size() == before);
    CHECK_FALSE(stopped.finished);
    CHECK_THAT(tiny.explorer.importance(tiny_request()).problem, Contains("a translation is required"));
    request.source = "";
    CHECK_THAT(tiny.explorer.importance(request).problem, Contains("source sentence is empty"));
}

TEST_CASE("The weights are the softmax of the scaled products of queries and keys", "[neuron]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    INFO(device);
    const auto [relative, kv_heads] = GENERATE(std::pair{false, 0}, std::pair{true, 0}, std::pair{false, 2});
    ModelConfig config = tiny_config();
    config.attention.kv_heads = kv_heads;
    if (relative) {
        config.positions.kind = Positions::None;
        config.positions.relative.kind = RelativePositions::Buckets;
        config.positions.relative.buckets = 8;
        config.positions.relative.distance = 5;
        config.attention.score = AttentionScore::DotProduct;
    }
    const TinyExplorer tiny(device, config);
    ExploreRequest request = tiny_request();
    request.target = "die grosse katze";
    request.source_pads = GENERATE(0, 2);
    const Exploration given = tiny.explorer.explore(request);
    for (const SiteWeights& site : given.record.sites) {
        INFO(name_of(site.site.kind) << " " << site.site.layer + 1);
        const int head = 3;
        const NeuronView view = tiny.explorer.neuron(request, site.site, head);
        REQUIRE(view.problem.empty());
        REQUIRE(view.queries == site.queries);
        REQUIRE(view.keys == site.keys);
        REQUIRE(view.d_k == 8);
        CHECK(view.scale == Approx(relative ? 1.0 : 1.0 / std::sqrt(8.0)));
        CHECK(view.by_distance.size() == (relative && site.site.kind != AttentionKind::Cross ? 11 : 0));
        CHECK(view.causal == (site.site.kind == AttentionKind::DecoderSelf));
        CHECK(view.pads == (view.causal ? 0 : request.source_pads));
        CHECK_FALSE(view.edited);
        for (std::int64_t query = 0; query < view.queries; ++query) {
            std::vector<double> weights;
            double sum = 0.0;
            for (std::int64_t key = 0; key < view.keys; ++key) {
                const bool pad = site.site.kind != AttentionKind::DecoderSelf &&
                                 given.record.source[static_cast<std::size_t>(key)].kind == TokenKind::Pad;
                const bool later = site.site.kind == AttentionKind::DecoderSelf && key > query;
                weights.push_back(pad || later ? 0.0 : exponential_of(view, query, key));
                sum += weights.back();
            }
            for (std::int64_t key = 0; key < view.keys; ++key) {
                CHECK(weights[static_cast<std::size_t>(key)] / sum ==
                      Approx(site.at(head - 1, query, key)).margin(1e-5));
            }
        }
    }
    request.edits = {{.site = {AttentionKind::Cross, 0}, .head = 2}};
    CHECK(tiny.explorer.neuron(request, {AttentionKind::Cross, 0}, 2).edited);
    CHECK_FALSE(tiny.explorer.neuron(request, {AttentionKind::Cross, 0}, 1).edited);
    CHECK_FALSE(tiny.explorer.neuron(request, {AttentionKind::DecoderSelf, 0}, 2).edited);
    CHECK_THAT(tiny.explorer.neuron(request, {AttentionKind::Cross, 0}, 9).problem, Contains("got 9"));
    CHECK_THAT(tiny.explorer.neuron(request, {AttentionKind::Cross, 7}, 1).problem, Contains("got 8"));
    const std::vector<NeuronView> several = tiny.explorer.neurons(request, {AttentionKind::Cross, 0}, 2, 4);
    REQUIRE(several.size() == 3);
    for (const NeuronView& view : several) {
        const NeuronView alone = tiny.explorer.neuron(request, {AttentionKind::Cross, 0}, view.head);
        CHECK(view.q == alone.q);
        CHECK(view.k == alone.k);
        CHECK(view.by_distance == alone.by_distance);
        CHECK(view.edited == (view.head == 2));
    }
    CHECK(several[2].head == 4);
    const std::vector<NeuronView> missing = tiny.explorer.neurons(request, {AttentionKind::Cross, 0}, 2, 9);
    CHECK(missing.size() == 1);
    CHECK_THAT(missing.front().problem, Contains("got 9"));
    config.attention.score = AttentionScore::Additive;
    CHECK_THAT(TinyExplorer(device, config).explorer.neuron(request, {AttentionKind::Cross, 0}, 1).problem,
               Contains("\"attention.score\" is \"additive\""));
    CHECK_THAT(tiny.explorer.neuron(tiny_request(), {AttentionKind::Cross, 0}, 1).problem,
               Contains("a translation is required"));
}

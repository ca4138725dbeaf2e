// Exploring models stored in 16 bits.
#include <catch2/catch.hpp>

#include <utility>

#include "tests/explore/tiny_explorer.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

// The largest error of one head's weights, recomputed from its queries and keys without a mask.
double worst_of(const NeuronView& view, const SiteWeights& site) {
    double worst = 0.0;
    for (std::int64_t query = 0; query < view.queries; ++query) {
        std::vector<double> weights;
        double sum = 0.0;
        for (std::int64_t key = 0; key < view.keys; ++key) {
            weights.push_back(exponential_of(view, query, key));
            sum += weights.back();
        }
        for (std::int64_t key = 0; key < view.keys; ++key) {
            const double weight = static_cast<double>(site.at(view.head - 1, query, key));
            worst = std::max(worst, std::abs(weights[static_cast<std::size_t>(key)] / sum - weight));
        }
    }
    return worst;
}

}  // namespace

TEST_CASE("A search with a 16-bit model records the same as a teacher-forced pass", "[storage]") {
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    const ModelDirectory model = tiny_translator(*cpu).model();
    constexpr std::pair<DType, double> kBounds[] = {{DType::BF16, 0.03}, {DType::F16, 0.004}};
    for (const std::string& device : conformance::devices_with_storage()) {
        const std::unique_ptr<Backend> backend = open_device(device, environment_options());
        for (const auto& [storage, bound] : kBounds) {
            INFO(device << ", " << name_of(storage));
            const LoadedModel translator(*backend, model, TinyModel(*backend, model.config, 3, storage).parameters);
            const Explorer explorer(*backend, translator, Compute::F32);
            ExploreRequest request = tiny_request(2);
            request.edits = {{.site = {AttentionKind::EncoderSelf, 0}, .head = 2, .kind = EditKind::Off},
                             {.site = {AttentionKind::Cross, 1}, .head = 1, .kind = EditKind::Pin, .key = 3}};
            const Exploration found = explorer.explore(request);
            REQUIRE(found.problem.empty());
            const ExploreRequest given = with_target(request, found);
            const Exploration forced = explorer.explore(given);
            REQUIRE(forced.problem.empty());
            CHECK(worst_difference(found.record, forced.record) < bound);
            CHECK(found.log_probability == Approx(forced.log_probability).margin(20 * bound));
            CHECK(find_site(found.record, AttentionKind::Cross, 2).at(0, 1, 3) == 1.0F);

            const AttentionSite site{AttentionKind::EncoderSelf, 1};
            const NeuronView view = explorer.neuron(given, site, 4);
            CHECK(worst_of(view, find_site(forced.record, site.kind, 2)) < bound);
            const Importance importance = explorer.importance(given);
            REQUIRE(importance.problem.empty());
            CHECK(importance.finished);
            CHECK(importance.log_probability == Approx(forced.log_probability).margin(20 * bound));
        }
    }
}

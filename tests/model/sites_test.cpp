// The list of a model's sites, and that passes reach them all.
#include <algorithm>
#include <catch2/catch.hpp>

#include "autograd/hooks.h"
#include "model/sites.h"
#include "small_model.h"

using namespace headscope;

namespace {

// Wants everything and notes what it gets.
class Everything final : public Hooks {
public:
    bool wants(const std::string& /*site*/) const override { return true; }
    Tensor reach(Backend& /*backend*/, const std::string& site, const Tensor& value) override {
        reached.push_back(site);
        shapes.push_back(value.shape);
        return value;
    }
    std::vector<std::string> reached;
    std::vector<Shape> shapes;
};

}  // namespace

TEST_CASE("a pass reaches the sites of its model, in their order", "[sites]") {
    for (const NamedConfig& varied : all_configs()) {
        CAPTURE(varied.name);
        SmallModel model(varied.config, "cpu", false);
        const DeviceBatch batch = model.batch(random_pairs(varied.config, 3, 1));
        Everything hooks;
        Context ctx{.backend = *model.backend, .hooks = &hooks};
        model.model->logits(ctx, model.model->states(ctx, batch));
        CHECK(hooks.reached == sites_of(varied.config));
        for (std::size_t i = 0; i < hooks.shapes.size(); ++i) {
            CHECK(hooks.shapes[i].rank() ==
                  (hooks.reached[i].find("attention.") != std::string::npos && !hooks.reached[i].ends_with(".out")
                       ? 4
                       : 3));
        }
    }
}

TEST_CASE("keys and values have as many heads as there are groups", "[sites]") {
    ModelConfig config = small_config();
    config.attention.heads = 4;
    config.attention.kv_heads = 2;
    SmallModel model(config, "cpu", false);
    Everything hooks;
    Context ctx{.backend = *model.backend, .hooks = &hooks};
    model.model->states(ctx, model.batch(random_pairs(config, 3, 1)));
    for (std::size_t i = 0; i < hooks.reached.size(); ++i) {
        CAPTURE(hooks.reached[i]);
        const std::string last = hooks.reached[i].substr(hooks.reached[i].rfind('.') + 1);
        if (last == "k" || last == "v") {
            CHECK(hooks.shapes[i][1] == 2);
        } else if (last == "q" || last == "weights" || last == "z") {
            CHECK(hooks.shapes[i][1] == 4);
        }
    }
}

TEST_CASE("a pattern names sites", "[sites]") {
    const ModelConfig config = small_config();
    using Names = std::vector<std::string>;
    CHECK(matching_sites(config, "encoder.*.residual_out") ==
          Names{"encoder.0.residual_out", "encoder.1.residual_out"});
    CHECK(matching_sites(config, "decoder.0.cross_attention.*").size() == 6);
    CHECK(matching_sites(config, "*.norm") == Names{"encoder.norm", "decoder.norm"});
    CHECK(matching_sites(config, "*.*.*_attention.z").size() == 4);
    CHECK(matching_sites(config, "logits") == Names{"logits"});
    CHECK_THROWS_WITH(matching_sites(config, "logit"), "this model has no site \"logit\": did you mean \"logits\"?");
    CHECK(matching_sites(config, "encoder.*") == Names{"encoder.embedding", "encoder.norm"});
    CHECK_THROWS_AS(matching_sites(config, "encoder*z"), Error);  // a star stays between two dots
    CHECK_THROWS_AS(matching_sites(config, ""), Error);
}

// Models whose heads share keys and values in groups.
#include <catch2/catch.hpp>

#include "model/flops.h"
#include "small_model.h"

using namespace headscope;

namespace {

ModelConfig grouped_config(Architecture architecture) {
    ModelConfig config = small_config();
    config.architecture = architecture;
    config.encoder_layers = architecture == Architecture::CausalLm ? 0 : 2;
    config.attention.heads = 6;
    config.attention.d_v = 3;
    config.attention.kv_heads = 2;
    config.attention.bias = true;
    return config;
}

// Of a parameter of keys or values [groups * columns, ..], those of each group for all of its heads.
std::vector<double> for_each_head(const std::vector<double>& values, std::int64_t groups, std::int64_t heads) {
    std::vector<double> all;
    const std::int64_t each = std::ssize(values) / groups;
    for (std::int64_t head = 0; head < heads; ++head) {
        const auto begin = values.begin() + head / (heads / groups) * each;
        all.insert(all.end(), begin, begin + each);
    }
    return all;
}

std::vector<double> logits_of(SmallModel& model) {
    const DeviceBatch batch = model.batch(random_pairs(model.config, 3, 5));
    Context ctx{*model.backend};
    return model.host(model.model->logits(ctx, model.model->states(ctx, batch)).value());
}

}  // namespace

TEST_CASE("a model of grouped queries is one whose heads have copies of the keys and values", "[grouped]") {
    for (const Architecture architecture : {Architecture::EncoderDecoder, Architecture::CausalLm}) {
        SmallModel grouped(grouped_config(architecture), "cpu:oracle", false);
        ModelConfig config = grouped.config;
        config.attention.kv_heads = 0;
        SmallModel full(config, "cpu:oracle", false);
        for (const ParameterSpec& spec : full.parameters.table()) {
            std::vector<double> values = grouped.host(grouped.parameters.at(spec.name).value());
            const bool shared = spec.name.find("attention.k.") != std::string::npos ||
                                spec.name.find("attention.v.") != std::string::npos;
            if (shared) {
                values = for_each_head(values, 2, 6);
            }
            from_host(*full.backend, full.parameters.at(spec.name).value(), values);
        }
        full.parameters.refresh_working();
        const std::vector<double> expected = logits_of(full);
        const std::vector<double> found = logits_of(grouped);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            REQUIRE(found[i] == Approx(expected[i]).margin(1e-12));
        }
        // Only projections to keys and values are smaller, and what is multiplied with a cache is as much.
        const std::int64_t attentions = architecture == Architecture::CausalLm ? 1 : 4;
        const std::int64_t fewer = attentions * (config.d_model + 1) * 4 * (4 + 3);
        CHECK(count_parameters(grouped.config) == count_parameters(config) - fewer);
        CHECK(describe(grouped.config).multiply_adds.causal_pair == describe(config).multiply_adds.causal_pair);
    }
}

TEST_CASE("a cache of grouped queries keeps only the heads of keys and values", "[grouped]") {
    SmallModel model(grouped_config(Architecture::CausalLm), "cpu", false);
    Context ctx{*model.backend};
    const auto& generator = dynamic_cast<const Generator&>(*model.model);
    const Cache cache = generator.start(ctx, {.sentences = 2});
    REQUIRE(cache.kept.size() == 2);
    CHECK(cache.kept[0].dim(1) == 2);
    CHECK(cache.layers[0].self_keys.dim(1) == 2);
}

TEST_CASE("heads that no group divides are an error that names the key", "[grouped]") {
    ModelConfig config = grouped_config(Architecture::EncoderDecoder);
    config.attention.kv_heads = 4;
    CHECK_THROWS_WITH(check_model_config(config, "my.json"),
                      "my.json: \"attention.kv_heads\" must divide the 6 heads of an attention, found 4");
    config.attention.kv_heads = 3;
    config.attention.decoder_heads = 2;
    config.attention.d_v = 4;
    CHECK_THROWS_WITH(check_model_config(config, "my.json"),
                      "my.json: \"attention.kv_heads\" must divide the 2 heads of an attention, found 3");
    config.attention.decoder_heads = 0;
    config.attention.score = AttentionScore::Additive;
    CHECK_THROWS_WITH(check_model_config(config, "my.json"),
                      "my.json: \"attention.kv_heads\" must be left out unless \"attention.score\" is "
                      "\"scaled_dot_product\" or \"dot_product\", found 3");
}

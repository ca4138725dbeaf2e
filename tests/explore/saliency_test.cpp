// Gradients with respect to embeddings, compared with PyTorch's (tests/golden/make_site_vectors.py) and with central
// differences.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "explore/hooked_run.h"
#include "explore/inner_json.h"
#include "explore/saliency.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "tests/explore/known_model.h"
#include "tests/explore/tiny_explorer.h"
#include "tests/model/small_model.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// |found - expected| / |expected|, in the 2-norm.
double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
    REQUIRE(found.size() == expected.size());
    double error = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        error += std::pow(static_cast<double>(found[i] - expected[i]), 2.0);
        size += std::pow(static_cast<double>(expected[i]), 2.0);
    }
    return std::sqrt(error / size);
}

// A random model whose gains, biases and running statistics are not 0 or 1, and a text for its family.
struct Differentiated {
    Differentiated(const ModelConfig& wanted, const std::string& device, const WeightStorage& storage = {})
        : backend(open_device(device, environment_options())),
          models(tiny_translator(*backend, longer(wanted), storage)) {
        Random random(4);
        for (const ParameterSpec& spec : models.parameters().table()) {
            if (spec.shape.rank() == 1) {
                const Tensor& stored = models.parameters().at(spec.name).value();
                std::vector<double> values = to_host<double>(*backend, stored);
                for (double& value : values) {
                    value += static_cast<double>(random.below(1000)) / 2000.0 - 0.25;
                }
                from_host(*backend, stored, values);
            }
        }
        const FamilyTraits& family = traits(wanted.architecture);
        request.source = family.fills_masks ? "the [MASK] sees the [MASK]" : "the small dog";
        if (family.fills_masks) {
            request.target_tokens = {9, 12};
        } else {
            request.target = family.continues_text ? "sees the cat" : "der hund";
        }
    }
    static ModelConfig longer(ModelConfig config) {
        config.max_length = 32;
        return config;
    }

    Saliency measure() const {
        Saliency found = measure_saliency(*backend, models, Compute::F32, request);
        REQUIRE(found.problem == "");
        return found;
    }
    // One number of the embeddings, all of which are multiplied by `share`, is changed: log P of each predicted token.
    struct Changed {
        double value = 0.0;
        std::vector<double> log_probabilities;
    };
    Changed changed(const std::string& site, std::size_t at, float by, float share = 1.0F) const {
        Changed result;
        const auto scale = [&](SiteValues& values) {
            for (float& value : values.values) {
                value *= share;
            }
        };
        const auto add = [&](SiteValues& values) {
            values.values.at(at) += by;
            result.value = static_cast<double>(values.values[at]);
        };
        const HookedRun run =
            run_with_hooks(*backend, models, Compute::F32,
                           {.text = request, .functions = {{"*.embedding.tokens", scale}, {site, add}}});
        REQUIRE(run.problem == "");
        for (const ExploredStep& step : run.steps) {
            result.log_probabilities.push_back(step.log_probability);
        }
        return result;
    }
    void check_gradients(const EmbeddingGradients& gradients, const std::string& site) const {
        CAPTURE(site);
        const std::size_t size = gradients.embeddings.size();
        constexpr float kStep = 1e-4F;
        for (const std::size_t at : {std::size_t{1}, size / 2, size - 2}) {
            const Changed above = changed(site, at, kStep);
            const Changed below = changed(site, at, -kStep);
            REQUIRE(above.log_probabilities.size() * size == gradients.gradients.size());
            for (std::size_t i = 0; i < above.log_probabilities.size(); ++i) {
                const double change = above.log_probabilities[i] - below.log_probabilities[i];
                CHECK(static_cast<double>(gradients.gradients[i * size + at]) ==
                      Approx(change / (above.value - below.value)).epsilon(1e-5).margin(1e-7));
            }
        }
    }

    std::unique_ptr<Backend> backend;
    LoadedModel models;
    ExploreRequest request;
};

// What a gradient needs of a model whose parameters have none.
std::vector<NamedConfig> special_configs() {
    std::vector<NamedConfig> all;
    const auto add = [&](const char* name, auto change) {
        all.push_back({name, small_config()});
        change(all.back().config);
    };
    add("batch norm", [](ModelConfig& c) { c.norm.type = NormType::Batch; });
    add("batch norm, pre-norm", [](ModelConfig& c) {
        c.norm.type = NormType::Batch;
        c.norm.placement = NormPlacement::Pre;
    });
    add("suppressed tokens", [](ModelConfig& c) {
        c.embedding.tying = Tying::None;
        c.frame.suppressed_ids = {5, 7, 20};
    });
    add("suppressed tokens and a bias, causal", [](ModelConfig& c) {
        c.architecture = Architecture::CausalLm;
        c.encoder_layers = 0;
        c.output.bias = true;
        c.frame.suppressed_ids = {5, 7};
    });
    return all;
}

}  // namespace

TEST_CASE("gradients with respect to embeddings are those of PyTorch", "[saliency]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const std::string name = GENERATE(from_range(known_models()));
    CAPTURE(device, name);
    const Known known(name, device);
    ModelDirectory whole = known.models.model();
    whole.config.frame.suppressed_ids.clear();  // as PyTorch's
    const LoadedModel models(*known.backend, whole,
                             std::shared_ptr<const Parameters>(std::shared_ptr<void>(), &known.models.parameters()));
    const Saliency found = measure_saliency(*known.backend, models, Compute::F32, known.request);
    REQUIRE(found.problem == "");
    CHECK(found.predicted == known.predicted);
    const auto check = [&](const char* entry, const EmbeddingGradients& gradients, const std::string& site) {
        CAPTURE(entry);
        const SiteValues expected = known.expected(entry, "");
        const auto count = static_cast<std::int64_t>(known.predicted.size());
        REQUIRE(expected.shape == Shape{count, gradients.tokens, gradients.columns});
        CHECK(relative_error(gradients.gradients, expected.values) < 1e-3);
        CHECK(relative_error(gradients.embeddings, known.expected("site/" + site, "").values) < 1e-5);
    };
    const bool translates = !found.source.empty();
    if (translates) {
        check("gradient/source", found.of_source, "encoder.embedding.tokens");
    }
    check("gradient/target", found.of_target,
          name == "hf-bert" ? "encoder.embedding.tokens" : "decoder.embedding.tokens");
}

TEST_CASE("the products of integrated gradients add up to what the embeddings change", "[saliency]") {
    const Known known("hf-gpt2", "cpu");
    const Saliency found = measure_saliency(*known.backend, known.models, Compute::F32, known.request, 300);
    REQUIRE(found.problem == "");
    const auto zero = [](SiteValues& values) { std::fill(values.values.begin(), values.values.end(), 0.0F); };
    const HookedRun with = known.run({.text = {}});
    const HookedRun without = known.run({.text = {}, .functions = {{"decoder.embedding.tokens", zero}}});
    const std::vector<double> products = found.of_target.products();
    for (std::size_t i = 0; i < found.predicted.size(); ++i) {
        double sum = 0.0;
        for (std::int64_t token = 0; token < found.of_target.tokens; ++token) {
            sum += products[i * static_cast<std::size_t>(found.of_target.tokens) + static_cast<std::size_t>(token)];
        }
        CHECK(sum == Approx(with.steps[i].log_probability - without.steps[i].log_probability).margin(0.02));
    }
}

TEST_CASE("integrated gradients are those at the middles of equal parts of the way", "[saliency]") {
    const Differentiated model(small_config(), "cpu:oracle");
    const Saliency found = measure_saliency(*model.backend, model.models, Compute::F32, model.request, 2);
    REQUIRE(found.problem == "");
    const EmbeddingGradients& gradients = found.of_source;
    CHECK(gradients.embeddings == model.measure().of_source.embeddings);
    constexpr std::size_t kAt = 3;
    constexpr float kStep = 1e-4F;
    const auto slopes = [&](float share) {
        const auto above = model.changed("encoder.embedding.tokens", kAt, kStep, share);
        const auto below = model.changed("encoder.embedding.tokens", kAt, -kStep, share);
        std::vector<double> all;
        for (std::size_t i = 0; i < found.predicted.size(); ++i) {
            all.push_back((above.log_probabilities[i] - below.log_probabilities[i]) / (above.value - below.value));
        }
        return all;
    };
    const std::vector<double> first = slopes(0.25F), second = slopes(0.75F);
    for (std::size_t i = 0; i < found.predicted.size(); ++i) {
        CHECK(static_cast<double>(gradients.gradients[i * gradients.embeddings.size() + kAt]) ==
              Approx((first[i] + second[i]) / 2).epsilon(1e-4).margin(1e-6));
    }
}

TEST_CASE("gradients with respect to embeddings agree with central differences in every model", "[saliency]") {
    std::vector<NamedConfig> all = special_configs();
    for (const auto& more : {varied_configs(), language_configs()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    for (const NamedConfig& named : all) {
        DYNAMIC_SECTION(named.name) {
            const Differentiated model(named.config, "cpu:oracle");
            const Saliency found = model.measure();
            const bool has_source = !found.source.empty();
            if (has_source) {
                model.check_gradients(found.of_source, "encoder.embedding.tokens");
            }
            model.check_gradients(found.of_target,
                                  has_decoder(named.config) ? "decoder.embedding.tokens" : "encoder.embedding.tokens");
        }
    }
}

TEST_CASE("gradients with edited heads agree with central differences in every model", "[saliency]") {
    std::vector<NamedConfig> all{{"small", small_config()}};
    for (const auto& more : {varied_configs(), language_configs()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    for (const NamedConfig& named : all) {
        DYNAMIC_SECTION(named.name) {
            Differentiated model(named.config, "cpu:oracle");
            const Saliency plain = model.measure();
            for (const AttentionKind kind : kinds_of(named.config)) {
                const int last = heads_of(named.config, kind);
                model.request.edits.push_back({.site = {kind, 0}, .head = last, .kind = EditKind::Uniform});
                model.request.edits.push_back({.site = {kind, 0}, .kind = EditKind::Pin, .query = 2, .key = 1});
                model.request.edits.push_back({.site = {kind, layers_of(named.config, kind) - 1}, .head = last});
                if (kind == AttentionKind::DecoderSelf && named.config.attention.score != AttentionScore::Additive) {
                    model.request.edits.push_back(
                        {.site = {kind, layers_of(named.config, kind) - 1}, .kind = EditKind::Unmasked});
                }
            }
            const Saliency found = model.measure();
            if (!model.request.edits.empty()) {
                CHECK(found.of_target.gradients != plain.of_target.gradients);
            }
            if (!found.source.empty()) {
                model.check_gradients(found.of_source, "encoder.embedding.tokens");
            }
            model.check_gradients(found.of_target,
                                  has_decoder(named.config) ? "decoder.embedding.tokens" : "encoder.embedding.tokens");
        }
    }
}

TEST_CASE("gradients through weights in blocks are those of their numbers", "[saliency][blocks]") {
    for (const NamedConfig& named : varied_configs()) {
        INFO(named.name);
        WeightStorage storage;
        storage.block_bits = 4;
        const Differentiated blocks(named.config, "cpu", storage);
        const Differentiated wide(named.config, "cpu");
        for (const ParameterSpec& spec : wide.models.parameters().table()) {
            wide.models.parameters().store(spec.name, blocks.models.parameters().values_of(spec.name));
        }
        const Saliency found = blocks.measure();
        const Saliency expected = wide.measure();
        CHECK(relative_error(found.of_target.gradients, expected.of_target.gradients) < 1e-4);
        if (!found.source.empty()) {
            CHECK(relative_error(found.of_source.gradients, expected.of_source.gradients) < 1e-4);
        }
    }
}

TEST_CASE("gradients of batch norms and suppressed tokens are the oracle's", "[saliency]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    for (const NamedConfig& named : special_configs()) {
        CAPTURE(device, named.name);
        const Saliency expected = Differentiated(named.config, "cpu:oracle").measure();
        const Saliency found = Differentiated(named.config, device).measure();
        CHECK(found.predicted == expected.predicted);
        CHECK(relative_error(found.of_target.gradients, expected.of_target.gradients) < 1e-3);
        if (!found.source.empty()) {
            CHECK(relative_error(found.of_source.gradients, expected.of_source.gradients) < 1e-3);
        }
    }
}

TEST_CASE("suppressed tokens have no part in gradients", "[saliency]") {
    const ModelConfig config = special_configs()[2].config;
    const Differentiated model(config, "cpu");
    const Saliency before = model.measure();
    const Tensor& weight = model.models.parameters().at("output.weight").value();
    std::vector<float> values = to_host<float>(*model.backend, weight);
    const auto columns = static_cast<std::size_t>(config.d_model);
    std::fill_n(values.begin() + 7 * config.d_model, columns, 3.0F);
    from_host(*model.backend, weight, values);
    CHECK(model.measure().of_target.gradients == before.of_target.gradients);
    std::fill_n(values.begin() + 8 * config.d_model, columns, 3.0F);
    from_host(*model.backend, weight, values);
    CHECK(model.measure().of_target.gradients != before.of_target.gradients);
}

TEST_CASE("an adaptive output with suppressed tokens has no gradients", "[saliency]") {
    ModelConfig config = small_config();
    config.embedding.tying = Tying::None;
    config.output.adaptive.cutoffs = {6};
    config.frame.suppressed_ids = {5};
    const Differentiated model(config, "cpu");
    CHECK_THAT(measure_saliency(*model.backend, model.models, Compute::F32, model.request).problem,
               Contains("output.adaptive") && Contains("frame.suppressed_ids"));
}

TEST_CASE("saliency that is cancelled ends, and weights that are not finite are reported", "[saliency]") {
    const Differentiated model(small_config(), "cpu");
    int asked = 0;
    measure_saliency(*model.backend, model.models, Compute::F32, model.request, 1000, [&] { return ++asked < 3; });
    CHECK(asked == 3);
    const Tensor& gain = model.models.parameters().at("decoder.layers.0.feed_forward.norm.gain").value();
    from_host(*model.backend, gain, std::vector<float>(static_cast<std::size_t>(gain.elements()), std::nanf("")));
    CHECK_THAT(measure_saliency(*model.backend, model.models, Compute::F32, model.request).problem, Contains("NaN"));

    const TinyExplorer causal("cpu", tiny_language_config(Architecture::CausalLm));
    const ExploreRequest text{.source = "the dog", .target = "sees the cat"};
    const Tensor& own = causal.translator.parameters().at("decoder.layers.0.feed_forward.norm.gain").value();
    from_host(*causal.backend, own, std::vector<float>(static_cast<std::size_t>(own.elements()), std::nanf("")));
    CHECK_THAT(measure_saliency(*causal.backend, causal.translator, Compute::F32, text).problem, Contains("NaN"));
}

TEST_CASE("gradients of a long output take several passes, and are those of its beginning", "[saliency]") {
    const TinyExplorer tiny;
    const auto measure = [&](std::int32_t tokens, const std::function<bool()>& goes_on) {
        ExploreRequest request{.source = "the small dog"};
        for (std::int32_t i = 0; i < tokens; ++i) {
            request.target_tokens.push_back(5 + 7 * i % 40);
        }
        const Saliency found = measure_saliency(*tiny.backend, tiny.translator, Compute::F32, request, 1, goes_on);
        REQUIRE(found.problem == "");
        return found;
    };
    int passes = 0;
    const auto count = [&] { return ++passes > 0; };
    const Saliency all = measure(60, count);
    CHECK(passes == 2);
    passes = 0;
    const Saliency beginning = measure(40, count);
    CHECK(passes == 1);
    const auto check = [](const EmbeddingGradients& more, const EmbeddingGradients& less, std::int64_t prediction) {
        const std::int64_t of_less = less.tokens * less.columns;
        const auto row = more.gradients.begin() + prediction * more.tokens * more.columns;
        const auto expected = less.gradients.begin() + prediction * of_less;
        CHECK(relative_error({row, row + of_less}, {expected, expected + of_less}) < 1e-4);
    };
    for (const std::int64_t prediction : {0, 20, 39}) {
        CAPTURE(prediction);
        check(all.of_source, beginning.of_source, prediction);
        check(all.of_target, beginning.of_target, prediction);
    }
    int asked = 0;
    measure(60, [&] { return ++asked < 2; });
    CHECK(asked == 2);
}

TEST_CASE("saliency as JSON has a product for each pair of pieces", "[saliency]") {
    const TinyExplorer tiny;
    const Saliency found =
        measure_saliency(*tiny.backend, tiny.translator, Compute::F32, {.source = "the cat", .target = "die katze"});
    const nlohmann::json parsed = nlohmann::json::parse(to_json(found));
    CHECK(parsed.at("predicted").size() == found.predicted.size());
    CHECK(parsed.at("predicted").back() == "<EOS>");
    CHECK(parsed.at("target")[0] == "<BOS>");
    const std::vector<double> products = found.of_source.products();
    REQUIRE(parsed.at("of_source").size() == found.predicted.size());
    CHECK(parsed.at("of_source")[1].size() == found.source.size());
    CHECK(parsed.at("of_source")[1][0] == products.at(found.source.size()));
    CHECK(parsed.at("of_target").back().size() == found.target.size());
}

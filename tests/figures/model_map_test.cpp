// The map of the model.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "figures/model_map.h"
#include "layout_checks.h"
#include "model/description.h"
#include "samples.h"

using namespace headscope;
using headscope::test::all_of;

namespace {

std::vector<ModelConfig> models() {
    std::vector<ModelConfig> all;
    for (const NormPlacement norm : {NormPlacement::Post, NormPlacement::Pre}) {
        for (const Tying tying : {Tying::All, Tying::TargetOutput, Tying::None}) {
            for (const Positions positions : {Positions::Sinusoid, Positions::Learned}) {
                ModelConfig config;
                config.norm.placement = norm;
                config.embedding.tying = tying;
                config.positions.kind = positions;
                config.encoder_layers = tying == Tying::None ? 24 : 6;
                config.decoder_layers = tying == Tying::All ? 1 : 6;
                config.d_model = 256;
                config.source_vocabulary = config.target_vocabulary = 7000;
                config.output.bias = tying == Tying::TargetOutput;
                config.attention.bias = config.output.bias;
                all.push_back(config);
                config.positions.kind = positions == Positions::Learned ? positions : Positions::None;
                config.positions.relative.kind = RelativePositions::Buckets;
                all.push_back(config);
                config.positions.relative.kind = RelativePositions::LayerBuckets;
                config.attention.decoder_heads = 4;
                all.push_back(config);
            }
        }
    }
    return all;
}

// Each family, post-norm as the paper and with all that BERT and GPT-2 add.
std::vector<ModelConfig> language_models() {
    std::vector<ModelConfig> all;
    for (const Architecture family : {Architecture::CausalLm, Architecture::MaskedLm}) {
        for (const bool more : {false, true}) {
            ModelConfig config;
            config.architecture = family;
            (family == Architecture::CausalLm ? config.encoder_layers : config.decoder_layers) = 0;
            config.norm.placement = more ? NormPlacement::Pre : NormPlacement::Post;
            config.positions.kind = more ? Positions::Learned : Positions::Sinusoid;
            config.attention.bias = config.output.bias = more;
            config.output.transform = more ? OutputTransform::Activation : OutputTransform::None;
            config.embedding.norm = more ? EmbeddingNorm::Last : EmbeddingNorm::None;
            config.d_model = 256;
            config.source_vocabulary = config.target_vocabulary = 7000;
            config.frame.mask_id = 4;
            all.push_back(config);
        }
    }
    return all;
}

// Other places of norms, and sub-layers in parallel.
std::vector<ModelConfig> decoders_of_today() {
    std::vector<ModelConfig> all;
    const auto add = [&](NormPlacement placement, ParallelLayers parallel, QueryKeyNorm norm) {
        ModelConfig config = language_models().front();
        config.norm = {.placement = placement, .type = NormType::Rms, .parallel = parallel};
        config.attention.query_key_norm = norm;
        config.attention.scale = norm == QueryKeyNorm::Head ? 0.0625 : 0.0;
        config.positions.kind = Positions::None;
        config.positions.rotary.kind = Rotary::Plain;
        all.push_back(config);
    };
    add(NormPlacement::Sandwich, ParallelLayers::None, QueryKeyNorm::Head);
    add(NormPlacement::Inside, ParallelLayers::None, QueryKeyNorm::All);
    add(NormPlacement::Pre, ParallelLayers::OneNorm, QueryKeyNorm::None);
    add(NormPlacement::Pre, ParallelLayers::TwoNorms, QueryKeyNorm::None);
    return all;
}

std::vector<ModelConfig> all_models() {
    std::vector<ModelConfig> all = models();
    for (const std::vector<ModelConfig>& more : {language_models(), decoders_of_today()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

std::multiset<std::string> labels_of(const ModelConfig& config) {
    std::multiset<std::string> names;
    for (const auto& [primitive, text] : all_of<Text>(draw_model_map(config, {}), Role::Label)) {
        names.insert(text.content);
    }
    return names;
}

}  // namespace

TEST_CASE("The model's blocks contain each parameter once", "[model_map]") {
    for (const ModelConfig& config : all_models()) {
        const ModelDescription model = describe(config);
        std::int64_t sum = 0;
        for (const Block& block : model.blocks) {
            INFO(block.prefix);
            sum += block.parameters;
            if (block.kind == BlockKind::Layer) {
                std::int64_t parts = 0;
                for (const Block& part : model.blocks) {
                    parts += part.prefix.starts_with(block.prefix) ? part.parameters : 0;
                }
                CHECK(parts == parameters_under(model, block.prefix));
            } else if (block.title == "Transform") {  // its norm is a block of its own
                CHECK(block.parameters == config.d_model * (config.d_model + 1));
            } else if (!block.shared && block.kind != BlockKind::Attention && block.kind != BlockKind::FeedForward) {
                CHECK(block.parameters == (block.prefix.empty() ? 0 : parameters_under(model, block.prefix)));
            }
        }
        CHECK(sum == count_parameters(config));
    }
    CHECK(with_thousands(1792000) == "1,792,000");
    CHECK(with_thousands(7) == "7");
}

TEST_CASE("The map's layout is valid for every model", "[model_map]") {
    for (const ModelConfig& config : all_models()) {
        test::check_looks([&](const Look& look) {
            return draw_model_map(config, {.encoder_layer = config.encoder_layers, .look = look});
        });
    }
}

TEST_CASE("A map shows the model's norms, and every layer once", "[model_map]") {
    for (const ModelConfig& config : models()) {
        const ModelDescription model = describe(config);
        const Drawing drawing = draw_model_map(config, {.encoder_layer = 2});
        std::multiset<std::string> names;
        std::set<int> layers;
        for (const auto& [primitive, text] : all_of<Text>(drawing, Role::Label)) {
            names.insert(text.content);
        }
        for (const auto& [primitive, rect] : all_of<Rect>(drawing, Role::Block)) {
            if (primitive.mark.item < 0) {
                continue;  // of Figure 2
            }
            const Block& block = model.blocks.at(static_cast<std::size_t>(primitive.mark.item));
            if (block.kind == BlockKind::Layer && block.prefix.starts_with("encoder.")) {
                layers.insert(primitive.mark.layer);
            }
            if (block.attention == AttentionKind::EncoderSelf) {
                CHECK(primitive.mark.layer == 2);
                CHECK_THAT(primitive.mark.tip, Catch::Matchers::Contains("Multi-Head Attention of layer 2: "));
            }
        }
        const bool pre = config.norm.placement == NormPlacement::Pre;
        CHECK(names.count("Add & Norm") == (pre ? 0 : 5));
        CHECK(names.count("Norm") == (pre ? 7 : 0));
        CHECK(names.count("Add") == (pre ? 5 : 0));
        CHECK(names.count("Learned Positions") == (config.positions.kind == Positions::Learned ? 2 : 0));
        CHECK(static_cast<int>(layers.size()) == config.encoder_layers);
        CHECK(names.count("Masked Multi-Head Attention") == 1);
        // The circle with a sine stands for sinusoids only.
        CHECK(names.count("Positional") == (config.positions.kind == Positions::Sinusoid ? 2 : 0));
    }
}

TEST_CASE("A map shows where the norms of today's decoders are", "[model_map]") {
    // With the norm of the stack.
    const std::array<std::size_t, 4> norms{5, 3, 2, 3};
    const std::array<std::size_t, 4> additions{2, 2, 1, 1};
    const std::vector<ModelConfig> decoders = decoders_of_today();
    for (std::size_t i = 0; i < decoders.size(); ++i) {
        const std::multiset<std::string> names = labels_of(decoders[i]);
        CAPTURE(i);
        CHECK(names.count("Norm") == norms[i]);
        CHECK(names.count("Add") == additions[i]);
        CHECK(names.count("Norm Q, K, in self-attention") == (i < 2 ? 1 : 0));
    }
    CHECK(labels_of(decoders.front()).count("Scale by 0.0625") == 1);
}

TEST_CASE("Figure 2 has a linear layer for each of V, K and Q, and V passes by the scores", "[model_map]") {
    ModelConfig config = models().front();
    config.attention.heads = 16;
    const Drawing drawing = draw_model_map(config, {});
    const std::multiset<std::string> names = labels_of(config);
    CHECK(names.count("Linear") == 4);  // and the one of the output
    CHECK(names.count("h = 16") == 1);
    CHECK(names.count("Concat") == 1);
    CHECK(names.count("MatMul") == 2);
    CHECK(names.count("SoftMax") == 1);
    for (const char* name : {"V", "K", "Q"}) {
        CHECK(names.count(name) == 2);
    }
    double longest = 0.0;
    for (const auto& [primitive, line] : all_of<Line>(drawing, Role::Edge)) {
        longest = line.x1 == line.x2 && line.x1 > drawing.width * 0.9 ? std::max(longest, std::abs(line.y1 - line.y2))
                                                                      : longest;
    }
    CHECK(longest > 80.0);  // V's arrow, past four boxes of 18 pixels
}

TEST_CASE("The map names rotary positions and the groups of heads", "[model_map]") {
    const auto texts = [](const ModelConfig& config) {
        std::string all;
        for (const auto& [primitive, text] : all_of<Text>(draw_model_map(config, {}), Role::Note)) {
            all += text.content + "\n";
        }
        return all;
    };
    ModelConfig config = models().front();
    config.attention.heads = 4;
    config.attention.kv_heads = 2;
    config.positions.rotary.kind = Rotary::Plain;
    CHECK_THAT(texts(config), Catch::Matchers::Contains("4 heads in 2 groups"));
    CHECK_THAT(texts(config), Catch::Matchers::Contains("sinusoidal and rotary positions"));
    config.positions.kind = Positions::None;
    CHECK_THAT(texts(config), Catch::Matchers::Contains(", rotary positions"));
}

TEST_CASE("The map of a language model has its one stack", "[model_map]") {
    for (const ModelConfig& config : language_models()) {
        const bool causal = config.architecture == Architecture::CausalLm;
        const Drawing drawing = draw_model_map(config, {.encoder_layer = causal ? 1 : 2, .decoder_layer = 2});
        std::multiset<std::string> names;
        std::set<std::string> prefixes;
        for (const auto& [primitive, text] : all_of<Text>(drawing, Role::Label)) {
            names.insert(text.content);
        }
        const ModelDescription model = describe(config);
        for (const auto& [primitive, rect] : all_of<Rect>(drawing, Role::Block)) {
            if (primitive.mark.item >= 0) {
                prefixes.insert(model.blocks.at(static_cast<std::size_t>(primitive.mark.item)).prefix);
            }
        }
        CHECK(names.count("Inputs") == 1);
        CHECK(names.count("Outputs (shifted right)") == 0);
        CHECK(names.count("Output Probabilities") == 1);
        CHECK(names.count("Masked Multi-Head Attention") == (causal ? 1 : 0));
        CHECK(names.count(causal ? "Mask (later tokens)" : "Mask (pads)") == 1);
        CHECK(names.count("Transform") == (config.output.transform != OutputTransform::None ? 1 : 0));
        CHECK_THAT(drawing.description, Catch::Matchers::StartsWith(causal ? "causal language model: 6 layers, "
                                                                           : "masked language model: 6 layers, "));
        const std::string stack = causal ? "decoder" : "encoder";
        CHECK(prefixes.count(stack + ".layers.1.self_attention.") == 1);
        CHECK(prefixes.count(stack + ".embedding_norm.") == (config.embedding.norm != EmbeddingNorm::None ? 1 : 0));
        CHECK(prefixes.count("output.norm.") == (config.output.transform != OutputTransform::None ? 1 : 0));
    }
}

TEST_CASE("The map of a translator that fills in masks says so", "[model_map]") {
    ModelConfig config = models().front();
    config.generation = Generation::MaskPredict;
    config.frame.mask_id = config.frame.unk_id;
    const Drawing drawing = draw_model_map(config, {});
    CHECK_THAT(drawing.description, Catch::Matchers::Contains(", mask-predict, "));
    std::set<std::string> names;
    for (const auto& [primitive, text] : all_of<Text>(drawing, Role::Label)) {
        names.insert(text.content);
    }
    CHECK(names.count("Outputs (masked)") == 1);
    CHECK(names.count("Mask (pads)") == 1);
    CHECK(names.count("Multi-Head Attention") == 1);
    CHECK(names.count("Masked Multi-Head Attention") == 0);
}

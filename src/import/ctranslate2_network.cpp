// The network of CTranslate2's model.bin.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/ctranslate2.h"
#include "import/formats.h"
#include "support/check.h"

namespace headscope {

std::string ctranslate2_source_embedding(const TensorArchive& archive) {
    return archive.contains("encoder/embeddings_0/weight") ? "encoder/embeddings_0/weight"
                                                           : "encoder/embeddings/weight";
}

namespace {

using nlohmann::json;

bool same_tensor(const TensorArchive& archive, const std::string& one, const std::string& other) {
    return archive.contains(one) && archive.contains(other) &&
           archive.entry(one).data.bytes.data() == archive.entry(other).data.bytes.data();
}

Tying ctranslate2_tying(const TensorArchive& archive, Architecture architecture) {
    const bool tied = same_tensor(archive, "decoder/projection/weight", "decoder/embeddings/weight");
    if (architecture != Architecture::EncoderDecoder) {
        return tied || architecture == Architecture::MaskedLm ? Tying::All : Tying::None;
    }
    return tying_of(same_tensor(archive, ctranslate2_source_embedding(archive), "decoder/embeddings/weight"), tied);
}

int count_layers(const TensorArchive& archive, const std::string& stack) {
    int layers = 0;
    while (archive.contains(fmt::format("{}/layer_{}/self_attention/linear_0/weight", stack, layers))) {
        ++layers;
    }
    return layers;
}

// The scalars of the stacks, which must agree.
class Scalars {
public:
    Scalars(const TensorArchive& archive, const ModelConfig& net, Problems& problems)
        : objects_(archive.objects()),
          reader_(objects_, "model.bin", problems),
          first_(has_encoder(net) ? "encoder/" : "decoder/"),
          last_(has_decoder(net) ? "decoder/" : "encoder/") {}

    template <class Read>
    auto both(const std::string& name, const Read& read) const {
        const auto value = read(reader_, first_ + name);
        if (read(reader_, last_ + name) != value) {
            reader_.problem(last_ + name, "differs from " + first_ + name + ": they must be equal");
        }
        return value;
    }
    std::int64_t integer(const std::string& name, std::int64_t fallback, std::int64_t least = 0) const {
        return both(name, [&](const ForeignConfig& from, const std::string& key) {
            return from.integer(key, fallback, least);
        });
    }
    const ForeignConfig& reader() const { return reader_; }
    const std::string& first() const { return first_; }  // "encoder/", or "decoder/" without one
    const std::string& last() const { return last_; }

private:
    const json& objects_;
    ForeignConfig reader_;
    std::string first_, last_;
};

Activation activation_numbered(const Scalars& scalars) {
    switch (scalars.integer("activation", 0)) {
        case 0: return Activation::Relu;
        case 1: return Activation::GeluTanh;
        case 2: return Activation::Swish;
        case 3: return Activation::Gelu;
        case 4: return Activation::GeluSigmoid;
        default: scalars.reader().problem(scalars.first() + "activation", "is not supported: expected 0 to 4");
    }
    return Activation::Relu;
}

// A factor since version 4 or so; before, whether to scale by sqrt(d_model).
bool scales(const Scalars& scalars, std::int64_t d_model) {
    const double root = std::sqrt(static_cast<double>(d_model));
    const double factor = scalars.both("scale_embeddings", [&](const ForeignConfig& from, const std::string& key) {
        const json& value = from.at(key);
        return value.is_number_integer() ? (value.get<std::int64_t>() != 0 ? root : 1.0) : from.number(key, root);
    });
    if (std::abs(factor - root) > 1e-4 * root && factor != 1.0) {
        scalars.reader().problem(scalars.first() + "scale_embeddings",
                                 fmt::format("is {}: expected 1 or the square root of {}", factor, d_model));
    }
    return factor != 1.0;
}

// Settings that are not read above must be off: rotary positions, ALiBi, merged embeddings and others.
void check_scalars(const json& objects, bool sums_embeddings, Problems& problems) {
    static const std::set<std::string> known = {"num_heads",
                                                "pre_norm",
                                                "activation",
                                                "scale_embeddings",
                                                "start_from_zero_embedding",
                                                "alignment_layer",
                                                "alignment_heads",
                                                "scale_alibi",
                                                "alibi_use_positive_positions",
                                                "queries_scale",
                                                "relative_attention_max_distance",
                                                "scale_outputs"};
    for (const auto& [name, value] : objects.items()) {
        const std::size_t slash = name.rfind('/');
        if (sums_embeddings && name == "encoder/embeddings_merge") {
            continue;  // words and token types
        }
        if (slash != std::string::npos && value.is_number() && value != 0 && !known.contains(name.substr(slash + 1))) {
            problems.add("model.bin", fmt::format("\"{}\" is {}, which is not supported", name, value.dump()));
        }
    }
}

// Whether each layer of a stack has numbers of its own, and not those of the first.
bool own_distances(const TensorArchive& archive, const std::string& stack, int layers) {
    for (int i = 1; i < layers; ++i) {
        if (!same_values(archive, stack + "layer_0/" + kCTranslate2Distances,
                         fmt::format("{}layer_{}/{}", stack, i, kCTranslate2Distances))) {
            return true;
        }
    }
    return false;
}

// T5's: none are added to the embeddings.
void read_relative_positions(const TensorArchive& archive, const Scalars& scalars, ModelConfig& net) {
    const bool own = own_distances(archive, "encoder/", net.encoder_layers) ||
                     own_distances(archive, "decoder/", net.decoder_layers);
    net.positions.kind = Positions::None;
    net.positions.relative.kind = own ? RelativePositions::LayerBuckets : RelativePositions::Buckets;
    net.positions.relative.buckets = matrix_sides(archive, scalars.first() + "layer_0/" + kCTranslate2Distances)[0];
    net.positions.relative.distance = scalars.integer("layer_0/self_attention/relative_attention_max_distance", 128, 2);
    net.max_length = 2048;  // nothing limits it
}

void read_positions(const TensorArchive& archive, const Scalars& scalars, ModelConfig& net) {
    const std::string table = scalars.first() + "position_encodings/encodings";
    if (archive.contains(scalars.first() + "layer_0/" + kCTranslate2Distances)) {
        read_relative_positions(archive, scalars, net);
    } else if (archive.contains(table)) {
        net.positions.kind = Positions::Learned;
        net.max_length = matrix_sides(archive, table)[0];
    } else {
        net.positions.layout = SinusoidLayout::HalvesMinusOne;
        net.positions.first = 1;
    }
}

// The width of a feed-forward and the heads of each stack. Queries, keys and values are one matrix.
void read_sizes(const TensorArchive& archive, const Scalars& scalars, ModelConfig& net) {
    const auto rows = [&](const std::string& stack, const char* name) {
        return matrix_sides(archive, stack + "layer_0/" + name)[0];
    };
    const auto heads = [&](const std::string& stack) {
        const std::int64_t found = scalars.reader().integer(stack + "num_heads", 8, 1, 65535);
        if (const std::int64_t all = rows(stack, "self_attention/linear_0/weight"); all % (3 * found) != 0) {
            scalars.reader().problem(
                stack + "num_heads",
                fmt::format("is {}, which does not divide the {} rows of queries, keys and values", found, all));
        }
        return found;
    };
    set_feed_forward(rows(scalars.first(), "ffn/linear_0/weight"), rows(scalars.last(), "ffn/linear_0/weight"), net);
    net.attention.heads = heads(scalars.first());
    net.attention.d_k = net.attention.d_v =
        rows(scalars.first(), "self_attention/linear_0/weight") / 3 / net.attention.heads;
    const std::int64_t other = heads(scalars.last());
    net.attention.decoder_heads = other == net.attention.heads ? 0 : other;
}

// Factors that are 1 or the usual one, which says whether there is any: of products of queries and keys, the same in
// all layers, and of the last states.
void read_factors(const Scalars& scalars, ModelConfig& net) {
    const auto factor = [&](const std::string& key, double usual, double fallback) {
        const double found = scalars.reader().number(key, fallback);
        if (std::abs(found - usual) > 1e-4 * usual && found != 1.0) {
            scalars.reader().problem(key, fmt::format("is {}: expected {} or 1", found, usual));
        }
        return found != 1.0;
    };
    const double d_k = 1.0 / std::sqrt(static_cast<double>(net.attention.d_k));
    const double d_model = 1.0 / std::sqrt(static_cast<double>(net.d_model));
    const std::string first = scalars.first() + "layer_0/self_attention/queries_scale";
    const bool scaled = factor(first, d_k, d_k);
    net.attention.score = scaled ? AttentionScore::ScaledDotProduct : AttentionScore::DotProduct;
    const auto compare = [&](const std::string& key) {
        if (factor(key, d_k, d_k) != scaled) {
            scalars.reader().problem(key, fmt::format("differs from {}: they must be equal", first));
        }
    };
    for (int i = 0; i < net.encoder_layers; ++i) {
        compare(fmt::format("encoder/layer_{}/self_attention/queries_scale", i));
    }
    for (int i = 0; i < net.decoder_layers; ++i) {
        compare(fmt::format("decoder/layer_{}/self_attention/queries_scale", i));
        if (has_encoder(net)) {
            compare(fmt::format("decoder/layer_{}/attention/queries_scale", i));
        }
    }
    net.output.scale = has_decoder(net) && factor("decoder/scale_outputs", d_model, 1.0);
}

}  // namespace

ModelConfig ctranslate2_network(const TensorArchive& archive, const ForeignConfig& settings, Problems& problems) {
    ModelConfig net;
    net.encoder_layers = count_layers(archive, "encoder");
    net.decoder_layers = count_layers(archive, "decoder");
    if (net.encoder_layers + net.decoder_layers == 0) {
        throw Error(fmt::format("{} is a {}: only Transformers with self-attention are supported", archive.path(),
                                archive.objects().value("spec_name", "model of another kind")));
    }
    net.architecture = net.decoder_layers == 0   ? Architecture::MaskedLm
                       : net.encoder_layers == 0 ? Architecture::CausalLm
                                                 : Architecture::EncoderDecoder;
    const Scalars scalars(archive, net, problems);
    const std::string types = "encoder/embeddings_1/weight";
    const bool sums = net.architecture == Architecture::MaskedLm && archive.contains(types);
    net.embedding.token_types = sums ? matrix_sides(archive, types)[0] : 0;
    check_scalars(archive.objects(), sums, problems);
    const std::vector<std::int64_t> source =
        matrix_sides(archive, has_encoder(net) ? ctranslate2_source_embedding(archive) : "decoder/embeddings/weight");
    net.source_vocabulary = source.at(0);
    net.target_vocabulary = has_decoder(net) ? matrix_sides(archive, "decoder/embeddings/weight").at(0) : source.at(0);
    net.d_model = source.at(1);
    read_sizes(archive, scalars, net);
    net.feed_forward.activation = activation_numbered(scalars);
    net.norm.placement = scalars.integer("pre_norm", 1) != 0 ? NormPlacement::Pre : NormPlacement::Post;
    const std::string layer = scalars.first() + "layer_0/";
    const bool rms = !archive.contains(layer + "self_attention/layer_norm/beta");
    net.norm.type = rms ? NormType::Rms : NormType::Layer;
    net.norm.epsilon = static_cast<float>(settings.number("layer_norm_epsilon", rms ? 1e-6 : 1e-5));
    net.attention.bias = archive.contains(layer + "self_attention/linear_0/bias");
    net.feed_forward.bias = archive.contains(layer + "ffn/linear_0/bias");
    net.feed_forward.gate = archive.contains(layer + "ffn/linear_0_noact/weight");
    net.output.bias = archive.contains("decoder/projection/bias");
    net.embedding.norm =
        archive.contains(scalars.first() + "layernorm_embedding/gamma") ? EmbeddingNorm::Last : EmbeddingNorm::None;
    net.embedding.scale = scales(scalars, net.d_model);
    read_factors(scalars, net);
    net.embedding.tying = ctranslate2_tying(archive, net.architecture);
    read_positions(archive, scalars, net);
    return net;
}

}  // namespace headscope

// The names of the tensors in CTranslate2's model.bin.
#include <utility>

#include <fmt/format.h>

#include "import/ctranslate2.h"
#include "import/formats.h"

namespace headscope {

namespace {

// Those of all layers are copies of the first's, or each layer has its own.
void add_distances(TensorMap& map, const ModelConfig& net, const std::string& stack, int layers) {
    const bool own = net.positions.relative.kind == RelativePositions::LayerBuckets;
    TensorRow shared{.theirs = fmt::format("{}/layer_0/{}", stack, kCTranslate2Distances),
                     .ours = {stack + ".relative_positions.weight"}};
    for (int i = 0; i < layers; ++i) {
        const std::string theirs = fmt::format("{}/layer_{}/{}", stack, i, kCTranslate2Distances);
        shared.copies.push_back(theirs);
        if (own) {
            map.add({.theirs = theirs, .ours = {fmt::format("{}.layers.{}.relative_positions.weight", stack, i)}});
        }
    }
    if (!own) {
        map.add(std::move(shared));
    }
}

void add_ctranslate2_stack(TensorMap& map, const ModelConfig& net, const std::string& stack, int layers) {
    const auto linear = [&](const std::string& theirs, const std::string& place,
                            const std::vector<std::string>& names) {
        for (const char* end : {"weight", "bias"}) {
            TensorRow row{.theirs = fmt::format("{}/{}", theirs, end), .ours = {}};
            for (const std::string& name : names) {
                row.ours.push_back(fmt::format("{}.{}.{}", place, name, end));
            }
            map.add(std::move(row));
        }
    };
    const auto norm = [&](const std::string& theirs, const std::string& ours) {
        map.add({.theirs = theirs + "/gamma", .ours = {ours + ".gain"}});
        map.add({.theirs = theirs + "/beta", .ours = {ours + ".bias"}});
    };
    for (int i = 0; i < layers; ++i) {
        const std::string theirs = fmt::format("{}/layer_{}/", stack, i);
        const std::string ours = fmt::format("{}.layers.{}.", stack, i);
        linear(theirs + "self_attention/linear_0", ours + "self_attention", {"q", "k", "v"});
        linear(theirs + "self_attention/linear_1", ours + "self_attention", {"output"});
        norm(theirs + "self_attention/layer_norm", ours + "self_attention.norm");
        linear(theirs + "attention/linear_0", ours + "cross_attention", {"q"});
        linear(theirs + "attention/linear_1", ours + "cross_attention", {"k", "v"});
        linear(theirs + "attention/linear_2", ours + "cross_attention", {"output"});
        norm(theirs + "attention/layer_norm", ours + "cross_attention.norm");
        linear(theirs + "ffn/linear_0", ours + "feed_forward", {net.feed_forward.gate ? "gate" : "inner"});
        linear(theirs + "ffn/linear_0_noact", ours + "feed_forward", {"inner"});
        linear(theirs + "ffn/linear_1", ours + "feed_forward", {"outer"});
        norm(theirs + "ffn/layer_norm", ours + "feed_forward.norm");
    }
    add_distances(map, net, stack, layers);
    norm(stack + "/layernorm_embedding", stack + ".embedding_norm");
    norm(stack + "/layer_norm", stack + ".norm");
    map.add({.theirs = stack + "/position_encodings/encodings", .ours = {stack + ".positions.weight"}});
}

}  // namespace

TensorMap ctranslate2_tensors(const ModelConfig& net, const std::string& source) {
    TensorMap map;
    const std::string target = "decoder/embeddings/weight";
    const std::string output = "decoder/projection/weight";
    if (net.architecture == Architecture::EncoderDecoder) {
        map.add_embeddings(net.embedding.tying, source, target, output);
    } else if (net.architecture == Architecture::MaskedLm) {
        map.add({.theirs = source, .ours = {"embedding.weight"}});
        map.add({.theirs = "encoder/embeddings_1/weight", .ours = {"encoder.token_types.weight"}});
    } else {
        TensorRow table{.theirs = target, .ours = {"embedding.weight"}};
        if (net.embedding.tying == Tying::All) {
            table.copies.push_back(output);
        }
        map.add(std::move(table));
        map.add({.theirs = output, .ours = {"output.weight"}});
    }
    map.add({.theirs = "decoder/projection/bias", .ours = {"output.bias"}});
    add_ctranslate2_stack(map, net, "encoder", net.encoder_layers);
    add_ctranslate2_stack(map, net, "decoder", net.decoder_layers);
    return map;
}

void map_ctranslate2_weights(std::shared_ptr<const TensorArchive> archive, ModelDirectory& model) {
    TensorMap map = ctranslate2_tensors(model.config, ctranslate2_source_embedding(*archive));
    for (const StoredTensor& tensor : archive->entries()) {
        if (tensor.shape.empty()) {
            map.ignore(tensor.name);  // a setting
        }
    }
    map.ignore("pooler_dense/weight");  // of a classifier
    map.ignore("pooler_dense/bias");
    model.weights = mapped_weights(std::move(archive), std::move(map));
}

}  // namespace headscope

// GPT-2 and BERT as Hugging Face's folders have them. What they lack and our models may have is written as something
// that computes the same: fixed positions as a table, missing biases as zeros, the scale of embeddings in the table.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "import/exported_hugging_face.h"
#include "import/format_limits.h"
#include "import/formats.h"
#include "model/sinusoids.h"

namespace headscope {

namespace {

using nlohmann::json;

void check_common(FormatLimits& limits) {
    limits.hold({"norm.epsilon", "positions.kind", "positions.layout", "positions.first", "attention.bias",
                 "feed_forward.bias", "frame.source_begin", "frame.source_end", "frame.target_begin"});
    limits.require("positions.kind", {"learned", "sinusoid", "none"});
    limits.require("feed_forward.activation", hugging_face_activations());
}

// Learned positions have rows in the map.
void add_fixed_positions(const ModelConfig& net, const std::string& name, std::vector<ExportedTensor>& tensors) {
    if (net.positions.kind == Positions::Learned) {
        return;
    }
    std::vector<float> rows(static_cast<std::size_t>(net.max_length * net.d_model));
    if (net.positions.kind == Positions::Sinusoid) {
        const std::vector<double> table =
            sinusoid_table(net.max_length, net.d_model, net.positions.layout, net.positions.first);
        rows.assign(table.begin(), table.end());
    }
    tensors.push_back({name, {net.max_length, net.d_model}, std::move(rows)});
}

ExportedTensor& named(std::vector<ExportedTensor>& tensors, const std::string& name) {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == name; });
    HEADSCOPE_CHECK(found != tensors.end(), "no tensor " + name);
    return *found;
}

bool is_tied(const ModelConfig& net) {
    return net.embedding.tying == Tying::All && !net.embedding.scale;
}

// GPT-2 adds its table to the positions as it is, so that the output needs a matrix of its own.
void scale_embedding(const ModelConfig& net, std::vector<ExportedTensor>& tensors) {
    if (!net.embedding.scale) {
        return;
    }
    ExportedTensor table = named(tensors, "transformer.wte.weight");
    for (float& value : named(tensors, "transformer.wte.weight").values) {
        value *= std::sqrt(static_cast<float>(net.d_model));
    }
    if (net.embedding.tying == Tying::All) {
        table.name = "lm_head.weight";
        tensors.push_back(std::move(table));
    }
}

json gpt2_config(const ModelConfig& net) {
    json config = {{"model_type", "gpt2"},
                   {"architectures", {"GPT2LMHeadModel"}},
                   {"n_embd", net.d_model},
                   {"n_layer", net.decoder_layers},
                   {"n_head", net.attention.heads},
                   {"n_inner", net.feed_forward.d_ff},
                   {"n_positions", net.max_length},
                   {"vocab_size", net.target_vocabulary},
                   {"activation_function", hugging_face_activation(net.feed_forward.activation)},
                   {"layer_norm_epsilon", net.norm.epsilon},
                   {"scale_attn_weights", net.attention.score == AttentionScore::ScaledDotProduct},
                   {"tie_word_embeddings", is_tied(net)},
                   {"bos_token_id", net.frame.bos_id < 0 ? net.frame.eos_id : net.frame.bos_id},
                   {"eos_token_id", net.frame.eos_id}};
    if (net.frame.pad_id >= 0) {
        config["pad_token_id"] = net.frame.pad_id;
    }
    return config;
}

json bert_config(const ModelConfig& net) {
    return {{"model_type", "bert"},
            {"architectures", {"BertForMaskedLM"}},
            {"hidden_size", net.d_model},
            {"num_hidden_layers", net.encoder_layers},
            {"num_attention_heads", net.attention.heads},
            {"intermediate_size", net.feed_forward.d_ff},
            {"hidden_act", hugging_face_activation(net.feed_forward.activation)},
            {"max_position_embeddings", net.max_length},
            {"type_vocab_size", std::max<std::int64_t>(net.embedding.token_types, 1)},
            {"vocab_size", net.target_vocabulary},
            {"layer_norm_eps", net.norm.epsilon},
            {"pad_token_id", std::max(net.frame.pad_id, 0)}};
}

}  // namespace

const std::vector<json>& hugging_face_activations() {
    static const std::vector<json> held = {"relu", "gelu", "gelu_tanh", "gelu_sigmoid", "swish"};
    return held;
}

const char* hugging_face_activation(Activation activation) {
    switch (activation) {
        case Activation::Gelu: return "gelu";
        case Activation::GeluTanh: return "gelu_new";
        case Activation::GeluSigmoid: return "quick_gelu";
        case Activation::Swish: return "swish";
        default: return "relu";
    }
}

void check_gpt2(const ModelConfig& net, Problems& problems) {
    FormatLimits limits(net, problems);
    check_common(limits);
    limits.hold({"embedding.scale", "embedding.tying"});
    limits.require("attention.score", {"scaled_dot_product", "dot_product"});
    limits.require("norm.placement", {"pre"});
    limits.finish();
}

ExportedModel exported_gpt2(const ModelConfig& net, const Parameters& parameters) {
    ExportedModel exported{gpt2_config(net)};
    const TensorMap map = gpt2_tensors(net, "transformer.");
    exported.tensors = exported_tensors(map, parameters);
    add_zero_biases(map, exported.tensors);
    add_fixed_positions(net, "transformer.wpe.weight", exported.tensors);
    scale_embedding(net, exported.tensors);
    return exported;
}

void check_bert(const ModelConfig& net, Problems& problems) {
    FormatLimits limits(net, problems);
    check_common(limits);
    limits.hold({"embedding.token_types"});
    limits.require("output.bias", {true});
    limits.require("output.transform", {"activation"});
    limits.require("embedding.norm", {"last"});
    limits.require("embedding.scale", {false});
    limits.finish();
}

ExportedModel exported_bert(const ModelConfig& net, const Parameters& parameters) {
    ExportedModel exported{bert_config(net)};
    const TensorMap map = bert_tensors(net);
    exported.tensors = exported_tensors(map, parameters);
    add_zero_biases(map, exported.tensors);
    add_fixed_positions(net, "bert.embeddings.position_embeddings.weight", exported.tensors);
    if (net.embedding.token_types == 0) {  // BERT has at least one type
        exported.tensors.push_back({"bert.embeddings.token_type_embeddings.weight",
                                    {1, net.d_model},
                                    std::vector<float>(static_cast<std::size_t>(net.d_model))});
    }
    return exported;
}

}  // namespace headscope

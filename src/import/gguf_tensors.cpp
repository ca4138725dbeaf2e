// The names of llama.cpp's tensors.
#include <fmt/format.h>

#include "import/gguf.h"

namespace headscope {

TensorMap gguf_tensors(const ModelConfig& net, const GgufFamily& family) {
    TensorMap map;
    map.add({.theirs = "token_embd.weight", .ours = {"embedding.weight"}});
    map.add({.theirs = "output.weight", .ours = {"output.weight"}});
    map.add_norm("output_norm", "decoder.norm");
    for (int i = 0; i < net.decoder_layers; ++i) {
        const std::string theirs = fmt::format("blk.{}.", i);
        const std::string ours = fmt::format("decoder.layers.{}.", i);
        const std::string attention = ours + "self_attention.";
        for (const char* end : {"weight", "bias"}) {
            const std::int64_t alternates = family.alternating_rows ? 1 : 0;
            map.add({.theirs = theirs + "attn_q." + end,
                     .ours = {attention + "q." + end},
                     .alternating_heads = alternates * net.attention.heads});
            map.add({.theirs = theirs + "attn_k." + end,
                     .ours = {attention + "k." + end},
                     .alternating_heads = alternates * net.attention.groups()});
        }
        map.add_linear(theirs + "attn_v", attention + "v");
        map.add_linear(theirs + "attn_output", attention + "output");
        map.add_norm(theirs + "attn_norm", attention + "norm");
        map.add_norm(theirs + "attn_q_norm", attention + "q_norm");
        map.add_norm(theirs + "attn_k_norm", attention + "k_norm");
        map.add_norm(theirs + "post_attention_norm", attention + "output_norm");
        map.add_linear(theirs + "ffn_gate", ours + "feed_forward.gate");
        map.add_linear(theirs + "ffn_up", ours + "feed_forward.inner");
        map.add_linear(theirs + "ffn_down", ours + "feed_forward.outer");
        map.add_norm(theirs + "ffn_norm", ours + "feed_forward.norm");
        map.add_norm(theirs + "post_ffw_norm", ours + "feed_forward.output_norm");
    }
    map.ignore("rope_freqs.weight");  // read as positions.rotary.factors
    return map;
}

}  // namespace headscope

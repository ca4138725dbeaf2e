// A small GGUF file of a model, whose parts tests change.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/gguf_types.h"
#include "tests/io/gguf_writer.h"

namespace headscope {

// A Llama of one layer.
struct TinyLlama {
    std::map<std::string, std::uint32_t> numbers = {
        {"llama.block_count", 1},           {"llama.context_length", 16},      {"llama.embedding_length", 8},
        {"llama.feed_forward_length", 4},   {"llama.attention.head_count", 2}, {"llama.attention.head_count_kv", 1},
        {"tokenizer.ggml.bos_token_id", 0}, {"tokenizer.ggml.eos_token_id", 1}};
    std::map<std::string, std::string> texts = {
        {"general.architecture", "llama"}, {"tokenizer.ggml.model", "gpt2"}, {"tokenizer.ggml.pre", "llama-bpe"}};
    std::map<std::string, float> floats = {{"llama.attention.layer_norm_rms_epsilon", 1e-5F}};
    std::map<std::string, bool> flags = {};
    std::map<std::string, std::vector<std::uint32_t>> number_lists = {
        {"tokenizer.ggml.token_type", {3, 3, 1, 1, 1, 1, 5}}};
    std::map<std::string, std::vector<float>> float_lists = {};
    std::vector<std::string> pieces = {"<s>", "</s>", "a", "b", "\u0120", "ab", "<pad>"};
    std::vector<std::string> merges = {"a b"};
    std::map<std::string, std::vector<std::uint64_t>> tensors = {
        {"token_embd.weight", {8, 7}},        {"output_norm.weight", {8}},      {"blk.0.attn_norm.weight", {8}},
        {"blk.0.attn_q.weight", {8, 8}},      {"blk.0.attn_k.weight", {8, 4}},  {"blk.0.attn_v.weight", {8, 4}},
        {"blk.0.attn_output.weight", {8, 8}}, {"blk.0.ffn_norm.weight", {8}},   {"blk.0.ffn_gate.weight", {8, 4}},
        {"blk.0.ffn_up.weight", {8, 4}},      {"blk.0.ffn_down.weight", {4, 8}}};

    // Of tensors that are not F32.
    std::map<std::string, std::uint32_t> types = {};

    // With sides of whole blocks of any type.
    static TinyLlama wide() {
        TinyLlama llama;
        llama.numbers["llama.embedding_length"] = 256;
        llama.numbers["llama.feed_forward_length"] = 512;
        llama.tensors = {{"token_embd.weight", {256, 7}},          {"output_norm.weight", {256}},
                         {"blk.0.attn_norm.weight", {256}},        {"blk.0.attn_q.weight", {256, 256}},
                         {"blk.0.attn_k.weight", {256, 128}},      {"blk.0.attn_v.weight", {256, 128}},
                         {"blk.0.attn_output.weight", {256, 256}}, {"blk.0.ffn_norm.weight", {256}},
                         {"blk.0.ffn_gate.weight", {256, 512}},    {"blk.0.ffn_up.weight", {256, 512}},
                         {"blk.0.ffn_down.weight", {512, 256}}};
        return llama;
    }

    // Bytes of a tensor: halves in F32, or blocks with small scales and codes of all kinds.
    std::string data_of(const std::string& name, std::size_t elements) const {
        const auto found = types.find(name);
        std::string data;
        if (found == types.end()) {
            for (std::size_t i = 0; i < elements; ++i) {
                data += GgufWriter::number(std::bit_cast<std::uint32_t>(0.5F), 4);
            }
            return data;
        }
        const GgufType& type = *gguf_type(found->second);
        const std::set<std::size_t> scales = upper_scale_bytes(found->second);
        for (std::size_t i = 0; i < elements / type.elements * type.bytes; ++i) {
            data += static_cast<char>(scales.contains(i % type.bytes) ? 0x2c : 7 + 37 * (i + name.size()));
        }
        return data;
    }

    std::string file() const {
        GgufWriter writer;
        for (const auto& [key, value] : texts) {
            writer.add_text(key, value);
        }
        for (const auto& [key, value] : numbers) {
            writer.add_number(key, value);
        }
        for (const auto& [key, value] : floats) {
            writer.add_float(key, value);
        }
        for (const auto& [key, value] : flags) {
            writer.add_flag(key, value);
        }
        for (const auto& [key, values] : number_lists) {
            writer.add_numbers(key, values);
        }
        for (const auto& [key, values] : float_lists) {
            writer.add_floats(key, values);
        }
        writer.add_texts("tokenizer.ggml.tokens", pieces).add_texts("tokenizer.ggml.merges", merges);
        for (const auto& [name, sides] : tensors) {
            std::size_t elements = 1;
            for (const std::uint64_t side : sides) {
                elements *= side;
            }
            const auto type = types.find(name);
            writer.add_tensor(name, sides, type == types.end() ? 0 : type->second, data_of(name, elements));
        }
        return writer.file();
    }
};

}  // namespace headscope

// Writes CTranslate2's model.bin, version 6, and its vocabularies.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/exporting.h"
#include "import/format_limits.h"
#include "import/formats.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "model/sinusoids.h"

namespace headscope {

namespace {

using nlohmann::json;

// Little-endian, as all machines that Headscope runs on.
class Writer {
public:
    template <class Number>
    void number(Number value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    void text(const std::string& value) {
        number(static_cast<std::uint16_t>(value.size() + 1));
        bytes_.append(value.c_str(), value.size() + 1);
    }
    void tensor(const std::string& name, const std::vector<std::int64_t>& shape, std::uint8_t type, const void* data,
                std::size_t size) {
        text(name);
        number(static_cast<std::uint8_t>(shape.size()));
        for (const std::int64_t side : shape) {
            number(static_cast<std::uint32_t>(side));
        }
        number(type);
        number(static_cast<std::uint32_t>(size));
        bytes_.append(static_cast<const char*>(data), size);
        ++count_;
    }
    template <class Number>
    void scalar(const std::string& name, std::uint8_t type, Number value) {
        tensor(name, {}, type, &value, sizeof(value));
    }
    std::uint32_t count() const { return count_; }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
    std::uint32_t count_ = 0;
};

constexpr std::uint8_t kFloat = 0;
constexpr std::uint8_t kInt8 = 1;
constexpr std::uint8_t kInt16 = 2;

std::int8_t number_of(Activation activation) {
    switch (activation) {
        case Activation::GeluTanh: return 1;
        case Activation::Swish: return 2;
        case Activation::Gelu: return 3;
        case Activation::GeluSigmoid: return 4;
        default: return 0;
    }
}

void check_for_ctranslate2(const ModelDirectory& model) {
    Problems problems(model.path);
    FormatLimits limits(model.config, problems);
    limits.hold({"feed_forward.decoder_d_ff", "attention.decoder_heads", "norm.epsilon", "positions.layout",
                 "positions.first", "attention.bias", "feed_forward.bias", "output.bias", "embedding.tying",
                 "embedding.scale", "frame.suppressed_ids"});
    limits.require("architecture", {"encoder-decoder"});
    limits.require("feed_forward.activation", {"relu", "gelu", "gelu_tanh", "gelu_sigmoid", "swish"});
    limits.require("norm.placement", {"post", "pre"});
    limits.require("positions.kind", {"sinusoid", "learned"});
    limits.require("embedding.norm", {"none", "last"});
    require_source_frame(model, limits, true);
    limits.finish();
    problems.finish();
}

void write_scalars(const ModelConfig& net, Writer& to) {
    for (const std::string stack : {"encoder/", "decoder/"}) {
        to.scalar(stack + "activation", kInt8, number_of(net.feed_forward.activation));
        const std::int64_t heads =
            stack == "decoder/" && net.attention.decoder_heads > 0 ? net.attention.decoder_heads : net.attention.heads;
        to.scalar(stack + "num_heads", kInt16, static_cast<std::int16_t>(heads));
        to.scalar(stack + "pre_norm", kInt8, static_cast<std::int8_t>(net.norm.placement == NormPlacement::Pre));
        to.scalar(stack + "scale_embeddings", kFloat,
                  net.embedding.scale ? std::sqrt(static_cast<float>(net.d_model)) : 1.0F);
    }
    to.scalar("decoder/start_from_zero_embedding", kInt8, static_cast<std::int8_t>(net.frame.bos_id < 0));
    to.scalar("encoder/embeddings_merge", kInt8, std::int8_t{0});
    to.scalar("decoder/alignment_layer", kInt16, std::int16_t{-1});
    to.scalar("decoder/alignment_heads", kInt16, std::int16_t{1});
}

// Sinusoids are written out, unless they are the program's own.
bool has_table(const ModelConfig& net) {
    return net.positions.kind == Positions::Sinusoid &&
           (net.positions.layout != SinusoidLayout::HalvesMinusOne || net.positions.first != 1);
}

void write_positions(const ModelConfig& net, Writer& to) {
    const std::vector<double> table =
        sinusoid_table(net.positions.first + net.max_length, net.d_model, net.positions.layout);
    const std::vector<float> rows(table.begin() + net.positions.first * net.d_model, table.end());
    to.tensor("decoder/position_encodings/encodings", {net.max_length, net.d_model}, kFloat, rows.data(),
              rows.size() * sizeof(float));
}

std::string model_file(const ModelConfig& net, const Parameters& parameters) {
    std::vector<ExportedTensor> tensors =
        exported_tensors(ctranslate2_tensors(net, "encoder/embeddings_0/weight"), parameters);
    suppress(net, "decoder/projection/bias", tensors);
    Writer body;
    for (const ExportedTensor& tensor : tensors) {
        body.tensor(tensor.name, tensor.shape, kFloat, tensor.values.data(), tensor.values.size() * sizeof(float));
    }
    write_scalars(net, body);
    if (has_table(net)) {
        write_positions(net, body);
    }
    std::vector<std::pair<std::string, std::string>> aliases;
    if (shares_tables(net.embedding.tying)) {
        aliases.emplace_back("encoder/embeddings_0/weight", "decoder/embeddings/weight");
    }
    if (ties_output(net.embedding.tying)) {
        aliases.emplace_back("decoder/projection/weight", "decoder/embeddings/weight");
    }
    if (has_table(net)) {
        aliases.emplace_back("encoder/position_encodings/encodings", "decoder/position_encodings/encodings");
    }
    Writer file;
    file.number(std::uint32_t{6});  // version of the file
    file.text("TransformerSpec");
    file.number(std::uint32_t{7});  // revision of the specification
    file.number(body.count());
    std::string bytes = file.bytes() + body.bytes();
    Writer end;
    end.number(static_cast<std::uint32_t>(aliases.size()));
    for (const auto& [alias, name] : aliases) {
        end.text(alias);
        end.text(name);
    }
    return bytes + end.bytes();
}

json pieces_of(const Tokenizer& tokenizer) {
    json pieces = json::array();
    for (const Piece& piece : tokenizer.vocabulary().pieces()) {
        pieces.push_back(piece.text);
    }
    return pieces;
}

}  // namespace

void export_ctranslate2(const ModelDirectory& model, const Parameters& parameters, const std::string& folder) {
    check_for_ctranslate2(model);
    const ModelConfig& net = model.config;
    const std::string bytes = model_file(net, parameters);
    MadeFolder made(folder);
    const auto write = [&](const char* name, const std::string& text) {
        atomic_write_file((std::filesystem::path(folder) / name).string(), text);
    };
    const Tokenizer& target = *model.target_tokenizer;
    const auto piece = [&](std::int32_t id, const char* fallback) { return id < 0 ? fallback : target.piece(id); };
    const json settings = {{"unk_token", piece(net.frame.unk_id, "<unk>")},
                           {"bos_token", piece(net.frame.bos_id, "<s>")},
                           {"eos_token", piece(net.frame.eos_id, "</s>")},
                           {"decoder_start_token", piece(net.frame.bos_id, piece(net.frame.eos_id, "</s>").c_str())},
                           {"add_source_bos", false},
                           {"add_source_eos", !net.frame.source_end.empty()},
                           {"layer_norm_epsilon", net.norm.epsilon}};
    const json source_pieces = pieces_of(*model.source_tokenizer);
    const json target_pieces = pieces_of(target);
    if (source_pieces == target_pieces) {
        write("shared_vocabulary.json", source_pieces.dump(1) + "\n");
    } else {
        write("source_vocabulary.json", source_pieces.dump(1) + "\n");
        write("target_vocabulary.json", target_pieces.dump(1) + "\n");
    }
    write_segmenters(model, folder, "source.spm", "target.spm");
    write("model.bin", bytes);
    write("config.json", settings.dump(2) + "\n");
    made.keep();
}

}  // namespace headscope

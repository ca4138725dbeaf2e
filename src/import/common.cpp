#include "import/common.h"

#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "support/check.h"
#include "text/spaced_pieces.h"

namespace headscope {

namespace fs = std::filesystem;

std::string file_in(const std::string& folder, const std::string& name) {
    const fs::path path = fs::path(folder) / name;
    std::error_code ignored;
    return fs::exists(path, ignored) ? path.string() : "";
}

std::string file_in(const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (const std::string file = file_in(folder, name); !file.empty()) {
            return file;
        }
    }
    return "";
}

std::string require_file(const std::string& folder, const std::string& name, const std::string& what) {
    const std::string path = file_in(folder, name);
    if (path.empty()) {
        throw Error(fmt::format("{} has no {}: expected {}", folder, name, what));
    }
    return path;
}

std::shared_ptr<const Tokenizer> numbered_tokenizer(const std::string& segmenter,
                                                    std::shared_ptr<const Vocabulary> vocabulary) {
    if (segmenter.empty()) {
        return std::make_shared<const Tokenizer>(std::make_shared<SpacedPieces>(), std::move(vocabulary));
    }
    return std::make_shared<const Tokenizer>(Tokenizer::load(segmenter, std::move(vocabulary)));
}

void remark_spaced_pieces(ModelDirectory& model) {
    const bool source = model.source_tokenizer->type() == TokenizerType::Words;
    const bool target = model.target_tokenizer->type() == TokenizerType::Words;
    if (source || target) {
        const char* side = source && target ? "" : source ? " for its source" : " for its target";
        model.remarks.push_back(fmt::format("{} has no SentencePiece model{}: {} are pieces separated by spaces",
                                            model.path, side, source && target ? "texts" : "texts of that side"));
    }
}

Tying tying_of(bool shared, bool tied) {
    if (shared) {
        return tied ? Tying::All : Tying::Embeddings;
    }
    return tied ? Tying::TargetOutput : Tying::None;
}

bool shares_tables(Tying tying) {
    return tying == Tying::All || tying == Tying::Embeddings;
}

bool ties_output(Tying tying) {
    return tying == Tying::All || tying == Tying::TargetOutput;
}

void set_heads(std::int64_t heads, const ForeignConfig& config, const std::string& key, ModelConfig& net) {
    net.attention.heads = heads;
    if (net.d_model % heads != 0) {
        config.problem(key, fmt::format("is {}, which does not divide the width {}", heads, net.d_model));
    }
    net.attention.d_k = net.attention.d_v = net.d_model / heads;
}

void set_decoder_heads(std::int64_t heads, const ForeignConfig& config, const std::string& key, ModelConfig& net) {
    if (heads != net.attention.heads) {
        net.attention.decoder_heads = heads;
        if (net.d_model % heads != 0) {
            config.problem(key, fmt::format("is {}, which does not divide the width {}", heads, net.d_model));
        }
    }
}

void set_feed_forward(std::int64_t encoder, std::int64_t decoder, ModelConfig& net) {
    net.feed_forward.d_ff = encoder;
    net.feed_forward.decoder_d_ff = decoder == encoder ? 0 : decoder;
}

Activation activation_named(const ForeignConfig& config, const std::string& key, const std::string& name) {
    static const std::map<std::string, Activation> names = {
        {"relu", Activation::Relu},
        {"gelu", Activation::Gelu},
        {"gelu_python", Activation::Gelu},
        {"gelu_new", Activation::GeluTanh},
        {"gelu_fast", Activation::GeluTanh},
        {"gelu_pytorch_tanh", Activation::GeluTanh},
        {"quick_gelu", Activation::GeluSigmoid},
        {"swish", Activation::Swish},
        {"silu", Activation::Swish},
    };
    const auto found = names.find(name);
    if (found != names.end()) {
        return found->second;
    }
    config.problem(key, fmt::format("is \"{}\": only relu, gelu, gelu_new, quick_gelu and swish are supported", name));
    return Activation::Relu;
}

Activation activation_of(const ForeignConfig& config, const std::string& key, const std::string& fallback) {
    return activation_named(config, key, config.text(key, fallback));
}

namespace {

// Replaces whole words.
std::string with_their_names(std::string text, const std::vector<KeyName>& names) {
    const auto is_inside = [&](std::size_t at) {
        return at < text.size() && (text[at] == '_' || std::isalnum(static_cast<unsigned char>(text[at])) != 0);
    };
    for (const auto& [ours, theirs] : names) {
        const std::size_t size = std::string_view(ours).size();
        for (std::size_t at = text.find(ours); at != std::string::npos; at = text.find(ours, at)) {
            if (is_inside(at - 1) || is_inside(at + size)) {
                at += size;
                continue;
            }
            std::size_t begin = at;  // of the key's path, such as frame.eos_id
            while (begin > 0 && (text[begin - 1] == '.' || is_inside(begin - 1))) {
                --begin;
            }
            text.replace(begin, at + size - begin, theirs);
            at = begin + std::string_view(theirs).size();
        }
    }
    return text;
}

}  // namespace

void check_imported(const ModelDirectory& model, const std::string& file, const std::vector<KeyName>& names) {
    if (model.config.frame.eos_id < 0) {
        throw Error(fmt::format("{} has no piece for the end of a text, such as </s>", model.target_tokenizer->name()));
    }
    try {
        check_model_config(model.config, "");
    } catch (const Error& problem) {
        throw Error(file + with_their_names(problem.what(), names));
    }
}

}  // namespace headscope

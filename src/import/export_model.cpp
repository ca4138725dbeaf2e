#include "import/export_model.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "import/exporting.h"
#include "io/atomic_file.h"
#include "support/check.h"

namespace headscope {

namespace fs = std::filesystem;

namespace {

// [rows, columns] of the whole tensor in our layout, before transposing.
void append_rows(const Parameters& parameters, const ParameterSpec& spec, std::vector<float>& rows) {
    const std::vector<float> own = parameters.values_of(spec.name);
    rows.insert(rows.end(), own.begin(), own.end());
}

std::vector<float> transposed(const std::vector<float>& from, std::size_t rows, std::size_t columns) {
    std::vector<float> to(from.size());
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            to[column * rows + row] = from[row * columns + column];
        }
    }
    return to;
}

}  // namespace

std::vector<ExportedTensor> exported_tensors(const TensorMap& map, const Parameters& parameters) {
    std::map<std::string, const ParameterSpec*> left;
    for (const ParameterSpec& spec : parameters.table()) {
        left[spec.name] = &spec;
    }
    std::vector<ExportedTensor> tensors;
    for (const TensorRow& row : map.rows()) {
        ExportedTensor tensor{row.theirs, {}, {}};
        std::int64_t rows = 0;
        std::int64_t columns = 0;  // 0: a vector
        for (const std::string& name : row.ours) {
            if (const auto found = left.find(name); found != left.end()) {
                const Shape& shape = found->second->shape;
                rows += shape[0];
                columns = shape.rank() > 1 ? shape[1] : 0;
                append_rows(parameters, *found->second, tensor.values);
                left.erase(found);
            }
        }
        if (tensor.values.empty()) {
            continue;
        }
        tensor.shape = columns == 0 ? std::vector{rows} : std::vector{rows, columns};
        if (row.transposed && columns > 0) {
            tensor.values =
                transposed(tensor.values, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
            std::swap(tensor.shape[0], tensor.shape[1]);
        }
        if (row.skipped_rows > 0) {
            tensor.values.insert(tensor.values.begin(), static_cast<std::size_t>(row.skipped_rows * columns), 0.0F);
            tensor.shape[0] += row.skipped_rows;
        }
        tensors.push_back(std::move(tensor));
    }
    HEADSCOPE_CHECK(left.empty(), left.empty() ? "" : "no row takes " + left.begin()->first);
    return tensors;
}

void suppress(const ModelConfig& config, const std::string& bias, std::vector<ExportedTensor>& tensors) {
    constexpr float kNever = -1e9F;
    if (config.suppressed_ids.empty()) {
        return;
    }
    auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == bias; });
    if (found == tensors.end()) {
        tensors.push_back({bias, {config.target_vocabulary}, {}});
        found = tensors.end() - 1;
        found->values.resize(static_cast<std::size_t>(config.target_vocabulary));
    }
    for (const std::int32_t id : config.suppressed_ids) {
        found->values[static_cast<std::size_t>(id)] = kNever;
    }
}

Limits::Limits(const ModelConfig& config, Problems& problems) : config_(to_json(config)), problems_(problems) {
    require("generation", {"left_to_right"});
    require("encoder_mixer", {"self_attention"});
    require("decoder_mixer", {"self_attention"});
    require("output_layer", {"full"});
    require("position_combination", {"add"});
    require("experts", {0});
}

void Limits::require(const std::string& key, const std::vector<nlohmann::json>& accepted) const {
    const nlohmann::json& value = config_.at(key);
    if (std::find(accepted.begin(), accepted.end(), value) == accepted.end()) {
        std::vector<std::string> texts;
        std::transform(accepted.begin(), accepted.end(), std::back_inserter(texts),
                       [](const nlohmann::json& one) { return one.dump(); });
        problems_.add("config.json",
                      fmt::format("\"{}\" is {}: the format holds {}", key, value.dump(), fmt::join(texts, " or ")));
    }
}

void Limits::require_heads() const {
    const std::int64_t depth = config_.at("d_model").get<std::int64_t>() / config_.at("heads").get<std::int64_t>();
    require("d_k", {depth});
    require("d_v", {depth});
}

namespace {

bool is_sentencepiece(const Tokenizer& tokenizer) {
    return tokenizer.type() == TokenizerType::Bpe ||
           (tokenizer.type() == TokenizerType::Unigram && !tokenizer.files().segmenter.starts_with('{'));
}

}  // namespace

void require_sentencepiece(const ModelDirectory& model, Problems& problems) {
    for (const auto& tokenizer : {model.source_tokenizer, model.target_tokenizer}) {
        if (!is_sentencepiece(*tokenizer)) {
            problems.add(tokenizer->name(), "has no SentencePiece model, which the format needs");
        }
    }
}

double power_of(const nlohmann::json& decoding) {
    return decoding.value("length_penalty_form", "gnmt") == "power" ? decoding.value("length_penalty", 1.0) : 1.0;
}

void write_segmenters(const ModelDirectory& model, const std::string& folder, const char* source, const char* target) {
    for (const auto& [tokenizer, name] :
         {std::pair{model.source_tokenizer, source}, {model.target_tokenizer, target}}) {
        if (is_sentencepiece(*tokenizer)) {
            atomic_write_file((fs::path(folder) / name).string(), tokenizer->files().segmenter);
        }
    }
}

void export_model(const ModelDirectory& model, const Parameters& parameters, ExportFormat format,
                  const std::string& folder) {
    std::error_code ignored;
    if (fs::exists(folder, ignored) && !fs::is_empty(folder, ignored)) {
        throw Error(fmt::format("{} exists and is not empty: choose another folder", folder));
    }
    switch (format) {
        case ExportFormat::HuggingFace: return export_hugging_face(model, parameters, folder);
        case ExportFormat::CTranslate2: return export_ctranslate2(model, parameters, folder);
        case ExportFormat::Marian: return export_marian(model, parameters, folder);
    }
}

}  // namespace headscope

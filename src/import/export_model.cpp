#include "import/export_model.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "import/exporting.h"
#include "io/atomic_file.h"
#include "model/model_chat.h"
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

void add_zero_biases(const TensorMap& map, std::vector<ExportedTensor>& tensors) {
    const auto find = [&](const std::string& name) {
        return std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == name; });
    };
    for (const TensorRow& row : map.rows()) {
        constexpr std::string_view kWeight = ".weight";
        const auto matrix = find(row.theirs);
        if (matrix == tensors.end() || matrix->shape.size() != 2 || !row.theirs.ends_with(kWeight)) {
            continue;
        }
        const std::string bias = row.theirs.substr(0, row.theirs.size() - kWeight.size()) + ".bias";
        const bool has_bias = std::any_of(map.rows().begin(), map.rows().end(),
                                          [&](const TensorRow& other) { return other.theirs == bias; });
        if (has_bias && find(bias) == tensors.end()) {
            const std::int64_t size = matrix->shape[row.transposed ? 1 : 0];
            tensors.push_back({bias, {size}, std::vector<float>(static_cast<std::size_t>(size))});
        }
    }
}

void suppress(const ModelConfig& config, const std::string& bias, std::vector<ExportedTensor>& tensors) {
    constexpr float kNever = -1e9F;
    if (config.frame.suppressed_ids.empty()) {
        return;
    }
    auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == bias; });
    if (found == tensors.end()) {
        tensors.push_back({bias, {config.target_vocabulary}, {}});
        found = tensors.end() - 1;
        found->values.resize(static_cast<std::size_t>(config.target_vocabulary));
    }
    for (const std::int32_t id : config.frame.suppressed_ids) {
        found->values[static_cast<std::size_t>(id)] = kNever;
    }
}

bool is_sentencepiece(const Tokenizer& tokenizer) {
    return (tokenizer.type() == TokenizerType::Bpe || tokenizer.type() == TokenizerType::Unigram) &&
           !tokenizer.files().segmenter.starts_with('{');
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

std::vector<std::string> options_left_out(const ModelDirectory& model, ExportFormat format) {
    // Those that a format holds or that are the user's there, and neutral values.
    static const std::set<std::string> known = {
        "beam",      "length_penalty",    "length_penalty_form", "max_extra",       "max_length",      "max_factor",
        "force_end", "allow_unknown",     "allow_start",         "source_language", "target_language", "iterations",
        "lengths",   "split_longer_than", "early_stopping",      "renormalize"};
    std::vector<std::string> remarks;
    const nlohmann::json choices = model.decoding != nullptr ? *model.decoding : nlohmann::json::object();
    for (const auto& [key, value] : choices.items()) {
        if (key == kChatKey) {
            remarks.emplace_back("the chat template is left out: its Jinja source is not known here");
        } else if (format != ExportFormat::HuggingFace && !known.contains(key) && value != 0) {
            remarks.push_back(
                fmt::format("the decoding option \"{}\" is left out: the format has no place for it", key));
        }
    }
    return remarks;
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

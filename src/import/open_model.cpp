#include "import/open_model.h"

#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "io/strict_json.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

bool is_hugging_face(const fs::path& folder) {
    if (!is_file(folder / "config.json")) {
        return false;
    }
    const nlohmann::json json = read_json_file((folder / "config.json").string());
    return json.is_object() && json.contains("model_type") && !json.contains("format_version");
}

// A version, and the length of a name that ends with NUL.
bool is_ctranslate2(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::array<unsigned char, 6> head{};
    stream.read(reinterpret_cast<char*>(head.data()), head.size());
    return stream && head[0] >= 1 && head[0] < 64 && head[1] == 0 && head[2] == 0 && head[3] == 0;
}

// LoRA and others, as PEFT writes them: only the difference to a model that is elsewhere.
void reject_adapter(const fs::path& folder) {
    if (const fs::path file = folder / "adapter_config.json"; is_file(file)) {
        throw Error(fmt::format("{} describes an adapter, which is not supported: merge it into its model first",
                                file.string()));
    }
}

bool ends_with(const fs::path& path, const char* extension) {
    return path.extension() == extension && is_file(path);
}

}  // namespace

ModelFormat format_of(const std::string& path) {
    const fs::path place(path);
    if (is_hugging_face(place)) {
        return ModelFormat::HuggingFace;
    }
    if (is_ctranslate2(place / "model.bin")) {
        return ModelFormat::CTranslate2;
    }
    if (is_file(place / "config.json")) {
        return ModelFormat::Headscope;
    }
    if (is_file(place / "decoder.yml") || ends_with(place, ".npz")) {
        return ModelFormat::Marian;
    }
    if (is_file(place / "params.best") && is_file(place / "config")) {
        return ModelFormat::Sockeye;
    }
    if (ends_with(place, ".pt") || is_file(place / "checkpoint_best.pt") || is_file(place / "model.pt") ||
        is_file(place / "checkpoint_last.pt")) {
        return ModelFormat::Fairseq;
    }
    return ModelFormat::None;
}

namespace {

// A .pt or .npz file of a folder without a name that says which one is meant.
std::string some_checkpoint(const std::string& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored) || fs::exists(fs::path(folder) / "config.json", ignored)) {
        return "";
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".pt" || entry.path().extension() == ".npz") {
            return entry.path().string();
        }
    }
    return "";
}

ModelDirectory open_as(ModelFormat format, const std::string& path) {
    switch (format) {
        case ModelFormat::HuggingFace: return open_hugging_face(path);
        case ModelFormat::CTranslate2: return open_ctranslate2(path);
        case ModelFormat::Marian: return open_marian(path);
        case ModelFormat::Sockeye: return open_sockeye(path);
        case ModelFormat::Fairseq: return open_fairseq(path);
        case ModelFormat::Headscope:
        case ModelFormat::None: break;
    }
    if (const std::string file = some_checkpoint(path); !file.empty()) {
        throw Error(fmt::format("{} holds several checkpoints or models: name one, such as {}", path, file));
    }
    return open_model_directory(path);  // reports what is missing
}

}  // namespace

ModelDirectory open_model(const std::string& path) {
    reject_adapter(path);
    try {
        return open_as(format_of(path), path);
    } catch (const nlohmann::json::exception& problem) {
        throw Error(fmt::format("{}: a value in its JSON or YAML files has the wrong type: {}", path, problem.what()));
    }
}

}  // namespace headscope

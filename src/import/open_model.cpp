#include "import/open_model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/formats.h"
#include "import/marian_folder.h"
#include "io/strict_json.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

bool ends_with(const fs::path& path, const char* extension) {
    return path.extension() == extension && is_file(path);
}

bool is_hugging_face(const fs::path& folder) {
    if (!is_file(folder / "config.json")) {
        return false;
    }
    const nlohmann::json stated = read_json_file((folder / "config.json").string());
    return stated.is_object() && stated.contains("model_type") && !stated.contains("format_version");
}

// A version, and the length of a name that ends with NUL. Marian's binary files begin with a version of eight bytes.
bool is_ctranslate2(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::array<unsigned char, 6> head{};
    stream.read(reinterpret_cast<char*>(head.data()), head.size());
    const bool has_name = head[4] != 0 || head[5] != 0;
    return stream && head[0] >= 1 && head[0] < 64 && head[1] == 0 && head[2] == 0 && head[3] == 0 && has_name;
}

bool is_gguf(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::array<char, 4> head{};
    stream.read(head.data(), head.size());
    return stream && std::string_view(head.data(), head.size()) == "GGUF";
}

// Whether this is the name of another part than the first of a model in several files, such as -00002-of-00003.gguf.
bool is_later_part(std::string_view name) {
    constexpr std::string_view kFirst = "-00001-of-";
    constexpr std::size_t kEnding = kFirst.size() + 5 + 5;  // digits and .gguf
    const std::string_view ending = name.substr(name.size() - std::min(name.size(), kEnding));
    return ending.size() == kEnding && ending.substr(6, 4) == kFirst.substr(6) && !ending.starts_with(kFirst);
}

// The file itself, or that of the only model in a folder, beside which there may be adapters and projectors of images.
// Empty if there are none, or several.
std::string gguf_file_of(const fs::path& path) {
    if (is_file(path)) {
        return is_gguf(path) ? path.string() : "";
    }
    std::vector<std::string> models;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
        const fs::path& file = entry.path();
        if (ends_with(file, ".gguf") && is_gguf(file) && !is_later_part(file.filename().string())) {
            models.push_back(file.string());
        }
    }
    if (models.size() > 1) {
        std::erase_if(models, [](const std::string& file) { return !may_be_gguf_model(file); });
    }
    return models.size() == 1 ? models.front() : "";
}

// Formats that are known and not supported.
void reject_file(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::array<char, 8> head{};
    stream.read(head.data(), head.size());
    const std::string_view bytes(head.data(), stream ? head.size() : 0);
    if (bytes == std::string_view("\1\0\0\0\0\0\0\0", 8)) {
        throw Error(
            fmt::format("{} is a binary model of Marian, which is not supported: give the .npz from which "
                        "marian-conv made it",
                        file.string()));
    }
}

void reject_others(const fs::path& path) {
    if (is_file(path)) {
        reject_file(path);
    }
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
        if (const fs::path& file = entry.path(); ends_with(file, ".bin")) {
            reject_file(file);
        }
    }
}

// LoRA and others, as PEFT writes them: only the difference to a model that is elsewhere.
void reject_adapter(const fs::path& folder) {
    if (const fs::path file = folder / "adapter_config.json"; is_file(file)) {
        throw Error(fmt::format("{} describes an adapter, which is not supported: merge it into its model first",
                                file.string()));
    }
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
    if (is_file(place / "decoder.yml") || ends_with(place, ".npz") || !trained_by_marian(path).empty()) {
        return ModelFormat::Marian;
    }
    if (is_file(place / "params.best") && is_file(place / "config")) {
        return ModelFormat::Sockeye;
    }
    if (ends_with(place, ".pt") || is_file(place / "checkpoint_best.pt") || is_file(place / "model.pt") ||
        is_file(place / "checkpoint_last.pt")) {
        return ModelFormat::Fairseq;
    }
    if (!gguf_file_of(path).empty()) {
        return ModelFormat::Gguf;
    }
    return ModelFormat::None;
}

namespace {

// A .pt, .npz or .gguf file of a folder without a name that says which one is meant.
std::string some_checkpoint(const std::string& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored) || fs::exists(fs::path(folder) / "config.json", ignored)) {
        return "";
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".pt") || name.ends_with(".gguf") ||
            (name.ends_with(".npz") && !name.ends_with(".optimizer.npz"))) {
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
        case ModelFormat::Gguf: return open_gguf(gguf_file_of(path));
        case ModelFormat::Headscope:
        case ModelFormat::None: break;
    }
    if (format == ModelFormat::None) {
        reject_others(path);
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

#include "model/model_directory.h"

#include <fcntl.h>
#include <stdio.h>  // renameat2

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "model/frame_of_config.h"
#include "model/tokenizer_files.h"
#include "model/training_card.h"
#include "support/check.h"
#include "text/picture_pieces.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kConfigFile = "config.json";
constexpr const char* kWeightsFile = "model.safetensors";

json read_json(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string reason = fs::is_directory(file) ? "it is a folder" : stream ? "" : std::strerror(errno);
    if (!reason.empty()) {
        throw Error(fmt::format(
            "cannot open {}: {}; a model directory holds {}, {} and {} (or {} and {}). Nor is there a model of another "
            "program, which has a model.bin, decoder.yml, .npz, params.best, .pt or .gguf: docs/importing.md lists "
            "those that open",
            file.string(), reason, kConfigFile, kWeightsFile, kTokenizerFiles[0], kTokenizerFiles[2],
            kTokenizerFiles[3]));
    }
    return parse_json(stream, file.string());
}

// The training run that has not yet written the model directory `folder` (the run's folder or its model/); "" if there
// is none.
fs::path unfinished_run(const fs::path& folder) {
    const fs::path path = folder.has_filename() ? folder : folder.parent_path();
    const fs::path above = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (const fs::path& run : {path, path.filename() == "model" ? above : path}) {
        if (folder_kind(run) == FolderKind::Training) {
            return run;
        }
    }
    return {};
}

void check_special(const fs::path& file, const char* key, std::int32_t in_tokenizer, std::int32_t in_config) {
    if (in_tokenizer >= 0 && in_config >= 0 && in_tokenizer != in_config) {  // -1: no such piece
        throw Error(fmt::format("{} has {} {}, but config.json beside it says {}: they belong to different models",
                                file.string(), key, in_tokenizer, in_config));
    }
}

// Whether the author's options let the decoder start from any piece.
bool starts_anywhere(const ModelDirectory& model) {
    return model.decoding != nullptr && model.decoding->is_object() && model.decoding->contains("allow_start") &&
           model.decoding->at("allow_start") == true;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const TokenizerPaths& paths, const char* size_key, std::int64_t size,
                                                const ModelDirectory& model, bool is_target) {
    const ModelConfig& config = model.config;
    const fs::path& file = paths.vocabulary.empty() ? paths.segmenter : paths.vocabulary;
    const std::shared_ptr<const Tokenizer> tokenizer = paths.open();
    if (tokenizer->size() != size) {
        throw Error(
            fmt::format("{} has {} pieces, but \"{}\" in config.json beside it is {}: they belong to different "
                        "models",
                        file.string(), tokenizer->size(), size_key, size));
    }
    if (is_target || config.frame.source_end == std::vector<std::int32_t>{config.frame.eos_id}) {
        check_special(file, "eos_id", tokenizer->eos_id(), config.frame.eos_id);
    }
    if (is_target) {
        check_special(file, "pad_id", tokenizer->pad_id(), config.frame.pad_id);
        check_special(file, "unk_id", tokenizer->unk_id(), config.frame.unk_id);
        // A decoder may start from the pad (Marian), the end (fairseq) or a language (mBART), whatever bos the
        // tokenizer has.
        if (tokenizer->has_own_ids() && config.frame.bos_id != config.frame.pad_id &&
            config.frame.bos_id != config.frame.eos_id && !starts_anywhere(model)) {
            check_special(file, "bos_id", tokenizer->bos_id(), config.frame.bos_id);
        }
    }
    return tokenizer;
}

// Both read pictures, cut in the same way, or neither does.
void check_picture_reader(const fs::path& file, const Tokenizer& tokenizer, const ModelConfig& config) {
    const PicturePieces* pictures = tokenizer.pictures();
    const std::optional<PatchGrid> grid = patches_of(config);
    if ((pictures != nullptr) != grid.has_value()) {
        throw Error(
            fmt::format("{} reads {}, but \"input.kind\" in config.json beside it is \"{}\": they belong to "
                        "different models",
                        file.string(), pictures != nullptr ? "pictures" : "text", grid ? "patches" : "text"));
    }
    if (grid && grid->shape != pictures->shape()) {
        throw Error(
            fmt::format("{} cuts pictures in another way than \"input\" in config.json beside it: they belong "
                        "to different models",
                        file.string()));
    }
}

void put_in_place(const fs::path& fresh, const fs::path& path, const fs::path& old) {
    if (!fs::exists(path)) {
        fs::rename(fresh, path);
        return;
    }
    if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
        return;  // `fresh` now names the old folder, which Scaffold removes
    }
    if (errno != EINVAL && errno != ENOSYS) {
        throw Error(fmt::format("cannot replace {1} by {0}: {2}", fresh.string(), path.string(), std::strerror(errno)));
    }
    // This file system cannot exchange two names in one step.
    fs::remove_all(old);
    fs::rename(path, old);
    fs::rename(fresh, path);
    fs::remove_all(old);
}

// Removes an unfinished directory when the scope is left for any reason.
struct Scaffold {
    fs::path path;
    ~Scaffold() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

// Copies a file or a folder with its contents and modes. std::filesystem::copy does not report why it failed.
void copy_whole(const fs::path& from, const fs::path& to) {
    if (fs::is_directory(from)) {
        fs::create_directory(to);
        for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
            copy_whole(entry.path(), to / entry.path().filename());
        }
    } else {
        atomic_copy_file(from.string(), to.string());
    }
    fs::permissions(to, fs::status(from).permissions());
}

// Keeps files that users added to the model directory, such as a model card.
void keep_other_files(const fs::path& from, const fs::path& to) {
    if (!fs::exists(from)) {
        return;
    }
    if (!fs::is_directory(from) || (!fs::is_empty(from) && !fs::exists(from / kConfigFile))) {
        throw Error(fmt::format("{} exists and is not a model directory (it has no {}): choose another name",
                                from.string(), kConfigFile));
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
        const std::string name = entry.path().filename().string();
        const bool is_ours = name == kConfigFile || name == kWeightsFile || name == kTrainingCard ||
                             std::find(kTokenizerFiles.begin(), kTokenizerFiles.end(), name) != kTokenizerFiles.end();
        if (!is_ours) {
            copy_whole(entry.path(), to / name);
        }
    }
}

// Files and folder keep the modes of those they replace.
void keep_modes(const fs::path& from, const fs::path& to) {
    if (!fs::exists(from)) {
        return;
    }
    fs::permissions(to, fs::status(from).permissions());
    for (const fs::directory_entry& entry : fs::directory_iterator(to)) {
        const fs::path before = from / entry.path().filename();
        if (fs::exists(before)) {
            fs::permissions(entry.path(), fs::status(before).permissions());
        }
    }
}

}  // namespace

FolderKind folder_kind(const std::string& path) {
    std::error_code ignored;
    if (fs::exists(fs::path(path) / kConfigFile, ignored)) {
        return FolderKind::Model;
    }
    return fs::is_directory(fs::path(path) / "checkpoints", ignored) ? FolderKind::Training : FolderKind::Neither;
}

std::string model_folder(const std::string& path) {
    const std::string trained = (fs::path(path) / "model").string();
    return folder_kind(path) != FolderKind::Model && folder_kind(trained) == FolderKind::Model ? trained : path;
}

void require_architecture(const ModelDirectory& model, Architecture wanted) {
    if (model.config.architecture != wanted) {
        const FamilyTraits& family = traits(model.config.architecture);
        throw Error(fmt::format("{} is a {}: use headscope {}", model.path, family.name, family.command));
    }
}

void require_text_input(const ModelDirectory& model, const char* what) {
    if (model.config.input.patches()) {
        throw Error(
            fmt::format("{} reads pictures, and {} needs a model that reads text: docs/pictures.md lists the "
                        "commands for pictures",
                        model.path, what));
    }
}

void read_decoding(const std::string& directory, ModelDirectory& model) {
    const fs::path file = fs::path(directory) / kDecodingFile;
    std::error_code ignored;
    if (fs::symlink_status(file, ignored).type() == fs::file_type::not_found) {
        return;
    }
    std::ifstream stream(file, std::ios::binary);
    if (!fs::is_regular_file(file, ignored) || !stream) {
        throw Error(fmt::format("cannot read '{}', the model's decoding options", file.string()));
    }
    model.decoding = std::make_shared<const json>(parse_json(stream, file.string()));
    model.decoding_origin = file.string();
}

ModelDirectory open_model_directory(const std::string& path) {
    ModelDirectory model;
    model.path = path;
    const fs::path folder(path);
    const fs::path config_file = folder / kConfigFile;
    const fs::path run = folder_kind(path) == FolderKind::Model ? fs::path() : unfinished_run(folder);
    if (!run.empty()) {
        throw Error(
            fmt::format("{} does not exist: {} is a training that has not written its model yet; wait until it "
                        "ends, or stop it and run headscope train --output {} --finish",
                        config_file.string(), run.string(), run.string()));
    }
    const json config = read_json(config_file);
    if (config.is_object() && !config.contains("format_version")) {
        throw Error(fmt::format("{}: \"format_version\" is missing; it must be {}", config_file.string(),
                                ModelConfig::kFormatVersion));
    }
    model.config = parse_model_config(config, config_file.string());
    check_model_config(model.config, config_file.string());
    model.weights = own_weights((folder / kWeightsFile).string());
    read_decoding(path, model);
    const TokenizersPaths tokenizers = tokenizers_in(folder);
    const auto& [source, target] = tokenizers;
    const bool shared = tokenizers.shared();
    model.source_tokenizer = open_tokenizer(source, "source_vocabulary", model.config.source_vocabulary, model, shared);
    check_picture_reader(source.segmenter, *model.source_tokenizer, model.config);
    if (shared && model.config.target_vocabulary != model.config.source_vocabulary) {
        throw Error(fmt::format("{}: target_vocabulary is {}, but {} is shared by both languages and has {} pieces",
                                config_file.string(), model.config.target_vocabulary,
                                source.segmenter.filename().string(), model.source_tokenizer->size()));
    }
    model.target_tokenizer =
        shared ? model.source_tokenizer
               : open_tokenizer(target, "target_vocabulary", model.config.target_vocabulary, model, true);
    return model;
}

std::vector<std::string> folders_of_model(const std::string& path) {
    const fs::path target = fs::path(path).lexically_normal();
    const std::string folder = AtomicFile::target_of((target.has_filename() ? target : target.parent_path()).string());
    return {folder, folder + ".tmp", folder + ".old"};
}

void write_model_directory(Backend& backend, const std::string& path, const ModelConfig& config,
                           const Parameters& parameters, DType dtype, const Tokenizer& source_tokenizer,
                           const Tokenizer& target_tokenizer, const json* decoding) {
    check_model_config(config, path);
    const std::vector<std::string> folders = folders_of_model(path);
    const fs::path folder = folders[0];
    const fs::path fresh = folders[1];
    try {
        fs::remove_all(fresh);
        fs::create_directories(fresh);
        const Scaffold scaffold{fresh};
        keep_other_files(folder, fresh);
        write_tokenizers(fresh, source_tokenizer, target_tokenizer);
        save_parameters(backend, (fresh / kWeightsFile).string(), parameters, dtype, "");
        atomic_write_file((fresh / kConfigFile).string(), to_json(config).dump(2) + "\n");
        if (decoding != nullptr) {
            atomic_write_file((fresh / kDecodingFile).string(), decoding->dump(2) + "\n");
        }
        keep_modes(folder, fresh);
        put_in_place(fresh, folder, folders[2]);
    } catch (const fs::filesystem_error& problem) {
        throw Error(fmt::format("cannot write the model directory {}: {}", path, problem.what()));
    }
}

}  // namespace headscope

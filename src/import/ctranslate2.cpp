// CTranslate2's model.bin, versions 2 to 6, of encoder-decoders, GPT-2 and BERT.
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/ctranslate2.h"
#include "import/ctranslate2_frame.h"
#include "import/formats.h"
#include "io/strict_json.h"

namespace headscope {

namespace {

using nlohmann::json;

// From version 6 on the settings are in config.json, before among the objects of model.bin.
class Settings {
public:
    Settings(const std::string& folder, const TensorArchive& archive)
        : file_(file_in(folder, "config.json")),
          json_(file_.empty() ? archive.objects() : read_json_file(file_)),
          name_(file_.empty() ? "model.bin" : "config.json") {}

    ForeignConfig reader(Problems& problems) const { return {json_, name_, problems}; }

private:
    std::string file_;
    json json_;
    std::string name_;
};

constexpr auto kCtranslate2Keys = std::to_array<KeyRule>({
    {"binary_version"},
    {"spec_name"},
    {"spec_revision"},
    {"encoder/*"},  // check_scalars() has looked at them
    {"decoder/*"},
    {"alignment_*"},
    {"multi_query_attention", "false"},
});

// The same of language models. The converter writes true for GPT-2, whose keys and values have as many heads as
// queries.
constexpr auto kLanguageModelKeys = std::to_array<KeyRule>({
    {"binary_version"},
    {"spec_name"},
    {"spec_revision"},
    {"encoder/*"},
    {"decoder/*"},
    {"alignment_*"},
    {"multi_query_attention"},
    {"pooler_activation"},  // of a classifier
    {"*_token"},
});

}  // namespace

ModelDirectory open_ctranslate2(const std::string& folder) {
    Problems problems(folder);
    auto archive =
        std::make_shared<const TensorArchive>(open_ctranslate2_archive(require_file(folder, "model.bin", "")));
    const Settings read(folder, *archive);
    const ForeignConfig settings = read.reader(problems);
    ModelDirectory model{.path = folder};
    model.config = ctranslate2_network(*archive, settings, problems);
    if (model.config.architecture != Architecture::EncoderDecoder) {
        read_ctranslate2_language_model(settings, problems, model);
        remark_unknown_keys((std::filesystem::path(folder) / settings.file()).string(),
                            settings.unknown_keys(kLanguageModelKeys), model.remarks);
        problems.finish();
        map_ctranslate2_weights(std::move(archive), model);
        check_imported(model, folder, {{"eos_id", "eos_token"}});
        return model;
    }
    model.decoding = std::make_shared<const json>(json{{"beam", 2},
                                                       {"length_penalty", 1.0},
                                                       {"length_penalty_form", "power"},
                                                       {"max_length", 256},
                                                       {"max_extra", 256}});
    model.decoding_origin = folder;
    const bool zero = archive->objects().value("decoder/start_from_zero_embedding", 0) != 0;
    read_ctranslate2_frame(settings, ctranslate2_pieces(settings, zero), model);
    remark_unknown_keys((std::filesystem::path(folder) / settings.file()).string(),
                        settings.unknown_keys(kCtranslate2Keys), model.remarks);
    problems.finish();
    map_ctranslate2_weights(std::move(archive), model);
    check_imported(model, folder, {{"bos_id", "decoder_start_token"}, {"eos_id", "eos_token"}});
    return model;
}

}  // namespace headscope

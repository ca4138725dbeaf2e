#include "import/marian_folder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/yaml.h"
#include "io/whole_file.h"
#include "support/check.h"

namespace headscope {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kDecoderEnding = ".decoder.yml";

// Keys of decoder.yml that change no translation: how work is divided, how much is reported.
constexpr auto kDecoderKeys = std::to_array<KeyRule>({
    {"relative-paths"},
    {"models"},
    {"vocabs"},
    {"version"},
    {"mini-batch*"},
    {"maxi-batch*"},
    {"workspace"},
    {"cpu-threads"},
    {"devices"},
    {"num-devices"},
    {"seed"},
    {"quiet*"},
    {"log*"},
    {"input"},
    {"output"},
    {"skip-cost"},
    {"alignment"},
    {"optimize"},
    {"type"},
    {"ignore-model-config"},
    {"interpolate-env-vars"},
    {"data-threads"},
    {"max-length"},  // skips or cuts sources that are longer, as here the model's own limit does
    {"max-length-crop"},
    {"n-best", "false", OtherValue::Reported},
    {"weights", "[1]", OtherValue::Reported},
    {"output-sampling", "[]", OtherValue::Reported},
    {"word-scores", "false", OtherValue::Reported},
    {"no-spm-decode", "false", OtherValue::Reported},
    {"no-spm-encode", "false", OtherValue::Reported},
});

// model.npz, model.npz.best-bleu.npz and model.iter500.npz, in this order; of several best ones those whose measure
// looks at translations come first.
std::tuple<int, int, std::int64_t, std::string> order_of(const std::string& name) {
    if (const std::size_t best = name.find(".best-"); best != std::string::npos) {
        const std::string measure = name.substr(best + 6);
        const bool of_translations = std::ranges::any_of(std::array{"translation", "bleu", "chrf", "comet"},
                                                         [&](const char* known) { return measure.starts_with(known); });
        return {1, of_translations ? 0 : 1, 0, name};
    }
    if (const std::size_t update = name.find(".iter"); update != std::string::npos) {
        const std::string digits =
            name.substr(update + 5, name.find_first_not_of("0123456789", update + 5) - update - 5);
        return {2, 0, -std::strtoll(digits.c_str(), nullptr, 10), name};
    }
    return {0, 0, 0, name};
}

bool is_last(const std::string& file) {
    return std::get<0>(order_of(fs::path(file).filename().string())) == 0;
}

// The model of a training's folder. Error if there are several that no name tells apart.
std::string chosen_of(const std::vector<std::string>& trained, std::vector<std::string>& remarks) {
    if (trained.size() > 1 && is_last(trained[1])) {
        throw Error(fmt::format("{} holds the models of several trainings: name one, such as {}",
                                fs::path(trained[0]).parent_path().string(), trained[0]));
    }
    if (trained.size() > 1) {
        std::vector<std::string> others;
        for (const std::string& file : trained) {
            others.push_back(fs::path(file).filename().string());
        }
        others.erase(others.begin());
        remarks.push_back(
            fmt::format("of several models that a training left, this is {}; name another file to take it: {}",
                        trained[0], fmt::join(others, ", ")));
    }
    return trained[0];
}

// The names of files that a key lists, beside decoder.yml. Paths of the machine that trained the model lead nowhere: a
// file of the same name in the folder is taken.
std::vector<std::string> files_of(const json& options, const char* key, const std::string& decoder) {
    const fs::path folder = fs::path(decoder).parent_path();
    const json names = options.value(key, json::array());
    std::vector<std::string> found;
    for (const json& name : names.is_array() ? names : json::array({names})) {
        if (!name.is_string()) {
            throw Error(fmt::format("{}: \"{}\" is {}: expected a list of file names", decoder, key, names.dump()));
        }
        const fs::path given = name.get<std::string>();
        const fs::path beside = folder / given.filename();
        found.push_back((fs::exists(folder / given) || !fs::exists(beside) ? folder / given : beside).string());
    }
    return found;
}

// The one file of a training that describes a model, whichever it was written for; "" if there are several.
std::string only_decoder(const fs::path& folder) {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
        if (entry.path().filename().string().ends_with(kDecoderEnding)) {
            found.push_back(entry.path().string());
        }
    }
    return found.size() == 1 ? found.front() : "";
}

// The file that describes `path`, and the weights if it is not the one to name them.
std::pair<std::string, std::string> decoder_of(const std::string& path, std::vector<std::string>& remarks) {
    const bool is_folder = fs::is_directory(path);
    const fs::path folder = is_folder ? fs::path(path) : fs::path(path).parent_path();
    const std::string shared = (folder / "decoder.yml").string();
    std::string weights = is_folder ? "" : path;
    if (is_folder && !fs::exists(shared)) {
        const std::vector<std::string> trained = trained_by_marian(path);
        weights = trained.empty() ? "" : chosen_of(trained, remarks);
    }
    const std::string own = weights + kDecoderEnding;
    const std::string only = only_decoder(folder);
    std::string decoder = !weights.empty() && fs::exists(own)  ? own
                          : fs::exists(shared) || only.empty() ? shared
                                                               : only;
    if (!fs::exists(decoder)) {
        throw Error(fmt::format("{} is missing: it names the model's vocabularies", decoder));
    }
    return {decoder, weights};
}

}  // namespace

std::vector<std::string> trained_by_marian(const std::string& folder) {
    std::vector<std::string> names;
    const bool one_for_all = !only_decoder(folder).empty();
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        const bool is_model = name.ends_with(".npz") && !name.ends_with(".optimizer.npz");
        if (is_model && (one_for_all || fs::exists(entry.path().string() + kDecoderEnding, ignored))) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names, {}, order_of);
    for (std::string& name : names) {
        name = (fs::path(folder) / name).string();
    }
    return names;
}

MarianFiles find_marian_files(const std::string& path) {
    MarianFiles files;
    std::tie(files.decoder, files.weights) = decoder_of(path, files.remarks);
    files.options = parse_yaml(read_whole_file(files.decoder, files.decoder), files.decoder);
    if (!files.options.is_object()) {
        throw Error(fmt::format("{}: expected keys and values, found {}", files.decoder, files.options.type_name()));
    }
    const std::vector<std::string> models = files_of(files.options, "models", files.decoder);
    files.vocabularies = files_of(files.options, "vocabs", files.decoder);
    if (files.vocabularies.size() != 2) {
        throw Error(fmt::format("{}: \"vocabs\" must name a source and a target vocabulary, found {}", files.decoder,
                                files.vocabularies.size()));
    }
    if (files.weights.empty() && models.size() != 1) {
        throw Error(
            fmt::format("{}: \"models\" names {} files: give each .npz with --model", files.decoder, models.size()));
    }
    files.weights = files.weights.empty() ? models.front() : files.weights;
    if (files.weights.ends_with(".bin")) {
        throw Error(
            fmt::format("{} is a binary model of Marian, which is not supported: give the .npz from which "
                        "marian-conv made it",
                        files.weights));
    }
    return files;
}

json marian_decoding(const MarianFiles& files, Problems& problems, std::vector<std::string>& remarks) {
    const ForeignConfig config(files.options, fs::path(files.decoder).filename().string(), problems);
    if (config.number("word-penalty", 0.0) != 0.0) {
        config.problem("word-penalty", "is not 0, which is not supported");
    }
    // A number, cut to what our options can hold, which is said.
    const auto within = [&](const char* key, const json& value, const json& least, const json& most) {
        const json held = std::clamp(value, least, most);
        if (held != value) {
            remarks.push_back(fmt::format("{}: \"{}\" is {}, of which {} is used: it must be from {} to {}",
                                          files.decoder, key, value.dump(), held.dump(), least.dump(), most.dump()));
        }
        return held;
    };
    json choices = {{"beam", within("beam-size", config.integer("beam-size", 12, 1), 1, 30)},
                    {"length_penalty", within("normalize", config.number("normalize", 0.0), 0.0, 10.0)},
                    {"length_penalty_form", "power"},
                    {"max_factor", config.number("max-length-factor", 3.0)},
                    {"max_extra", 100'000},
                    {"allow_unknown", config.boolean("allow-unk", false)}};
    remark_unknown_keys(files.decoder, config.unknown_keys(kDecoderKeys), remarks);
    return choices;
}

}  // namespace headscope

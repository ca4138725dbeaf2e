#include "train/data_config.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"
#include "support/check.h"
#include "text/target_mark.h"

namespace headscope {
namespace {

constexpr double kLeastWeight = 0.001;  // a corpus that is never shown should be removed instead
constexpr double kMostWeight = 1000.0;

bool is_of_language(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_';
}

std::vector<std::string> resolve(std::vector<std::string> paths, const std::string& base) {
    for (std::string& path : paths) {
        path = (std::filesystem::path(base) / path).lexically_normal().string();
    }
    return paths;
}

CorpusFiles parse_corpus(ConfigReader& reader, const std::string& file, const std::string& key, const std::string& base,
                         Task task) {
    CorpusFiles corpus;
    if (!traits(task).reads_pairs) {
        corpus.text = resolve(reader.strings("text"), base);
        if (corpus.text.empty()) {
            throw Error(fmt::format("{}: \"{}\" must have \"text\" for the \"task\" \"{}\"", file, key, name_of(task)));
        }
        return corpus;
    }
    if (reader.has("text")) {
        reader.fail("text", "is for language models: set \"task\" to \"causal\", \"masked\" or \"span\"");
    }
    corpus.source = resolve(reader.strings("source"), base);
    corpus.target = resolve(reader.strings("target"), base);
    corpus.tsv = resolve(reader.strings("tsv"), base);
    if (corpus.source.size() != corpus.target.size()) {
        reader.fail("target", fmt::format("must name as many files as \"source\" ({}), found {}", corpus.source.size(),
                                          corpus.target.size()));
    }
    if (corpus.tsv.empty() == corpus.source.empty()) {
        throw Error(fmt::format("{}: \"{}\" must have either \"tsv\" or \"source\" and \"target\"", file, key));
    }
    corpus.target_language = reader.text("target_language");
    if (const auto wrong = std::ranges::find_if_not(corpus.target_language, is_of_language);
        wrong != corpus.target_language.end()) {
        reader.fail("target_language",
                    fmt::format("must consist of letters, digits, - and _, such as \"de\", got \"{}\"",
                                corpus.target_language));
    }
    return corpus;
}

// One object, or a list of them.
std::vector<CorpusFiles> parse_corpora(ConfigReader& data, Part part, const std::string& file, const std::string& base,
                                       Task task) {
    const bool train = part == Part::Train;
    const std::string name = train ? "train" : "valid";
    const nlohmann::json& given = data.child(name);
    if (given.is_array() && given.empty()) {
        data.fail(name, "must name at least one corpus");
    }
    std::vector<CorpusFiles> corpora;
    for (std::size_t i = 0; i < (given.is_array() ? given.size() : 1); ++i) {
        const std::string key = given.is_array() ? fmt::format("data.{}[{}]", name, i) : "data." + name;
        ConfigReader reader(given.is_array() ? given[i] : given, file, key);
        CorpusFiles corpus = parse_corpus(reader, file, key, base, task);
        if (train) {
            corpus.weight = reader.number("weight", corpus.weight, kLeastWeight, kMostWeight);
        }
        if (train && traits(task).reads_pairs) {
            corpus.shuffled = reader.choice("order", 0, {"file", "shuffled"}) == 1;
        }
        reader.finish();
        corpora.push_back(std::move(corpus));
    }
    return corpora;
}

// Corpora have languages of their own, or none has one.
void check_target_languages(const DataConfig& config, const std::string& file) {
    const std::vector<std::string> known = config.target_languages();
    if (!known.empty() && !config.languages.target.empty()) {
        throw Error(fmt::format(
            "{}: \"data.target_language\" is of all pairs, and corpora have their own: leave one of both out", file));
    }
    for (const auto& [part, corpora] : {std::pair{Part::Train, &config.train}, {Part::Valid, &config.valid}}) {
        for (std::size_t i = 0; i < corpora->size(); ++i) {
            const std::string& language = (*corpora)[i].target_language;
            const std::string key = corpus_key(part, *corpora, i);
            if (language.empty() && !known.empty()) {
                throw Error(fmt::format("{}: \"{}\" must have a \"target_language\", like the other corpora: {}", file,
                                        key, fmt::join(known, ", ")));
            }
            if (!language.empty() && std::ranges::find(known, language) == known.end()) {
                throw Error(fmt::format(
                    "{}: \"{}.target_language\" must be one of \"data.train\" ({}), got \"{}\"", file, key,
                    known.empty() ? "which has none" : fmt::format("{}", fmt::join(known, ", ")), language));
            }
        }
    }
}

void parse_pairs(ConfigReader& reader, const std::string& file, DataConfig& config) {
    if (reader.has("join")) {
        ConfigReader join(reader.child("join"), file, "data.join");
        config.joined_share = join.number("share", 0.0, 0.0, 1.0);
        config.joined_most = join.integer("most", config.joined_most, 2, 100);
        join.finish();
    }
    config.bpe_dropout = reader.number("bpe_dropout", 0.0, 0.0, 0.99);
    config.word_dropout = reader.number("word_dropout", 0.0, 0.0, 0.99);
    if (config.bpe_dropout > 0.0 && config.word_dropout > 0.0) {
        reader.fail("word_dropout", "is of words with endings, \"bpe_dropout\" of BPE: leave one out");
    }
    config.languages = {reader.text("source_language"), reader.text("target_language")};
}

}  // namespace

DataConfig parse_data_config(const nlohmann::json& json, const std::string& file, const std::string& base, Task task) {
    ConfigReader reader(json, file, "data");
    DataConfig config;
    config.train = parse_corpora(reader, Part::Train, file, base, task);
    if (reader.has("valid")) {
        config.valid = parse_corpora(reader, Part::Valid, file, base, task);
    }
    if (traits(task).reads_pairs) {
        parse_pairs(reader, file, config);
        check_target_languages(config, file);
    } else if (traits(task).reads_replies) {
        std::vector<std::string> names = chat_template_names();
        names.insert(names.begin(), kNoTemplate);
        config.chat = names[static_cast<std::size_t>(reader.choice("template", 0, names))];
        if (traits(task).has_reference) {
            static_cast<void>(reader.child("reference"));
            config.reference = resolve({reader.text("reference")}, base).front();
        }
        if (traits(task).rolls_out) {
            static_cast<void>(reader.child("reward"));
            config.reward = resolve({reader.text("reward")}, base).front();
        }
    } else if (!traits(task).reads_labels) {
        config.documents =
            static_cast<DocumentForm>(reader.choice("documents", 0, {kDocumentForms.begin(), kDocumentForms.end()}));
    }
    if (traits(task).masks_pieces) {
        config.whole_words = reader.boolean("whole_words", config.whole_words);
    }
    reader.finish();
    return config;
}

std::vector<std::string> CorpusFiles::all() const {
    std::vector<std::string> files = text;
    for (const auto* more : {&tsv, &source, &target}) {
        files.insert(files.end(), more->begin(), more->end());
    }
    return files;
}

std::string CorpusFiles::given(const std::string& line) const {
    return target_language.empty() ? line : target_mark(target_language) + " " + line;
}

std::vector<CorpusFiles> DataConfig::corpora() const {
    std::vector<CorpusFiles> all = train;
    all.insert(all.end(), valid.begin(), valid.end());
    return all;
}

std::vector<std::string> DataConfig::target_languages() const {
    std::vector<std::string> names;
    for (const CorpusFiles& corpus : train) {
        if (!corpus.target_language.empty() && std::ranges::find(names, corpus.target_language) == names.end()) {
            names.push_back(corpus.target_language);
        }
    }
    return names;
}

Languages DataConfig::languages_of(const CorpusFiles& corpus) const {
    Languages found = languages;
    if (!corpus.target_language.empty()) {
        found.target = corpus.target_language;
    }
    return found;
}

std::string corpus_key(Part part, const std::vector<CorpusFiles>& corpora, std::size_t i) {
    const std::string key = part == Part::Train ? "data.train" : "data.valid";
    return corpora.size() == 1 ? key : fmt::format("{}[{}]", key, i);
}

std::string corpus_title(Part part, const std::vector<CorpusFiles>& corpora, std::size_t i) {
    const char* alone = part == Part::Train ? "training data" : "validation data";
    return corpora.size() == 1 ? alone : corpus_key(part, corpora, i);
}

nlohmann::json DataConfig::identity() const {
    nlohmann::json json = nlohmann::json::object();
    if (!target_languages().empty()) {
        for (const CorpusFiles& corpus : train) {
            json["data.target_languages"].push_back(corpus.target_language);
        }
    }
    if (train.size() > 1 || train.front().weight != 1.0) {
        for (const CorpusFiles& corpus : train) {
            json["data.weights"].push_back(corpus.weight);
        }
    }
    if (joined_share > 0.0) {
        json["data.join"] = {joined_share, joined_most};
        for (const CorpusFiles& corpus : train) {
            json["data.order"].push_back(corpus.shuffled ? "shuffled" : "file");
        }
    }
    if (bpe_dropout > 0.0) {
        json["data.bpe_dropout"] = bpe_dropout;
    }
    if (word_dropout > 0.0) {
        json["data.word_dropout"] = word_dropout;
    }
    if (languages != Languages{}) {
        json["data.languages"] = {languages.source, languages.target};
    }
    if (documents == DocumentForm::Paragraph) {
        json["data.documents"] = name_of(documents);
    }
    if (chat != kNoTemplate) {
        json["data.template"] = chat;
    }
    if (whole_words) {
        json["data.whole_words"] = true;
    }
    return json;
}

}  // namespace headscope

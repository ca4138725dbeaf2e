#include "train/data_config.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/config_reader.h"
#include "support/check.h"

namespace headscope {
namespace {

constexpr double kLeastWeight = 0.001;  // a corpus that is never shown should be removed instead
constexpr double kMostWeight = 1000.0;

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
    return corpus;
}

CorpusFiles parse_training_corpus(const nlohmann::json& json, const std::string& file, const std::string& key,
                                  const std::string& base, Task task) {
    ConfigReader reader(json, file, key);
    CorpusFiles corpus = parse_corpus(reader, file, key, base, task);
    corpus.weight = reader.number("weight", corpus.weight, kLeastWeight, kMostWeight);
    if (traits(task).reads_pairs) {
        corpus.shuffled = reader.choice("order", 0, {"file", "shuffled"}) == 1;
    }
    reader.finish();
    return corpus;
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
    const nlohmann::json& train = reader.child("train");
    if (train.is_array()) {
        for (std::size_t i = 0; i < train.size(); ++i) {
            config.train.push_back(parse_training_corpus(train[i], file, fmt::format("data.train[{}]", i), base, task));
        }
        if (train.empty()) {
            reader.fail("train", "must name at least one corpus");
        }
    } else {
        config.train.push_back(parse_training_corpus(train, file, "data.train", base, task));
    }
    if (reader.has("valid")) {
        ConfigReader valid(reader.child("valid"), file, "data.valid");
        config.valid = parse_corpus(valid, file, "data.valid", base, task);
        valid.finish();
    }
    if (traits(task).reads_pairs) {
        parse_pairs(reader, file, config);
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

nlohmann::json DataConfig::identity() const {
    nlohmann::json json = nlohmann::json::object();
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

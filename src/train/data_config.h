// The section "data" of a configuration: which files, how often, and how they become examples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/document_reader.h"
#include "data/hold_out.h"
#include "data/response_encoder.h"
#include "data/task.h"
#include "model/frame_of_config.h"

namespace headscope {

// For translation: either `source` and `target`, files with one sentence per line, where line i of one translates line
// i of the other, or `tsv`, files of "source TAB target" lines. For language models: `text`, files of documents.
struct CorpusFiles {
    std::vector<std::string> source, target, tsv, text;
    double weight = 1.0;    // "weight": how often an epoch shows each pair or document
    bool shuffled = false;  // "order": "shuffled", if neighbouring lines are unrelated
    // "target_language": of these pairs, for one model of several languages or tasks; "": all corpora are alike.
    std::string target_language = {};

    std::vector<std::string> all() const;
    bool empty() const { return all().empty(); }
    // A source as it is given to a model: ">>de<< Hello" in a corpus with a target language of its own.
    std::string given(const std::string& source) const;
};

struct DataConfig {
    std::vector<CorpusFiles> train;
    std::vector<CorpusFiles> valid;  // may be empty
    // "join": pairs are shown with their neighbours in one example, see ExampleOptions.
    double joined_share = 0.0;
    std::int64_t joined_most = 8;
    double bpe_dropout = 0.0;   // of both sides (BpeDropout)
    double word_dropout = 0.0;  // of the source (WordDropout)
    // Of language models.
    DocumentForm documents = DocumentForm::Line;
    bool whole_words = false;        // see TextOptions
    std::string chat = kNoTemplate;  // "template": of prompts and responses, see ResponseEncoder
    std::string reference = {};      // model directory whose log-probabilities the task compares with
    std::string reward = {};         // model directory that scores the responses of rollouts
    Languages languages = {};        // "source_language", "target_language": of all pairs, for models that need them

    // Those of the training corpora, each once, in their order; empty: they are alike.
    std::vector<std::string> target_languages() const;
    // The languages of the pairs of a corpus.
    Languages languages_of(const CorpusFiles& corpus) const;
    std::vector<CorpusFiles> corpora() const;  // all: for training, then for validation
    // The part of TrainConfig::identity() that decides which examples the files give.
    nlohmann::json identity() const;
};

// The key of the i-th corpus of a part, or for people: "data.train[1]", or "data.train" and "training data" if it is
// the only one.
std::string corpus_key(Part part, const std::vector<CorpusFiles>& corpora, std::size_t i);
std::string corpus_title(Part part, const std::vector<CorpusFiles>& corpora, std::size_t i);

// Paths are relative to `base`. Errors name the file and the key, also for unknown keys.
DataConfig parse_data_config(const nlohmann::json& json, const std::string& file, const std::string& base, Task task);

}  // namespace headscope

#include "train/run_tokenizers.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/labelled_reader.h"
#include "io/atomic_file.h"
#include "model/frame_of_config.h"
#include "model/tokenizer_files.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/random.h"
#include "text/picture_pieces.h"
#include "text/target_mark.h"
#include "text/tokenizer_training.h"
#include "train/unlearnable_lines.h"

namespace headscope {
namespace {

// SentencePiece needs about a gigabyte for these; more sentences do not change the pieces.
constexpr std::size_t kMostSentences = 1'000'000;

// Keeps every learnable text with the same probability (Vitter, 1985, algorithm R).
class Sample {
public:
    explicit Sample(std::uint64_t seed) : random_(seed) {}

    void add(std::string text, const std::string& file, std::size_t line) {
        if (files_.empty() || files_.back() != file) {
            files_.push_back(file);
        }
        if (!left_out_.learnable(text, file, line)) {
            return;
        }
        ++seen_;
        if (texts_.size() < kMostSentences) {
            texts_.push_back(std::move(text));
        } else if (const std::uint64_t at = random_.below(seen_); at < kMostSentences) {
            texts_[at] = std::move(text);
        }
    }
    // Adds all of `other`.
    void append(Sample&& other) {
        texts_.insert(texts_.end(), std::make_move_iterator(other.texts_.begin()),
                      std::make_move_iterator(other.texts_.end()));
        left_out_.append(other.left_out_);
        std::copy_if(other.files_.begin(), other.files_.end(), std::back_inserter(files_),
                     [&](const auto& file) { return std::find(files_.begin(), files_.end(), file) == files_.end(); });
    }
    std::vector<std::string> take() { return std::move(texts_); }
    std::size_t size() const { return texts_.size(); }
    const UnlearnableLines& left_out() const { return left_out_; }
    std::string files() const { return fmt::format("{}", fmt::join(files_, ", ")); }

private:
    Random random_;
    std::uint64_t seen_ = 0;
    std::vector<std::string> texts_;
    UnlearnableLines left_out_;
    std::vector<std::string> files_;  // for messages
};

struct SampledText {
    Sample source, target;
};

SampledText sample_text(const TrainConfig& config) {
    const auto seed = static_cast<std::uint64_t>(config.training.seed);
    SampledText text{Sample(seed), Sample(seed)};
    std::int64_t empty = 0;
    for (const CorpusFiles& files : config.data.train) {
        for (const std::string& file : traits(config.task).reads_labels ? files.text : std::vector<std::string>()) {
            LabelledReader reader(file);
            for (LabelledText one; reader.next(one);) {
                text.source.add(std::move(one.text), reader.lines().name(), reader.lines().number());
                if (one.pair) {
                    text.source.add(*std::move(one.pair), reader.lines().name(), reader.lines().number());
                }
            }
        }
        for (const std::string& file : traits(config.task).reads_labels ? std::vector<std::string>() : files.text) {
            DocumentReader reader(file, config.data.documents);
            for (std::string part; reader.next(part);) {
                text.source.add(std::move(part), reader.lines().name(), reader.lines().number());
            }
        }
        for_each_reader(files, [&](PairReader& reader) {
            for (std::string of_source, of_target; reader.next(of_source, of_target);) {
                text.source.add(std::move(of_source), reader.name(), reader.line());
                text.target.add(std::move(of_target), reader.target_name(), reader.line());
            }
            empty += reader.dropped_empty();
        });
    }
    if (text.source.size() == 0 && text.source.left_out().count() == 0) {
        throw_no_examples(config, "data.train", config.data.train.front(), empty);
    }
    return text;
}

// `languages`: of the targets, whose tokens stand before sources.
void learn(const TrainConfig& config, const TokenizerOptions::Side& side, const std::vector<std::string>& languages,
           const std::string& path, Sample sample, bool warned, const Log& say) {
    const UnlearnableLines& left_out = sample.left_out();
    if (sample.size() == 0) {
        throw Error(fmt::format("{}: \"data.train\" ({}) holds no sentence that a vocabulary can be learned from: {}",
                                config.file, sample.files(), left_out.first()));
    }
    if (left_out.count() > 0 && !warned) {
        say(left_out.warning());
    }
    say(fmt::format("learning {} pieces from {} sentences: {}", side.vocabulary, sample.size(), path));
    TokenizerTraining training;
    training.sentences = sample.take();
    training.type = side.type;
    training.vocabulary_size = static_cast<std::int32_t>(side.vocabulary);
    training.minimum = side.minimum;
    training.endings = side.endings;
    training.seed = static_cast<std::uint64_t>(config.training.seed);
    training.control_pieces = config.control_pieces();
    for (const std::string& language : languages) {
        training.control_pieces.push_back(target_mark(language));
    }
    std::string model;
    try {
        model = train_tokenizer(training);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: no vocabulary for \"data.train\" ({}) with \"tokenizer.vocabulary\" {}: {}",
                                config.file, sample.files(), side.vocabulary, error.what()));
    }
    atomic_write_file(path, model);
}

void learn_tokenizers(const TrainConfig& config, const std::string& folder, bool warned, const Log& say) {
    const auto path = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
    const std::optional<PatchGrid> pictures =
        patches_of(config.model_config(config.tokenizer.source.vocabulary, config.tokenizer.target.vocabulary));
    if (pictures) {
        const bool alone = traits(config.task).reads_labels;  // there is no other side
        atomic_write_file(path(alone ? "sentencepiece.model" : "source.model"), picture_pieces_file(pictures->shape));
        if (!alone) {
            learn(config, config.tokenizer.target, {}, path("target.model"), sample_text(config).target, warned, say);
        }
        return;
    }
    SampledText text = sample_text(config);
    const std::vector<std::string> languages = config.data.target_languages();
    if (config.tokenizer.shared) {
        text.source.append(std::move(text.target));
        learn(config, config.tokenizer.source, languages, path("sentencepiece.model"), std::move(text.source), warned,
              say);
        return;
    }
    learn(config, config.tokenizer.source, languages, path("source.model"), std::move(text.source), warned, say);
    learn(config, config.tokenizer.target, {}, path("target.model"), std::move(text.target), warned, say);
}

}  // namespace

void require_files(const TrainConfig& config) {
    for (const CorpusFiles& files : config.data.corpora()) {
        for (const std::string& path : files.all()) {
            if (!std::filesystem::exists(path)) {
                throw Error(
                    fmt::format("'{}', named in {}, does not exist: paths in \"data\" are relative to --data or to "
                                "the configuration's folder",
                                path, config.file));
            }
        }
    }
}

void throw_no_examples(const TrainConfig& config, const std::string& key, const CorpusFiles& files,
                       std::int64_t dropped_empty) {
    if (!traits(config.task).reads_pairs) {
        throw Error(
            fmt::format("{}: the files of \"{}\" ({}) hold no text", config.file, key, fmt::join(files.text, ", ")));
    }
    throw Error(fmt::format("{}: the files of \"{}\" ({}) hold no sentence pair{}", config.file, key,
                            fmt::join(files.tsv.empty() ? files.source : files.tsv, ", "), empty_sides(dropped_empty)));
}

void for_each_reader(const CorpusFiles& files, const std::function<void(PairReader& reader)>& visit) {
    for (const std::string& path : files.tsv) {
        PairReader reader(path);
        visit(reader);
    }
    for (std::size_t i = 0; i < files.source.size(); ++i) {
        PairReader reader(files.source[i], files.target[i]);
        visit(reader);
    }
}

void obtain_tokenizers(TrainingData& data, const TrainConfig& config, const std::string& folder,
                       const TokenizerOrigin& origin, const Log& say) {
    if (!origin.reuse || !tokenizers_in(folder).exist()) {
        remove_tokenizers(folder);  // an ended attempt may have left others
        if (origin.given) {
            write_tokenizers(folder, *origin.given->first, *origin.given->second);
        } else {
            learn_tokenizers(config, folder, origin.warned, say);
        }
    }
    std::tie(data.source_tokenizer, data.target_tokenizer) = load_tokenizers(folder);
}

}  // namespace headscope

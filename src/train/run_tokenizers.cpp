#include "train/run_tokenizers.h"

#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/atomic_file.h"
#include "io/mapped_file.h"
#include "support/check.h"
#include "support/random.h"
#include "text/tokenizer_training.h"

namespace headscope {
namespace {

// As many as SentencePiece holds in a gigabyte or so; more sentences do not give other pieces.
constexpr std::size_t kMostSentences = 1'000'000;

// Every text is as likely to be kept as every other (Vitter, 1985, algorithm R).
class Sample {
public:
    explicit Sample(std::uint64_t seed) : random_(seed) {}

    void add(std::string text) {
        ++seen_;
        if (texts_.size() < kMostSentences) {
            texts_.push_back(std::move(text));
        } else if (const std::uint64_t at = random_.below(seen_); at < kMostSentences) {
            texts_[at] = std::move(text);
        }
    }
    std::vector<std::string> take() { return std::move(texts_); }

private:
    Random random_;
    std::uint64_t seen_ = 0;
    std::vector<std::string> texts_;
};

struct SampledText {
    std::vector<std::string> source, target;
};

SampledText sample_text(const TrainConfig& config) {
    const auto seed = static_cast<std::uint64_t>(config.training.seed);
    Sample source(seed);
    Sample target(seed);
    for (const CorpusFiles& files : config.data.train) {
        for_each_reader(files, [&](PairReader& reader) {
            for (std::string of_source, of_target; reader.next(of_source, of_target);) {
                source.add(std::move(of_source));
                target.add(std::move(of_target));
            }
        });
    }
    return {source.take(), target.take()};
}

void learn(const TrainConfig& config, const std::string& path, std::vector<std::string> sentences, const Say& say) {
    if (sentences.empty()) {
        const CorpusFiles& files = config.data.train.front();
        throw Error(fmt::format("{}: the files of \"data.train\" ({}) hold no sentence pair", config.file,
                                fmt::join(files.tsv.empty() ? files.source : files.tsv, ", ")));
    }
    say(fmt::format("learning {} pieces from {} sentences: {}", config.tokenizer.vocabulary, sentences.size(), path));
    TokenizerTraining training;
    training.sentences = std::move(sentences);
    training.type = config.tokenizer.unigram ? TokenizerType::Unigram : TokenizerType::Bpe;
    training.vocabulary_size = static_cast<std::int32_t>(config.tokenizer.vocabulary);
    training.seed = static_cast<std::uint64_t>(config.training.seed);
    std::string model;
    try {
        model = train_tokenizer(training);
    } catch (const Error& error) {
        throw Error(fmt::format("{}: \"tokenizer.vocabulary\": {}", config.file, error.what()));
    }
    atomic_write_file(path, model);
}

void copy_file(const std::string& from, const std::string& to) {
    const MappedFile file(from);
    atomic_write_file(to, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
}

}  // namespace

void require_files(const TrainConfig& config) {
    const auto require = [&](const std::vector<std::string>& paths) {
        for (const std::string& path : paths) {
            if (!std::filesystem::exists(path)) {
                throw Error(
                    fmt::format("'{}', named in {}, does not exist: relative paths of \"data\" count from --data, or "
                                "from the configuration's folder",
                                path, config.file));
            }
        }
    };
    std::vector<CorpusFiles> all = config.data.train;
    all.push_back(config.data.valid);
    for (const CorpusFiles& files : all) {
        require(files.tsv);
        require(files.source);
        require(files.target);
    }
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
                       const TokenizerOrigin& origin, const Say& say) {
    const bool shared = config.tokenizer.shared;
    const std::vector<std::string> names = shared ? std::vector<std::string>{"sentencepiece.model"}
                                                  : std::vector<std::string>{"source.model", "target.model"};
    std::vector<std::string> paths;
    bool complete = origin.reuse;
    for (const std::string& name : names) {
        paths.push_back((std::filesystem::path(folder) / name).string());
        complete = complete && std::filesystem::exists(paths.back());
    }
    if (!complete && !origin.from_model.empty()) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            copy_file((std::filesystem::path(origin.from_model) / names[i]).string(), paths[i]);
        }
    } else if (!complete) {
        SampledText text = sample_text(config);
        if (shared) {
            text.source.insert(text.source.end(), std::make_move_iterator(text.target.begin()),
                               std::make_move_iterator(text.target.end()));
            text.target.clear();
        }
        learn(config, paths.front(), std::move(text.source), say);
        if (!shared) {
            learn(config, paths.back(), std::move(text.target), say);
        }
    }
    data.source_tokenizer_file = paths.front();
    data.target_tokenizer_file = paths.back();
    data.source_tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(paths.front()));
    data.target_tokenizer =
        shared ? data.source_tokenizer : std::make_shared<const Tokenizer>(Tokenizer::load(paths.back()));
}

}  // namespace headscope

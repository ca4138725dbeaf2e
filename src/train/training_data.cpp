#include "train/training_data.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/atomic_file.h"
#include "support/check.h"
#include "support/random.h"
#include "text/tokenizer_training.h"

namespace headscope {
namespace {

void append(ParallelText& to, ParallelText from) {
    to.source.insert(to.source.end(), std::make_move_iterator(from.source.begin()),
                     std::make_move_iterator(from.source.end()));
    to.target.insert(to.target.end(), std::make_move_iterator(from.target.begin()),
                     std::make_move_iterator(from.target.end()));
    to.dropped_empty += from.dropped_empty;
}

const std::string& existing(const TrainConfig& config, const std::string& path) {
    if (!std::filesystem::exists(path)) {
        throw Error(
            fmt::format("'{}', named in {}, does not exist: relative paths of \"data\" count from --data, or "
                        "from the configuration's folder",
                        path, config.file));
    }
    return path;
}

ParallelText read_corpus(const TrainConfig& config, const CorpusFiles& files) {
    ParallelText text;
    for (const std::string& path : files.tsv) {
        append(text, read_tsv(existing(config, path)));
    }
    for (std::size_t i = 0; i < files.source.size(); ++i) {
        append(text, read_parallel(existing(config, files.source[i]), existing(config, files.target[i])));
    }
    return text;
}

std::shared_ptr<const Tokenizer> obtain_tokenizer(const TrainConfig& config, const std::string& path,
                                                  std::vector<std::string> sentences, bool reuse, const Say& say) {
    if (!reuse || !std::filesystem::exists(path)) {
        say(fmt::format("learning {} pieces from {} sentences: {}", config.tokenizer.vocabulary, sentences.size(),
                        path));
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
    return std::make_shared<const Tokenizer>(Tokenizer::load(path));
}

void obtain_tokenizers(TrainingData& data, const TrainConfig& config, const std::string& folder,
                       const ParallelText& text, bool reuse, const Say& say) {
    const auto in_folder = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
    if (config.tokenizer.shared) {
        std::vector<std::string> both = text.source;
        both.insert(both.end(), text.target.begin(), text.target.end());
        data.source_tokenizer_file = data.target_tokenizer_file = in_folder("sentencepiece.model");
        data.source_tokenizer = data.target_tokenizer =
            obtain_tokenizer(config, data.source_tokenizer_file, std::move(both), reuse, say);
        return;
    }
    data.source_tokenizer_file = in_folder("source.model");
    data.target_tokenizer_file = in_folder("target.model");
    data.source_tokenizer = obtain_tokenizer(config, data.source_tokenizer_file, text.source, reuse, say);
    data.target_tokenizer = obtain_tokenizer(config, data.target_tokenizer_file, text.target, reuse, say);
}

std::uint64_t fingerprint_of(const std::vector<Pair>& pairs) {
    std::uint64_t sum = pairs.size();
    const auto add = [&](const std::vector<std::int32_t>& ids) {
        sum = mix_bits(sum ^ ids.size());
        for (const std::int32_t id : ids) {
            sum = mix_bits(sum ^ static_cast<std::uint32_t>(id));
        }
    };
    for (const Pair& pair : pairs) {
        add(pair.source);
        add(pair.target);
    }
    return sum;
}

std::string count_text(const EncodedCorpus& corpus, std::int64_t dropped_empty) {
    std::int64_t source = 0;
    std::int64_t target = 0;
    for (const Pair& pair : corpus.pairs) {
        source += static_cast<std::int64_t>(pair.source.size()) + 1;  // eos
        target += static_cast<std::int64_t>(pair.target.size()) + 1;
    }
    return fmt::format("{} pairs, {} source and {} target tokens ({} too long and {} empty pairs left out)",
                       corpus.pairs.size(), source, target, corpus.dropped_long, corpus.dropped_empty + dropped_empty);
}

std::string files_text(const CorpusFiles& files) {
    return fmt::format("{}", fmt::join(files.tsv.empty() ? files.source : files.tsv, ", "));
}

void require_pairs(const TrainConfig& config, const char* key, const EncodedCorpus& corpus) {
    if (corpus.pairs.empty()) {
        throw Error(
            fmt::format("{}: no pair of \"{}\" is left: {} of them have a side of more than "
                        "\"training.max_length\" ({}) tokens",
                        config.file, key, corpus.dropped_long, config.training.max_length));
    }
}

}  // namespace

TrainingData prepare_training_data(const TrainConfig& config, const std::string& folder, bool reuse, const Say& say) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) {
        throw Error(fmt::format("cannot make the folder {}: {}", folder, failure.message()));
    }
    TrainingData data;
    const ParallelText train = read_corpus(config, config.train);
    const ParallelText valid = read_corpus(config, config.valid);
    if (train.source.empty()) {
        throw Error(fmt::format("{}: the files of \"data.train\" ({}) hold no sentence pair ({} with an empty side)",
                                config.file, files_text(config.train), train.dropped_empty));
    }
    obtain_tokenizers(data, config, folder, train, reuse, say);
    const auto encode = [&](const ParallelText& text) {
        // max_length counts eos, the encoder's bound does not.
        return encode_corpus(text, *data.source_tokenizer, *data.target_tokenizer, config.training.max_length - 1);
    };
    data.train = encode(train);
    data.valid = encode(valid);
    require_pairs(config, "data.train", data.train);
    if (!valid.source.empty()) {
        require_pairs(config, "data.valid", data.valid);
    }
    data.fingerprint = fingerprint_of(data.train.pairs);
    say("training data: " + count_text(data.train, train.dropped_empty));
    if (!valid.source.empty()) {
        say("validation data: " + count_text(data.valid, valid.dropped_empty));
    }
    return data;
}

}  // namespace headscope

#include "train/training_data.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "data/pair_reader.h"
#include "data/pair_source.h"
#include "io/made_folder.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/bpe_dropout.h"
#include "text/target_mark.h"
#include "train/encode_documents.h"
#include "train/encode_labelled.h"
#include "train/encode_responses.h"
#include "train/run_tokenizers.h"

namespace headscope {
namespace {

// Pairs encoded at a time, on several threads: few pictures, which have an id for each channel of a pixel.
std::size_t pairs_at_once(const TrainingData& data) {
    return data.frame.patches ? 256 : 16384;
}

struct Counts {
    std::int64_t pairs = 0, source_tokens = 0, target_tokens = 0, dropped_long = 0, dropped_empty = 0;

    std::string text() const {
        return fmt::format("{}, {} source and {} target tokens (left out: {} too long and {} empty)",
                           counted(pairs, "pair"), source_tokens, target_tokens, dropped_long, dropped_empty);
    }
};

// Of a side: "training.max_length" also counts what stands around.
std::int64_t most_pieces(const TrainingData& data, std::int64_t max_length) {
    return max_length - std::max(data.frame.around_source(), data.frame.around_target());
}

// Encodes pairs and passes them on in order.
class Encoder {
public:
    // Keeps the text of the first `kept` pairs.
    Encoder(const TrainingData& data, std::int64_t max_length, std::function<void(Example)> take, std::int64_t kept = 0)
        : data_(data), max_pieces_(most_pieces(data, max_length)), take_(std::move(take)), kept_(kept) {}

    void add(const CorpusFiles& files) {
        for_each_reader(files, [&](PairReader& reader) {
            for (std::string source, target; reader.next(source, target);) {
                if (std::ssize(first_.source) < kept_) {
                    first_.source.push_back(files.given(source));
                    first_.target.push_back(target);
                }
                text_.source.push_back(std::move(source));
                text_.target.push_back(std::move(target));
                if (text_.source.size() == pairs_at_once(data_)) {
                    encode();
                }
            }
            counts_.dropped_empty += reader.dropped_empty();
        });
        encode();
    }
    const Counts& counts() const { return counts_; }
    const ParallelText& first() const { return first_; }

private:
    void encode() {
        EncodedCorpus encoded = encode_corpus(std::exchange(text_, {}), *data_.source_tokenizer,
                                              *data_.target_tokenizer, max_pieces_, data_.frame.patches.has_value());
        counts_.dropped_long += encoded.dropped_long;
        counts_.dropped_empty += encoded.dropped_empty;
        counts_.pairs += std::ssize(encoded.pairs);
        for (Example& pair : encoded.pairs) {
            counts_.source_tokens += data_.frame.source_positions(std::ssize(pair.source));
            counts_.target_tokens += std::ssize(pair.target) + data_.frame.around_target();
            take_(std::move(pair));
        }
    }

    const TrainingData& data_;
    std::int64_t max_pieces_;
    std::function<void(Example)> take_;
    std::int64_t kept_;
    ParallelText text_, first_;
    Counts counts_;
};

void require_pairs(const TrainConfig& config, const std::string& key, const CorpusFiles& files, const Counts& counts) {
    if (counts.pairs > 0) {
        return;
    }
    if (counts.dropped_long > 0) {
        throw Error(
            fmt::format("{}: no pair of \"{}\" is left: {} have a side of more than \"training.max_length\" ({}) "
                        "tokens",
                        config.file, key, counts.dropped_long, config.training.max_length));
    }
    throw_no_examples(config, key, files, counts.dropped_empty);
}

// What stands before the sources of a corpus with a target language of its own. Error if the model has no such token.
std::vector<std::int32_t> source_begin_of(const TrainConfig& config, const TrainingData& data,
                                          const CorpusFiles& files) {
    if (files.target_language.empty()) {
        return {};
    }
    const ModelConfig model = config.model_config(*data.source_tokenizer, *data.target_tokenizer);
    const Frame frame = frame_of(model, config.data.languages_of(files));
    Frame common = frame;
    common.source_begin = data.frame.source_begin;
    const std::string& piece = data.source_tokenizer->piece(model.frame.languages.at(files.target_language));
    if (!(common == data.frame) || piece != target_mark(files.target_language)) {
        throw Error(
            fmt::format("{}: corpora may have a \"target_language\" each if the model reads {} before their sources, "
                        "but this one's \"frame\" names it {}: train on one language, with \"data.target_language\"",
                        config.file, target_mark(files.target_language),
                        common == data.frame ? fmt::format("by the piece '{}'", piece) : "elsewhere, too"));
    }
    return frame.source_begin;
}

// The pairs of each corpus; the text of the first `kept` pairs, as many of each, becomes data.valid_text.
std::vector<WeightedCorpus> encode_pairs(const TrainConfig& config, TrainingData& data,
                                         const std::vector<CorpusFiles>& files, Part part, const std::string& folder,
                                         const Log& say, std::int64_t kept = 0) {
    std::vector<WeightedCorpus> corpora;
    for (std::size_t i = 0; i < files.size(); ++i) {
        WeightedCorpus corpus{.pairs = PairStore(folder),
                              .weight = files[i].weight,
                              .shuffled = files[i].shuffled,
                              .source_begin = source_begin_of(config, data, files[i])};
        const auto share = [&](std::size_t of) { return kept * static_cast<std::int64_t>(of) / std::ssize(files); };
        Encoder encoder(
            data, config.training.max_length, [&](const Example& pair) { corpus.pairs.add(pair); },
            share(i + 1) - share(i));
        encoder.add(files[i]);
        require_pairs(config, corpus_key(part, files, i), files[i], encoder.counts());
        say(fmt::format("{}: {}", corpus_title(part, files, i), encoder.counts().text()));
        corpora.push_back(std::move(corpus));
        std::ranges::copy(encoder.first().source, std::back_inserter(data.valid_text.source));
        std::ranges::copy(encoder.first().target, std::back_inserter(data.valid_text.target));
    }
    return corpora;
}

std::shared_ptr<const ExampleSource> encode_training_text(const TrainConfig& config, TrainingData& data,
                                                          const std::string& folder, const Log& say) {
    const DataConfig& files = config.data;
    std::vector<WeightedCorpus> corpora = encode_pairs(config, data, files.train, Part::Train, folder, say);
    const ExampleOptions options{.joined_share = files.joined_share,
                                 .joined_most = files.joined_most,
                                 .max_pieces = most_pieces(data, config.training.max_length),
                                 .frame = data.frame};
    std::shared_ptr<const PieceDropout> source;
    std::shared_ptr<const PieceDropout> target;
    // A target of words has nothing to skip.
    if (files.bpe_dropout > 0.0) {
        source = std::make_shared<BpeDropout>(*data.source_tokenizer, files.bpe_dropout);
        if (data.target_tokenizer->type() != TokenizerType::Words) {
            target = std::make_shared<BpeDropout>(*data.target_tokenizer, files.bpe_dropout);
        }
    }
    if (files.word_dropout > 0.0) {
        source = std::make_shared<WordDropout>(*data.source_tokenizer, files.word_dropout);
    }
    return std::make_shared<const PairSource>(std::move(corpora), options,
                                              static_cast<std::uint64_t>(config.training.seed), std::move(source),
                                              std::move(target));
}

}  // namespace

TrainingData prepare_training_data(const TrainConfig& config, const std::string& folder, const TokenizerOrigin& origin,
                                   const Log& say) {
    require_files(config);
    MadeFolder(folder).keep();
    TrainingData data;
    Communicator& ranks = *origin.ranks;
    ranks.announce("making the tokenizers", Communicator::Takes::Long);
    if (ranks.leads()) {
        obtain_tokenizers(data, config, folder, origin, say);
    }
    ranks.meet();
    if (!ranks.leads()) {
        obtain_tokenizers(data, config, folder, {.reuse = true}, say);
    }
    ranks.announce("encoding the text", Communicator::Takes::Long);
    data.languages = config.data.languages;
    data.frame = frame_of(config.model_config(*data.source_tokenizer, *data.target_tokenizer),
                          config.data.languages_of(config.data.train.front()));
    const std::vector<CorpusFiles>& valid = config.data.valid;
    if (traits(config.task).reads_replies) {
        data.responses = {encode_responses(config, data, config.data.train, Part::Train, folder, say)};
        data.train = data.responses.front();
        if (!valid.empty()) {
            data.responses.push_back(encode_responses(config, data, valid, Part::Valid, folder, say));
            data.valid = data.responses.back();
        }
        return data;
    }
    if (traits(config.task).reads_labels) {
        data.train = encode_labelled(config, data, config.data.train, Part::Train, folder, say);
        if (!valid.empty()) {
            data.valid = encode_labelled(config, data, valid, Part::Valid, folder, say);
        }
        return data;
    }
    if (!traits(config.task).reads_pairs) {
        data.train = encode_documents(config, data, config.data.train, Part::Train, folder, say);
        if (!valid.empty()) {
            data.valid = encode_documents(config, data, valid, Part::Valid, folder, say);
        }
        return data;
    }
    data.train = encode_training_text(config, data, folder, say);
    if (!valid.empty()) {
        data.valid = std::make_shared<const PairSource>(
            encode_pairs(config, data, valid, Part::Valid, folder, say, config.training.validate_bleu),
            ExampleOptions{.frame = data.frame}, 0);
    }
    return data;
}

}  // namespace headscope

#include "train/encode_labelled.h"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/labelled_reader.h"
#include "infer/scored_text.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/parallel.h"
#include "train/run_tokenizers.h"

namespace headscope {
namespace {

// Encodes texts on several threads and stores those that fit in order.
class TextsWithLabels {
public:
    TextsWithLabels(const TrainConfig& config, const TrainingData& data, LabelledStore& store)
        : model_(config.model_config(*data.source_tokenizer, *data.target_tokenizer)),
          longest_(config.training.max_length),
          encoder_(model_, data.source_tokenizer, data.frame),
          store_(store) {}

    void add(const std::string& file) {
        const std::size_t at_once = model_.input.patches() ? 256 : 4096;  // a picture has many ids
        LabelledReader reader(file);
        for (LabelledText text; reader.next(text);) {
            const std::string place = reader.place();
            WantedLabel wanted = wanted_label(text, label_form(model_.output), model_.output.labels, place);
            read_.push_back({std::move(text), place, std::move(wanted), {}});
            if (read_.size() == at_once) {
                encode();
            }
        }
        encode();
    }

    std::int64_t too_long() const { return too_long_; }
    // ": 12 negative, 30 positive"; empty for numbers.
    std::string classes() const {
        std::vector<std::string> counts;
        for (const std::string& label : model_.output.labels) {
            const auto found = of_class_.find(label);
            counts.push_back(fmt::format("{} {}", found == of_class_.end() ? 0 : found->second, label));
        }
        return counts.empty() ? "" : fmt::format(": {}", fmt::join(counts, ", "));
    }

private:
    struct Read {
        LabelledText text;
        std::string place;
        WantedLabel wanted;
        Example example;
    };

    void encode() {
        constexpr std::size_t kLeast = 64;  // fewer are not worth a thread
        in_parallel(read_.size(), kLeast, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                encode(read_[i]);
            }
        });
        for (const Read& one : std::exchange(read_, {})) {
            if (encoder_.length_of(one.example) > longest_) {
                ++too_long_;
                continue;
            }
            store_.add(one.example);
            for (const std::string& label : one.text.labels) {
                ++of_class_[label];
            }
        }
    }

    void encode(Read& read) const {
        try {
            read.example = encoder_.encode_any(read.text.text, read.text.pair);
        } catch (const Error& error) {
            throw Error(fmt::format("{}: {}", read.place, error.what()));
        }
        set_wanted(read.example, read.wanted);
    }

    ModelConfig model_;
    std::int64_t longest_;
    ScoredTextEncoder encoder_;
    LabelledStore& store_;
    std::vector<Read> read_;
    std::int64_t too_long_ = 0;
    std::map<std::string, std::int64_t> of_class_;
};

}  // namespace

std::shared_ptr<LabelledSource> encode_labelled(const TrainConfig& config, const TrainingData& data,
                                                const std::vector<CorpusFiles>& corpora, Part which,
                                                const std::string& folder, const Log& say) {
    const bool validates = which == Part::Valid;
    LabelledStore store(folder);
    TextsWithLabels texts(config, data, store);
    std::vector<WeightedExamples> weighted;
    for (const CorpusFiles& corpus : corpora) {
        const std::size_t before = store.size();
        for (const std::string& file : corpus.text) {
            texts.add(file);
        }
        weighted.push_back({store.size() - before, corpus.weight});
        if (weighted.back().examples == 0 && texts.too_long() == 0) {
            throw_no_examples(config, validates ? "data.valid" : "data.train", corpus, 0);
        }
        if (weighted.back().examples == 0) {
            throw Error(
                fmt::format("{}: no text of \"data.{}\" is left: {} have more than \"training.max_length\" ({}) tokens",
                            config.file, validates ? "valid" : "train", texts.too_long(), config.training.max_length));
        }
    }
    say(fmt::format(
        "{} data: {}{}{}", validates ? "validation" : "training", counted(store.size(), "text"), texts.classes(),
        texts.too_long() == 0 ? ""
                              : fmt::format("; left out: {} with more than \"training.max_length\" ({}) tokens",
                                            texts.too_long(), config.training.max_length)));
    const auto seed = validates ? 0 : static_cast<std::uint64_t>(config.training.seed);
    return std::make_shared<LabelledSource>(std::move(store), std::move(weighted), seed, data.frame);
}

}  // namespace headscope

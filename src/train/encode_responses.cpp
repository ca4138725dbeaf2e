#include "train/encode_responses.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/batch.h"
#include "data/response_encoder.h"
#include "data/response_reader.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/parallel.h"
#include "train/run_tokenizers.h"

namespace headscope {
namespace {

struct LeftOut {
    std::int64_t too_long = 0;
    std::int64_t tied = 0;

    std::string text(const TrainConfig& config) const {
        std::vector<std::string> reasons;
        if (too_long > 0) {
            reasons.push_back(fmt::format("{} with more than \"training.max_length\" ({}) tokens{}", too_long,
                                          config.training.max_length,
                                          traits(config.task).rolls_out ? ", those of a response among them" : ""));
        }
        if (tied > 0) {
            reasons.push_back(fmt::format("{} whose responses are all as good as each other", tied));
        }
        return fmt::format("{}", fmt::join(reasons, ", and "));
    }
};

// Encodes examples on several threads and stores those that fit in order.
class Encoder {
public:
    Encoder(const TrainConfig& config, const TrainingData& data, ResponseStore& store)
        : form_(form_of(config.task)),
          longest_(config.training.max_length - (traits(config.task).rolls_out ? config.rollouts.max_tokens : 0)),
          encoder_(data.target_tokenizer, data.frame, config.data.chat),
          store_(store) {}

    void add(const std::string& file) {
        constexpr std::size_t kAtOnce = 4096;
        ResponseReader reader(file, form_);
        for (Responses responses; reader.next(responses);) {
            if (responses.tied()) {
                ++left_out_.tied;
                continue;
            }
            read_.push_back({std::move(responses), reader.place(), {}});
            if (read_.size() == kAtOnce) {
                encode();
            }
        }
        encode();
    }
    const LeftOut& left_out() const { return left_out_; }

private:
    struct Read {
        Responses responses;
        std::string place;
        Example example;
    };

    void encode() {
        constexpr std::size_t kLeast = 64;  // fewer are not worth a thread
        in_parallel(read_.size(), kLeast, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                read_[i].example = form_ == ResponseForm::Prompt ? prompt_example(read_[i])
                                                                 : encoder_.encode(read_[i].responses, read_[i].place);
            }
        });
        for (const Read& one : std::exchange(read_, {})) {
            if (longest_text(one.example) > longest_ || !ResponseStore::can_hold(one.example)) {
                ++left_out_.too_long;
            } else {
                store_.add(one.example);
            }
        }
    }

    Example prompt_example(const Read& read) const {
        return response_example(encoder_.encode_prompt(read.responses, read.place), {});
    }

    ResponseForm form_;
    std::int64_t longest_;
    ResponseEncoder encoder_;
    ResponseStore& store_;
    std::vector<Read> read_;
    LeftOut left_out_;
};

void require_examples(const TrainConfig& config, const std::string& key, const CorpusFiles& files, std::size_t examples,
                      const LeftOut& left_out) {
    if (examples > 0) {
        return;
    }
    const std::string text = left_out.text(config);
    if (!text.empty()) {
        throw Error(fmt::format("{}: no example of \"{}\" is left: {}", config.file, key, text));
    }
    throw_no_examples(config, key, files, 0);
}

}  // namespace

std::shared_ptr<ResponseSource> encode_responses(const TrainConfig& config, const TrainingData& data,
                                                 const std::vector<CorpusFiles>& corpora, Part which,
                                                 const std::string& folder, const Log& say) {
    ResponseStore store(folder);
    std::vector<WeightedExamples> weighted;
    LeftOut left_out;
    for (std::size_t i = 0; i < corpora.size(); ++i) {
        const std::size_t before = store.size();
        Encoder encoder(config, data, store);
        for (const std::string& file : corpora[i].text) {
            encoder.add(file);
        }
        weighted.push_back({store.size() - before, corpora[i].weight});
        left_out.too_long += encoder.left_out().too_long;
        left_out.tied += encoder.left_out().tied;
        require_examples(config, corpus_key(which, corpora, i), corpora[i], weighted.back().examples,
                         encoder.left_out());
    }
    const std::string left = left_out.text(config);
    say(fmt::format("{} data: {}{}{}", which == Part::Valid ? "validation" : "training",
                    counted(store.size(), "prompt"),
                    traits(config.task).rolls_out
                        ? ""
                        : fmt::format(", {} of {} tokens are of responses", fmt::group_digits(store.labelled()),
                                      fmt::group_digits(store.tokens())),
                    left.empty() ? "" : "; left out: " + left));
    const auto seed = which == Part::Valid ? 0 : static_cast<std::uint64_t>(config.training.seed);
    return std::make_shared<ResponseSource>(std::move(store), std::move(weighted), seed);
}

std::string show_labels(const TrainingData& data, Task task, std::int64_t examples) {
    const bool of_next = traits(task).predicts_next;  // otherwise labels are those of their own places
    const Epoch epoch = data.train->epoch(0);
    const Tokenizer& tokenizer = *data.target_tokenizer;
    const auto shown = std::min<std::size_t>(epoch.examples(), static_cast<std::size_t>(examples));
    std::string text;
    for (std::uint32_t number = 0; number < shown; ++number) {
        const Example example = data.train->example(epoch, number);
        for (std::size_t at = 0; at < example.target.size(); ++at) {
            const bool begins = at == 0 || std::find(example.starts.begin(), example.starts.end(),
                                                     static_cast<std::int32_t>(at)) != example.starts.end();
            if (begins) {
                text += fmt::format("{}example {}:", at == 0 ? "" : "\n", number + 1);
            }
            const bool has_loss =
                of_next ? !begins && example.labels[at - 1] != kNoTarget : example.labels[at] != kNoTarget;
            const std::string& piece = tokenizer.piece(example.target[at]);
            text += has_loss ? fmt::format(" [{}]", piece) : " " + piece;
        }
        text += "\n";
    }
    return text;
}

}  // namespace headscope

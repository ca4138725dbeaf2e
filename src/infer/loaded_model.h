// One or several models of a family on a device. Translates text, or completes it with a causal language model:
// tokenizer, beam search, detokenizer. Masked language models can be loaded, too (infer/filler.h). One thread at a
// time: members that are const use the device, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "infer/decoding_choices.h"
#include "infer/session.h"
#include "infer/translation_work.h"
#include "model/encoder_decoder.h"
#include "model/generator.h"
#include "model/model_directory.h"

namespace headscope {

// Numbers the lines from 1.
std::vector<SourceLine> numbered(const std::vector<std::string>& lines);

class LoadedModel final {
public:
    // Error names what is wrong with the directory. `storage` is that of the multiplied weights, and of the
    // activations (Parameters). The backend outlives the translator.
    LoadedModel(Backend& backend, const std::string& directory, const WeightStorage& storage = {});
    // An ensemble: the next token's probability is the mean of the models' probabilities. Error if their families or
    // vocabularies differ. model(), parameters() and transformer() refer to the first one.
    LoadedModel(Backend& backend, const std::vector<std::string>& directories, const WeightStorage& storage = {});
    // The same for a model in memory, such as during training.
    LoadedModel(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters);

    // The same weights on another device that can borrow them.
    LoadedModel(Backend& backend, const LoadedModel& lender);

    const ModelDirectory& model() const { return model_; }
    const Parameters& parameters() const { return *members_.front().parameters; }
    const Model& network() const { return *members_.front().model; }  // the first
    // Error if the model does not translate.
    const EncoderDecoder& transformer() const;
    std::vector<const Model*> models() const;
    std::vector<const Generator*> generators() const;  // the same; Error if they write no text
    // The decoding options of the first model's author. They are not applied by themselves.
    const DecodingChoices& decoding_choices() const { return decoding_choices_; }
    // `chosen` over the author's choices over default_search(). Error for choices that mean nothing to the model.
    SearchOptions search_options(const DecodingChoices& chosen) const {
        check_choices(chosen, model_.config);
        return chosen.over(decoding_choices_.over(default_search(model_.config.architecture)));
    }
    std::int64_t longest() const { return longest_; }  // maximum length of all models, including the end

    // One result per line, in order. Lines of similar length share a batch; a translation does not depend on the
    // others, unless the scores of two hypotheses differ by less than the rounding of float sums, which depends on
    // shapes. A line that cannot be translated (too long, not UTF-8) has a `problem`; the others are translated.
    // `each_batch` is called before each; what it throws ends the work.
    std::vector<TextResult> translate(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                      const std::function<void()>& each_batch = {}) const;
    // A search for the outputs of parts that share_batch(). Of the options only `compute` and `observer` are read. In
    // halves if the device's memory is too small: OutOfMemory if it is for a part alone.
    std::unique_ptr<SearchSession> begin(const std::vector<LinePart*>& parts, const DecodingOptions& options) const;
    // Computes a small product. Throws what the device throws; Error if the result is wrong.
    void try_device() const;

private:
    Backend& backend_;
    ModelDirectory model_;
    DecodingChoices decoding_choices_;
    struct Member {
        std::shared_ptr<const Parameters> parameters;
        std::shared_ptr<const Model> model;
    };
    std::vector<Member> members_;  // at least one
    std::int64_t longest_;
};

}  // namespace headscope

#include "train/validation_bleu.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eval/bleu.h"

namespace headscope {
namespace {

// Another's, which lives longer.
std::shared_ptr<const Parameters> seen(const Parameters& parameters) {
    return {std::shared_ptr<void>(), &parameters};
}

}  // namespace

ValidationBleu::ValidationBleu(Backend& backend, const ModelConfig& config, const Parameters& parameters,
                               TrainingData& data, const DecodingChoices& choices, Compute compute)
    : translator_(backend,
                  ModelDirectory{.path = {},
                                 .config = config,
                                 .source_tokenizer = data.source_tokenizer,
                                 .target_tokenizer = data.target_tokenizer},
                  seen(parameters)),
      text_(std::exchange(data.valid_text, {})),
      options_{.search = choices.over({}), .compute = compute, .split_longer_than = choices.split_longer_than} {
    options_.search.beam = 1;
    options_.search.n_best = 1;
}

double ValidationBleu::measure() const {
    std::vector<std::string> translations;
    for (TranslatedSentence& sentence : translator_.translate(text_.source, options_)) {
        translations.push_back(std::move(sentence.text));
    }
    return corpus_bleu(translations, text_.target).score;
}

}  // namespace headscope

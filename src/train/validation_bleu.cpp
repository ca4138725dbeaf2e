#include "train/validation_bleu.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eval/bleu.h"

namespace headscope {

ValidationBleu::ValidationBleu(const Learner& learner, TrainingData& data, const DecodingChoices& choices)
    : translator_(learner.backend(),
                  ModelDirectory{.path = {},
                                 .config = learner.model_config(),
                                 .source_tokenizer = data.source_tokenizer,
                                 .target_tokenizer = data.target_tokenizer},
                  {std::shared_ptr<void>(), &learner.parameters()}),  // not owned
      text_(std::exchange(data.valid_text, {})),
      options_{.search = choices.over({}),
               .compute = learner.options().arithmetic.compute,
               .split_longer_than = choices.split_longer_than} {
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

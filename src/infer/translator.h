// Text in, text out: tokenizer, beam search, tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "infer/decoding_choices.h"
#include "infer/line_translator.h"
#include "infer/translation_work.h"
#include "model/model_directory.h"
#include "model/transformer.h"

namespace headscope {

// Lines that count from 1.
std::vector<SourceLine> numbered(const std::vector<std::string>& lines);

class Translator final : public LineTranslator {
public:
    // Error names what is wrong with the directory. `storage` is what the weights that are multiplied, and with them
    // the activations, are kept in (Parameters). The backend outlives the translator.
    Translator(Backend& backend, const std::string& directory, DType storage = DType::F32);
    // Several models that translate together: the next token's probability is the mean of theirs. Error where their
    // vocabularies are not alike. The first is the one that model(), parameters() and transformer() speak of.
    Translator(Backend& backend, const std::vector<std::string>& directories, DType storage = DType::F32);
    // The same of a model in memory, as while it is being trained.
    Translator(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters);

    const ModelDirectory& model() const { return model_; }
    const Parameters& parameters() const { return *parameters_; }
    const Transformer& transformer() const { return *transformer_; }
    std::vector<const Transformer*> transformers() const;  // of all models
    // How the first model's author wants it to be decoded. What options ask for is done all the same.
    const DecodingChoices& decoding_choices() const { return decoding_choices_; }
    // What was chosen; else what that author wants; else the paper's.
    SearchOptions search_options(const DecodingChoices& chosen) const {
        return chosen.over(decoding_choices_.over({}));
    }
    std::int64_t longest() const { return longest_; }  // source or target that all models take, end included

    // One result a line, in order. Lines of similar length go together; a translation does not depend on the others,
    // but where two hypotheses' scores differ by less than the rounding of float sums, which depends on shapes. A line
    // that cannot be translated (too long, not UTF-8) says so in `problem`, and the others are translated.
    std::vector<TranslatedSentence> translate(const std::vector<std::string>& lines,
                                              const TranslationOptions& options) const;
    std::vector<TranslatedSentence> translate_sources(const std::vector<SourceLine>& lines,
                                                      const TranslationOptions& options) const;
    void translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const override;
    void translate_in_order(const std::vector<std::string>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const;
    // Of one batch; a batch that the device's memory does not hold goes in halves. Units that are not translated where
    // this throws are left as they were.
    void translate_units(const std::vector<TranslationUnit*>& units, const TranslationOptions& options) const;
    // Error for a line that cannot be translated.
    TranslatedSentence translate_line(const std::string& line, const TranslationOptions& options) const;

private:
    void search_units(const std::vector<TranslationUnit*>& units, const TranslationOptions& options) const;

    Backend& backend_;
    ModelDirectory model_;
    DecodingChoices decoding_choices_;
    std::shared_ptr<const Parameters> parameters_;
    std::shared_ptr<const Transformer> transformer_;
    struct Member {
        std::shared_ptr<const Parameters> parameters;
        std::shared_ptr<const Transformer> transformer;
    };
    std::vector<Member> others_;  // of an ensemble, beside the first
    std::int64_t longest_;
};

}  // namespace headscope

// What turns lines into their translations: a Translator, or what keeps one or several devices at it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "infer/translation.h"

namespace headscope {

// Takes the next results in order, possibly none, and how many are finished by now, in order or not.
using TranslatedSink = std::function<void(std::vector<TranslatedSentence> next, std::size_t finished)>;

class LineTranslator {
public:
    virtual ~LineTranslator() = default;

    // After each batch `sink` gets the results before which none is missing any more. A line that cannot be translated
    // says so in `problem`, and the others are translated.
    virtual void translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                                    const TranslatedSink& sink) const = 0;
    // Whether it goes on translating while the sink runs.
    virtual bool goes_on_beside_sink() const { return false; }

protected:
    LineTranslator() = default;
    LineTranslator(const LineTranslator&) = default;
    LineTranslator& operator=(const LineTranslator&) = default;
};

}  // namespace headscope

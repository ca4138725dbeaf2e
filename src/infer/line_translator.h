// The interface for translating lines: a LoadedModel, or a wrapper with one or several devices.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "infer/translation.h"

namespace headscope {

// Receives the next results in order, possibly none, and how many are finished so far, in order or not.
using ResultSink = std::function<void(std::vector<TextResult> next, std::size_t finished)>;

class LineTranslator {
public:
    virtual ~LineTranslator() = default;

    // Calls `sink` after each batch with the results that are next in order. A line that cannot be translated has a
    // `problem`; the others are translated.
    virtual void translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                    const ResultSink& sink) const = 0;
    // Whether translation continues while the sink runs.
    virtual bool continues_during_sink() const { return false; }

protected:
    LineTranslator() = default;
    LineTranslator(const LineTranslator&) = default;
    LineTranslator& operator=(const LineTranslator&) = default;
};

}  // namespace headscope

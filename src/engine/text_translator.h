// An engine with a model, as what translates lines.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace headscope {

// Receives the next results in order, possibly none, and how many are finished so far, in order or not.
using ResultSink = std::function<void(std::vector<TextResult> next, std::size_t finished)>;

class TextTranslator final {
public:
    // The engine outlives this.
    TextTranslator(Engine& engine, ModelHandle model) : engine_(engine), model_(std::move(model)) {}

    // Calls `sink` with the results that are next in order; translation continues meanwhile. A line that cannot be
    // translated has a `problem`; the others are translated. An exception of `sink` or of another callback is passed
    // on. Error if no device is left, with the last failure; with a single device, its own exception.
    void translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                            const ResultSink& sink) const;
    // How many devices share the lines. Batches do not depend on it.
    std::size_t devices() const { return engine_.devices().size(); }
    std::vector<TextResult> translate(const std::vector<SourceLine>& lines, const DecodingOptions& options) const;

private:
    Engine& engine_;
    ModelHandle model_;
};

}  // namespace headscope

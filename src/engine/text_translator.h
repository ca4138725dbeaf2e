// An engine with a model, as what translates lines.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "infer/line_translator.h"

namespace headscope {

class TextTranslator final : public LineTranslator {
public:
    // The engine outlives this.
    TextTranslator(Engine& engine, ModelHandle model) : engine_(engine), model_(std::move(model)) {}

    // An exception of `sink` or of another callback is passed on. Error if no device is left, with the last failure;
    // with a single device, its own exception.
    void translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                            const ResultSink& sink) const override;
    bool continues_during_sink() const override { return true; }
    std::vector<TextResult> translate(const std::vector<SourceLine>& lines, const DecodingOptions& options) const;

private:
    Engine& engine_;
    ModelHandle model_;
};

}  // namespace headscope

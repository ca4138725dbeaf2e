// One device that works for nobody else: whoever gets its lines may use it before it goes on.
#pragma once

#include <vector>

#include "cli/model_device.h"
#include "infer/line_translator.h"

namespace headscope {

// The batch at which the device is lost is translated on a fresh one, as ModelDevice::run has it.
class SoleDevice final : public LineTranslator {
public:
    // With its models, and for longer than this.
    explicit SoleDevice(ModelDevice& device) : device_(device) {}

    void translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const override;

private:
    ModelDevice& device_;
};

}  // namespace headscope

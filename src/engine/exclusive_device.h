// One device that nobody else uses: whoever receives its translations may use it before it goes on.
#pragma once

#include <vector>

#include "engine/model_device.h"
#include "infer/line_translator.h"

namespace headscope {

// A batch during which the device is lost is translated again on a fresh one (ModelDevice::run).
class ExclusiveDevice final : public LineTranslator {
public:
    // With its models loaded; outlives this.
    explicit ExclusiveDevice(ModelDevice& device) : device_(device) {}

    void translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const override;

private:
    ModelDevice& device_;
};

}  // namespace headscope

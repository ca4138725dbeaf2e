// Translates on one device that its caller may use between batches.
#pragma once

#include <vector>

#include "engine/model_device.h"
#include "infer/line_translator.h"

namespace headscope {

// A batch during which the device is lost is repeated on the reopened device (ModelDevice::run).
class ExclusiveDevice final : public LineTranslator {
public:
    // `device` has loaded its models and outlives this object.
    explicit ExclusiveDevice(ModelDevice& device) : device_(device) {}

    void translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                            const ResultSink& sink) const override;

private:
    ModelDevice& device_;
};

}  // namespace headscope

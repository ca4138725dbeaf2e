#include "engine/exclusive_device.h"

#include "infer/translation_work.h"

namespace headscope {

void ExclusiveDevice::translate_in_order(const std::vector<SourceLine>& lines, const DecodingOptions& options,
                                         const ResultSink& sink) const {
    TranslationWork work(device_.translator().model(), lines, options, device_.translator().longest(),
                         TranslationWork::Order::SoonestFirst);
    const auto translate = [&](const std::vector<LinePart*>& units) {
        device_.run([&](Backend&, const LoadedModel& translator) { translator.translate_units(units, options); });
    };
    work_in_order(work, translate, sink);
}

}  // namespace headscope

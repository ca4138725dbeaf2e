#include "app/sole_device.h"

#include <cstddef>

#include "infer/translation_work.h"

namespace headscope {

void SoleDevice::translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                                    const TranslatedSink& sink) const {
    TranslationWork work(device_.translator().model(), lines, options, device_.translator().longest(),
                         TranslationWork::Order::SoonestFirst);
    sink(work.next(), work.finished());
    for (std::size_t batch = 0; batch < work.batches(); ++batch) {
        device_.run(
            [&](Backend&, const Translator& translator) { translator.translate_units(work.units_of(batch), options); });
        work.done(batch);
        sink(work.next(), work.finished());
    }
}

}  // namespace headscope

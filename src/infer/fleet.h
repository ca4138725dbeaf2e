// The same model on several devices at once.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "infer/fresh_device.h"
#include "infer/line_translator.h"
#include "infer/translator.h"

namespace headscope {

// Each device takes the next batch as soon as it has finished its last, so that a slow one has less to do; and none
// where another would be done with all that is left before it were done with one batch. Results go out in the lines'
// order. A device that fails is told of and takes no further part: its batch goes to another. One that was lost is
// opened again first, as long as it does some work in between (SecondChance). Which device translates a line changes
// nothing but what rounding may (Translator::translate).
class Fleet final : public LineTranslator {
public:
    // A translator, which outlives the fleet, and what its device is called and computes products in. Nobody else uses
    // its backend while the fleet translates.
    struct Member {
        std::string name;
        const Translator* translator = nullptr;
        Compute compute = Compute::F32;
        // A translator on a fresh device, after this one's was lost (DeviceLost), which may be gone from then on. It
        // may throw, or be missing.
        std::function<const Translator*()> reopen = {};
    };
    // `warn` gets what people should know of a device that failed, from the thread that translates.
    Fleet(std::vector<Member> members, std::function<void(const std::string& message)> warn);

    const ModelDirectory& model() const { return model_; }
    // Error where no device is left, with what happened to the last; of one device alone that very exception. What
    // `sink` throws ends it, too.
    void translate_in_order(const std::vector<SourceLine>& lines, const TranslationOptions& options,
                            const TranslatedSink& sink) const override;
    bool goes_on_beside_sink() const override { return true; }

    // What each has done by now.
    struct Share {
        std::string name;
        std::int64_t batches = 0;
        std::int64_t sentences = 0;
        std::int64_t source_tokens = 0;
        std::int64_t target_tokens = 0;
        double seconds = 0.0;  // that it worked
        std::string failure;   // empty for one that still works
    };
    std::vector<Share> shares() const;

private:
    class Window;
    const std::vector<Member> members_;
    const ModelDirectory model_;
    const std::int64_t longest_;  // source that every member takes
    const std::function<void(const std::string&)> warn_;
    mutable std::mutex mutex_;  // of what follows
    mutable std::vector<Share> shares_;
    // Of each member, and used by whoever works for it: the first translator, or the one of the device opened again.
    mutable std::vector<const Translator*> translators_;
    mutable std::vector<SecondChance> chances_;
};

}  // namespace headscope

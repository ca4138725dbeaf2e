// The same model on several devices at once.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "infer/line_translator.h"
#include "infer/translator.h"

namespace headscope {

// Each device takes the next batch as soon as it has finished its last, so that a slow one has less to do; and none
// where another would be done with all that is left before it were done with one batch. Results go out in the lines'
// order. A device that fails is told of and takes no further part: its batch goes to another. One that was lost is
// opened again first. Which device translates a line changes nothing but what rounding may (Translator::translate).
class Fleet final : public LineTranslator {
public:
    // A translator, which outlives the fleet, and what its device is called and computes products in. Nobody else uses
    // its backend while the fleet translates.
    struct Member {
        std::string name;
        const Translator* translator = nullptr;
        Compute compute = Compute::F32;
        // A translator on a fresh device, after this one's was lost (DeviceLost); asked once. It may throw, or be
        // missing.
        std::function<const Translator*()> reopen = {};
    };
    // `warn` gets what people should know of a device that failed, from the thread that translates.
    Fleet(std::vector<Member> members, std::function<void(const std::string& message)> warn);

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
    const Translator& translator_of(std::size_t member) const;
    // False where it was done before, or cannot be.
    bool open_again(std::size_t member) const;

    const std::vector<Member> members_;
    const std::function<void(const std::string&)> warn_;
    mutable std::mutex mutex_;  // of what follows
    mutable std::vector<Share> shares_;
    mutable std::vector<const Translator*> translators_;  // of the members: the first, or the one opened again
    mutable std::vector<bool> opened_again_;
};

}  // namespace headscope

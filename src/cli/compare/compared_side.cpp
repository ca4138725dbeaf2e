#include "cli/compare/compared_side.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

#include "cli/command.h"
#include "infer/fresh_device.h"
#include "support/check.h"

namespace headscope {

namespace {

void warn(const std::string& message) {
    log_line("headscope: " + message);
}

}  // namespace

ComparedSide::ComparedSide(const std::string& id, const std::string& model, const TranslationFlags& flags)
    : device_(id, flags.common.precision, {model}, flags.common.open, warn),
      options_(translation_options(flags, {}, device_.arithmetic().compute)),
      name_(device_.info().id +
            (flags.common.precision == Precision::F32 ? "" : std::string(" in ") + name_of(flags.common.precision))) {}

void ComparedSide::translate(const std::vector<std::string>& lines) {
    device_.load();
    device_.run([&](Backend&, const Translator& translator) { translate(translator, lines); });
}

void ComparedSide::translate(const Translator& translator, const std::vector<std::string>& lines) {
    if (!lines.empty()) {
        static_cast<void>(translator.translate({lines.front()}, options_));  // compiles the kernels
    }
    const auto begin = std::chrono::steady_clock::now();
    sentences_ = translator.translate(lines, options_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double tokens = 0.0;
    for (const TranslatedSentence& sentence : sentences_) {
        tokens += static_cast<double>(sentence.target_ids.size());
    }
    tokens_a_second_ = seconds > 0.0 ? tokens / seconds : 0.0;
}

ComparedSide::Found ComparedSide::compare_with(ComparedSide& reference, std::size_t look) {
    Found found;
    const auto work = [&] {
        found.agreement = compare_translations({view(), reference.view()});
        found.inner = look_inside(reference, look);
    };
    // Either of the two devices may be the one that was lost.
    const auto reopen = [&] {
        device_.reopen();
        reference.device_.reopen();
    };
    SecondChance chance;
    with_fresh_device(chance, work, reopen, [&](const std::string& what) {
        warn(fmt::format("{} and {} were reopened and are compared again: {}", name_, reference.name_, what));
    });
    return found;
}

std::string ComparedSide::failure() const {
    if (!device_.loaded()) {
        return "the device was lost and could not be reopened";
    }
    try {
        device_.backend().synchronize();  // fails if the device is lost
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

// Of the first sentences that the reference translated.
InnerDifferences ComparedSide::look_inside(const ComparedSide& reference, std::size_t most) const {
    InnerDifferences found;
    for (const TranslatedSentence& sentence : reference.sentences_) {
        if (found.sentences == most) {
            break;
        }
        if (sentence.source_ids.empty() || !sentence.problem.empty()) {
            continue;
        }
        std::vector<std::int32_t> target = sentence.target_ids;
        if (!target.empty()) {
            target.pop_back();  // nothing comes after it
        }
        found.widen(inner_differences({inside(), reference.inside()}, sentence.source_ids, target));
    }
    return found;
}

}  // namespace headscope

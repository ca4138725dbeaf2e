#include "cli/compare/compared_side.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "cli/command.h"
#include "infer/filler.h"
#include "infer/fresh_device.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

void warn(const std::string& message) {
    log_line("headscope: " + message);
}

// What the model sees of a line and its output.
Example example_of(Architecture family, const TextResult& sentence) {
    std::vector<std::int32_t> read = sentence.target_ids;
    if (!read.empty()) {
        read.pop_back();  // nothing comes after it
    }
    if (traits(family).reads_source) {
        return {.source = sentence.source_ids, .target = std::move(read)};
    }
    Example example{.target = sentence.source_ids};
    if (traits(family).continues_text) {
        example.target.insert(example.target.end(), read.begin(), read.end());
    }
    example.labels = example.target;
    return example;
}

}  // namespace

ComparedSide::ComparedSide(const std::string& id, const std::string& model, const TranslationFlags& flags)
    : device_(id, flags.common.precision, {model}, flags.common.open, warn),
      options_(translation_options(flags, {}, device_.arithmetic().compute)),
      name_(device_.info().id +
            (flags.common.precision == Precision::F32 ? "" : std::string(" in ") + name_of(flags.common.precision))) {}

void ComparedSide::translate(const std::vector<std::string>& lines) {
    device_.load();
    require_left_to_right(translator().model().config);  // differences are explained by the next piece
    double seconds = 0.0;
    device_.run([&](Backend&, const LoadedModel&) {
        if (!lines.empty()) {
            static_cast<void>(output({lines.front()}));  // compiles the kernels
        }
        const auto begin = std::chrono::steady_clock::now();
        sentences_ = output(lines);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
    double tokens = 0.0;
    for (const TextResult& sentence : sentences_) {
        tokens += static_cast<double>(sentence.target_ids.size());
    }
    tokens_a_second_ = seconds > 0.0 ? tokens / seconds : 0.0;
}

std::vector<TextResult> ComparedSide::output(const std::vector<std::string>& lines) const {
    if (!traits(translator().model().config.architecture).fills_masks) {
        return translator().translate(lines, options_);
    }
    const Filler filler(device_.backend(), translator(), options_.compute);
    std::vector<TextResult> sentences;
    for (const std::string& line : lines) {
        TextResult& sentence = sentences.emplace_back();
        try {
            sentence.source_ids = filler.encode(line, kMaskText).ids;
        } catch (const Error& error) {
            sentence.problem = error.what();
            continue;
        }
        FilledText filled = filler.fill(sentence.source_ids, 1, false);
        for (const MaskedPosition& mask : filled.masks) {
            sentence.target_ids.push_back(mask.candidates.front().id);
            sentence.log_probability += mask.candidates.front().log_probability;
        }
        sentence.text = std::move(filled.text);
    }
    return sentences;
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
    const Architecture family = translator().model().config.architecture;
    InnerDifferences found;
    for (const TextResult& sentence : reference.sentences_) {
        if (found.sentences == most) {
            break;
        }
        if (sentence.source_ids.empty() || !sentence.problem.empty()) {
            continue;
        }
        found.widen(inner_differences({inside(), reference.inside()}, example_of(family, sentence)));
    }
    return found;
}

}  // namespace headscope

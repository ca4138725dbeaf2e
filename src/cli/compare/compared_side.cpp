#include "cli/compare/compared_side.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

#include "cli/opened_engine.h"
#include "engine/text_translator.h"
#include "infer/filler.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

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

// Why the device no longer works; null if it does.
std::exception_ptr failure_of(Backend& backend) {
    try {
        backend.synchronize();
        return nullptr;
    } catch (...) {
        return std::current_exception();
    }
}

}  // namespace

ComparedSide::ComparedSide(const std::string& id, const std::string& model, const TranslationFlags& flags)
    : path_(model),
      engine_({.devices = {id}, .precision = flags.common.precision, .open = flags.common.open}, log_of_command),
      options_(translation_options(flags, {}, engine_.devices().front().arithmetic.compute)),
      name_(engine_.devices().front().info.id +
            (flags.common.precision == Precision::F32 ? "" : std::string(" in ") + name_of(flags.common.precision))) {}

void ComparedSide::translate(const std::vector<std::string>& lines) {
    model_ = engine_.open({path_});
    require_text_input(model(), "headscope compare");
    require_left_to_right(model().config);  // differences are explained by the next piece
    if (traits(model().config.architecture).reads_source) {
        options_.split_longer_than = 0;  // whole lines are compared
    }
    if (!lines.empty()) {
        static_cast<void>(output({lines.front()}));  // compiles the kernels
    }
    const auto begin = std::chrono::steady_clock::now();
    sentences_ = output(lines);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double tokens = 0.0;
    for (const TextResult& sentence : sentences_) {
        tokens += static_cast<double>(sentence.target_ids.size());
    }
    tokens_a_second_ = seconds > 0.0 ? tokens / seconds : 0.0;
}

std::vector<TextResult> ComparedSide::output(const std::vector<std::string>& lines) {
    if (!traits(model().config.architecture).fills_masks) {
        return TextTranslator(engine_, model_).translate(numbered(lines), options_);
    }
    std::vector<TextResult> sentences;
    engine_.run(model_, [&](const Place& place) { sentences = filled(lines, place); });
    return sentences;
}

std::vector<TextResult> ComparedSide::filled(const std::vector<std::string>& lines, const Place& place) const {
    const Filler filler(place.backend, place.model, place.compute);
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

// The device of either side may be lost: the other's work then begins again, too. Each engine hears only of its own.
ComparedSide::Found ComparedSide::compare_with(ComparedSide& reference, std::size_t look) {
    Found found;
    const auto compare = [&](const Place& own, const Place& other) {
        const TranslatingSide view{own.backend, own.model, sentences_, own.compute};
        found.agreement =
            compare_translations({view, {other.backend, other.model, reference.sentences_, other.compute}});
        const std::array<InnerSide, 2> inside{{{own.backend, *own.model.models().front(), own.compute},
                                               {other.backend, *other.model.models().front(), other.compute}}};
        found.inner = {};
        for (const TextResult& sentence : reference.sentences_) {  // the first that the reference translated
            if (found.inner.sentences < look && !sentence.source_ids.empty() && sentence.problem.empty()) {
                found.inner.widen(inner_differences(inside, example_of(model().config.architecture, sentence)));
            }
        }
    };
    std::exception_ptr of_reference;
    engine_.run(model_, [&](const Place& own) {
        std::exception_ptr of_own;
        of_reference = nullptr;
        try {
            reference.engine_.run(reference.model_, [&](const Place& other) {
                try {
                    compare(own, other);
                } catch (...) {
                    of_own = failure_of(own.backend);
                    if (of_own == nullptr) {
                        throw;
                    }
                }
            });
        } catch (...) {
            of_reference = std::current_exception();
        }
        if (of_own != nullptr) {
            std::rethrow_exception(of_own);
        }
    });
    if (of_reference != nullptr) {
        reference.failure_ = what_of(of_reference);
        std::rethrow_exception(of_reference);
    }
    return found;
}

}  // namespace headscope

#include "text/metaspace.h"

#include <string>
#include <utility>
#include <vector>

#include "text/segmenter.h"

namespace headscope {

namespace {

using Field = JsonField;

// Of a "Metaspace". Older files have "add_prefix_space" instead.
std::string prepend_scheme(const Field& marks) {
    return marks["prepend_scheme"].get<std::string>(marks["add_prefix_space"].get(true) ? "always" : "never");
}

// "Metaspace", after steps that split the text. Without it, nothing adds marks or splits at them.
void read_words(const Field& field, MarkedWordsOptions& options) {
    PreTokenizer steps = parse_pre_tokenizer(field);
    options.splits = std::move(steps.splits);
    options.mark_spaces = steps.last.has_value();
    if (!steps.last) {
        options.added_marks = AddedMarks::None;
        options.split_at_marks = false;
        return;
    }
    const Field& marks = *steps.last;
    marks.require(marks.type() == "Metaspace", "is not supported with this model: only \"Metaspace\" is");
    marks["replacement"].require(marks["replacement"].get<std::string>("") == kWordStart,
                                 "is not supported: only \"\u2581\" is");
    const auto scheme = prepend_scheme(marks);
    marks["prepend_scheme"].require(scheme == "always" || scheme == "first" || scheme == "never",
                                    "must be always, first or never");
    options.added_marks = scheme == "always"  ? AddedMarks::All
                          : scheme == "first" ? AddedMarks::First
                                              : AddedMarks::None;
    options.split_at_marks = marks["split"].get(true);
}

// "Metaspace", or a "Sequence" of "Replace", "ByteFallback", "Fuse" and "Strip" that does the same.
void read_joining(const Field& field, MarkedWordsOptions& options) {
    const std::string supported = "is not supported: only \"Metaspace\", or what stands for it, is";
    if (field.type() == "Metaspace") {
        options.drop_first_marks = prepend_scheme(field) != "never";
        return;
    }
    field.require(field.type() == "Sequence", supported);
    options.drop_first_marks = false;
    std::string types;
    for (const Field& step : field["decoders"].elements()) {
        types += step.type() + " ";
        options.join_bytes = options.join_bytes || step.type() == "ByteFallback";
        if (step.type() == "Replace") {
            step.require(step["pattern"]["String"].get<std::string>("") == kWordStart &&
                             step["content"].get<std::string>("") == " ",
                         supported);
        } else if (step.type() == "Strip") {
            step.require(
                step["content"].get<std::string>("") == " " && step["start"].get(0) == 1 && step["stop"].get(0) == 0,
                supported);
            options.drop_first_space = true;
        }
    }
    field.require(types == "Replace " || types == "Replace ByteFallback " || types == "Replace ByteFallback Fuse " ||
                      types == "Replace Fuse Strip " || types == "Replace ByteFallback Fuse Strip ",
                  supported);
}

}  // namespace

MarkedWordsOptions parse_metaspace(const Field& file) {
    MarkedWordsOptions options{.normalizer = parse_normalizer(file["normalizer"]),
                               .byte_fallback = file["model"]["byte_fallback"].get(false)};
    read_words(file["pre_tokenizer"], options);
    read_joining(file["decoder"], options);
    return options;
}

}  // namespace headscope

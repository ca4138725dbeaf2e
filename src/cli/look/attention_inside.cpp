#include "cli/look/attention_inside.h"

#include <utility>

#include "cli/look/inside_report.h"
#include "cli/opened_engine.h"
#include "explore/explorer.h"
#include "explore/inner_json.h"
#include "figures/inside_maps.h"
#include "figures/lens_drawing.h"
#include "io/input_files.h"
#include "model/family.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// With a target: the given one, or the model's own.
ExploreRequest request_for(OpenedEngine& opened, const AttentionOptions& options) {
    const FamilyTraits& family = traits(opened.directory().config.architecture);
    ExploreRequest request{
        .source = options.request.text, .chat = options.request.chat, .search = options.request.choices};
    if (!options.request.target.empty()) {
        request.target = options.request.target;
        return request;
    }
    if (family.continues_text && options.request.max_tokens == 0) {
        if (!options.patch.empty()) {
            throw UsageError("--patch needs --max-tokens: without a continuation no probability can change");
        }
        request.target = "";  // reads the prompt alone
        return request;
    }
    if (family.fills_masks && options.lens) {
        return request;
    }
    ExploreRequest search = request;
    if (family.continues_text) {
        search.search.max_extra = options.request.max_tokens;
    }
    const Exploration found = opened.ask(LookRequest{search});
    if (!found.problem.empty()) {
        throw Error(found.problem);
    }
    return with_target(std::move(request), found);
}

struct DrawnInside {
    const AttentionOptions& options;
    const Look& look() const { return options.picture.figure.look; }

    Drawing operator()(const Saliency& found) const {
        return draw_saliency(found, {.join_words = !options.pieces}, look());
    }
    Drawing operator()(const Lens& found) const { return draw_lens(found, look()); }
    Drawing operator()(const PatchEffects& found) const { return draw_patching(found, look()); }
};

template <class Result>
std::string written(const Result& result, const AttentionOptions& options, const ShownFormat& format) {
    if (!result.problem.empty()) {
        throw Error(result.problem);
    }
    return format.picture != nullptr ? write_picture(DrawnInside{options}(result), options.picture, *format.picture)
           : format.json             ? to_json(result)
                                     : text_of(result);
}

}  // namespace

bool looks_inside(const AttentionOptions& options) {
    return options.saliency || options.lens || !options.patch.empty();
}

std::string look_inside(const AttentionOptions& options, const ShownFormat& format) {
    const std::string directory = options.common.model_path();
    InputFiles inputs(options.common.open.settings);
    inputs.add(directory);
    inputs.refuse(options.output);
    OpenedEngine opened(options.common, {directory});
    check_family_options(options, opened.directory().config.architecture);
    ExploreRequest request = request_for(opened, options);
    if (options.saliency) {
        return written(opened.ask(SaliencyRequest{std::move(request), options.steps}), options, format);
    }
    if (options.lens) {
        return written(opened.ask(LensRequest{std::move(request)}), options, format);
    }
    Patching patching{.text = std::move(request), .from = options.from, .sites = options.patch};
    for (const std::int64_t position : options.request.selection.positions) {
        patching.positions.push_back(position - 1);
    }
    return written(opened.ask(PatchRequest{std::move(patching)}), options, format);
}

}  // namespace headscope

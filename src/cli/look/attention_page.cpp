#include "cli/look/attention_page.h"

#include "answers/page_neurons.h"
#include "cli/opened_engine.h"
#include "explore/explorer.h"
#include "figures/heads_page.h"
#include "io/input_files.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// The given target is read; else the model writes one, unless it only reads a prompt.
ExploreRequest request_for(const AttentionOptions& options, const ModelConfig& config) {
    const FamilyTraits& family = traits(config.architecture);
    ExploreRequest request{.source = options.request.text,
                           .chat = options.request.chat,
                           .search = options.request.choices,
                           .source_pads = options.request.pads};
    if (!options.request.target.empty()) {
        request.target = options.request.target;
    } else if (options.request.pads > 0) {
        throw UsageError("--pads with --page needs --target: the model translates without pads");
    } else if (family.continues_text && options.request.max_tokens == 0) {
        request.target = "";
    } else if (family.continues_text) {
        request.search.max_extra = options.request.max_tokens;
    }
    return request;
}

}  // namespace

std::string look_at_page(const AttentionOptions& options) {
    const std::string directory = options.common.model_path();
    InputFiles inputs(options.common.open.settings);
    inputs.add(directory);
    inputs.refuse(options.output);
    OpenedEngine opened(options.common, {directory});
    const ModelConfig& config = opened.directory().config;
    require_text_input(opened.directory(), "headscope attention --page");
    check_family_options(options, config.architecture);
    if (kinds_of(config).empty()) {
        throw Error(kNoAttention);
    }
    const ExploreRequest request = request_for(options, config);
    const Exploration found = opened.ask(LookRequest{request});
    if (!found.problem.empty()) {
        throw Error(found.problem);
    }
    HeadsPageOptions page{.title = options.picture.title,
                          .caption = options.picture.caption,
                          .palette = options.picture.figure.palette,
                          .join_words = !options.pieces};
    PageNeurons inside;
    opened.run([&](const Place& place) {
        inside = page_neurons(place, with_target(request, found), found.record, page.neuron_bytes);
    });
    page.notes = inside.notes;
    return heads_page(found.record, inside.neurons, page);
}

}  // namespace headscope

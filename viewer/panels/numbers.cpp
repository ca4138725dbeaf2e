#include "viewer/panels/numbers.h"

#include <algorithm>

#include "model/family.h"
#include "observe/record_json.h"
#include "viewer/panels/parts.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

const char* name_of(EditKind edit) {
    return std::ranges::find(kEditNames, edit, &decltype(kEditNames)::value_type::second)->first;
}

// Each output token with its alternatives.
json steps_json(const Exploration& shown) {
    json steps = json::array();
    for (std::size_t at = 0; at < shown.steps.size(); ++at) {
        const ExploredStep& step = shown.steps[at];
        json candidates = json::array();
        for (const NextCandidate& candidate : step.candidates) {
            candidates.push_back(
                {{"token", candidate.token}, {"text", candidate.text}, {"log_probability", candidate.log_probability}});
        }
        steps.push_back({{"token", step.token},
                         {"text", shown.record.target_out.at(at).text},
                         {"log_probability", step.log_probability},
                         {"rank", step.rank},
                         {"candidates", candidates}});
    }
    return steps;
}

}  // namespace

json site_json(const AttentionSite& site, int head) {
    return {{"kind", headscope::name_of(site.kind)}, {"layer", site.layer + 1}, {"head", head}};
}

json edits_json(const std::vector<AttentionEdit>& edits) {
    json list = json::array();
    for (const AttentionEdit& edit : edits) {
        json item = site_json(edit.site, edit.head);
        item["edit"] = name_of(edit.kind);
        if (edit.query >= 0) {
            item["query"] = edit.query;
        }
        if (edit.kind == EditKind::Pin) {
            item["key"] = edit.key;
        }
        list.push_back(item);
    }
    return list;
}

json output_json(const Exploration& shown) {
    const FamilyTraits& family = traits(shown.record.family);
    json out{{family.given_key, shown.source}, {family.predicted_key, shown.translation},
             {"given", shown.forced},          {"finished", shown.finished},
             {"score", shown.score},           {"log_probability", shown.log_probability},
             {"steps", steps_json(shown)}};
    if (shown.prompt > 0) {
        out["prompt_tokens"] = shown.prompt;
    }
    return out;
}

json model_json(const Opened& model) {
    json out{{"name", model.name},
             {"device", model.device},
             {"arithmetic", model.arithmetic},
             {"parameters", model.parameters}};
    if (model.checkpoint.has_value()) {
        out["checkpoint"] = *model.checkpoint;
    }
    return out;
}

json figure_json(const Scene& scene, const AttentionRecord& record) {
    return json::parse(to_json(select_attention(record, selection_of(scene, record))));
}

json figure_numbers(const Scene& scene) {
    return figure_json(scene, scene.main.shown->record);
}

}  // namespace headscope::viewer

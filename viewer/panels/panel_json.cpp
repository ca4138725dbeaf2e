// The numbers behind each panel, for other programs.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "eval/training_log.h"
#include "figures/neuron_drawing.h"
#include "model/description.h"
#include "model/family.h"
#include "observe/record_json.h"
#include "support/check.h"
#include "viewer/panels/panels.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

json parsed(const std::string& text) {
    return json::parse(text);
}

const char* name_of(BeamNode::Fate fate) {
    switch (fate) {
        case BeamNode::Fate::Open: return "open";
        case BeamNode::Fate::Finished: return "finished";
        case BeamNode::Fate::Fell: return "fell";
        case BeamNode::Fate::Stopped: return "stopped";
        case BeamNode::Fate::Cut: return "cut";
    }
    return "";
}

const char* name_of(EditKind edit) {
    switch (edit) {
        case EditKind::Off: return "off";
        case EditKind::Uniform: return "uniform";
        case EditKind::Pin: return "pin";
    }
    return "";
}

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
    return parsed(to_json(select_attention(record, selection_of(scene, record))));
}

json matrix_json(const Scene& scene) {
    json out = figure_json(scene, matrix_record(scene, scene.main.shown->record));
    if (scene.state.matrix != MatrixView::Head) {
        out["raw"] = figure_json(scene, scene.main.shown->record);
    }
    if (const std::optional<NeuronRow> row = neuron_row(scene); row.has_value()) {
        const NeuronView& neuron = *shown_neuron(scene);
        const auto numbers = [&](const std::vector<float>& all, std::int64_t at) {
            const auto first = all.begin() + at * neuron.d_k;
            return json(std::vector<float>(first, first + neuron.d_k));
        };
        json view = site_json(neuron.site, neuron.head);
        view["scale"] = neuron.scale;
        view["query"] = row->query;
        view["q"] = numbers(neuron.q, row->query);
        for (int key = 0; key < neuron.keys; ++key) {
            view["keys"].push_back({{"k", numbers(neuron.k, key)},
                                    {"sum", dot_product(neuron, row->query, key)},
                                    {"weight", row->weights[static_cast<std::size_t>(key)]}});
        }
        out["neuron"] = view;
    }
    return out;
}

json time_json(const Exploration& shown) {
    json out = output_json(shown);
    out["beam"] = json::array();
    for (const BeamNode& node : shown.beam) {
        out["beam"].push_back({{"parent", node.parent},
                               {"step", node.step},
                               {"token", node.token},
                               {"text", node.text},
                               {"log_probability", node.log_probability},
                               {"score", node.score},
                               {"fate", name_of(node.fate)},
                               {"best", node.best},
                               {"reason", node.reason}});
    }
    return out;
}

json surgery_json(const Scene& scene) {
    const Side& side = scene.main;
    json out{{"edits", edits_json(scene.state.edits)}};
    if (original_answered(scene)) {
        out["original"] = output_json(*side.original);
    }
    if (!scene.state.edits.empty() && edits_answered(scene)) {
        out["edited"] = output_json(*side.shown);
        out["without_effect"] = edits_json(side.shown->without_effect);
    }
    if (const Importance* measured = shown_importance(scene); measured != nullptr && measured->problem.empty()) {
        json& importance = out["importance"];
        importance = {
            {"log_probability", measured->log_probability}, {"finished", measured->finished}, {"heads", json::array()}};
        for (const HeadImportance& head : measured->heads) {
            json item = site_json(head.site, head.head);
            item["log_probability"] = head.log_probability;
            item["loss"] = head.loss;
            importance["heads"].push_back(item);
        }
    }
    return out;
}

// From the inputs up: embeddings, positions, layers, norms of the stacks, output.
json blocks_json(const ModelConfig& config) {
    std::vector<Block> blocks = describe(config).blocks;
    std::stable_partition(blocks.begin(), blocks.end(), [](const Block& block) { return block.layer > 0; });
    std::stable_partition(blocks.begin(), blocks.end(), [](const Block& b) {
        return b.kind == BlockKind::Positions || b.kind == BlockKind::RelativePositions;
    });
    std::stable_partition(blocks.begin(), blocks.end(), [](const Block& b) { return b.kind == BlockKind::Embedding; });
    json list = json::array();
    for (const Block& block : blocks) {
        if (block.parameters > 0) {
            list.push_back({{"prefix", block.prefix}, {"parameters", block.parameters}});
        }
    }
    return list;
}

json weights_json(const std::vector<WeightStatistics>& weights) {
    json list = json::array();
    for (const WeightStatistics& one : weights) {
        json shape = json::array();
        for (int dim = 0; dim < one.shape.rank(); ++dim) {
            shape.push_back(one.shape[dim]);
        }
        list.push_back({{"name", one.name},
                        {"shape", shape},
                        {"mean", one.mean},
                        {"deviation", one.deviation},
                        {"least", one.least},
                        {"greatest", one.greatest},
                        {"not_finite", one.not_finite},
                        {"limit", one.limit},
                        {"counts", one.counts}});
    }
    return list;
}

json whole_model_json(const Scene& scene) {
    const Side& side = scene.main;
    if (!side.model.has_value()) {
        throw Error(nothing_there(side));
    }
    json out = model_json(*side.model);
    out["config"] = to_json(side.model->config);
    out["blocks"] = blocks_json(side.model->config);
    if (const std::vector<WeightStatistics>* weights = shown_weights(scene)) {
        out["block"] = scene.state.block;
        out["weights"] = weights_json(*weights);
    }
    return out;
}

json side_json(const Scene& scene, const Side& side) {
    if (const std::string nothing = nothing_there(side); !nothing.empty()) {
        return {{"problem", nothing}};
    }
    json out = output_json(*side.shown);
    out["model"] = model_json(*side.model);
    try {
        out["attention"] = figure_json(scene, side.shown->record);
    } catch (const Error& error) {  // this model has no such layer or head
        out["problem"] = error.what();
    }
    return out;
}

json comparison_json(const Scene& scene) {
    json out{{"left", side_json(scene, scene.main)}};
    if (!scene.other.has_value()) {
        return out;
    }
    out["right"] = side_json(scene, *scene.other);
    if (nothing_there(*scene.other).empty()) {
        try {
            out["left_minus_right"] = figure_json(scene, compared_record(scene));
        } catch (const Error& error) {
            out["problem"] = error.what();
        }
    }
    return out;
}

json curve_json(const std::vector<LossPoint>& points) {
    json curve = json::array();
    for (const LossPoint& point : points) {
        curve.push_back({{"step", point.step}, {"loss", point.loss}, {"nll", point.nll}});
    }
    return curve;
}

json spread_json(const SeedSpread& spread) {
    return {{"mean", spread.mean}, {"deviation", spread.deviation ? json(*spread.deviation) : json()}};
}

json experiment_json(const ExperimentTable& table) {
    json rows = json::array();
    for (const ExperimentRow& row : table.rows) {
        const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(); };
        rows.push_back({{"row", row.name},
                        {"varied", row.varied},
                        {"seeds", row.seeds},
                        {"unfinished", row.unfinished},
                        {"paper", {{"perplexity", number(row.paper.perplexity)}, {"bleu", number(row.paper.bleu)}}}});
        if (row.ours) {
            rows.back()["ours"] = {{"perplexity", spread_json(row.ours->perplexity)},
                                   {"bleu", spread_json(row.ours->bleu)},
                                   {"parameters", row.ours->parameters}};
        }
    }
    return rows;
}

json training_json(const Scene& scene) {
    if (scene.run == nullptr) {
        throw Error("this is a model, not a training: there are no checkpoints to save");
    }
    json out{{"checkpoints", scene.run->checkpoints},
             {"training", curve_json(scene.run->training)},
             {"validation", curve_json(scene.run->validation)}};
    if (scene.experiment != nullptr) {
        out["experiment"] = experiment_json(*scene.experiment);
    }
    if (scene.main.model.has_value() && scene.main.model->checkpoint.has_value()) {
        out["open"] = *scene.main.model->checkpoint;
    }
    if (nothing_there(scene.main).empty() && missing_attention(scene, scene.main).empty()) {
        out["attention"] = figure_json(scene, scene.main.shown->record);
    }
    return out;
}

json tree_json(const Scene& scene) {
    const WrittenTree written = written_tree(scene);
    if (!written.problem.empty()) {
        throw Error("there is no tree to save: " + written.problem);
    }
    json out = output_json(*scene.main.shown);
    out["tree"] = to_line(written.restored.tree);
    out["repaired"] = written.restored.repairs.any();
    return out;
}

json numbers_of(const Scene& scene, PanelId panel) {
    const Side& side = scene.main;
    if (panel == PanelId::Model) {
        return whole_model_json(scene);
    }
    if (panel == PanelId::Training) {
        return training_json(scene);
    }
    if (const std::string nothing = nothing_there(side); !nothing.empty()) {
        throw Error("there is nothing to save: " + nothing);
    }
    if (shows_attention_alone(panel)) {
        if (const std::string missing = missing_attention(scene, side); !missing.empty()) {
            throw Error("there is nothing to save: " + missing);
        }
    }
    switch (panel) {
        case PanelId::Matrix: return matrix_json(scene);
        case PanelId::Time: return time_json(*side.shown);
        case PanelId::Surgery: return surgery_json(scene);
        case PanelId::Compare: return comparison_json(scene);
        case PanelId::Tree: return tree_json(scene);
        case PanelId::Heads: return parsed(to_json(side.shown->record));
        default: return figure_json(scene, side.shown->record);
    }
}

}  // namespace

std::string panel_json(const Scene& scene, PanelId panel) {
    // A sentence may hold invalid UTF-8; JSON must not.
    return numbers_of(scene, panel).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace headscope::viewer

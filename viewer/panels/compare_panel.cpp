// Compares two texts, or two models, checkpoints or devices on one: their figures side by side, and the difference.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "figures/heat_map.h"
#include "observe/derived_records.h"
#include "paint/compose.h"
#include "support/check.h"
#include "text/segmenter.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

// Smaller differences come from the order in which devices add.
constexpr double kRounding = 1e-5;

std::string name_of(const Side& side) {
    const std::string step =
        side.model->checkpoint.has_value() ? fmt::format(", step {}", *side.model->checkpoint) : "";
    return fmt::format("{} on {}{}", side.model->name, side.model->device, step);
}

Drawing one_side(const Scene& scene, const Side& side, const PanelOptions& options) {
    PanelOptions narrow = options;
    narrow.width = 0.48 * options.width;
    if (const std::string nothing = nothing_there(side); !nothing.empty()) {
        return draw_remark(nothing, narrow);
    }
    const std::string read =
        scene.state.second.empty() ? "" : fmt::format("\u201C{}\u201D \u2192 ", side.shown->source);
    const std::string result = fmt::format("{}\u201C{}\u201D, log probability {:.4f}", read, output_text(*side.shown),
                                           side.shown->log_probability);
    std::vector<Drawing> parts{draw_heading(name_of(side), narrow), draw_remark(result, narrow)};
    try {
        parts.push_back(draw_attention(scene, side, narrow));
    } catch (const Error& error) {  // this model has no such layer or head
        parts.push_back(draw_remark(error.what(), narrow));
    }
    return stacked(std::move(parts), 0.0, options.ink);
}

// Drops the translation for encoder attention, which can be compared whatever the translations are.
AttentionRecord comparable(const Side& side, AttentionKind kind) {
    AttentionRecord record = side.shown->record;
    std::erase_if(record.sites, [kind](const SiteWeights& weights) { return weights.site.kind != kind; });
    if (kind == AttentionKind::EncoderSelf) {
        record.target_in.clear();
        record.target_out.clear();
    }
    return record;
}

// Two texts of as many tokens are compared place by place: "cat|dog". difference() refuses others.
void pair_tokens(std::vector<RecordedToken>& left, std::vector<RecordedToken>& right) {
    if (left.size() != right.size()) {
        return;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (const std::string& other = right[i].text; other != left[i].text) {
            left[i].text += '|';
            left[i].text += other.substr(other.starts_with(kWordStart) ? kWordStart.size() : 0);
        }
    }
    right = left;
}

// Left minus right, for the attention kind shown. Error if the two sides cannot be compared.
AttentionRecord compared_record(const Scene& scene) {
    const AttentionKind kind = shown_kind(scene);
    AttentionRecord left = comparable(scene.main, kind);
    AttentionRecord right = comparable(*scene.other, kind);
    if (!scene.state.second.empty()) {
        pair_tokens(left.source, right.source);
        pair_tokens(left.target_in, right.target_in);
        pair_tokens(left.target_out, right.target_out);
    }
    return difference(left, right);
}

double largest(const AttentionRecord& difference) {
    double most = 0.0;
    for (const SiteWeights& weights : difference.sites) {
        for (const float value : weights.values) {
            most = std::max(most, std::abs(static_cast<double>(value)));
        }
    }
    return most;
}

std::string verdict(double most) {
    if (most == 0.0) {
        return "Left minus right: no difference in any layer and head";
    }
    return fmt::format("Left minus right: at most {:.2g} over all layers and heads{}", most,
                       most < kRounding ? ", which is the rounding of sums" : "");
}

Drawing draw_difference(const Scene& scene, const PanelOptions& options) {
    try {
        const AttentionRecord record = compared_record(scene);
        const SelectedAttention content = select_attention(record, selection_of(scene, record));
        const HeatMapOptions map{.scale = Scale::Diverging, .look = look_of(options)};
        return stacked(
            {draw_heading(verdict(largest(record)), options), draw_heat_map(content, content.heads.front(), map)}, 0.0,
            options.ink);
    } catch (const Error& error) {
        return draw_remark(error.what(), options);
    }
}

Drawing draw_comparison(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    if (!scene.other.has_value()) {
        return stacked(
            {one_side(scene, scene.main, options),
             draw_remark("To the right: choose a text, a model, a training or a device to compare with.", options)},
            options.text_size, options.ink);
    }
    std::vector<Drawing> parts{
        side_by_side({one_side(scene, scene.main, options), one_side(scene, *scene.other, options)},
                     2.0 * options.text_size, options.ink)};
    const auto attends = [&](const Side& side) {
        return nothing_there(side).empty() && missing_attention(scene, side).empty();
    };
    if (attends(scene.main) && attends(*scene.other)) {
        parts.push_back(draw_difference(scene, options));
    }
    return stacked(std::move(parts), options.text_size, options.ink);
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

json compare_numbers(const Scene& scene) {
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

void start_comparison(Controls& ui, const std::string& model, const std::string& device, const std::string& step) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(step.data(), step.data() + step.size(), number);
    if (!step.empty() && (problem != std::errc() || end != step.data() + step.size())) {
        ui.session.report_error("the step must be a number such as 2000, got \"" + step + "\"");
        return;
    }
    ui.state().second.clear();  // both read the same text
    ui.session.compare_with(model.empty() ? ui.session.model_path() : model, device,
                            step.empty() ? std::nullopt : std::optional(number));
}

void compare_controls(Controls& ui) {
    if (!attentions_of(ui.scene()).empty()) {
        attention_choice(ui);
    }
    const bool pictures = reading_of(ui.scene()).pictures;
    ui.heading(pictures ? "With another picture" : "With another text");
    ui.edit("second", pictures ? "the name of its file" : "of as many words, for the difference", ui.state().second);
    ui.session.compare_texts();
    ui.heading("Or another model");
    const std::string& model = ui.field("compare.model", "name or path (empty: the same)");
    const std::string& device = ui.device_choice("compare.device");
    const std::string& step = ui.field("compare.step", "step of a training's checkpoint");
    if (ui.button("compare.start", "Compare")) {
        start_comparison(ui, model, device, step);
    }
    ui.beside();
    if (ui.button("compare.end", "Stop comparing", "", ui.scene().other.has_value())) {
        ui.state().second.clear();
        ui.session.end_comparison();
    }
    ui.remark("The difference map is left minus right, weight by weight, where both read the same tokens.");
}

}  // namespace

const Panel kComparePanel{.id = PanelId::Compare,
                          .title = "Compare",
                          .unfit = no_single_pass,
                          .draw = draw_comparison,
                          .numbers = compare_numbers,
                          .controls = compare_controls};

}  // namespace headscope::viewer

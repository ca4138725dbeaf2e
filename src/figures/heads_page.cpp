#include "figures/heads_page.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figures/page_files.h"
#include "figures/page_weights.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "observe/selection.h"
#include "observe/words.h"
#include "paint/ink.h"
#include "support/base64.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/xml.h"

namespace headscope {

namespace {

using nlohmann::ordered_json;

// Samples of the scale from negative to positive.
constexpr int kScaleSteps = 64;
constexpr double kMost16 = 32767.0;

// [label, first token, tokens] of each item.
ordered_json row_json(const std::vector<RecordedToken>& tokens, bool join_words) {
    ordered_json row = ordered_json::array();
    for (const RowItem& item : make_row(tokens, {.join_words = join_words, .show_pads = true})) {
        row.push_back({item.label, item.first, item.count});
    }
    return row;
}

ordered_json text_json(const std::vector<RecordedToken>& tokens) {
    return {{"words", row_json(tokens, true)}, {"pieces", row_json(tokens, false)}};
}

// What the queries and keys of a kind are called: nothing where there is only one text.
std::pair<std::string, std::string> texts_of(const FamilyTraits& family, AttentionKind kind) {
    if (!family.reads_source) {
        return {};
    }
    return {kind == AttentionKind::EncoderSelf ? family.given_key : family.predicted_key,
            kind == AttentionKind::DecoderSelf ? family.predicted_key : family.given_key};
}

ordered_json sites_json(const AttentionRecord& record, AttentionKind kind, const PageWeights& weights) {
    ordered_json layers = ordered_json::array();
    for (const SiteWeights& site : record.sites) {
        if (site.site.kind != kind) {
            continue;
        }
        const bool triangle = is_triangle(site);
        ordered_json heads = ordered_json::array();
        for (std::int64_t head = 0; head < site.heads; ++head) {
            heads.push_back(page_weights(site, head, weights, triangle));
        }
        layers.push_back({{"layer", site.site.layer + 1},
                          {"queries", site.queries},
                          {"keys", site.keys},
                          {"triangle", triangle},
                          {"heads", std::move(heads)}});
    }
    return layers;
}

// The kinds of attention that were recorded.
ordered_json kinds_json(const AttentionRecord& record, const PageWeights& weights) {
    const FamilyTraits& family = traits(record.family);
    ordered_json kinds = ordered_json::array();
    for (const KindTraits& kind : family.kinds) {
        ordered_json layers = sites_json(record, kind.kind, weights);
        if (layers.empty()) {
            continue;
        }
        const auto [queries, keys] = texts_of(family, kind.kind);
        kinds.push_back({{"kind", name_of(kind.kind)},
                         {"name", kind.name},
                         {"meaning", kind.meaning},
                         {"query_name", queries},
                         {"key_name", keys},
                         {"queries", text_json(query_tokens(record, kind.kind))},
                         {"keys", text_json(key_tokens(record, kind.kind))},
                         {"layers", std::move(layers)}});
    }
    return kinds;
}

// As 16-bit multiples of `unit`, which the largest value sets.
ordered_json numbers_json(const std::vector<float>& values) {
    double largest = 0.0;
    for (const float value : values) {
        largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    const double unit = largest > 0.0 ? largest / kMost16 : 1.0;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 * values.size());
    for (const float value : values) {
        const auto number = static_cast<std::uint16_t>(std::lround(static_cast<double>(value) / unit));
        bytes.push_back(static_cast<std::uint8_t>(number & 0xFFU));
        bytes.push_back(static_cast<std::uint8_t>(number >> 8U));
    }
    return {{"unit", unit}, {"values", base64(bytes)}};
}

ordered_json neuron_json(const AttentionRecord& record, const NeuronView& view) {
    HEADSCOPE_CHECK(view.problem.empty(), "the queries and keys are known");
    const SiteWeights& site = find_site(record, view.site.kind, view.site.layer + 1);
    HEADSCOPE_CHECK(view.queries == site.queries && view.keys == site.keys && view.head <= site.heads,
                    "queries and keys are those of a head of the record");
    return {{"kind", name_of(view.site.kind)},
            {"layer", view.site.layer + 1},
            {"head", view.head},
            {"d_k", view.d_k},
            {"scale", view.scale},
            {"causal", view.causal},
            {"pads", view.pads},
            {"edited", view.edited},
            {"by_distance", view.by_distance},
            {"q", numbers_json(view.q)},
            {"k", numbers_json(view.k)}};
}

// The first ones that fit.
std::span<const NeuronView> fitting(const std::vector<NeuronView>& neurons, std::size_t most) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < neurons.size(); ++count) {
        bytes += neuron_bytes(neurons[count]);
        if (bytes > most) {
            break;
        }
    }
    return {neurons.data(), count};
}

std::vector<std::string> notes_of(const AttentionRecord& record, const PageWeights& weights, std::size_t given,
                                  std::size_t shown, const HeadsPageOptions& options) {
    std::vector<std::string> notes = options.notes;
    if (!record.edited.empty()) {
        notes.insert(notes.begin(), edited_note(record.edited));
    }
    if (!record.derived.empty()) {
        notes.push_back(fmt::format("Computed: {}.", record.derived));
    }
    if (weights.form == WeightForm::Coarse) {
        notes.push_back(
            fmt::format("To keep the page small, weights are rounded: by at most {:.3f}, small ones by less.",
                        largest_rounding(weights.form)));
    } else {
        notes.push_back(fmt::format("Weights are rounded by at most {:.5f}.", largest_rounding(weights.form)));
    }
    if (weights.form == WeightForm::Strong) {
        notes.push_back(fmt::format("To keep the page small, weights below {} are left out: {:.1f} % of all attention.",
                                    weights.least, 100.0 * weights.left_out));
    }
    std::int64_t heads = 0;
    for (const SiteWeights& site : record.sites) {
        heads += site.heads;
    }
    if (given > 0 && static_cast<std::int64_t>(shown) < heads) {
        notes.push_back(
            fmt::format("To keep the page small, it has queries and keys of {} of {}.", shown, counted(heads, "head")));
    }
    if (shown > 0) {
        notes.emplace_back("Queries and keys are rounded to 16 bits.");
    }
    return notes;
}

ordered_json colours_json(const Ink& ink, const AttentionRecord& record, Palette palette) {
    std::int64_t most = 0;
    for (const SiteWeights& site : record.sites) {
        most = std::max(most, site.heads);
    }
    ordered_json heads = ordered_json::array();
    ordered_json labels = ordered_json::array();
    for (int head = 1; head <= static_cast<int>(most); ++head) {
        const Colour colour = head_colour(palette, head, ink);
        heads.push_back(to_hex(colour));
        labels.push_back(to_hex(text_colour_on(colour)));
    }
    ordered_json scale = ordered_json::array();
    for (int step = 0; step <= kScaleSteps; ++step) {
        scale.push_back(to_hex(diverging_colour(2.0 * step / kScaleSteps - 1.0, ink)));
    }
    return {{"heads", std::move(heads)}, {"labels", std::move(labels)}, {"scale", std::move(scale)}};
}

// The colours of the figures as variables of a style sheet.
std::string ink_rules(const Ink& ink) {
    return fmt::format(
        "color-scheme: {}; --paper: {}; --text: {}; --faint: {}; --rule: {}; --chosen: {}; --surface: {}; --accent: "
        "{};",
        ink.dark ? "dark" : "light", to_hex(ink.paper), to_hex(ink.text), to_hex(ink.faint), to_hex(ink.rule),
        to_hex(ink.chosen), to_hex(ink.surface), to_hex(ink.accent));
}

// Dark where the reader's system is, unless the page's own switch says otherwise.
std::string themes() {
    const std::string dark = ink_rules(kDarkInk);
    return fmt::format(
        ":root {{ {0} }}\n@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {1} }} }}\n"
        ":root[data-theme=dark] {{ {1} }}\n",
        ink_rules(kLightInk), dark);
}

// In a script element: no "<" may look like markup. In JSON it stands only within strings.
std::string as_script_data(const ordered_json& data) {
    const std::string text = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text) {
        if (c == '<') {
            escaped += "\\u003c";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

}  // namespace

std::size_t neuron_bytes(const NeuronView& view) {
    return (view.q.size() + view.k.size()) * 2 * 4 / 3;
}

std::string heads_page(const AttentionRecord& record, const std::vector<NeuronView>& neurons,
                       const HeadsPageOptions& options) {
    HEADSCOPE_CHECK(!record.sites.empty(), "the record has weights");
    const PageWeights weights = weights_within(record, options.weight_bytes);
    const std::span<const NeuronView> shown = fitting(neurons, options.neuron_bytes);
    const std::string title = options.title.empty() ? "Attention of every head" : options.title;
    constexpr const char* kForms[] = {"fine", "coarse", "strong"};
    ordered_json views = ordered_json::array();
    for (const NeuronView& view : shown) {
        views.push_back(neuron_json(record, view));
    }
    const ordered_json data{
        {"format", "headscope heads page"},
        {"version", 1},
        {"caption", options.caption},
        {"notes", notes_of(record, weights, neurons.size(), shown.size(), options)},
        {"join_words", options.join_words},
        {"form", kForms[static_cast<std::size_t>(weights.form)]},
        {"within", std::max(weights.least, largest_rounding(weights.form))},
        {"colours",
         {{"light", colours_json(kLightInk, record, options.palette)},
          {"dark", colours_json(kDarkInk, record, options.palette)}}},
        {"kinds", kinds_json(record, weights)},
        {"neurons", std::move(views)},
    };
    std::string page;
    std::string_view frame = page_frame();
    const auto fill = [&](std::string_view mark, std::string_view text) {
        const std::size_t at = frame.find(mark);
        HEADSCOPE_CHECK(at != std::string_view::npos, "the page's marks stand in order");
        page.append(frame.substr(0, at)).append(text);
        frame.remove_prefix(at + mark.size());
    };
    fill("<!--title-->", escape_xml(title));
    fill("<!--style-->", themes().append(page_style()));
    fill("<!--title-->", escape_xml(title));
    fill("<!--data-->", as_script_data(data));
    fill("<!--script-->", page_script());
    return page.append(frame);
}

}  // namespace headscope

#include "figures/inside_maps.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "figures/heat_map.h"
#include "support/check.h"

namespace headscope {

namespace {

// A map of numbers, as if of a layer with one head.
SelectedAttention map_of(std::string title, std::string note) {
    SelectedAttention map;
    map.title = std::move(title);
    map.note = std::move(note);
    map.heads = {1};
    map.model_heads = 1;
    return map;
}

RowItem labelled(const std::string& label) {
    return {.label = label, .word = label};
}

// The sums of a prediction's products over the tokens of each column.
void add_sums(std::vector<float>& sums, const std::vector<RowItem>& columns, const double* products) {
    for (const RowItem& column : columns) {
        double sum = 0.0;
        for (std::int64_t token = column.first; token < column.first + column.count; ++token) {
            sum += products[token];
        }
        sums.push_back(static_cast<float>(sum));
    }
}

// "encoder.2.residual_out": layer 3
std::string label_of_site(const std::string& site) {
    const std::size_t dot = site.find('.');
    const std::size_t end = site.find('.', dot + 1);
    const std::string layer = end == std::string::npos ? "" : site.substr(dot + 1, end - dot - 1);
    const bool numbered = !layer.empty() && layer.find_first_not_of("0123456789") == std::string::npos;
    return numbered ? fmt::format("layer {}", std::stoi(layer) + 1) : site;
}

}  // namespace

Drawing draw_saliency(const Saliency& saliency, const RowOptions& rows, const Look& look) {
    SelectedAttention map = map_of(
        "What each piece owes to what was read",
        "Gradient times embedding, in nats of log P: orange speaks for the piece, blue against it. Each row is a piece "
        "that was written, each column what was read before.");
    const std::vector<RowItem> source = make_row(saliency.source, rows);
    std::vector<RowItem> target = make_row(saliency.target, rows);
    const std::vector<double> of_source = saliency.of_source.products();
    const std::vector<double> of_target = saliency.of_target.products();
    for (std::size_t i = 0; i < saliency.predicted_texts.size(); ++i) {
        map.queries.push_back(labelled(saliency.predicted_texts[i]));
        add_sums(map.weights, source, of_source.data() + i * saliency.source.size());
        add_sums(map.weights, target, of_target.data() + i * saliency.target.size());
    }
    map.keys = source;
    for (RowItem& item : target) {
        item.second = !source.empty();  // of another colour than the source
        map.keys.push_back(std::move(item));
    }
    return draw_heat_map(
        map, 1,
        {.scale = Scale::Diverging,
         .across = "read",
         .down = "written",
         .description = fmt::format(
             "{}: {} pieces in rows, {} words in columns; the colour is the product of gradient and embedding.",
             map.title, map.queries.size(), map.keys.size()),
         .look = look});
}

Drawing draw_patching(const PatchEffects& found, const Look& look) {
    SelectedAttention map = map_of(
        "What the output owes to each layer and position",
        fmt::format(
            "The change of log P if the value there comes from the other text: orange makes the output likelier, "
            "blue less likely. Log P is {:.2f}, and {:.2f} after the other text.",
            found.log_probability, found.from_log_probability));
    std::vector<std::string> sites;
    for (const PatchEffect& effect : found.effects) {
        if (sites.empty() || sites.back() != effect.site) {
            sites.push_back(effect.site);
        }
        if (sites.size() == 1) {
            const std::string& here = effect.token.text;
            map.keys.push_back(labelled(here == effect.from.text ? here : here + " \u2190 " + effect.from.text));
        }
    }
    const std::size_t columns = map.keys.size();
    for (std::size_t i = 0; i < found.effects.size(); ++i) {
        if (i / columns >= sites.size() || found.effects[i].site != sites[i / columns]) {
            throw Error(
                fmt::format("a picture shows sites of as many positions: {} has {}, and others have more or fewer",
                            sites.front(), columns));
        }
    }
    std::reverse(sites.begin(), sites.end());
    map.weights.resize(sites.size() * columns);
    for (std::size_t i = 0; i < found.effects.size(); ++i) {
        const std::size_t row = sites.size() - 1 - i / columns;
        map.weights[row * columns + i % columns] =
            static_cast<float>(found.effects[i].log_probability - found.log_probability);
    }
    std::set<std::string> labels;
    std::ranges::transform(sites, std::inserter(labels, labels.end()), label_of_site);
    for (const std::string& site : sites) {
        map.queries.push_back(labelled(labels.size() == sites.size() ? label_of_site(site) : site));
    }
    return draw_heat_map(map, 1,
                         {.scale = Scale::Diverging,
                          .cell = 2.0,
                          .across = "position",
                          .down = "after",
                          .description = fmt::format(
                              "{}: {} layers in rows, {} positions in columns; the colour is the change of log P.",
                              map.title, map.queries.size(), map.keys.size()),
                          .look = look});
}

}  // namespace headscope

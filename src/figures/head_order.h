// The orders in which an overview shows heads. An order is a row here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "observe/head_search.h"

namespace headscope {

enum class HeadOrder : std::uint8_t { Model, Entropy, Distance, Sharpness, Diagonal, Previous, Induction, Duplicate };

struct HeadOrderRow {
    HeadOrder order;
    const char* name;    // in files and options
    const char* label;   // of a choice
    const char* by;      // "Sort heads by entropy"
    const char* legend;  // what the numbers beside the pictures are
    int decimals;
    const char* unit;  // after the number
    // What a head has of it; none in a text that has nothing to measure. Null: the entropy is shown, and not sorted by.
    std::optional<double> (*value)(const HeadStatistics& head);
    bool least_first = false;
    bool asks_for_places = false;  // as a PlaceRule
};
constexpr HeadOrderRow of_places(HeadOrder order, const PlaceRule& rule) {
    return {order, rule.name, rule.label, rule.by, rule.legend, 2, "", rule.value, false, true};
}
inline constexpr std::array<HeadOrderRow, 8> kHeadOrders{
    {{HeadOrder::Model, "model", "Layers", "layer", "Entropy in bits", 1, " bits", nullptr},
     {HeadOrder::Entropy, "entropy", "Entropy", "entropy", "By entropy in bits, the least first", 1, " bits",
      [](const HeadStatistics& one) -> std::optional<double> { return one.entropy; }, true},
     {HeadOrder::Distance, "distance", "Distance", "distance", "By mean distance in tokens, the greatest first", 1, "",
      [](const HeadStatistics& one) -> std::optional<double> { return one.distance; }},
     {HeadOrder::Sharpness, "sharpness", "Sharpness", "sharpness",
      "By sharpness, the mean of each query's largest weight", 2, "",
      [](const HeadStatistics& one) -> std::optional<double> { return one.sharpness; }},
     {HeadOrder::Diagonal, "diagonal", "Diagonal", "their diagonal", "By the share of the diagonal and its neighbours",
      2, "", [](const HeadStatistics& one) -> std::optional<double> { return one.on_diagonal(); }},
     of_places(HeadOrder::Previous, kPlaceRules[0]),
     of_places(HeadOrder::Induction, kPlaceRules[1]),
     of_places(HeadOrder::Duplicate, kPlaceRules[2])}};

const HeadOrderRow& row_of(HeadOrder order);
// Otherwise Error lists the names.
HeadOrder parse_head_order(const std::string& name);
// "model, entropy, ... or duplicate-token"
std::string head_order_names();

}  // namespace headscope

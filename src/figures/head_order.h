// The orders in which an overview shows heads. An order is a row here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "observe/head_statistics.h"

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
    bool of_places = false;  // in any text that repeats itself, whatever it says: repeated_text()
};
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
     {HeadOrder::Previous, "previous-token", "Previous", "the previous token", "By the weight on the token before", 2,
      "", [](const HeadStatistics& one) { return one.previous_if_any(); }, false, true},
     {HeadOrder::Induction, "induction", "Induction", "induction",
      "By the weight of repeated tokens on what followed them before: induction", 2, "",
      [](const HeadStatistics& one) { return one.induction_if_any(); }, false, true},
     {HeadOrder::Duplicate, "duplicate-token", "Duplicate", "duplicate tokens",
      "By the weight of repeated tokens on their earlier places", 2, "",
      [](const HeadStatistics& one) { return one.duplicate_if_any(); }, false, true}}};

const HeadOrderRow& row_of(HeadOrder order);
// Otherwise Error lists the names.
HeadOrder parse_head_order(const std::string& name);
// "model, entropy, ... or duplicate-token"
std::string head_order_names();

}  // namespace headscope

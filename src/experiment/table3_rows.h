// The rows of the paper's Table 3 (section 6.2): each changes a few columns of the base model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace headscope {

struct Table3Row {
    const char* name;  // "A1"; the paper numbers only the groups
    // What the paper varies. The defaults are its base model.
    int layers = 6;
    int d_model = 512;
    int d_ff = 2048;
    int heads = 8;
    int d_k = 64;
    int d_v = 64;
    double dropout = 0.1;
    double smoothing = 0.1;
    bool learned_positions = false;
    int kilosteps = 100;
    // What the paper reports of newstest2013: perplexity per piece, BLEU, and millions of parameters where it names
    // them.
    double perplexity = 0.0;
    double bleu = 0.0;
    std::optional<double> parameters = {};
};

// In the paper's order: base, A1 to A4, B1, B2, C1 to C7, D1 to D4, E, big.
std::span<const Table3Row> table3_rows();
// Error, listing the names, for an unknown one.
const Table3Row& table3_row(const std::string& name);

struct RowConfig {
    nlohmann::json config;   // a training configuration
    std::string varied;      // "h 1, d_k 128, d_v 128"; "" for the base
    std::string impossible;  // why there is no such model; "" if there is
};

// The row on another base model: sizes and steps keep their ratio to those of the base, rates are the paper's.
RowConfig row_config(const Table3Row& row, const nlohmann::json& base);

}  // namespace headscope

// The paper's Table 1, measured: how time, sequential operations and path length of each kind of layer grow with the
// number of positions n and columns d.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiment/layer_probe.h"
#include "experiment/text_table.h"

namespace headscope {

// y grows as x^value; the 95 % interval is value +- error.
struct Exponent {
    double value = 0.0;
    double error = 0.0;
};

// Least squares of the logarithms; each group has its own factor. NaN if no group has two different x; `error` is
// infinite without a degree of freedom left.
struct PowerPoint {
    double x = 0.0, y = 0.0;
    std::int64_t group = 0;
};
Exponent fit_exponent(const std::vector<PowerPoint>& points);

struct Table1Line {
    const LayerKind* kind = nullptr;
    std::vector<LayerCost> costs = {};
    std::vector<LayerPath> paths = {};
};

class Table1 {
public:
    // `device`: as in "cpu (AMD EPYC)".
    explicit Table1(std::string device) : device_(std::move(device)) {}

    void add(Table1Line line) { lines_.push_back(std::move(line)); }

    // Ours beside the paper's. Exponents are of n >= 256 and d >= 128, or of all sizes if there are fewer than three
    // such lengths or two such widths.
    TextTable table() const;
    // For each width the greatest length at which self-attention takes no longer than the LSTM.
    TextTable crossings() const;
    nlohmann::json json() const;
    // Replaces table.json, table.md, by-length.svg and by-width.svg in the folder, which it creates.
    void write(const std::string& folder) const;

private:
    std::string device_;
    std::vector<Table1Line> lines_;
};

}  // namespace headscope

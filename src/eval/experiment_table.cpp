#include "eval/experiment_table.h"

#include <fmt/format.h>

namespace headscope {

std::string SeedSpread::text(int digits) const {
    return deviation ? fmt::format("{:.{}f} ± {:.{}f}", mean, digits, *deviation, digits)
                     : fmt::format("{:.{}f}", mean, digits);
}

std::string trial_name(const std::string& row, int seed) {
    return seed == 0 ? row : fmt::format("{}-s{}", row, seed);
}

}  // namespace headscope

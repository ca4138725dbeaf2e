// The files that headscope data and make-task generate: train.tsv, valid.tsv and test.tsv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "data/hold_out.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "io/made_folder.h"

namespace headscope {

// Error if one of the files is an input of this command, or exists and was not generated in `folder`.
void require_replaceable_pairs(const std::string& folder, const InputFiles& inputs);

// All files appear at once, in commit(); without it nothing is left behind.
class PairsOutput {
public:
    // Creates the folder if it is missing.
    explicit PairsOutput(const std::string& folder);

    void write(Part part, const std::string& source, const std::string& target);
    void commit();
    std::int64_t count(Part part) const { return counts_[static_cast<std::size_t>(part)]; }
    std::string path(Part part) const;

private:
    static constexpr std::size_t kParts = 3;

    void flush(std::size_t part);

    std::string folder_;
    MadeFolder made_;
    std::array<AtomicFile, kParts> files_;
    std::array<std::string, kParts> waiting_;
    std::array<std::int64_t, kParts> counts_{};
};

}  // namespace headscope

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

// Error where one of the files is read by this command, or is there and was not generated in `folder`.
void require_replaceable_pairs(const std::string& folder, const InputFiles& inputs);

// The files appear together, by commit(); without it nothing is left behind.
class PairsOutput {
public:
    // Makes the folder where it is missing.
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

// The files that headscope data and make-task generate, such as train.tsv, valid.tsv and test.tsv.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "data/hold_out.h"
#include "io/atomic_file.h"
#include "io/input_files.h"
#include "io/made_folder.h"

namespace headscope {

using PartNames = std::array<const char*, 3>;  // of the files, as Part counts them
constexpr PartNames kPairNames = {"train.tsv", "valid.tsv", "test.tsv"};

// Error if one of the files is an input of this command, or exists and was not generated in `folder`.
void require_replaceable_pairs(const std::string& folder, const InputFiles& inputs,
                               const PartNames& names = kPairNames);

// All files appear at once, in commit(); without it nothing is left behind.
class PairsOutput {
public:
    // Creates the folder if it is missing.
    explicit PairsOutput(const std::string& folder, const PartNames& names = kPairNames);

    void write(Part part, const std::string& source, const std::string& target) { write(part, source + "\t" + target); }
    void write(Part part, const std::string& line);
    void commit();
    std::int64_t count(Part part) const { return counts_[static_cast<std::size_t>(part)]; }
    std::string path(Part part) const;

private:
    static constexpr std::size_t kParts = std::tuple_size_v<PartNames>;

    void flush(std::size_t part);

    std::string folder_;
    PartNames names_;
    MadeFolder made_;
    std::array<AtomicFile, kParts> files_;
    std::array<std::string, kParts> waiting_;
    std::array<std::int64_t, kParts> counts_{};
};

}  // namespace headscope

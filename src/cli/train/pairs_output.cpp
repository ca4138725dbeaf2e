#include "cli/train/pairs_output.h"

#include <filesystem>
#include <vector>

#include "io/written_record.h"

namespace headscope {

namespace {

constexpr std::size_t kWriteAtOnce = std::size_t{1} << 20U;
constexpr std::array kNames = {"train.tsv", "valid.tsv", "test.tsv"};  // as Part counts them

std::string in(const std::string& folder, std::size_t part) {
    return (std::filesystem::path(folder) / kNames[part]).string();
}

std::vector<std::string> names() {
    return {kNames.begin(), kNames.end()};
}

}  // namespace

void require_replaceable_pairs(const std::string& folder, const InputFiles& inputs) {
    for (std::size_t part = 0; part < kNames.size(); ++part) {
        inputs.refuse(in(folder, part));
    }
    inputs.refuse((std::filesystem::path(folder) / WrittenRecord::kFile).string());
    WrittenRecord(folder).require_own(names());
}

PairsOutput::PairsOutput(const std::string& folder)
    : folder_(folder),
      made_(folder),
      files_{AtomicFile(in(folder, 0)), AtomicFile(in(folder, 1)), AtomicFile(in(folder, 2))} {}

std::string PairsOutput::path(Part part) const {
    return in(folder_, static_cast<std::size_t>(part));
}

void PairsOutput::write(Part part, const std::string& source, const std::string& target) {
    const auto index = static_cast<std::size_t>(part);
    waiting_[index].append(source).append("\t").append(target).append("\n");
    ++counts_[index];
    if (waiting_[index].size() > kWriteAtOnce) {
        flush(index);
    }
}

void PairsOutput::flush(std::size_t part) {
    files_[part].write(waiting_[part]);
    waiting_[part].clear();
}

void PairsOutput::commit() {
    for (std::size_t part = 0; part < kParts; ++part) {
        flush(part);
    }
    std::vector<AtomicFile*> files;
    for (AtomicFile& file : files_) {
        files.push_back(&file);
    }
    WrittenRecord(folder_).commit(files);
    made_.keep();
}

}  // namespace headscope

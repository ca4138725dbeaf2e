#include "cli/train/pairs_output.h"

#include <filesystem>
#include <vector>

#include "io/written_record.h"

namespace headscope {

namespace {

constexpr std::size_t kWriteAtOnce = std::size_t{1} << 20U;
std::string in(const std::string& folder, const char* name) {
    return (std::filesystem::path(folder) / name).string();
}

}  // namespace

void require_replaceable_pairs(const std::string& folder, const InputFiles& inputs, const PartNames& names) {
    for (const char* name : names) {
        inputs.refuse(in(folder, name));
    }
    inputs.refuse(in(folder, WrittenRecord::kFile));
    WrittenRecord(folder).require_own({names.begin(), names.end()});
}

PairsOutput::PairsOutput(const std::string& folder, const PartNames& names)
    : folder_(folder),
      names_(names),
      made_(folder),
      files_{AtomicFile(in(folder, names[0])), AtomicFile(in(folder, names[1])), AtomicFile(in(folder, names[2]))} {}

std::string PairsOutput::path(Part part) const {
    return in(folder_, names_[static_cast<std::size_t>(part)]);
}

void PairsOutput::write(Part part, const std::string& line) {
    const auto index = static_cast<std::size_t>(part);
    waiting_[index].append(line).append("\n");
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

// The folder of a run, in the hands of one process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/input_files.h"
#include "io/made_folder.h"
#include "train/training_data.h"

namespace headscope {

// Of a folder that need not be there.
bool holds_checkpoints(const std::string& run_folder);
// Error when it holds checkpoints: what a new run writes would be mixed with that.
void require_unused(const std::string& run_folder);

// What a run reads, by how it may relate to what it writes.
struct RunInputs {
    InputFiles files;          // texts, the model that it begins with, a new run's configuration
    InputFiles config;         // that of a run that goes on: may be its own, which is then written anew
    bool parts_texts = false;  // into data/
};
// Error where a file that a run writes into this folder is one that it reads.
void refuse_inputs(const std::string& run_folder, const RunInputs& inputs);

// Error that names a file or folder which a new run would replace, where no earlier run left it.
void require_own_files(const std::string& run_folder);

// Two trainings in one folder would write over each other's checkpoints. The lock is the kernel's, on the file "lock":
// it ends with the process that holds it, however that ends.
class RunFolder {
public:
    // Makes the folder where it is missing, and locks it. Error when that fails or another training holds it; where the
    // file system knows no locks, `say` hears of it.
    RunFolder(std::string path, const Say& say);
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    // The files that a run writes before its first step and that were not there before go with this, unless they are
    // kept, and folders of theirs that are empty then.
    ~RunFolder();

    void keep() { kept_ = true; }
    const std::string& path() const { return path_; }
    // The tokens of a step of each side that the newest checkpoint was made with.
    std::int64_t recorded_batch() const;

private:
    bool open_and_lock(const Say& say);
    void note_what_is_missing(bool lock);

    std::string path_;
    std::string lock_file_;
    std::optional<MadeFolder> folder_;
    int lock_ = -1;
    std::vector<std::string> missing_;  // of what a run writes, when this began; none where it could not be locked
    bool kept_ = false;
};

}  // namespace headscope

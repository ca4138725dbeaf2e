// The folder of a run, locked by one process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/input_files.h"
#include "io/made_folder.h"
#include "train/training_data.h"

namespace headscope {

// The folder need not exist.
bool holds_checkpoints(const std::string& run_folder);
// Error if it holds checkpoints: a new run would mix with the old one.
void require_unused(const std::string& run_folder);

// The files that a run reads.
struct RunInputs {
    InputFiles files;           // texts, the --from model, a new run's configuration
    InputFiles config;          // of a resumed run; may be the run's own, which is rewritten
    bool splits_texts = false;  // into data/
};
// Error if a run in this folder would overwrite one of its inputs.
void refuse_inputs(const std::string& run_folder, const RunInputs& inputs);

// Error if a new run would replace a file or folder that no earlier run wrote.
void require_own_files(const std::string& run_folder);

// Two trainings in one folder would overwrite each other's checkpoints. The lock is a kernel lock on the file "lock":
// it ends with the process, however that ends.
class RunFolder {
public:
    // Creates the folder if it is missing, and locks it. Error if that fails or another training holds it; only a
    // warning, through `say`, if the file system has no locks.
    RunFolder(std::string path, const Log& say);
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    // Without keep(), removes the new files that a run writes before its first step, and their folders if empty.
    ~RunFolder();

    void keep() { kept_ = true; }
    const std::string& path() const { return path_; }
    // The value of "training.<key>" in the newest checkpoint, or `missing`.
    std::int64_t recorded(const char* key, std::int64_t missing) const;

private:
    bool open_and_lock(const Log& say);
    void note_missing(bool lock);

    std::string path_;
    std::string lock_file_;
    std::optional<MadeFolder> folder_;
    int lock_ = -1;
    std::vector<std::string> missing_;  // files of a run that did not exist at the start; empty without a lock
    bool kept_ = false;
};

}  // namespace headscope

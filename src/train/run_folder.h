// The folder of a run, in the hands of one process.
#pragma once

#include <string>

#include <cstdint>
#include <string>

#include "train/training_data.h"

namespace headscope {

// Two trainings in one folder would write over each other's checkpoints. The lock is the kernel's, on the file "lock":
// it ends with the process that holds it, however that ends.
class RunFolder {
public:
    // Makes the folder where it is missing, and locks it. Error when that fails or another training holds it; where the
    // file system knows no locks, `say` hears of it.
    RunFolder(std::string path, const Say& say);
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    ~RunFolder();

    const std::string& path() const { return path_; }
    bool holds_checkpoints() const;
    // Error when it holds checkpoints: what a new run writes would be mixed with that.
    void require_unused() const;
    // The tokens of a step of each side that the newest checkpoint was made with.
    std::int64_t recorded_batch() const;

private:
    std::string path_;
    int lock_ = -1;
};

}  // namespace headscope

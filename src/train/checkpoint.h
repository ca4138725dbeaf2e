// Checkpoints: one safetensors file each with all that a run needs to go on as if nothing had happened, and a checksum
// of it: a byte that changed on the disk must not become a weight.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "io/safetensors.h"
#include "train/learner.h"

namespace headscope {

// The device's part: flat buffers of one size. All but the first are absent in a file that keeps parameters alone.
struct CheckpointTensors {
    Tensor parameters;  // [total]
    Tensor first_moment = {};
    Tensor second_moment = {};
    Tensor mean = {};  // of the parameters (WeightMean); absent where none is kept
};

CheckpointTensors tensors_of(const Learner& learner);

// Written beside, synced and renamed: whatever stood at `path` stays if anything fails, and Error says what failed.
void write_checkpoint(Backend& backend, const std::string& path, const CheckpointTensors& tensors,
                      const nlohmann::json& state);

// A checkpoint whose every byte is what was written.
class Checkpoint {
public:
    // Error for a file that is missing, damaged or no checkpoint.
    static Checkpoint open(const std::string& path);

    const std::string& path() const { return file_.path(); }
    const nlohmann::json& state() const { return state_; }
    // [total] of the device's float; valid as long as this.
    MappedTensor parameters() const;
    // Error when the sizes are not those of `into`.
    void read(Backend& backend, const CheckpointTensors& into) const;

private:
    SafeTensorsFile file_;
    nlohmann::json state_;
};

// A folder of "step-<number>.safetensors".
class CheckpointFolder {
public:
    explicit CheckpointFolder(std::string path);  // made where it is missing

    std::string file_of(std::int64_t step) const;
    std::vector<std::int64_t> steps() const;  // of the files there, rising
    // The newest `count` that are whole of the steps up to `newest`, rising; fewer where there are no more. `skipped`
    // hears why those passed over are not.
    std::vector<Checkpoint> newest_whole(std::int64_t count, std::int64_t newest,
                                         const std::function<void(const std::string&)>& skipped) const;
    // Removes what a writer that was killed left half-written. The run's folder must be locked: no one else writes.
    void remove_leftovers() const;
    // Removes all but these of the steps up to `newest`. Later ones are damaged, or the run would stand there.
    void keep(const std::vector<std::int64_t>& steps, std::int64_t newest) const;
    void remove_after(std::int64_t step) const;

private:
    void remove(std::int64_t step) const;
    std::string path_;
};

}  // namespace headscope

// Checkpoints: one safetensors file each with all that a run needs to go on as if nothing had happened.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/backend.h"

namespace headscope {

// The device's part: flat buffers of one size. Moments are absent in a file that keeps parameters alone.
struct CheckpointTensors {
    Tensor parameters;  // [total]
    Tensor first_moment = {};
    Tensor second_moment = {};
};

// Written beside, synced and renamed: whatever stood at `path` stays if anything fails, and Error says what failed.
void write_checkpoint(Backend& backend, const std::string& path, const CheckpointTensors& tensors,
                      const nlohmann::json& state);

// The state alone. Error for a file that is damaged or no checkpoint.
nlohmann::json read_checkpoint_state(const std::string& path);
// The tensors, whose sizes must be those of `into`.
void read_checkpoint_tensors(Backend& backend, const std::string& path, const CheckpointTensors& into);

// A folder of "step-<number>.safetensors".
class CheckpointFolder {
public:
    explicit CheckpointFolder(std::string path);  // made where it is missing

    std::string file_of(std::int64_t step) const;
    std::vector<std::int64_t> steps() const;  // of the files there, rising
    // The newest step whose file can be read whole; `skipped` hears why newer ones could not.
    std::optional<std::int64_t> newest_readable(const std::function<void(const std::string&)>& skipped) const;
    void keep_last(std::int64_t count) const;

private:
    std::string path_;
};

}  // namespace headscope

// Checkpoints: one safetensors file each, with everything that a run needs to continue bit for bit. A checksum prevents
// a byte that changed on disk from becoming a weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "io/safetensors.h"
#include "train/learner.h"

namespace headscope {

// Flat buffers of one size on the device, if not said otherwise. A file with only parameters lacks all others.
struct CheckpointTensors {
    Tensor parameters;  // [total]
    Tensor first_moment = {};
    Tensor second_moment = {};
    Tensor mean = {};                           // of the parameters, see WeightMean; optional
    std::map<std::string, Tensor> others = {};  // StepSource::tensors(), of any size
    // Of ranks, where the moments are a slice of the flat ones: their first element, and on rank 0 the bytes of the
    // whole ones, to be written.
    std::int64_t moments_begin = 0;
    std::vector<std::byte> whole_first_moment = {};
    std::vector<std::byte> whole_second_moment = {};
};

CheckpointTensors tensors_of(Learner& learner);
// With the whole moments, on rank 0. All ranks call it.
CheckpointTensors collect_tensors(Learner& learner);
CheckpointTensors weights_of(Learner& learner, bool mean = false);  // only these, or only their mean

// Writes a temporary file, syncs and renames it: if anything fails, `path` is unchanged.
void write_checkpoint(Backend& backend, const std::string& path, const CheckpointTensors& tensors,
                      const nlohmann::json& state);

// A checkpoint whose checksum was verified.
class Checkpoint {
public:
    // Error for a file that is missing, damaged or not a checkpoint.
    static Checkpoint open(const std::string& path);

    const std::string& path() const { return file_.path(); }
    const nlohmann::json& state() const { return state_; }
    // [total], F32 or F64 like the device that wrote it. Valid as long as this checkpoint.
    MappedTensor parameters() const;
    // Error if the sizes differ from those of `into`.
    void read(Backend& backend, const CheckpointTensors& into) const;

private:
    SafeTensorsFile file_;
    nlohmann::json state_;
};

// A folder of "step-<number>.safetensors".
class CheckpointFolder {
public:
    explicit CheckpointFolder(std::string path);  // makes it if missing

    std::string file_of(std::int64_t step) const;
    std::vector<std::int64_t> steps() const;  // of the existing files, ascending
    // The newest intact checkpoints of steps up to `newest`, ascending, at most `count`. `skipped` is called with the
    // reason for each damaged one.
    std::vector<Checkpoint> newest_whole(std::int64_t count, std::int64_t newest,
                                         const std::function<void(const std::string&)>& skipped) const;
    // Removes partial files of a killed writer. The run's folder must be locked.
    void remove_leftovers() const;
    // Removes the checkpoints up to step `newest` that are not in `steps`. Later ones are damaged, or the run would
    // have continued from them.
    void keep(const std::vector<std::int64_t>& steps, std::int64_t newest) const;
    void remove_after(std::int64_t step) const;

private:
    void remove(std::int64_t step) const;
    std::string path_;
};

}  // namespace headscope

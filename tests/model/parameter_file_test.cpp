// Parameters in their files: how they are read, and what is wrong with damaged ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "backends/cpu/reference/reference.h"
#include "io/safetensors.h"
#include "written_model.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

// Counts uploaded bytes and those that came straight from the mapping of `file`.
class UploadWatcher final : public CpuReference<float> {
public:
    explicit UploadWatcher(std::string file) : CpuReference<float>(DeviceInfo{}), file_(std::move(file)) {}

    void upload(const Tensor& to, const void* from, std::size_t bytes) override {
        total += bytes;
        largest = std::max(largest, bytes);
        mapped += inside_mapping(from) ? bytes : 0;
        CpuReference<float>::upload(to, from, bytes);
    }

    std::size_t total = 0;
    std::size_t largest = 0;
    std::size_t mapped = 0;

private:
    bool inside_mapping(const void* from) const {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            std::uintptr_t begin = 0;
            std::uintptr_t end = 0;
            char dash = 0;
            std::istringstream(line) >> std::hex >> begin >> dash >> end;
            const auto at = reinterpret_cast<std::uintptr_t>(from);
            if (at >= begin && at < end) {
                return line.ends_with(file_);
            }
        }
        return false;
    }
    std::string file_;
};

// Counts the bytes of a source's tensors, and those that are released after they have been read.
class ReleaseWatcher final : public WeightSource {
public:
    explicit ReleaseWatcher(const std::string& file) : source_(own_weights(file)) {}

    void read(const std::vector<ParameterSpec>& table, const TakeWeight& take) const override {
        source_->read(table, [&](const ParameterSpec& spec, WeightValues values) {
            total += values.data.size();
            const std::byte* next = values.data.data();
            values.release = [&, release = values.release](std::span<const std::byte> part) {
                CHECK(part.data() == next);
                next += part.size();
                released += part.size();
                release(part);
            };
            take(spec, values);
        });
    }

    mutable std::size_t total = 0, released = 0;

private:
    std::shared_ptr<const WeightSource> source_;
};

std::string load_error(const ModelConfig& config, const std::string& file) {
    const auto backend = open_device("cpu");
    Parameters parameters(*backend, config, false);
    return error_of([&] { load_parameters(*backend, *own_weights(file), parameters); });
}

}  // namespace

TEST_CASE("parameters are uploaded from the mapping, or converted piece by piece") {
    TemporaryFolder folder;
    ModelConfig config = small_config();
    config.d_model = 64;
    config.source_vocabulary = config.target_vocabulary = 1100;  // an embedding of several pieces, the last one short
    const auto backend = open_device("cpu");
    Parameters original(*backend, config, false);
    original.initialise(5);
    const std::vector<float> values = to_host<float>(*backend, original.flat_values());
    const std::size_t bytes = static_cast<std::size_t>(original.count()) * sizeof(float);
    for (const DType stored : {DType::F32, DType::F16, DType::BF16}) {
        INFO(name_of(stored));
        const std::string file = folder.file(name_of(stored));
        save_parameters(*backend, file, original, stored, "");
        UploadWatcher watcher(file);
        Parameters loaded(watcher, config, false);
        watcher.total = 0;
        load_parameters(watcher, *own_weights(file), loaded);
        CHECK(watcher.total == bytes);
        CHECK(watcher.mapped == (stored == DType::F32 ? bytes : 0));
        CHECK(watcher.largest == (stored == DType::F32 ? 64 * 1100 * sizeof(float) : (1U << 15U) * sizeof(float)));
        const std::vector<float> found = to_host<float>(watcher, loaded.flat_values());
        for (std::size_t i = 0; i < found.size(); ++i) {
            REQUIRE(found[i] == (stored == DType::F16    ? from_f16(to_f16(values[i]))
                                 : stored == DType::BF16 ? from_bf16(to_bf16(values[i]))
                                                         : values[i]));
        }
    }
}

TEST_CASE("a weight that is NaN or infinite is rejected by name when loading") {
    TemporaryFolder folder;
    const ModelConfig config = small_config();
    const auto backend = open_device("cpu");
    Parameters parameters(*backend, config, false);
    parameters.initialise(5);
    const DType stored = GENERATE(DType::F32, DType::F16, DType::BF16);
    const float bad = GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity());
    const std::string file = folder.file("model.safetensors");
    const std::string name = "encoder.layers.0.feed_forward.inner.weight";
    const Tensor weight = parameters.at(name).value();
    backend->upload(weight.reshape({weight.elements()}).narrow(0, weight.elements() - 1, 1), &bad, sizeof(bad));
    save_parameters(*backend, file, parameters, stored, "");
    CHECK_THAT(load_error(config, file),
               Contains(file) && Contains("element " + std::to_string(weight.elements() - 1)) && Contains(name));
    // The largest finite number is accepted.
    const float largest = 65504.0F;
    backend->upload(weight.reshape({weight.elements()}).narrow(0, weight.elements() - 1, 1), &largest, sizeof(bad));
    save_parameters(*backend, file, parameters, stored, "");
    Parameters loaded(*backend, config, false);
    CHECK_NOTHROW(load_parameters(*backend, *own_weights(file), loaded));
}

TEST_CASE("errors of a parameter file name the tensor") {
    Written written;
    const std::string file = written.path + "/model.safetensors";
    const ModelConfig config = written.model.config;
    CHECK(load_error(config, file).empty());

    ModelConfig biased = config;
    biased.output.bias = true;
    CHECK_THAT(load_error(biased, file), Contains(file) && Contains("output.bias [60] is missing"));
    ModelConfig shallow = config;
    shallow.encoder_layers = 1;
    CHECK_THAT(load_error(shallow, file), Contains("encoder.layers.1.") && Contains("not a parameter"));
    ModelConfig wide = config;
    wide.feed_forward.d_ff = 13;
    CHECK_THAT(load_error(wide, file), Contains("feed_forward.inner.weight is [12, 8]") && Contains("[13, 8]"));
    CHECK_THAT(load_error(config, written.folder.file("nothing")), Contains("nothing"));

    // An unsupported dtype.
    std::vector<TensorToWrite> tensors;
    std::vector<std::vector<double>> values;
    for (const ParameterSpec& spec : describe(config).parameters) {
        values.emplace_back(static_cast<std::size_t>(spec.shape.elements()), 0.0);
        tensors.push_back({spec.name, DType::F64, spec.shape, values.back().data()});
    }
    write_safetensors(written.folder.file("double"), tensors);
    CHECK_THAT(load_error(config, written.folder.file("double")),
               Contains("embedding.weight is F64") && Contains("F32, F16 or BF16"));

    std::string cut = read_all(file);
    cut.resize(cut.size() - 5);
    CHECK_THAT(load_error(config, written.folder.write("cut", cut)), Contains("cut"));
}

TEST_CASE("a value above the range of F16 is an error, not an infinity") {
    Written written;
    const Tensor gain = written.model.parameters.at("encoder.layers.0.self_attention.norm.gain").value();
    from_host(*written.model.backend, gain, std::vector<float>(8, 70000.0F));
    CHECK_THAT(error_of([&] { written.write(DType::F16); }),
               Contains("self_attention.norm.gain") && Contains("70000") && Contains("F32"));
    // The old directory is still there, and no unfinished one.
    CHECK(open_model_directory(written.path).config == written.model.config);
    CHECK_FALSE(fs::exists(written.path + ".tmp"));
}

TEST_CASE("a file lets go of what has been read while it is converted") {
    TemporaryFolder folder;
    ModelConfig config = small_config();
    config.d_model = 64;
    config.source_vocabulary = config.target_vocabulary = 33'000;  // 4 MB in F16
    const auto backend = open_device("cpu");
    Parameters original(*backend, config, false);
    original.initialise(5);
    save_parameters(*backend, folder.file("f16"), original, DType::F16, "");
    const auto loaded = [&](const WeightSource& source, const WeightStorage& storage) {
        Parameters parameters(*backend, config, false, storage);
        load_parameters(*backend, source, parameters);
        return to_host<float>(*backend, parameters.flat_values());
    };
    const ReleaseWatcher watched(folder.file("f16"));
    CHECK(loaded(watched, {}) == loaded(*own_weights(folder.file("f16")), {}));
    CHECK(watched.released > watched.total / 2);
}

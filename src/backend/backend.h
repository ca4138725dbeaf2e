// The seam: one small abstract class that every device implements. It knows nothing of models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/choices.h"
#include "backend/collectives.h"
#include "backend/ops_fwd.h"
#include "backend/product_ways.h"
#include "support/check.h"
#include "tensor/tensor.h"

namespace headscope {

class Dependencies;
class RepeatedSequence;

// What `headscope devices` prints of one device.
struct DeviceInfo {
    std::string id;         // "cpu", "vulkan:0": what --device takes
    std::string backend;    // "cpu", "vulkan", "oracle"
    std::string name;       // the device's own name
    std::string driver;     // driver name and version; for the CPU the libraries that multiply
    bool lends = false;     // other devices of this kind can borrow() its tensors
    bool software = false;  // a GPU interface emulated on the CPU, such as llvmpipe
    bool gpu = false;       // a real GPU
    std::uint64_t memory_bytes = 0;
    // Lengths should be multiples of this: shapes repeat, so that commands can be replayed. 1 if padding only costs
    // time.
    std::int64_t length_multiple = 8;
    bool trains_faster_in_bf16 = false;                         // with operands of products rounded to BF16
    std::vector<std::pair<std::string, std::string>> limits;    // name, value
    std::vector<std::pair<std::string, std::string>> features;  // name, "yes", "no" or a value
    std::string rejected;                                       // why it cannot be used; empty for a usable device
    // Ways to run ops by other kernels than the device chooses, for proofs: open_device_by() takes one.
    std::vector<std::string> paths = {};
};

// The device is out of memory. Smaller batches may fit.
class OutOfMemory : public Error {
public:
    using Error::Error;
};

// The device hung, was reset or unplugged, or its driver is out of memory: this backend is unusable. A new one may work
// (not for CUDA within the same process, so that its backend throws a plain Error).
class DeviceLost : public Error {
public:
    using Error::Error;
};

// How a backend runs an op in a dtype. Only Native counts as a native pass in reports.
enum class SupportLevel : std::uint8_t { Native, Composed, None };
struct Support {
    SupportLevel level = SupportLevel::Native;
    std::string reason;  // for Composed and None
};

// A mark in a backend's stream, reached when all work enqueued before it is done. The backend outlives its events.
class Event {
public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    virtual ~Event() = default;

    virtual bool reached() = 0;  // does not wait
    virtual void wait() = 0;
    // The device's time from `earlier`, an event of the same backend, to this one. Both must have been reached.
    virtual double seconds_since(const Event& earlier) const = 0;
};

// One in-order stream: run and upload enqueue; only download and synchronize wait. One thread owns a backend. Memory
// lives as long as its tensors; the backend outlives them all.
class Backend {
public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    virtual const DeviceInfo& device() const = 0;

    // The dtype of activations and master parameters: F32, or F64 for the oracle.
    virtual DType full_dtype() const { return DType::F32; }

    // Uninitialised memory from the arena. OutOfMemory names the size requested and the memory in use.
    virtual Tensor empty(const Shape& shape, DType dtype) = 0;

    // Copies contiguous host memory to a contiguous tensor of the same size in bytes. The source may be reused on
    // return.
    virtual void upload(const Tensor& to, const void* from, std::size_t bytes) = 0;
    // Waits for all enqueued work, then copies a contiguous tensor to host memory.
    virtual void download(const Tensor& from, void* to, std::size_t bytes) = 0;
    virtual void synchronize() = 0;

    // Reorders the memory of a weight that only OperandType::Weight operands and the two copies above will read, and
    // returns it in that layout: a product reads it faster. The default returns it as it is.
    virtual Tensor pack(const Tensor& weight);

    // A tensor of another device of this kind, to be read here without a copy: it keeps that memory, whose device may
    // be gone. Undefined if this device cannot read it, as by default.
    virtual Tensor borrow(const Tensor& lent);

    // Marks the work enqueued so far. Not allowed within replay(). The default waits for that work and uses the host's
    // clock.
    virtual std::shared_ptr<Event> record_event();
    // Native: an event has the device's own time and does not wait. Composed: record_event() waits, with the reason.
    virtual Support events() const;

    // Runs `body`, which only enqueues ops: it neither waits, copies to or from the host, nor keeps what it allocates.
    // A backend that replays() may keep what body enqueued and enqueue that again when the key comes again, so `key`
    // stands for all of body's ops, scalars and memory. Through Instrumented it is a name for messages: the rest of the
    // key is found by calling body with nothing enqueued, so body is called several times and does the same each time.
    virtual void replay(const std::string& key, const std::function<void()>& body);
    // The same with a key that Instrumented makes without calling body, while `sequence` knows what body did with equal
    // `dependencies`. The default runs body.
    virtual void replay_again(const std::string& name, RepeatedSequence& sequence, const Dependencies& dependencies,
                              const std::function<void()>& body);
    virtual bool replays() const { return false; }

    // The kernels enqueued since the last call, each once with its specialisation, sorted by name. Recording starts
    // with the first call; empty if the backend does not report kernels.
    virtual std::vector<std::string> drain_kernel_names() { return {}; }

    // Null if there is only one way to compute a product.
    virtual ProductWays* product_ways() { return nullptr; }

    // Null if the device sends other ranks nothing by itself, so that it goes through the host's memory.
    virtual Collectives* collectives() { return nullptr; }

    // Gives memory that is kept for later tensors back to the system, if a device keeps any that others could use.
    virtual void trim() {}

    // Bytes used by live tensors now, and the peak.
    struct MemoryUse {
        std::size_t live = 0;
        std::size_t peak = 0;
    };
    virtual MemoryUse memory() const = 0;

    // `dtype` is that of the op's operands (T in backend/declarations.h).
    virtual Support support(OpId op, DType dtype) const = 0;
    // Products of F32 operands that are rounded first (Matmul::compute). Native: the device has such products, and they
    // are faster. The default supports only F32.
    virtual Support products(Compute compute) const;
    // Whether Matmul, Linear and Embed take weights stored in `dtype`, F16 or I8, next to operands of full_dtype()
    // (backend/declarations.h). The default supports none.
    virtual Support weights(DType dtype) const;
    // Attention::key_rows with heads of `depth` columns. Native: for a few queries no key is copied. The default copies
    // them, a position at a time.
    virtual Support key_rows(std::int64_t depth) const;

#define HEADSCOPE_DECLARE(Op) virtual void run(const Op& op) = 0;
    HEADSCOPE_CORE_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

    // Fused ops: the default bodies run their composition of core ops, which is also their oracle.
#define HEADSCOPE_DECLARE(Op) virtual void run(const Op& op);
    HEADSCOPE_FUSED_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE
};

// Copies host values of a numeric type to and from a tensor of any dtype, converting on the host. Contiguous or strided
// tensors; for weights, ids, tests and reports, not for hot paths. `T` is float, double or std::int32_t.
template <class T>
std::vector<T> to_host(Backend& backend, const Tensor& tensor);
template <class T>
void from_host(Backend& backend, const Tensor& tensor, const std::vector<T>& values);
template <class T>
Tensor make_from_host(Backend& backend, const Shape& shape, DType dtype, const std::vector<T>& values) {
    Tensor tensor = backend.empty(shape, dtype);
    from_host(backend, tensor, values);
    return tensor;
}

}  // namespace headscope

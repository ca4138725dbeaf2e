// The seam: one small abstract class that every device fulfils. It knows nothing of models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/ops.h"
#include "backend/product_ways.h"
#include "support/check.h"
#include "tensor/tensor.h"

namespace headscope {

// What `headscope devices` prints of one device.
struct DeviceInfo {
    std::string id;         // "cpu", "vulkan:0": what --device takes
    std::string backend;    // "cpu", "vulkan", "oracle"
    std::string name;       // the device's own name
    std::string driver;     // driver name and version; for the CPU the libraries that multiply
    bool software = false;  // a GPU interface emulated on the CPU, such as llvmpipe
    bool gpu = false;       // a real GPU
    std::uint64_t memory_bytes = 0;
    // Lengths that are multiples of it pay: shapes repeat, so that commands can be replayed. 1 where padding only
    // costs.
    std::int64_t length_multiple = 8;
    bool trains_faster_in_bf16 = false;                         // by products with operands rounded to BF16
    std::vector<std::pair<std::string, std::string>> limits;    // name, value
    std::vector<std::pair<std::string, std::string>> features;  // name, "yes", "no" or a value
    std::string rejected;                                       // why it cannot be used; empty for a usable device
    // Ways to have ops run by other kernels than the device takes of itself, for proofs: open_device_by() takes one.
    std::vector<std::string> paths = {};
};

// A device has no more memory. Smaller batches may do.
class OutOfMemory : public Error {
public:
    using Error::Error;
};

// A device hung, was reset or was unplugged, or its driver has no memory to go on with: nothing works on this backend
// any more. A fresh one may (of CUDA none does within the process, whose backend throws a plain Error).
class DeviceLost : public Error {
public:
    using Error::Error;
};

// How a backend runs an op in a dtype. Reports count neither of the last two as a native pass.
enum class SupportLevel : std::uint8_t { Native, Composed, None };
struct Support {
    SupportLevel level = SupportLevel::Native;
    std::string reason;  // for Composed and None
};

// A mark in a backend's stream, reached when all that was enqueued before it has been carried out. The backend outlives
// its events.
class Event {
public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    virtual ~Event() = default;

    virtual bool reached() = 0;  // does not wait for it
    virtual void wait() = 0;
    // The device's time from `earlier`, an event of the same backend, to this one. Both have to be reached.
    virtual double seconds_since(const Event& earlier) const = 0;
};

// One in-order stream: run and upload enqueue, only download and synchronize wait. One thread owns a backend.
// Memory given out lives as long as its tensors; the backend outlives them all.
class Backend {
public:
    Backend() = default;
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    virtual const DeviceInfo& device() const = 0;

    // The dtype of activations and master parameters: F32, or F64 for the oracle.
    virtual DType real() const { return DType::F32; }

    // Uninitialised memory from the arena; OutOfMemory when the device has no more, naming what was asked for and what
    // is in use.
    virtual Tensor empty(const Shape& shape, DType dtype) = 0;

    // Copies contiguous host memory to a contiguous tensor of the same size in bytes. The source may be reused on
    // return.
    virtual void upload(const Tensor& to, const void* from, std::size_t bytes) = 0;
    // Waits for all that was enqueued, then copies a contiguous tensor to host memory.
    virtual void download(const Tensor& from, void* to, std::size_t bytes) = 0;
    virtual void synchronize() = 0;

    // A mark at what was enqueued so far. Not within a replay(). By default it waits for all of it, and takes the
    // host's clock for the device's.
    virtual std::shared_ptr<Event> record_event();
    // Native: an event takes the device's own time and holds nobody up. Composed: record_event() waits, and why.
    virtual Support events() const;

    // Runs `body`, which enqueues ops and does nothing else that matters. A backend may keep what body enqueued and,
    // when the same comes again, enqueue that at once without calling body: so `name` says which ops these are, and
    // `operands` are all the memory that they touch but for what body itself allocates, which must not outlive it. The
    // same name over the same operands (addresses, shapes, dtypes) has to mean the same ops; what changes is read from
    // the operands.
    // Two things whose operands may look alike, one after the other, tell themselves apart by a new_identity().
    virtual void replay(const std::string& name, const std::vector<Tensor>& operands,
                        const std::function<void()>& body);

    std::uint64_t new_identity() { return ++identities_; }

    // The kernels that were enqueued since the last call, each once and with what it was specialised for, in the order
    // of their names. From the first call on; empty where the backend does not tell.
    virtual std::vector<std::string> take_kernels() { return {}; }

    // Null where there is but one way to compute a product.
    virtual ProductWays* product_ways() { return nullptr; }

    // Bytes in use by live tensors now, and the most there ever were.
    struct MemoryUse {
        std::size_t live = 0;
        std::size_t peak = 0;
    };
    virtual MemoryUse memory() const = 0;

    // `op` is an op struct's kName, `dtype` that of its operands (ops/common.h: of T).
    virtual Support support(const std::string& op, DType dtype) const = 0;
    // How F32 operands are multiplied that are rounded first (Matmul::compute). Native: the device has such products,
    // and they are faster. Without a word of the backend's: F32 alone.
    virtual Support products(Compute compute) const;
    // Whether Matmul, Linear and Embed take weights that are stored in `dtype`, F16 or I8, beside operands of real()
    // (ops/common.h). Without a word of the backend's: none.
    virtual Support weights(DType dtype) const;

#define HEADSCOPE_DECLARE(Op) virtual void run(const Op& op) = 0;
    HEADSCOPE_CORE_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

    // Fused ops: the default bodies run their composition of core ops, which is also their oracle.
#define HEADSCOPE_DECLARE(Op) virtual void run(const Op& op);
    HEADSCOPE_FUSED_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE

private:
    std::uint64_t identities_ = 0;
};

// Host values in any numeric type to and from a tensor of any dtype, converted on the host. Contiguous or strided
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

// The one in-order stream: kernels and copies are recorded, submitted in slices, and waited for only on request.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/vulkan/stream/binding.h"
#include "backends/vulkan/stream/hazards.h"
#include "backends/vulkan/stream/memory.h"
#include "backends/vulkan/stream/pipelines.h"
#include "backends/vulkan/stream/recording.h"
#include "backends/vulkan/stream/slice_size.h"
#include "backends/vulkan/stream/timestamps.h"
#include "tensor/tensor.h"

namespace headscope::vulkan {

struct Launch {
    Kernel kernel{};
    std::uint64_t groups = 0;
    std::uint64_t work_per_group = 1;  // about the floating-point operations of one workgroup
    Specialisation specialisation{};
};

// Failures of enqueued work.
// - A kernel does not compile, or the device is lost: an Error where it is found, and then from every call whose result
//   might depend on it.
// - The driver lacks memory to compile, record or wait, even after all submitted work is done: DeviceLost, since a
//   fresh device may have the memory.
// - The driver lacks memory to submit: the work keeps its place in the queue and is retried. OutOfMemory is thrown
//   where the host waits, uploads or is about to allocate (require_submitted), never in between: a sequence of ops that
//   allocates nothing runs exactly once, as a whole. If the retry fails too, after the caller has freed what it could,
//   the device is DeviceLost.
class Stream {
public:
    // `lost_at_submission`: see Options.
    Stream(const Device& device, std::shared_ptr<Memory> memory, Pipelines& pipelines,
           std::uint64_t lost_at_submission = 0);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream();

    // Params is a block of shaders/include/params.h, which begins with first_group and offset[N]; both are set here.
    // An undefined tensor is an absent operand. A grid larger than the device's limit, or longer than a slice, is
    // split.
    template <class Params>
    void dispatch(const Launch& launch, const Params& params, const typename Params::Bindings& operands) {
        static_assert(sizeof(Params) <= Pipelines::kPushBytes && sizeof(Params) % sizeof(std::uint32_t) == 0);
        static_assert(offsetof(Params, first_group) == 0 && offsetof(Params, offset) == sizeof(std::uint32_t));
        std::array<std::uint32_t, sizeof(Params) / sizeof(std::uint32_t)> words{};
        std::memcpy(words.data(), &params, sizeof params);
        enqueue(launch, words, operands.in_order());
    }
    // The same with the kernel's specialisation constants, a struct of params.h.
    template <class Named, class Params>
    void dispatch(Launch launch, const Named& constants, const Params& params,
                  const typename Params::Bindings& operands) {
        launch.specialisation.constants = constants.values();
        dispatch(launch, params, operands);
    }

    // Contiguous tensors of 32-bit elements; not within one buffer.
    void fill(const Tensor& to, std::uint32_t word);
    void copy(const Tensor& from, const Tensor& to);

    void upload(const Tensor& to, const std::byte* from, std::size_t bytes);
    void download(const Tensor& from, std::byte* to, std::size_t bytes);
    void synchronize();
    // OutOfMemory or DeviceLost if work could not be submitted even after returning empty blocks to the driver.
    void require_submitted();
    // Waits for everything that can be submitted.
    void finish();
    // Whether unfinished work touches this block.
    bool awaits(std::uint32_t block) const;

    // Records what `body` dispatches, fills and copies, without executing it, into command buffers for launch().
    // CheckFailure if body does anything else with the stream.
    std::shared_ptr<const Recording> record(const std::function<void()>& body);
    void launch(const std::shared_ptr<const Recording>& recording);
    bool recording() const { return recording_ != nullptr; }

    // The work so far, without launches.
    struct Load {
        std::uint64_t dispatches = 0;
        std::uint64_t work = 0;
    };
    const Load& asked() const { return asked_; }
    // Whether slices of this load end because of their number of dispatches, not their work: then the host's share
    // matters.
    bool short_dispatches(const Load& load) const;

    // A position in the stream with the device's clock, until it is forgotten.
    struct Mark {
        Timestamps::Place place;
        std::uint64_t submission = 0;
    };
    Mark mark();
    void forget(const Mark& mark) { timestamps_.give_back(mark.place); }
    // Does not wait, but submits the mark's slot, which waits for earlier work if the driver lacks memory.
    bool reached(const Mark& mark);
    void wait_for(const Mark& mark);
    double seconds_between(const Mark& earlier, const Mark& later) const;

    // Backend::drain_kernel_names
    std::vector<std::string> drain_kernel_names();

    // The maximum size of a binding, from the tensor's first element.
    std::uint64_t max_binding_bytes() const;

private:
    using Clock = std::chrono::steady_clock;

    // Ended: the driver lacked the memory to submit it.
    enum class SlotState : std::uint8_t { Free, Recording, Ended, Submitted };

    struct Slot {
        Commands commands;
        VkFence fence = VK_NULL_HANDLE;
        SlotState state = SlotState::Free;
        std::uint64_t submission = 0;  // counted from 1
        Clock::time_point submitted_at{};
        std::unique_ptr<RawBuffer> staging;
        std::size_t staged = 0;
        std::vector<std::shared_ptr<const Recording>> launched;
    };

    // A dispatch whose pipeline may still be compiling, or a transfer by the queue in its place.
    struct Pending {
        static constexpr std::size_t kMostBindings = 12;
        const Pipeline* pipeline = nullptr;  // null: the queue fills buffer 0 with params[0], or copies it to buffer 1
        Kernel kernel{};
        std::uint64_t groups = 0;
        std::uint64_t work_per_group = 1;
        std::array<std::uint32_t, Pipelines::kPushBytes / sizeof(std::uint32_t)> params{};
        std::size_t words = 0;  // of params
        std::array<VkDescriptorBufferInfo, kMostBindings> buffers{};
        std::array<Access, kMostBindings> accesses{};
        std::size_t bindings = 0;

        bool ready() const { return pipeline == nullptr || pipeline->ready(); }
        void add(VkBuffer buffer, const Binding& binding, const Access& access);
    };

    void enqueue(const Launch& launch, std::span<const std::uint32_t> params, std::span<const Tensor* const> tensors);
    void transfer(Kernel kernel, std::uint32_t word, std::span<const Tensor* const> tensors);
    void add(Pending& pending);
    // Records pending work in order while pipelines are ready; the other one waits for all.
    void record_ready();
    void record_all();
    void record_now(Pending& pending);
    void record_transfer(const Pending& pending);
    // Keeps the exception of `step`, whose work is lost with it.
    template <class Step>
    void keep_failure(const Step& step) {
        try {
            step();
        } catch (const DriverOutOfMemory& error) {
            lose(std::string("the driver has no memory for its own part: ") + error.what());
        } catch (...) {
            failure_ = failure_ == nullptr ? std::current_exception() : failure_;
            throw;
        }
    }
    [[noreturn]] void lose(const std::string& lack);
    void require_whole() const;  // throws the kept exception
    std::uint64_t binding_alignment() const;
    void bind(const Pipeline& pipeline, std::span<const VkDescriptorBufferInfo> buffers);
    VkBufferView view_of(const VkDescriptorBufferInfo& buffer);
    static std::uint64_t bit_of(Kernel kernel);                // of Commands::kernels
    void count(std::uint32_t dispatches, std::uint64_t work);  // and ends a slice that is long enough
    VkDescriptorSet allocate_set(VkDescriptorSetLayout layout);
    void guard(std::span<const Access> accesses);
    void barrier();
    void release();
    Slot& add_slot();
    Slot& free_slot();
    Slot* oldest(SlotState state);  // null if there is none
    Slot& current();
    Commands& target();                                    // the current slot's commands, or a part of the recording
    Commands& touching(std::span<const Access> accesses);  // the same, and notes their blocks
    KernelNotes* notes();                                  // null if not requested
    void require_enqueued(const char* what) const;         // CheckFailure within a recording
    void submit();
    void submit_ended();  // in order, as far as the driver has memory
    bool submitted(Slot& slot);
    [[noreturn]] void refuse(std::uint64_t submission);
    void wait(Slot& slot);
    // Waits for submissions up to this one, in order, so that each is seen done about when it is.
    void wait_until(std::uint64_t submission);
    // DeviceLost names what was running.
    void check_running(VkResult result, const char* call) const;
    void require_submitted(const Mark& mark);
    Slot& slot_of(const Mark& mark);  // of one that is not finished

    const Device& device_;
    std::shared_ptr<Memory> memory_;
    Pipelines& pipelines_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::deque<Slot> slots_;  // grows if none of them can be submitted
    std::deque<Pending> pending_;
    std::exception_ptr failure_;     // the first
    VkResult refusal_ = VK_SUCCESS;  // the last lack of memory
    std::uint64_t refused_ = 0;      // the last submission that threw OutOfMemory
    SliceSize slice_;
    Hazards hazards_;
    Timestamps timestamps_;
    std::uint64_t begun_ = 0;     // submissions
    std::uint64_t finished_ = 0;  // of those, from the first
    std::unique_ptr<RawBuffer> download_;
    const std::uint64_t lost_at_submission_;
    bool notes_kernels_ = false;
    KernelNotes notes_;  // since the last take
    Load asked_;
    std::unique_ptr<Recording> recording_;
};

}  // namespace headscope::vulkan

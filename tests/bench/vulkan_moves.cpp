// How fast a Vulkan device moves floats, by the ways that a kernel may load and store them (docs/benchmarks.md).
//   bench_vulkan_moves FOLDER [device]     FOLDER: the kernels that vulkan_moves.sh compiles
// A line for each way: GB/s of bytes read and written, the best of several turns and their median. What is copied is
// held against what was to be copied. Exit code 1 where it differs, or where the device fails.
#include <fmt/core.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t kElements = 1U << 20U;
constexpr VkDeviceSize kBytes = kElements * sizeof(float);
constexpr int kTurns = 15;

struct Way {
    const char* kernel;  // FOLDER/kernel.spv; none for the queue's own copy
    const char* loads;
    const char* stores;
    int reads;   // times that all elements are
    int writes;  // likewise
    std::uint32_t elements_per_group;
    bool copies;  // the second buffer is the first afterwards
};

// As in vulkan_moves.comp: 256 invocations with four elements each, or a group's 1,024 elements one after the other.
constexpr Way kWays[] = {
    {"fours", "storage buffer, four floats", "storage buffer, four floats", 1, 1, 1024, true},
    {"words", "storage buffer, four 64-bit words", "storage buffer, four 64-bit words", 1, 1, 2048, true},
    {"texels", "texel buffer, four floats", "storage buffer, four floats", 1, 1, 1024, true},
    {"texels_both", "texel buffer, four floats", "storage texel buffer", 1, 1, 1024, true},
    {"uniform_words", "uniform addresses, 64-bit words", "the same", 1, 1, 1024, true},
    {"uniform_floats", "uniform addresses, floats", "the same", 1, 1, 1024, true},
    {"uniform_step", "uniform addresses, two arrays of floats", "the same, one", 2, 1, 1024, false},
    {"broadcast", "texel buffer, four floats", "uniform addresses, subgroupBroadcast", 1, 1, 1024, true},
    {nullptr, "vkCmdCopyBuffer", "", 1, 1, 1, true},
    {"read_fours", "storage buffer, four floats", "", 1, 0, 1024, false},
    {"read_words", "storage buffer, four 64-bit words", "", 1, 0, 2048, false},
    {"read_texels", "texel buffer, four floats", "", 1, 0, 1024, false},
    {"read_uniform", "uniform addresses, floats", "", 1, 0, 1024, false},
    {"read_lanes", "uniform addresses, put together by lanes", "", 1, 0, 1024, false},
    {"write_fours", "", "storage buffer, four floats", 0, 1, 1024, false},
    {"write_words", "", "uniform addresses, 64-bit words", 0, 1, 1024, false},
};

void check(VkResult result, const char* what) {
    if (result != VK_SUCCESS) {
        throw std::runtime_error(fmt::format("{} returned {}", what, static_cast<int>(result)));
    }
}

template <typename Structure>
Structure made(VkStructureType type, void* next = nullptr) {
    Structure structure{};
    structure.sType = type;
    structure.pNext = next;
    return structure;
}

// As the kernels see it.
struct Push {
    std::array<VkDeviceAddress, 2> addresses{};
    std::array<std::uint32_t, 16> digits{};  // digits[i] is i
};

struct Buffer {
    VkBuffer handle{};
    VkDeviceAddress address{};
    VkBufferView texels{};
    float* elements = nullptr;
};

// What it makes lives as long as the process.
class Bench {
public:
    explicit Bench(std::uint32_t index) {
        open_device(index);
        for (Buffer& buffer : buffers_) {
            buffer = make_buffer();
        }
        std::iota(push_.digits.begin(), push_.digits.end(), 0U);
        push_.addresses = {buffers_[0].address, buffers_[1].address};
        make_layout();
        bind_buffers();
        auto pool = made<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        pool.queueFamilyIndex = family_;
        check(vkCreateCommandPool(device_, &pool, nullptr, &commands_), "vkCreateCommandPool");
    }

    // GB/s of each turn, sorted, the slowest first.
    std::vector<double> measure(const Way& way, const std::string& folder) {
        std::iota(buffers_[0].elements, buffers_[0].elements + kElements, 1.0F);
        std::memset(buffers_[1].elements, 0, kBytes);
        const VkCommandBuffer commands = record(way, folder);
        run(commands);
        if (way.copies && std::memcmp(buffers_[0].elements, buffers_[1].elements, kBytes) != 0) {
            throw std::runtime_error("copies wrongly");
        }
        std::vector<double> rates;
        for (int turn = 0; turn < kTurns; ++turn) {
            const auto begin = std::chrono::steady_clock::now();
            run(commands);
            const std::chrono::duration<double> length = std::chrono::steady_clock::now() - begin;
            rates.push_back(static_cast<double>(kBytes) * (way.reads + way.writes) / length.count() / 1e9);
        }
        std::sort(rates.begin(), rates.end());
        return rates;
    }

    const std::string& name() const { return name_; }

private:
    void open_device(std::uint32_t index) {
        auto application = made<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
        application.apiVersion = VK_API_VERSION_1_2;
        auto info = made<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
        info.pApplicationInfo = &application;
        VkInstance instance{};
        check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
        std::uint32_t count = 0;
        check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
        std::vector<VkPhysicalDevice> devices(count);
        check(vkEnumeratePhysicalDevices(instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
        if (index >= count) {
            throw std::runtime_error(fmt::format("there is no device {}: the loader lists {}", index, count));
        }
        physical_ = devices[index];
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(physical_, &properties);
        name_ = properties.deviceName;
        find_queue();
        auto newer = made<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
        newer.bufferDeviceAddress = VK_TRUE;
        VkPhysicalDeviceFeatures features{};
        features.shaderInt64 = VK_TRUE;
        const float priority = 1.0F;
        auto queue = made<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        queue.queueFamilyIndex = family_;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
        auto device = made<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &newer);
        device.queueCreateInfoCount = 1;
        device.pQueueCreateInfos = &queue;
        device.pEnabledFeatures = &features;
        check(vkCreateDevice(physical_, &device, nullptr, &device_), "vkCreateDevice (Vulkan 1.2, 64-bit, addresses)");
        vkGetDeviceQueue(device_, family_, 0, &queue_);
    }

    void find_queue() {
        std::uint32_t count = 0;
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
        std::vector<VkQueueFamilyProperties> families(count);
        vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
        while (family_ < count && (families[family_].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) {
            ++family_;
        }
        if (family_ == count) {
            throw std::runtime_error("no queue computes");
        }
    }

    Buffer make_buffer() {
        Buffer buffer;
        auto info = made<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
        info.size = kBytes;
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                     VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
                     VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        check(vkCreateBuffer(device_, &info, nullptr, &buffer.handle), "vkCreateBuffer");
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(device_, buffer.handle, &needs);
        auto flags = made<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
        flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        auto allocation = made<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags);
        allocation.allocationSize = needs.size;
        allocation.memoryTypeIndex = memory_type(needs.memoryTypeBits);
        VkDeviceMemory memory{};
        check(vkAllocateMemory(device_, &allocation, nullptr, &memory), "vkAllocateMemory");
        check(vkBindBufferMemory(device_, buffer.handle, memory, 0), "vkBindBufferMemory");
        void* mapped = nullptr;
        check(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
        buffer.elements = static_cast<float*>(mapped);
        auto address = made<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
        address.buffer = buffer.handle;
        buffer.address = vkGetBufferDeviceAddress(device_, &address);
        auto view = made<VkBufferViewCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO);
        view.buffer = buffer.handle;
        view.format = VK_FORMAT_R32G32B32A32_SFLOAT;
        view.range = VK_WHOLE_SIZE;
        check(vkCreateBufferView(device_, &view, nullptr, &buffer.texels), "vkCreateBufferView");
        return buffer;
    }

    // Visible to the host without a flush; of those the device's own first.
    std::uint32_t memory_type(std::uint32_t allowed) const {
        constexpr VkMemoryPropertyFlags kVisible =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        VkPhysicalDeviceMemoryProperties memory;
        vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
        for (const VkMemoryPropertyFlags wanted : {kVisible | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kVisible}) {
            for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
                if ((allowed >> i & 1U) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
                    return i;
                }
            }
        }
        throw std::runtime_error("no memory is visible to the host");
    }

    static constexpr std::array<VkDescriptorType, 4> kBindings = {
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER};

    void make_layout() {
        std::array<VkDescriptorSetLayoutBinding, kBindings.size()> bindings{};
        for (std::uint32_t i = 0; i < kBindings.size(); ++i) {
            bindings[i] = {i, kBindings[i], 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
        }
        auto set = made<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
        set.bindingCount = bindings.size();
        set.pBindings = bindings.data();
        check(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
        const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
        auto layout = made<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
        layout.setLayoutCount = 1;
        layout.pSetLayouts = &set_layout_;
        layout.pushConstantRangeCount = 1;
        layout.pPushConstantRanges = &range;
        check(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "vkCreatePipelineLayout");
    }

    // Bindings 0 and 1: the two buffers; 2: the first as texels; 3: the second.
    void bind_buffers() {
        std::array<VkDescriptorPoolSize, 3> sizes{};
        sizes[0] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
        sizes[1] = {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1};
        sizes[2] = {VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 1};
        auto info = made<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
        info.maxSets = 1;
        info.poolSizeCount = sizes.size();
        info.pPoolSizes = sizes.data();
        VkDescriptorPool pool{};
        check(vkCreateDescriptorPool(device_, &info, nullptr, &pool), "vkCreateDescriptorPool");
        auto allocation = made<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
        allocation.descriptorPool = pool;
        allocation.descriptorSetCount = 1;
        allocation.pSetLayouts = &set_layout_;
        check(vkAllocateDescriptorSets(device_, &allocation, &set_), "vkAllocateDescriptorSets");
        for (std::uint32_t i = 0; i < kBindings.size(); ++i) {
            const VkDescriptorBufferInfo range{buffers_[i % 2].handle, 0, VK_WHOLE_SIZE};
            auto write = made<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
            write.dstSet = set_;
            write.dstBinding = i;
            write.descriptorCount = 1;
            write.descriptorType = kBindings[i];
            write.pBufferInfo = &range;
            write.pTexelBufferView = &buffers_[i % 2].texels;
            vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
        }
    }

    VkPipeline make_pipeline(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
        if (code.empty() || code.size() % 4 != 0) {
            throw std::runtime_error(fmt::format("{} is no SPIR-V: run tests/bench/vulkan_moves.sh", path));
        }
        std::vector<std::uint32_t> words(code.size() / 4);
        std::memcpy(words.data(), code.data(), code.size());
        auto module = made<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
        module.codeSize = code.size();
        module.pCode = words.data();
        auto info = made<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
        info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        check(vkCreateShaderModule(device_, &module, nullptr, &info.stage.module), "vkCreateShaderModule");
        info.stage.pName = "main";
        info.layout = layout_;
        VkPipeline pipeline{};
        check(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
              "vkCreateComputePipelines");
        return pipeline;
    }

    VkCommandBuffer record(const Way& way, const std::string& folder) {
        auto allocation = made<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
        allocation.commandPool = commands_;
        allocation.commandBufferCount = 1;
        VkCommandBuffer commands{};
        check(vkAllocateCommandBuffers(device_, &allocation, &commands), "vkAllocateCommandBuffers");
        const auto begin = made<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
        if (way.kernel == nullptr) {
            const VkBufferCopy whole{0, 0, kBytes};
            vkCmdCopyBuffer(commands, buffers_[0].handle, buffers_[1].handle, 1, &whole);
        } else {
            const VkPipeline pipeline = make_pipeline(fmt::format("{}/{}.spv", folder, way.kernel));
            vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
            vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
            vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push_, &push_);
            vkCmdDispatch(commands, kElements / way.elements_per_group, 1, 1);
        }
        check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
        return commands;
    }

    void run(VkCommandBuffer commands) {
        auto submission = made<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        submission.commandBufferCount = 1;
        submission.pCommandBuffers = &commands;
        check(vkQueueSubmit(queue_, 1, &submission, VK_NULL_HANDLE), "vkQueueSubmit");
        check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
    }

    VkPhysicalDevice physical_{};
    VkDevice device_{};
    std::uint32_t family_ = 0;
    VkQueue queue_{};
    std::string name_;
    std::array<Buffer, 2> buffers_;
    Push push_;
    VkDescriptorSetLayout set_layout_{};
    VkPipelineLayout layout_{};
    VkDescriptorSet set_{};
    VkCommandPool commands_{};
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(
            stderr,
            "bench_vulkan_moves FOLDER [device]: how fast a device moves floats, by tests/bench/vulkan_moves.sh\n");
        return 2;
    }
    try {
        Bench bench(argc > 2 ? static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)) : 0U);
        fmt::print("{}: {} MiB, {} turns\n{:<40} {:<38} {:>8} {:>8}\n", bench.name(), kBytes >> 20U, kTurns, "loads",
                   "stores", "best", "median");
        for (const Way& way : kWays) {
            const std::vector<double> rates = bench.measure(way, argv[1]);
            fmt::print("{:<40} {:<38} {:>8.1f} {:>8.1f}\n", way.loads, way.stores, rates.back(), rates[kTurns / 2]);
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_vulkan_moves: {}\n", error.what());
        return 1;
    }
    return 0;
}

#include "viewer/window/imgui_renderer.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_vulkan.h>

#include "support/check.h"

namespace headscope::viewer {

namespace {

// Enough for the single texture of old versions and for the few of new ones, which grow their atlas.
constexpr std::uint32_t kDescriptors = 64;

void check_imgui(VkResult result) {
    check_vulkan(result, "Dear ImGui's Vulkan backend");
}

// Newer versions moved the render pass into the structure, then into a member of it.
template <class Info>
void init_vulkan(Info& info, VkRenderPass render_pass) {
    if constexpr (requires { info.PipelineInfoMain; }) {
        info.PipelineInfoMain.RenderPass = render_pass;
        info.PipelineInfoMain.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
        ImGui_ImplVulkan_Init(&info);
    } else {
        info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
        if constexpr (requires { info.RenderPass; }) {
            info.RenderPass = render_pass;
            ImGui_ImplVulkan_Init(&info);
        } else {
            ImGui_ImplVulkan_Init(&info, render_pass);
        }
    }
}

// Old versions need an explicit call to upload the atlas; new ones do it themselves.
template <class Commands>
void upload_fonts(Swapchain& swapchain, Commands) {
    if constexpr (requires(Commands commands) { ImGui_ImplVulkan_CreateFontsTexture(commands); }) {
        swapchain.run_now([](Commands commands) { ImGui_ImplVulkan_CreateFontsTexture(commands); });
    }
}

constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15U;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * kPrime;
    return hash ^ hash >> 29;
}

std::uint64_t hash_of(std::uint64_t hash, const void* data, std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(data);
    for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t), from += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, sizeof word);
        hash = mixed(hash, word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, from, bytes);
    return mixed(hash, rest);
}

// A hash of everything that affects the look of these lists; never 0.
std::uint64_t hash_of(const ImDrawData& data) {
    std::uint64_t hash = hash_of(kPrime, &data.DisplaySize, sizeof data.DisplaySize);
    for (int at = 0; at < data.CmdListsCount; ++at) {
        const ImDrawList& list = *data.CmdLists[at];
        hash = hash_of(hash, list.VtxBuffer.Data, sizeof(ImDrawVert) * static_cast<std::size_t>(list.VtxBuffer.Size));
        hash = hash_of(hash, list.IdxBuffer.Data, sizeof(ImDrawIdx) * static_cast<std::size_t>(list.IdxBuffer.Size));
        for (const ImDrawCmd& command : list.CmdBuffer) {
            hash = hash_of(hash, &command.ClipRect, sizeof command.ClipRect);
            hash = mixed(hash, command.ElemCount);
        }
    }
    return hash | 1U;
}

// The lists [first, end) of a frame. Newer versions keep them in a vector of their own type.
template <class Data>
Data part_of(const Data& all, int first, int end) {
    Data part = all;
    if constexpr (requires { part.CmdLists.Size; }) {
        part.CmdLists.clear();
        for (int at = first; at < end; ++at) {
            part.CmdLists.push_back(all.CmdLists[at]);
        }
    } else {
        part.CmdLists = all.CmdLists + first;
    }
    part.CmdListsCount = end - first;
    part.TotalVtxCount = part.TotalIdxCount = 0;
    for (int at = first; at < end; ++at) {
        part.TotalVtxCount += all.CmdLists[at]->VtxBuffer.Size;
        part.TotalIdxCount += all.CmdLists[at]->IdxBuffer.Size;
    }
    return part;
}

// Tooltips are drawn last; this is the index of the first one's list.
int first_tooltip(const ImDrawData& data) {
    int first = data.CmdListsCount;
    while (first > 0 && std::string_view(data.CmdLists[first - 1]->_OwnerName).starts_with("##Tooltip")) {
        --first;
    }
    return first;
}

// Whether all textures are on the device; old versions upload their only one at once.
template <class Data>
bool textures_ready([[maybe_unused]] const Data& data) {
    if constexpr (requires { data.Textures->Size; }) {
        for (const auto* texture : *data.Textures) {
            if (texture->Status != decltype(texture->Status)(0)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

ImguiRenderer::ImguiRenderer(const Gpu& gpu, Swapchain& swapchain, GLFWwindow* window, bool listen)
    : gpu_(gpu), swapchain_(swapchain) {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, kDescriptors};
    const VkDescriptorPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                                          .maxSets = kDescriptors,
                                          .poolSizeCount = 1,
                                          .pPoolSizes = &size};
    check_vulkan(vkCreateDescriptorPool(gpu.device(), &pool, nullptr, &descriptors_), "vkCreateDescriptorPool");
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
#if IMGUI_VERSION_NUM >= 18700
    // Process all pending input in one frame, as older versions do.
    ImGui::GetIO().ConfigInputTrickleEventQueue = false;
#endif
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;               // the session is saved in the settings and in state files
    io.ConfigInputTextCursorBlink = false;  // an idle window draws no frames
    ImGui_ImplGlfw_InitForVulkan(window, listen);
}

ImguiRenderer::~ImguiRenderer() {
    vkDeviceWaitIdle(gpu_.device());
    if (started_) {
        ImGui_ImplVulkan_Shutdown();
    }
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    vkDestroyDescriptorPool(gpu_.device(), descriptors_, nullptr);
}

void ImguiRenderer::start() {
    ImGui_ImplVulkan_InitInfo info{};
    info.Instance = gpu_.instance();
    info.PhysicalDevice = gpu_.physical();
    info.Device = gpu_.device();
    info.QueueFamily = gpu_.family();
    info.Queue = gpu_.queue();
    info.DescriptorPool = descriptors_;
    info.MinImageCount = 2;
    info.ImageCount = std::max(swapchain_.images(), 2U);
    info.CheckVkResultFn = check_imgui;
    init_vulkan(info, swapchain_.render_pass());
    started_ = true;
}

void ImguiRenderer::rebuild_fonts(const std::function<void()>& build) {
    if (started_) {
        check_vulkan(vkDeviceWaitIdle(gpu_.device()), "vkDeviceWaitIdle");
        ImGui_ImplVulkan_Shutdown();
        started_ = false;
    }
    shown_ = {};
    ImGui::GetIO().Fonts->Clear();
    build();
    start();
    upload_fonts(swapchain_, VkCommandBuffer{});
}

void ImguiRenderer::begin_frame() {
    ImGui_ImplVulkan_NewFrame();
    ImGui_ImplGlfw_NewFrame();
}

bool ImguiRenderer::draw(Swapchain& swapchain, Picture* picture) {
    const ImVec4 background = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    const float colour[3] = {background.x, background.y, background.z};
    const ImDrawData& all = *ImGui::GetDrawData();
    const int tooltip = first_tooltip(all);
    ImDrawData below = part_of(all, 0, tooltip);
    ImDrawData above = part_of(all, tooltip, all.CmdListsCount);
    const Looks looks{hash_of(below), hash_of(above)};
    const bool ready = textures_ready(all);
    if (looks == shown_ && picture == nullptr && ready) {
        return true;
    }
    const auto render = [](ImDrawData& data) -> Swapchain::Record {
        return [&data](VkCommandBuffer commands) { ImGui_ImplVulkan_RenderDrawData(&data, commands); };
    };
    const bool kept = looks.below == shown_.below && ready;
    const bool drawn = swapchain.draw(colour, kept ? Swapchain::Record{} : render(below), render(above), picture);
    shown_ = drawn ? looks : Looks{};
    return drawn;
}

}  // namespace headscope::viewer

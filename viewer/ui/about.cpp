#include "viewer/ui/about.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>

namespace headscope::viewer {

std::vector<std::string> about_lines(const std::string& window_gpu) {
    return {fmt::format("Headscope {}", HEADSCOPE_VERSION), fmt::format("Dear ImGui {}", ImGui::GetVersion()),
            fmt::format("GLFW {}", glfwGetVersionString()), fmt::format("Window drawn by {}", window_gpu),
            "Font: DejaVu Sans (Bitstream Vera and Arev licences)"};
}

}  // namespace headscope::viewer

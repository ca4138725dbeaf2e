#include "viewer/window/validation.h"

#include <utility>

#include "support/check.h"

namespace headscope::viewer {

Validation::Validation() {
    info_.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    info_.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info_.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    info_.pfnUserCallback = on_message;
    info_.pUserData = this;
}

VkBool32 Validation::on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                const VkDebugUtilsMessengerCallbackDataEXT* message, void* self) {
    auto& validation = *static_cast<Validation*>(self);
    const std::lock_guard lock(validation.mutex_);
    if (validation.first_.empty()) {
        validation.first_ = message->pMessage;
    }
    return VK_FALSE;
}

void Validation::attach(VkInstance instance) {
    instance_ = instance;
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(  // NOLINT
        vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
    HEADSCOPE_CHECK(create != nullptr, "the instance has the debug utils extension");
    if (create(instance, &info_, nullptr, &messenger_) != VK_SUCCESS) {
        throw Error("cannot receive messages of Vulkan's validation layer: vkCreateDebugUtilsMessengerEXT failed");
    }
}

void Validation::detach() {
    if (messenger_ == VK_NULL_HANDLE) {
        return;
    }
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(  // NOLINT
        vkGetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance_, std::exchange(messenger_, VK_NULL_HANDLE), nullptr);
}

void Validation::check() {
    const std::lock_guard lock(mutex_);
    if (!first_.empty()) {
        throw Error("Vulkan's validation layer reports for the window: " + std::exchange(first_, {}));
    }
}

}  // namespace headscope::viewer

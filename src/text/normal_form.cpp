#include "text/normal_form.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

namespace headscope {

std::string nfkc(std::string_view text) {
    utf8proc_uint8_t* mapped = nullptr;
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
    return size < 0 ? std::string(text) : std::string(mapped, mapped + size);
}

}  // namespace headscope

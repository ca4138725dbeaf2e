#include "figures/page_files.h"

// Embeds files, one after another, with .incbin. The build defines the folder and the dependency on the files.
#define HEADSCOPE_PAGE_FILE(name) ".incbin \"" HEADSCOPE_PAGE_FOLDER "/" name "\"\n"
#define HEADSCOPE_EMBED_PAGE(symbol, files) \
    __asm__(".pushsection .rodata\n" #symbol ":\n" files #symbol "_end:\n.popsection\n")

HEADSCOPE_EMBED_PAGE(headscope_page_frame, HEADSCOPE_PAGE_FILE("heads.html"));
HEADSCOPE_EMBED_PAGE(headscope_page_style, HEADSCOPE_PAGE_FILE("heads.css"));
HEADSCOPE_EMBED_PAGE(headscope_page_script,
                     HEADSCOPE_PAGE_FILE("data.js") HEADSCOPE_PAGE_FILE("parts.js") HEADSCOPE_PAGE_FILE("head_view.js")
                         HEADSCOPE_PAGE_FILE("model_view.js") HEADSCOPE_PAGE_FILE("neuron_view.js")
                             HEADSCOPE_PAGE_FILE("page.js"));

extern "C" {
__attribute__((visibility("hidden"))) extern const char headscope_page_frame[];
__attribute__((visibility("hidden"))) extern const char headscope_page_frame_end[];
__attribute__((visibility("hidden"))) extern const char headscope_page_style[];
__attribute__((visibility("hidden"))) extern const char headscope_page_style_end[];
__attribute__((visibility("hidden"))) extern const char headscope_page_script[];
__attribute__((visibility("hidden"))) extern const char headscope_page_script_end[];
}

namespace headscope {

std::string_view page_frame() {
    return {headscope_page_frame, headscope_page_frame_end};
}

std::string_view page_style() {
    return {headscope_page_style, headscope_page_style_end};
}

std::string_view page_script() {
    return {headscope_page_script, headscope_page_script_end};
}

}  // namespace headscope

// The parts of a page of heads as they are written in src/figures/page, embedded in the library.
#pragma once

#include <string_view>

namespace headscope {

std::string_view page_frame();   // HTML with the marks <!--title-->, <!--style-->, <!--data--> and <!--script-->
std::string_view page_style();   // CSS
std::string_view page_script();  // JavaScript, of all views

}  // namespace headscope
